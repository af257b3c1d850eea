//! What is known of mail that has not changed since it was scanned.
//!
//! A cache is a folder with three files. `records-N` holds a record for every message, found by a checksum of its bytes;
//! records are only ever added to it. `known` says which messages each file held when it was read, what the file system said of
//! that file then, what the whole scan found, and what comparing texts led to. It is replaced as a whole, so a
//! reader sees the old one or the new one, and whoever cannot have the lock reads only. `related-N` says how the messages are related, so that
//! `amend` can begin with what the last scan had counted.
//!
//! Everything carries a checksum. Whatever does not fit (another version, another mailbox, a broken disk) counts as not known,
//! and is read from the mail again. Nothing here decides: a cache saves reading and comparing, never a proof.

mod bytes;
mod frames;
mod known;
mod last;
mod records;
mod related;
mod verdicts;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use foldhash::fast::FixedState;
use twicetold_model::{Location, Problem, RawMessage};
use twicetold_source::{Collection, Severity, Trouble};

use crate::amend::Watched;
use crate::memo::{Answers, Earlier, Question};
use crate::options::{Numbering, Options};
use crate::order::KeepRule;
use crate::record::Record;
use crate::scan::Scan;
use crate::seldom::{Seldom, Shown};
use known::{Kept, Known, KnownFile, KnownMessage};
use last::quick;
use related::Pieces;

pub(crate) use bytes::{Reader, Writer};
pub(crate) use frames::{Appending, Place, Stretch, read_back};
pub(crate) use last::LastFile;
pub(crate) use records::{all_pairs_in, problems, read_problems};
pub(crate) use related::{Course, Keeping, Part, Related};
pub(crate) use verdicts::{
    Judged, category_number, category_of, read_residues, read_witness, residues, texts, witness,
};

/// The version of everything that can change a record, an answer or a verdict. A cache of another version is not read.
const VERSION: u32 = 8;

/// How long a cache is kept that nobody uses.
const UNUSED: Duration = Duration::from_secs(90 * 24 * 3600);

/// How long a file must have been left alone to be known again by its times: file systems with slow clocks tick every other second.
const SETTLE: Duration = Duration::from_secs(2);

/// Where what was found out about a collection is kept until its next scan.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    folder: PathBuf,
    verify: bool,
    settle: Duration,
}

impl Cache {
    /// The cache of the collection below `paths`, scanned in this way, in a folder of its own below `root`.
    pub fn new(root: &Path, paths: &[PathBuf], options: &Options) -> Self {
        let mut name = Question::new("cache")
            .with(options.window)
            .with(options.short)
            .with(options.numbering as usize);
        for path in paths {
            // The paths as written count too: they are what locations begin with.
            for form in [path.canonicalize().unwrap_or_default(), path.clone()] {
                let bytes = form.as_os_str().as_encoded_bytes();
                name = name.of(xxhash_rust::xxh3::xxh3_128(bytes));
            }
        }
        Self {
            root: root.to_owned(),
            folder: root.join(format!("{:032x}", name.key())),
            verify: false,
            settle: SETTLE,
        }
    }

    /// The same, but every byte of the mail is read again, and only what has the same checksum is taken as known.
    #[must_use]
    pub fn verifying(self) -> Self {
        Self {
            verify: true,
            ..self
        }
    }

    /// The same, with another time for which a file must have been left alone to be known again without reading it: a
    /// file system whose clock ticks every few milliseconds needs no two seconds.
    #[must_use]
    pub fn settling(self, settle: Duration) -> Self {
        Self { settle, ..self }
    }

    /// The folder that holds it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Says that nothing can be remembered here.
    pub(crate) fn cannot_remember(&self, error: &io::Error) -> Trouble {
        Trouble {
            path: self.root.to_string_lossy().into_owned(),
            problem: Problem::new(format!(
                "nothing is remembered there: {error}; --cache may name another folder"
            )),
            severity: Severity::Note,
        }
    }

    /// Opens it for a scan. What cannot be opened or made is a cache that knows nothing and keeps nothing.
    pub(crate) fn open(&self, options: &Options) -> Opened {
        let seen = SystemTime::now();
        if options.numbering != Numbering::Stable {
            return Opened::nothing(self.clone(), seen);
        }
        let (lock, mut failed) = match private_folder(&self.folder)
            .and_then(|()| File::create(self.folder.join("lock")))
        {
            // Another scan may have it: that one remembers.
            Ok(lock) => (Some(lock).filter(|lock| lock.try_lock().is_ok()), None),
            Err(error) => (None, Some(error)),
        };
        let known = Known::open(&self.folder, VERSION);
        let number = known.as_ref().map_or(0, |known| known.records);
        let length = known.as_ref().map_or(0, |known| known.length);
        let path = frames::path(&self.folder, number);
        if lock.is_some() && known.is_none() {
            // Somebody may be reading in one that is of no use here: a new one takes its place.
            let _ = fs::remove_file(&path);
        }
        let appending = lock.as_ref().and_then(|_| {
            let opened = Appending::open(&path, length);
            opened.map_err(|error| failed = Some(error)).ok()
        });
        // Others that stand here are left over from a scan that was stopped.
        if appending.is_some() {
            let related = known.as_ref().and_then(|known| known.related.as_ref());
            remove_others(&self.folder, &path, related);
        }
        Opened {
            cache: self.clone(),
            seen,
            reading: File::open(&path).ok(),
            path,
            known,
            places: Places::default(),
            added: Mutex::default(),
            appending,
            failed,
            keeping: OnceLock::new(),
            _lock: lock,
        }
    }
}

/// Where records are, by the checksum of the message's bytes.
type Places = HashMap<u128, Kept, FixedState>;

/// A record and all word pairs of its message.
pub(crate) type WithPairs = (Record, Vec<u32>);

/// As what a message counts, and some of its word pairs.
pub(crate) type Counting = (Option<u128>, Vec<u32>);

/// A cache in the hands of a scan.
pub(crate) struct Opened {
    cache: Cache,
    /// When the scan began.
    seen: SystemTime,
    known: Option<Known>,
    /// The file of records.
    path: PathBuf,
    /// The same, to read in it.
    reading: Option<File>,
    /// Where the record of each message of the last scan is, by the checksum of its bytes.
    places: Places,
    /// Where those are that this scan has added.
    added: Mutex<Places>,
    /// Where new records go, if this scan may write.
    appending: Option<Appending>,
    /// Why nothing can be written, if it is not that another scan writes.
    failed: Option<io::Error>,
    /// Where it is kept how messages are related, if this scan may write.
    keeping: OnceLock<Option<Keeping>>,
    /// Held as long as this scan may write.
    _lock: Option<File>,
}

/// What is known of the files of a collection.
#[derive(Default)]
pub(crate) struct Unchanged {
    /// For each file of the collection whether it is known.
    pub(crate) files: Vec<bool>,
    /// How many of those hold no message.
    pub(crate) empty: usize,
    /// The messages of the others: where they stand, the checksum of their bytes, and where the record is.
    pub(crate) messages: Vec<(Location, u128, Place)>,
}

impl Opened {
    fn nothing(cache: Cache, seen: SystemTime) -> Self {
        Self {
            cache,
            seen,
            known: None,
            path: PathBuf::new(),
            reading: None,
            places: Places::default(),
            added: Mutex::default(),
            appending: None,
            failed: None,
            keeping: OnceLock::new(),
            _lock: None,
        }
    }

    /// Which files of the collection are as they were, and what they hold.
    pub(crate) fn unchanged(&mut self, collection: &Collection) -> Unchanged {
        let Some(known) = &self.known else {
            return Unchanged::default();
        };
        let mut unchanged = Unchanged::default();
        let mut rest = known.files.iter().peekable();
        for (path, stamp) in collection.files() {
            // Both are sorted by path.
            while rest.next_if(|file| file.path < path).is_some() {}
            let file = rest.next_if(|file| file.path == path).filter(|file| {
                !self.cache.verify
                    && file.stamp == stamp
                    && stamp.is_settled(known.seen, self.cache.settle)
            });
            unchanged.files.push(file.is_some());
            let Some(file) = file else {
                continue;
            };
            unchanged.empty += usize::from(file.messages.is_empty());
            let path: Arc<str> = path.into();
            for message in &file.messages {
                let location = Location {
                    path: Arc::clone(&path),
                    offset: message.offset,
                };
                unchanged
                    .messages
                    .push((location, message.print, message.kept.place));
            }
        }
        let messages = known.files.iter().flat_map(|file| &file.messages);
        self.places = messages.map(|m| (m.print, m.kept)).collect();
        unchanged
    }

    /// What the last scan found, if it asked the same of the same files.
    pub(crate) fn result(&self, unchanged: &Unchanged, options: &Options) -> Option<Scan> {
        let known = self.known.as_ref()?;
        let same =
            known.files.len() == unchanged.files.len() && unchanged.files.iter().all(|&file| file);
        if !same {
            return None;
        }
        let scan = known.result(asked(options))?;
        known.touch();
        Some(scan)
    }

    /// Forgets what each file held: everything has been read.
    pub(crate) fn forget_files(&mut self) {
        if let Some(known) = &mut self.known {
            known.files = Vec::new();
        }
    }

    /// The answers that comparing texts led to.
    pub(crate) fn answers(&self) -> Earlier {
        let known = self.known.as_ref();
        known.and_then(Known::answers).unwrap_or_default()
    }

    /// The file of records, to read in it what this scan has put there.
    pub(crate) fn records(&self) -> Option<File> {
        self.reading.as_ref()?.try_clone().ok()
    }

    /// Writes all records that were added; whether they are there. If not, none of them is left behind.
    pub(crate) fn finish(&self) -> bool {
        let appending = self.appending.as_ref();
        appending.is_none_or(|appending| {
            let written = appending.finish().is_ok();
            if !written {
                appending.abandon();
            }
            written
        })
    }

    /// The records of unchanged messages that stand next to each other in the file, each with its word pairs.
    pub(crate) fn load(&self, messages: &[(Location, u128, Place)]) -> Vec<Option<WithPairs>> {
        self.read_each(messages, |frame, (location, print, _)| {
            records::read(frame, location.clone(), *print)
        })
    }

    /// The files of the last scan, as far as it could read them, in the order of their paths.
    pub(crate) fn last_files(&self) -> impl Iterator<Item = LastFile<'_>> {
        let files = self.known.iter().flat_map(|known| &known.files);
        files.map(|file| LastFile::of(file, self.cache.verify))
    }

    /// What the last scan found, if it was asked the same, whatever has happened to the files since.
    pub(crate) fn last_scan(&self, options: &Options) -> Option<Scan> {
        self.known.as_ref()?.result(asked(options))
    }

    /// Whether the last scan was asked the same.
    pub(crate) fn was_asked(&self, options: &Options) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.asked == asked(options))
    }

    /// What the last scan decided, if it was asked the same.
    pub(crate) fn last_judged(&self, options: &Options) -> Option<Vec<Judged>> {
        self.known.as_ref()?.judged(asked(options))
    }

    /// How the messages of the last scan were related.
    pub(crate) fn related(&self) -> Option<Related> {
        let known = self.known.as_ref()?;
        Related::open(&known.folder, known.related.as_ref()?)
    }

    /// Where this scan keeps how messages are related, if it may write.
    pub(crate) fn keeping(&self) -> Option<&Keeping> {
        let make = || {
            self.appending.as_ref()?;
            // No two scans have the same moment: a file is not taken for that of another scan.
            let moment = self.seen.duration_since(SystemTime::UNIX_EPOCH);
            let number = moment.map_or(0, |moment| moment.as_nanos() as u64);
            Keeping::create(&self.cache.folder, number)
        };
        self.keeping.get_or_init(make).as_ref()
    }

    /// Forgets what this scan has kept of how messages are related: it begins anew.
    pub(crate) fn keep_anew(&mut self) {
        self.keeping = OnceLock::new();
    }

    /// What stays at hand of the records at these places, and whether any of it is watched for: for each in turn, `None` if it is not as it was written.
    pub(crate) fn at_hand(
        &self,
        messages: &[(Location, u128, Place)],
        watched: &Watched,
    ) -> Vec<Option<(Record, bool)>> {
        self.read_each(messages, |frame, (location, print, place)| {
            records::read_at_hand(frame, location.clone(), *print, *place, watched)
        })
    }

    /// The word pairs of the messages at these places that are watched for, and as what each counts: for each in turn, `None` if its record is not as it was written.
    pub(crate) fn having(
        &self,
        messages: &[(Location, u128, Place)],
        watched: &Watched,
    ) -> Vec<Option<Option<Counting>>> {
        self.read_each(messages, |frame, (location, print, _)| {
            records::read_having(frame, location, *print, watched)
        })
    }

    /// What `read` makes of the record of each of these messages; `None` if it is not as it was written.
    fn read_each<T>(
        &self,
        messages: &[(Location, u128, Place)],
        read: impl Fn(&[u8], &(Location, u128, Place)) -> Option<T>,
    ) -> Vec<Option<T>> {
        let places: Vec<Place> = messages.iter().map(|&(_, _, place)| place).collect();
        let mut found = Vec::new();
        found.resize_with(places.len(), || None);
        frames::read_each(&self.path, &places, |n, frame| {
            found[n] = frame.and_then(|frame| read(frame, &messages[n]));
        });
        found
    }

    /// The record of a message with these bytes, wherever it stood, its word pairs, and where the record is.
    pub(crate) fn find(
        &self,
        print: u128,
        location: &Location,
    ) -> Option<(Record, Vec<u32>, Place)> {
        let place = self.places.get(&print)?.place;
        let frame = frames::read_back(self.reading.as_ref()?, place)?;
        let (record, pairs) = records::read(&frame, location.clone(), print)?;
        Some((record, pairs, place))
    }

    /// Keeps the record of a message for the next scan; where, if it could be kept.
    pub(crate) fn keep(
        &self,
        raw: &RawMessage<'_>,
        record: &Record,
        seldom: &Seldom,
        besides: &[u32],
    ) -> Option<Place> {
        let appending = self.appending.as_ref()?;
        let frame = records::write(record, seldom, besides);
        self.add(appending, raw, record.print, &frame)
    }

    /// Keeps the record of a message that says what the one says whose record is at `first`, and of which a report shows this; where, if it could be kept.
    pub(crate) fn keep_copy(
        &self,
        raw: &RawMessage<'_>,
        record: &Record,
        shown: &Shown,
        first: Place,
    ) -> Option<Place> {
        // To the last byte the same: one record does for both.
        if let Some(kept) = lock(&self.added).get(&record.print) {
            return Some(kept.place);
        }
        let appending = self.appending.as_ref()?;
        let frame = records::write_copy(record, shown, &appending.read(first)?)?;
        self.add(appending, raw, record.print, &frame)
    }

    /// Adds the record of a message with this checksum.
    fn add(
        &self,
        appending: &Appending,
        raw: &RawMessage<'_>,
        print: u128,
        frame: &[u8],
    ) -> Option<Place> {
        let place = appending.add(frame)?;
        let quick = quick(raw);
        lock(&self.added).insert(print, Kept { place, quick });
        Some(place)
    }

    /// Keeps what this scan found for the next one. That it cannot is no reason to stop anybody; nothing is left behind then.
    ///
    /// # Errors
    /// If it cannot.
    pub(crate) fn save(
        self,
        collection: &Collection,
        prints: &[u128],
        options: &Options,
        scan: &Scan,
        answers: &Answers,
    ) -> Result<(), Trouble> {
        let Some(appending) = self.appending else {
            let trouble = self.failed.map(|error| self.cache.cannot_remember(&error));
            return trouble.map_or(Ok(()), Err);
        };
        let mut places = self.places;
        let added = self.added.into_inner();
        places.extend(added.unwrap_or_else(PoisonError::into_inner));
        let mut length = appending.finish().map_err(|error| {
            appending.abandon();
            self.cache.cannot_remember(&error)
        })?;
        let mut number = self.known.as_ref().map_or(0, |known| known.records);
        places.retain({
            let wanted: HashSet<u128, FixedState> = prints.iter().copied().collect();
            move |print, _| wanted.contains(print)
        });
        if frames::is_mostly_dead(length, places.values()) {
            let next = frames::path(&self.cache.folder, number + 1);
            let packed = frames::pack(&self.path, &next, &mut places).map_err(|error| {
                let _ = fs::remove_file(&next);
                appending.abandon();
                self.cache.cannot_remember(&error)
            })?;
            (number, length) = (number + 1, packed);
        }
        let keeping = self.keeping.into_inner().flatten();
        let known = Known {
            folder: self.cache.folder.clone(),
            file: None,
            asked: asked(options),
            records: number,
            length,
            seen: self.seen,
            related: keeping.and_then(Keeping::finish),
            files: files(collection, prints, scan, &places),
        };
        let records = frames::path(&self.cache.folder, number);
        if let Err(error) = known.write(VERSION, scan, answers) {
            // What was known before still is, and stands in what is left of the file.
            appending.abandon();
            let before = self.known.as_ref().and_then(|known| known.related.as_ref());
            remove_others(&self.cache.folder, &self.path, before);
            return Err(self.cache.cannot_remember(&error));
        }
        remove_others(&self.cache.folder, &records, known.related.as_ref());
        remove_unused(&self.cache.root, &self.cache.folder);
        Ok(())
    }
}

/// What each file held. A file that had trouble, or whose records were not kept, is left out, and so is read again.
fn files(collection: &Collection, prints: &[u128], scan: &Scan, places: &Places) -> Vec<KnownFile> {
    let both: Vec<(&Location, u128)> = scan
        .messages
        .iter()
        .map(|message| &message.location)
        .zip(prints.iter().copied())
        .collect();
    let mut rest = both.as_slice();
    let mut files = Vec::new();
    for (path, stamp) in collection.files() {
        while let Some((first, others)) = rest.split_first()
            && *first.0.path < *path
        {
            rest = others;
        }
        let count = rest
            .iter()
            .take_while(|(location, _)| *location.path == *path)
            .count();
        let (own, others) = rest.split_at(count);
        rest = others;
        let trouble = scan
            .troubles
            .binary_search_by(|t| t.path.cmp(&path))
            .is_ok();
        let messages: Option<Vec<KnownMessage>> = own
            .iter()
            .map(|(location, print)| {
                Some(KnownMessage {
                    offset: location.offset,
                    print: *print,
                    kept: *places.get(print)?,
                })
            })
            .collect();
        if let Some(messages) = messages.filter(|_| !trouble) {
            files.push(KnownFile {
                path,
                stamp,
                messages,
            });
        }
    }
    files
}

/// A number for everything a result depends on besides the mail.
fn asked(options: &Options) -> u128 {
    // Memory makes a difference to the time alone.
    let options = Options {
        memory: None,
        // In which folder a message is does not depend on the other folders there are.
        keep: options.keep.iter().map(KeepRule::as_written).collect(),
        ..options.clone()
    };
    Question::new("options")
        .of(xxhash_rust::xxh3::xxh3_128(
            format!("{options:?}").as_bytes(),
        ))
        .key()
}

/// Subjects, senders and passages of mail are for its owner alone.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes files that nothing leads to.
fn remove_others(folder: &Path, records: &Path, related: Option<&Pieces>) {
    let related = related.map(|pieces| related::path(folder, pieces.number));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str());
        let begins = |with: &str| name.is_some_and(|name| name.starts_with(with));
        let left_over = path != *records && begins("records-");
        if left_over || (Some(&path) != related.as_ref() && begins("related-")) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the caches that nobody has used for a long time.
fn remove_unused(root: &Path, own: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for folder in entries.map(|entry| entry.path()).filter(|path| path != own) {
        let is_ours = folder
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit()));
        let used = fs::metadata(folder.join(known::NAME)).and_then(|known| known.modified());
        let unused = used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since > UNUSED));
        if is_ours && unused {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use twicetold_methods::winnow::Winnow;
    use twicetold_source::Collection;

    use super::{VERSION, records};
    use crate::aside::Stored;
    use crate::options::Options;
    use crate::progress::Quiet;
    use crate::record::{Record, print, record};
    use crate::scan::scan;
    use crate::seldom::{Seldom, Shown};

    /// What is remembered of the mails of this project, and what is found among them, as one number. When it changes, so must
    /// [`VERSION`]: a cache written before would be believed.
    const REMEMBERED: (u32, u64) = (8, 3_631_519_582_757_843_548);

    /// What was written is the record, with its word pairs in any order.
    fn assert_comes_back(record: &Record, mut pairs: Vec<u32>, back: Option<(Record, Vec<u32>)>) {
        let (back, mut own) = back.expect("a record");
        assert_eq!(format!("{back:?}"), format!("{record:?}"));
        pairs.sort_unstable();
        own.sort_unstable();
        assert_eq!(own, pairs);
    }

    #[test]
    fn the_version_changes_with_everything_that_is_remembered() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let paths = ["corpus", "sample"].map(|name| root.join(name));
        let collection = Collection::open(&paths);
        let options = Options::default();
        let winnow = Winnow {
            window: options.window,
        };
        let mut sum: u64 = 0;
        for task in collection.tasks() {
            task.run(
                &mut |raw| {
                    let (record, _, pairs) = record(&raw, print(&raw), winnow, options.short);
                    let Stored::Here(seldom) = &record.said.seldom else {
                        return;
                    };
                    let bytes = records::write(&record, seldom, &pairs.besides);
                    let back = records::read(&bytes, raw.location.clone(), record.print);
                    assert_comes_back(&record, pairs.all, back);
                    // Whoever says the same, at another time in answer to something else: it is written as if it had been read.
                    let first = Record {
                        date: Some(7),
                        references: [1, 2, 3].into(),
                        ..record.clone()
                    };
                    let shown = Shown::lost();
                    let first_seldom = Seldom {
                        shown,
                        ..(**seldom).clone()
                    };
                    let first = records::write(&first, &first_seldom, &pairs.besides);
                    let copied = records::write_copy(&record, &seldom.shown, &first);
                    assert!(copied.as_ref() == Some(&bytes), "{}", raw.location);
                    let cut = &first[..first.len() / 2];
                    assert_ne!(
                        records::write_copy(&record, &seldom.shown, cut).as_ref(),
                        Some(&bytes)
                    );
                    sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(&bytes));
                },
                &mut |_| {},
            );
        }
        for message in scan(&collection, &options, &Quiet).messages {
            let found = format!("{:?}{:?}", message.verdict, message.residue);
            sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(found.as_bytes()));
        }
        assert_eq!(
            REMEMBERED,
            (VERSION, sum),
            "records or verdicts have changed: raise VERSION; or mails were added: put the new number here"
        );
    }
}
