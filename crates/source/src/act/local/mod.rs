//! Hands for mailboxes that are files and folders.

mod files;
mod flags;
mod how_far;
mod index;
mod late;
mod lock;
mod moving;
mod moving_back;
mod place;
mod rewrite;
mod take_back;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use twicetold_model::{Form, Location, Permanence, RawMessage};

use super::apply::{BATCH, BATCH_BYTES};
use super::disk::{Stamp, Whole, remove_if_there};
use super::step::{Change, Files, Move, Step, Touched};
use super::{Action, Failure, Hands, Place as ServerPlace, Prepared, Ready, Settled, Watch};
use crate::checksum::Checksum;
use crate::judge::HEAD;
use crate::listing::{Entry, Place, shown};
use crate::permanence::permanence_of_place;
use crate::plan::{Named, Plan, Removal};
use crate::reread::message_at;
use crate::task::{Contained, contained, read_file};
use crate::walk::is_message_folder;
use flags::Flags;
use index::Index;
use late::Late;
use lock::{Lock, lock_path};

/// How much of a message in an mbox is searched for flags.
const SEARCHED_HEAD: u64 = 64 << 10;

/// What the user wants done, and how.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// What to do with messages that may go.
    pub action: Action,
    /// The name of the trash folder.
    pub trash: OsString,
    /// The folder to move to.
    pub to: Option<PathBuf>,
    /// The label to give.
    pub label: String,
    /// Where deleted messages are kept until the run is forgotten.
    pub store: PathBuf,
    /// How long to wait for a mailbox that another program has locked.
    pub patience: Duration,
    /// What is written into lock files: the number of the process first, as is the custom, then whatever tells runs apart.
    pub token: String,
}

/// Hands for mailboxes that are files and folders.
pub struct Local<'p> {
    plan: Option<&'p Plan>,
    roots: Vec<PathBuf>,
    wishes: Wishes,
    /// Files that were renamed by this run: the name in the plan, the name now.
    renamed: HashMap<PathBuf, PathBuf>,
    /// Names that are going to be used.
    taken: HashSet<PathBuf>,
    /// What files were when they were read.
    stamps: HashMap<PathBuf, Stamp>,
    /// The files of a Maildir folder by the name of the message.
    names: HashMap<PathBuf, HashMap<String, PathBuf>>,
    indexes: HashMap<PathBuf, Index>,
    held: Option<Held>,
    /// Flags that are to go over to messages in files that are not held.
    owed: BTreeMap<PathBuf, Vec<Owed>>,
    /// Files of messages that stay, which are to get flags when all groups are done.
    owed_moves: Vec<(Touched, Move)>,
    /// Files that were replaced.
    late: Vec<Late>,
}

/// A file of many messages that is being worked on.
struct Held {
    path: PathBuf,
    index: Index,
    /// `None` if it is only looked at.
    lock: Option<Lock>,
    /// Another file has its name now.
    replaced: bool,
}

/// Flags that are to go over to a message in an mbox.
struct Owed {
    message: Touched,
    flags: Flags,
}

/// Where a message was found.
#[derive(Debug)]
pub struct Spot {
    path: PathBuf,
    kind: Kind,
    flags: Flags,
    touched: Touched,
}

#[derive(Debug)]
enum Kind {
    /// It is a file.
    File {
        whole: Whole,
        /// The Maildir folder in whose `cur` or `new` it lies.
        maildir: Option<PathBuf>,
        /// The path is a link to the file.
        linked: bool,
    },
    /// It is inside a file, with this number.
    Inside { number: usize },
}

impl<'p> Local<'p> {
    /// Hands that can carry out a plan.
    pub fn new(plan: &'p Plan, wishes: Wishes) -> Self {
        let roots = plan.roots().into_iter().filter(|root| root.is_dir());
        Self {
            plan: Some(plan),
            roots: roots.collect(),
            ..Self::without_plan(wishes)
        }
    }

    /// Hands that can settle and undo.
    pub fn without_plan(wishes: Wishes) -> Self {
        Self {
            plan: None,
            roots: Vec::new(),
            wishes,
            renamed: HashMap::new(),
            taken: HashSet::new(),
            stamps: HashMap::new(),
            names: HashMap::new(),
            indexes: HashMap::new(),
            held: None,
            owed: BTreeMap::new(),
            owed_moves: Vec::new(),
            late: Vec::new(),
        }
    }

    /// Why a message is no reason to let another one go, if it is about to go itself: it lies in
    /// the trash by now, or was marked deleted since the scan.
    pub(super) fn is_leaving(&self, witness: &Spot) -> Option<Failure> {
        let path = witness.path.display();
        if self.wishes.is_trash(&witness.path) {
            return Some(Failure::new(
                format!("what it says stands in {path}, which lies in the trash"),
                "scan without the trash folder",
            ));
        }
        // Its folder is what it was; its name says more than it did if flags were set since.
        let location = &witness.touched.location;
        let renamed = match (location.offset, witness.path.file_name()) {
            (None, Some(name)) => Location {
                path: with_name(&location.path, &shown(name)).into(),
                offset: None,
            },
            _ => location.clone(),
        };
        let transient = location.offset.is_none()
            && permanence_of_place(&renamed, Form::Mail) == Permanence::Transient;
        (witness.flags.deleted || transient).then(|| {
            Failure::new(
                format!(
                    "{path} holds what it says, and is marked deleted, a draft, or in the trash"
                ),
                "take the mark away in your mail program, or scan again for a new plan",
            )
        })
    }

    fn path(&self, named: &Named) -> PathBuf {
        self.plan
            .map_or_else(PathBuf::new, |plan| plan.path(&named.location))
    }

    /// The file that a plan means: in a Maildir, names change when a message is read.
    fn current(&mut self, path: &Path) -> PathBuf {
        let now = self
            .renamed
            .get(path)
            .cloned()
            .unwrap_or_else(|| path.to_path_buf());
        if now.exists() || !path.parent().is_some_and(is_message_folder) {
            return now;
        }
        find_renamed(&now, &mut self.names).unwrap_or(now)
    }

    fn read_file(&mut self, named: &Named) -> Result<(RawMessage<'static>, Spot), Failure> {
        let path = self.path(named);
        let path = self.current(&path);
        let failed = |error: &std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Failure::new(
                format!("{} is no longer there", path.display()),
                "scan again for a new plan",
            ),
            _ => Failure::new(
                format!("{} cannot be read: {error}", path.display()),
                "check its rights",
            ),
        };
        let linked = fs::symlink_metadata(&path)
            .map_err(|error| failed(&error))?
            .is_symlink();
        let metadata = fs::metadata(&path).map_err(|error| failed(&error))?;
        let mut file = Vec::new();
        read_file(&path, metadata.len(), &mut file).map_err(|error| failed(&error))?;
        let whole = Whole {
            bytes: file.len() as u64,
            checksum: Checksum::of(&file),
        };
        let in_maildir = path.parent().is_some_and(is_message_folder);
        let entry = entry(&path, in_maildir, metadata.len());
        let Contained::One(form, range) = contained(&entry, &file) else {
            return Err(Failure::new(
                format!("{} no longer holds one message", path.display()),
                "scan again for a new plan",
            ));
        };
        self.stamps.insert(path.clone(), Stamp::of(&metadata));
        file.truncate(range.end);
        file.drain(..range.start);
        let maildir = path
            .parent()
            .and_then(Path::parent)
            .filter(|_| in_maildir)
            .map(Path::to_path_buf);
        let flags = match (&maildir, path.file_name().and_then(|name| name.to_str())) {
            (Some(maildir), Some(name)) => flags::of_name(name, &flags::keywords_of(maildir)),
            _ => Flags::default(),
        };
        let raw = RawMessage {
            location: named.location.clone(),
            form,
            bytes: Cow::Owned(file),
        };
        let spot = Spot {
            kind: Kind::File {
                whole,
                maildir,
                linked,
            },
            flags,
            touched: touched(named),
            path,
        };
        Ok((raw, spot))
    }

    fn read_inside(
        &mut self,
        named: &Named,
        offset: u64,
    ) -> Result<(RawMessage<'static>, Spot), Failure> {
        let path = self.path(named);
        let failed = |error: &std::io::Error| {
            Failure::new(
                format!("{} cannot be read: {error}", path.display()),
                "check that it is there and that you may read it, or scan again",
            )
        };
        let mut own;
        let metadata = fs::metadata(&path).map_err(|error| failed(&error))?;
        let held = self
            .held
            .as_mut()
            .filter(|held| held.index.stamp.same_file(&metadata));
        let (index, file) = match held {
            Some(Held {
                index,
                lock: Some(lock),
                ..
            }) => (&*index, &mut lock.file),
            _ => {
                if !self
                    .indexes
                    .get(&path)
                    .is_some_and(|index| index.stamp == Stamp::of(&metadata))
                {
                    self.indexes.insert(path.clone(), Index::of(&path)?);
                }
                let Some(index) = self.indexes.get(&path) else {
                    return Err(Failure::new("it is no longer there", "scan again"));
                };
                own = File::open(&path).map_err(|error| failed(&error))?;
                (index, &mut own)
            }
        };
        let Some(number) = index.find(offset, named.checksum) else {
            return Err(Failure::new(
                format!("it is no longer in {}", path.display()),
                "the mailbox has changed since the scan; scan again for a new plan",
            ));
        };
        let (start, length) = index.stretch(number);
        let bytes = message_at(file, start, index.container).map_err(|error| failed(&error))?;
        let mut head = Vec::new();
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.take(length.min(SEARCHED_HEAD)).read_to_end(&mut head))
            .map_err(|error| failed(&error))?;
        let raw = RawMessage {
            location: named.location.clone(),
            form: index.container.form(),
            bytes: Cow::Owned(bytes),
        };
        let spot = Spot {
            kind: Kind::Inside { number },
            flags: flags::of_head(&head),
            touched: touched(named),
            path,
        };
        Ok((raw, spot))
    }

    /// Locks a file of many messages and makes sure that what is known about it still holds.
    fn hold_file(&mut self, path: &Path, only_looking: bool) -> Result<(), Failure> {
        self.release();
        for _ in 0..3 {
            // Read before it is locked: whoever reads it later must do so through the lock's handle.
            let index = Index::of(path)?;
            if only_looking {
                self.indexes.insert(path.to_path_buf(), index.clone());
                self.held = Some(Held {
                    path: path.to_path_buf(),
                    index,
                    lock: None,
                    replaced: false,
                });
                return Ok(());
            }
            let lock = Lock::take(path, &self.wishes.token, self.wishes.patience)?;
            let now = lock.file.metadata().map(|now| Stamp::of(&now));
            if now.is_ok_and(|now| now == index.stamp) {
                self.held = Some(Held {
                    path: path.to_path_buf(),
                    index,
                    lock: Some(lock),
                    replaced: false,
                });
                return Ok(());
            }
        }
        Err(Failure::new(
            format!("{} keeps changing", path.display()),
            "wait until mail has been delivered, and start again",
        ))
    }
}

/// These hands reach no server; whoever has journals of servers has other hands as well.
fn not_here() -> Settled {
    Settled {
        unknown: Some(Failure::new(
            "it lies on a server",
            "use a program that can reach mail accounts",
        )),
        ..Settled::default()
    }
}

/// How a file in this place is to be read.
fn entry(path: &Path, in_maildir: bool, size: u64) -> Entry {
    Entry {
        folder: 0,
        name: path.as_os_str().to_owned(),
        stamp: crate::Stamp {
            size,
            ..crate::Stamp::default()
        },
        place: if in_maildir {
            Place::Maildir
        } else {
            Place::Named
        },
        container: None,
    }
}

fn touched(named: &Named) -> Touched {
    Touched {
        location: named.location.clone(),
        bytes: named.bytes,
        checksum: named.checksum,
        carried: false,
    }
}

/// A path with another name at its end.
fn with_name(path: &str, name: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/{name}")
}

/// Looks for a message of a Maildir under another name: its flags changed, or it went from `new` to `cur`.
fn find_renamed(
    path: &Path,
    names: &mut HashMap<PathBuf, HashMap<String, PathBuf>>,
) -> Option<PathBuf> {
    let maildir = path.parent().filter(|f| is_message_folder(f))?.parent()?;
    let base = flags::split_name(path.file_name()?.to_str()?).0.to_owned();
    if let Some(found) = names.get(maildir).and_then(|known| known.get(&base))
        && found.exists()
    {
        return Some(found.clone());
    }
    let mut listed = HashMap::new();
    for part in ["new", "cur"] {
        let Ok(entries) = fs::read_dir(maildir.join(part)) else {
            continue;
        };
        for entry in entries.flatten() {
            if let Some(name) = entry.file_name().to_str() {
                listed.insert(flags::split_name(name).0.to_owned(), entry.path());
            }
        }
    }
    let found = listed.get(&base).cloned();
    names.insert(maildir.to_path_buf(), listed);
    found
}

impl Hands for Local<'_> {
    type Spot = Spot;

    fn groups(&self, chosen: &[usize]) -> Vec<Vec<usize>> {
        let Some(plan) = self.plan else {
            return Vec::new();
        };
        let mut inside: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let (mut files, mut bytes) = (Vec::new(), 0);
        for &number in chosen {
            let Some(removal) = plan.removals.get(number) else {
                continue;
            };
            let location = &removal.message.location;
            if location.offset.is_some() {
                inside.entry(&location.path).or_default().push(number);
                continue;
            }
            files.push(number);
            bytes += removal.message.bytes;
            if files.len() >= BATCH || bytes >= BATCH_BYTES {
                groups.push(std::mem::take(&mut files));
                bytes = 0;
            }
        }
        groups.push(files);
        groups.extend(inside.into_values());
        groups.retain(|group| !group.is_empty());
        groups
    }

    fn lock_file(&self, group: &[&Removal]) -> Option<(PathBuf, String)> {
        let message = &group.first()?.message;
        message.location.offset?;
        Some((lock_path(&self.path(message)), self.wishes.token.clone()))
    }

    fn hold(&mut self, group: &[&Removal], only_looking: bool) -> Result<(), Failure> {
        match group.first() {
            Some(first) if first.message.location.offset.is_some() => {
                let path = self.path(&first.message);
                let linked = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
                if linked {
                    return Err(Failure::new(
                        format!("{} is a link to another file", path.display()),
                        "scan the file itself",
                    ));
                }
                self.hold_file(&path, only_looking)
            }
            _ => Ok(()),
        }
    }

    fn release(&mut self) {
        let Some(held) = self.held.take() else {
            return;
        };
        if let (true, Some(lock)) = (held.replaced, &held.lock)
            && let Ok(file) = lock.file.try_clone()
        {
            let late = Late::new(held.path.clone(), file, held.index.end);
            self.late.push(late);
            // So many files may be open; the first ones have had time enough.
            if self.late.len() > late::MOST {
                self.late.remove(0);
            }
        }
    }

    fn finish(&mut self) -> Vec<String> {
        let late = std::mem::take(&mut self.late);
        late::rescue(late, &self.wishes.token, self.wishes.patience)
    }

    fn read(&mut self, named: &Named) -> Result<(RawMessage<'static>, Spot), Failure> {
        match named.location.offset {
            None => self.read_file(named),
            Some(offset) => self.read_inside(named, offset),
        }
    }

    fn prepare<'p>(&mut self, ready: Vec<Ready<'p, Spot>>) -> Result<Prepared<'p>, Failure> {
        let mut prepared = Prepared::default();
        let mut fit = Vec::new();
        for ready in ready {
            let mut witnesses = ready.witnesses.iter();
            match witnesses.find_map(|witness| self.is_leaving(witness)) {
                Some(failure) => prepared.refused.push((ready.removal, failure)),
                None => fit.push(ready),
            }
        }
        if fit.is_empty() {
            return Ok(prepared);
        }
        if self.held.is_some() {
            self.prepare_rewrite(fit, &mut prepared)?;
        } else {
            self.prepare_files(fit, &mut prepared);
        }
        Ok(prepared)
    }

    fn owes(&self) -> Option<Option<(PathBuf, String)>> {
        if !self.owed_moves.is_empty() {
            return Some(None);
        }
        let (path, _) = self.owed.first_key_value()?;
        Some(Some((lock_path(path), self.wishes.token.clone())))
    }

    fn remainder(&mut self) -> Option<Result<Step, Failure>> {
        if !self.owed_moves.is_empty() {
            let moves = std::mem::take(&mut self.owed_moves);
            let changes = moves.into_iter().map(|(message, one)| Change {
                message,
                moves: vec![one],
            });
            return Some(Ok(Step::Files(Files {
                made: Vec::new(),
                changes: changes.collect(),
            })));
        }
        let (path, owed) = self.owed.pop_first()?;
        let step = self.prepare_owed(&path, owed).map_err(|failure| {
            Failure::new(
                format!(
                    "flags could not be carried to messages in {}: {}",
                    path.display(),
                    failure.what
                ),
                failure.next,
            )
        });
        step.transpose()
    }

    fn carry_out(&mut self, step: &Step, watch: &dyn Watch) -> Settled {
        match step {
            Step::Files(files) => self.carry_out_files(files, watch),
            Step::Rewrite(rewrite) => self.carry_out_rewrite(rewrite, watch),
            Step::Server(_) => not_here(),
        }
    }

    fn settle(&mut self, step: &Step, _places: &[ServerPlace]) -> Settled {
        match step {
            Step::Files(files) => how_far::settle(files),
            Step::Rewrite(rewrite) => rewrite::settle(rewrite),
            Step::Server(_) => not_here(),
        }
    }

    fn lock_file_of(&self, step: &Step) -> Option<(PathBuf, String)> {
        match step {
            Step::Files(_) | Step::Server(_) => None,
            Step::Rewrite(rewrite) => {
                Some((lock_path(&rewrite.mailbox), self.wishes.token.clone()))
            }
        }
    }

    fn take_back(
        &mut self,
        step: &Step,
        out: &[usize],
        _places: &[ServerPlace],
        watch: &dyn Watch,
    ) -> Settled {
        match step {
            Step::Files(files) => moving_back::take_back(files, out, watch),
            Step::Rewrite(rewrite) => self.take_back_rewrite(rewrite, watch),
            Step::Server(_) => not_here(),
        }
    }

    fn unlock(&mut self, path: &Path, token: &str) {
        // If it cannot be removed, whoever locks next will name it.
        let _ = remove_if_there(&lock::draft(path, token));
        let mut found = Vec::new();
        let ours = File::open(path)
            .and_then(|file| file.take(HEAD as u64).read_to_end(&mut found))
            .is_ok_and(|_| found == token.as_bytes());
        if ours {
            let _ = remove_if_there(path);
        }
    }
}
