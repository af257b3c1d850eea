//! The file of records: one behind the other, each with its checksum.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;
use twicetold_source::{fill_at, read_exact_at, write_all_at};
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{Reader, Writer};
use super::known::Kept;

/// What stands before each record: the checksum of its bytes.
const HEAD: usize = 8;
/// Records that stand closer than this are read together.
const GAP: u64 = 64 << 10;
/// The file is packed if it holds more than this besides twice what is used.
const SLACK: u64 = 1 << 20;

/// Where a record is: in twelve bytes, since there is one for every message.
#[repr(Rust, packed(4))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) at: u64,
    pub(super) length: u32,
}

impl Place {
    pub(super) fn write(self, out: &mut Writer) {
        out.number(self.at);
        out.number(u64::from(self.length));
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            at: from.number()?,
            length: from.small()?,
        })
    }

    fn end(self) -> u64 {
        self.at.saturating_add(u64::from(self.length))
    }
}

/// The file with this number.
pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("records-{number}"))
}

/// A file of records that is being added to, by several threads at the same time.
#[derive(Debug)]
pub(crate) struct Appending {
    file: File,
    filling: Mutex<Filling>,
    failed: AtomicBool,
    /// What could not be written, and where it was to stand.
    unwritten: Mutex<Vec<(u64, Vec<u8>)>>,
    /// How long the file was before.
    before: u64,
}

/// What is to be written behind what has been written.
#[derive(Debug)]
struct Filling {
    at: u64,
    bytes: Vec<u8>,
    /// Nothing is added any more.
    finished: bool,
}

/// So many bytes are written at once.
const WRITTEN: usize = 1 << 20;

impl Appending {
    /// Makes a new file, for its owner alone; fails if there is one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self::to(options.open(path)?))
    }

    /// Writes to a file that is empty.
    pub(crate) fn to(file: File) -> Self {
        Self::behind(file, 0)
    }

    fn behind(file: File, length: u64) -> Self {
        Self {
            file,
            filling: Mutex::new(Filling {
                at: length,
                bytes: Vec::new(),
                finished: false,
            }),
            failed: AtomicBool::new(false),
            unwritten: Mutex::default(),
            before: length,
        }
    }

    /// Opens the file to write behind its first `length` bytes; what stands there is left over and goes.
    pub(super) fn open(path: &Path, length: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        // Shorter than it should be: its records will fail their checksums, and be written again behind it.
        file.set_len(length)?;
        Ok(Self::behind(file, length))
    }

    fn filling(&self) -> MutexGuard<'_, Filling> {
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record.
    pub(crate) fn add(&self, record: &[u8]) -> Option<Place> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let length = u32::try_from(HEAD + record.len()).ok()?;
        let sum = xxh3_64(record).to_le_bytes();
        let (place, full) = {
            let mut filling = self.filling();
            if filling.finished {
                return None;
            }
            let at = filling.at + filling.bytes.len() as u64;
            filling.bytes.extend_from_slice(&sum);
            filling.bytes.extend_from_slice(record);
            let is_full = filling.bytes.len() >= WRITTEN;
            (Place { at, length }, is_full.then(|| filling.take()))
        };
        // Others go on while this is written.
        if let Some((bytes, at)) = full {
            let room = self.write(bytes, at);
            // The room serves again, unless somebody has made another one.
            self.filling().reuse(room);
        }
        (!self.failed.load(Ordering::Relaxed)).then_some(place)
    }

    /// Writes, or keeps what cannot be written; the room that is free then.
    fn write(&self, bytes: Vec<u8>, at: u64) -> Vec<u8> {
        match write_all_at(&self.file, &bytes, at) {
            Ok(()) => bytes,
            Err(_) => {
                self.failed.store(true, Ordering::Relaxed);
                self.unwritten().push((at, bytes));
                Vec::new()
            }
        }
    }

    fn unwritten(&self) -> MutexGuard<'_, Vec<(u64, Vec<u8>)>> {
        self.unwritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A record that was added before it was known that it cannot be written.
    pub(crate) fn kept(&self, place: Place) -> Option<Vec<u8>> {
        let unwritten = self.unwritten();
        let frame = unwritten.iter().find_map(|(at, bytes)| {
            let from = usize::try_from(place.at.checked_sub(*at)?).ok()?;
            bytes.get(from..from.checked_add(place.length as usize)?)
        });
        checked(frame?, place).map(<[u8]>::to_vec)
    }

    /// A record that was added; nothing while it is being written.
    pub(crate) fn read(&self, place: Place) -> Option<Vec<u8>> {
        {
            let filling = self.filling();
            if let Some(from) = place.at.checked_sub(filling.at) {
                let from = usize::try_from(from).ok()?;
                let frame = filling.bytes.get(from..)?.get(..place.length as usize)?;
                return checked(frame, place).map(<[u8]>::to_vec);
            }
        }
        read_back(&self.file, place)
    }

    /// Writes what is left; how long the file is, when all of it is there. Nothing can be added from here on.
    pub(crate) fn finish(&self) -> io::Result<u64> {
        let (bytes, at) = {
            let mut filling = self.filling();
            filling.finished = true;
            filling.take()
        };
        let end = at + bytes.len() as u64;
        self.write(bytes, at);
        match self.failed.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::WriteZero.into()),
            false => Ok(end),
        }
    }

    /// Takes back everything that was added.
    pub(super) fn abandon(&self) {
        let _ = self.file.set_len(self.before);
    }
}

impl Filling {
    /// What is to be written, and where.
    fn take(&mut self) -> (Vec<u8>, u64) {
        let at = self.at;
        self.at += self.bytes.len() as u64;
        (std::mem::take(&mut self.bytes), at)
    }

    fn reuse(&mut self, mut room: Vec<u8>) {
        if self.bytes.capacity() == 0 {
            room.clear();
            self.bytes = room;
        }
    }
}

/// Reads one record; several threads may do so at the same time.
pub(crate) fn read_back(file: &File, place: Place) -> Option<Vec<u8>> {
    let mut frame = vec![0; place.length as usize];
    read_exact_at(file, &mut frame, place.at).ok()?;
    checked(&frame, place)?;
    frame.drain(..HEAD);
    Some(frame)
}

/// A stretch of a file that was read lately: whoever asks for records that stand one behind the other finds most of them in it.
#[derive(Debug, Default)]
pub(crate) struct Stretch {
    at: u64,
    /// How many of the bytes are of the file.
    length: usize,
    bytes: Vec<u8>,
}

/// How long one is, or as long as the record that is asked for.
const STRETCH: usize = 64 << 10;

impl Stretch {
    /// The record at a place of the file, if it is as it was written. All that is asked for stands in one file, to which nothing is added meanwhile.
    pub(crate) fn record(&mut self, file: &File, place: Place) -> Option<&[u8]> {
        let wanted = place.length as usize;
        if place.at < self.at || place.end() > self.at + self.length as u64 {
            let length = wanted.max(STRETCH);
            self.bytes.resize(self.bytes.len().max(length), 0);
            self.at = place.at;
            // Nothing, if it cannot be read.
            self.length = 0;
            self.length = fill_at(file, &mut self.bytes[..length], place.at).ok()?;
        }
        let from = usize::try_from(place.at - self.at).ok()?;
        let read = self.bytes.get(..self.length)?;
        checked(read.get(from..)?.get(..wanted)?, place)
    }
}

/// Reads many records, each known by its number among them; those that stand close together are read at once. What is not as it was written is `None`.
pub(super) fn read_each(path: &Path, places: &[Place], mut each: impl FnMut(usize, Option<&[u8]>)) {
    let Ok(mut file) = File::open(path) else {
        (0..places.len()).for_each(|n| each(n, None));
        return;
    };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&n| places[n].at);
    let mut block = Vec::new();
    for run in order.chunk_by(|&a, &b| places[b].at <= places[a].end().saturating_add(GAP)) {
        let start = places[run[0]].at;
        let end = run.iter().map(|&n| places[n].end()).max().unwrap_or(start);
        block.clear();
        // What cannot be read is missing in the block.
        let _ = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| (&mut file).take(end - start).read_to_end(&mut block));
        for &n in run {
            let from = (places[n].at - start) as usize;
            let frame = block.get(from..from + places[n].length as usize);
            each(n, frame.and_then(|frame| checked(frame, places[n])));
        }
    }
}

/// The record in a frame, if it is the one that was written.
fn checked(frame: &[u8], place: Place) -> Option<&[u8]> {
    let (sum, record) = frame.split_first_chunk::<HEAD>()?;
    (frame.len() == place.length as usize && xxh3_64(record) == u64::from_le_bytes(*sum))
        .then_some(record)
}

/// Whether most of a file is records that nobody wants any more.
pub(super) fn is_mostly_dead<'p>(length: u64, wanted: impl Iterator<Item = &'p Kept>) -> bool {
    let alive: u64 = wanted.map(|kept| u64::from(kept.place.length)).sum();
    length > 2 * alive + SLACK
}

/// Copies the records that are wanted to a new file; says where they are there, and how long it is.
pub(super) fn pack(
    from: &Path,
    to: &Path,
    places: &mut HashMap<u128, Kept, FixedState>,
) -> io::Result<u64> {
    let old = File::open(from)?;
    let new = Appending::open(to, 0)?;
    let mut order: Vec<u128> = places.keys().copied().collect();
    order.sort_by_key(|print| (places[print].place.at, *print));
    let mut packed = HashMap::default();
    for print in order {
        let kept = places[&print];
        let record = read_back(&old, kept.place);
        if let Some(place) = record.and_then(|record| new.add(&record)) {
            packed.insert(print, Kept { place, ..kept });
        }
    }
    *places = packed;
    new.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_added_by_many_are_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let appending = Appending::create(&path).unwrap();
        let record = |n: usize| vec![n as u8; n * 37 % 60_000];
        let places: Vec<Vec<(usize, Place)>> = std::thread::scope(|scope| {
            let add = |first: usize| {
                let each = (first..400).step_by(4);
                each.map(|n| (n, appending.add(&record(n)).unwrap()))
                    .collect()
            };
            let threads: Vec<_> = (0..4)
                .map(|first| scope.spawn(move || add(first)))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let length = appending.finish().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
        let file = File::open(&path).unwrap();
        let mut stretch = Stretch::default();
        for (n, place) in places.into_iter().flatten() {
            assert_eq!(read_back(&file, place), Some(record(n)), "{n}");
            assert_eq!(stretch.record(&file, place), Some(&*record(n)), "{n}");
            let wrong = Place {
                at: place.at + 1,
                ..place
            };
            assert_eq!(stretch.record(&file, wrong), None, "{n}");
        }
        assert_eq!(appending.add(b"late"), None);
        assert!(Appending::create(&path).is_err(), "there is one");
    }

    #[test]
    fn what_cannot_be_written_is_told_and_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        std::fs::write(&path, b"before").unwrap();
        // A file that cannot be written to.
        let appending = Appending::behind(File::open(&path).unwrap(), 6);
        let short = appending.add(b"short").expect("it waits to be written");
        assert_eq!(appending.kept(short), None);
        assert_eq!(appending.add(&vec![0; WRITTEN]), None);
        assert_eq!(appending.add(b"more"), None);
        assert_eq!(appending.kept(short).as_deref(), Some(&b"short"[..]));
        let elsewhere = [short.at - 1, short.at + 1, u64::MAX];
        let [before, behind, far] = elsewhere.map(|at| Place { at, ..short });
        assert_eq!(
            [before, behind, far].map(|p| appending.kept(p)),
            [None, None, None]
        );
        assert!(appending.finish().is_err());
        let appending = Appending::open(&path, 6).unwrap();
        appending.add(&vec![0; WRITTEN]).unwrap();
        appending.abandon();
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
    }
}
