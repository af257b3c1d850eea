//! Where is the mail?
//!
//! Finds the messages below the paths a user names, whatever form they are kept in, and hands
//! their bytes out. It never judges, and reading never changes anything. Only [`act`] changes mailboxes: it carries
//! out a [`Plan`] and undoes it.
//!
//! | kept as | recognised by | a message's location |
//! |---|---|---|
//! | Maildir, with Maildir++ folders and nested ones | a folder `cur` | the file |
//! | mbox of every flavour | a first line `From …` with a date or a header below | the file and the offset of its `From ` line |
//! | JSON lines | `.jsonl`, `.ndjson`, or a first line that is an object with a `text` | the file and the offset of its line |
//! | Reuters SGML | a first element `<REUTERS … NEWID=…>` | the file and the offset of that tag |
//! | one message per file, with any name or none | headers known from mail, or `.eml` | the file |
//! | one text per file | the absence of NUL bytes | the file |
//!
//! Opening a [`Collection`] lists folders but hardly opens files: what a file holds is seen when it
//! is read. Files are read by the threads that run the [`Task`]s; only an mbox, a file of JSON
//! lines or of SGML that is larger than 4 MB is read in blocks by whoever asks for the next task.
//! Messages of more than 512 MB are passed over, and told.

#[cfg(unix)]
pub mod act;
mod at;
mod checksum;
mod container;
mod discarded;
mod encoding;
mod folder_name;
mod folders;
mod headers;
mod held;
mod identity;
mod judge;
mod lines;
mod listing;
mod mbox;
mod own;
mod permanence;
mod plan;
mod portion;
mod reread;
mod sgml;
mod stamp;
mod stream;
mod task;
mod tasks;
mod trouble;
mod walk;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use twicetold_model::{Location, RawMessage};

pub use at::{fill_at, read_exact_at, write_all_at};
pub use checksum::Checksum;
pub use discarded::{LeftOut, can_be_trash, can_be_trash_on_server};
pub use folder_name::{folder_names, is_in_folder};
pub use held::Pile;
pub use listing::{Mailbox, MailboxKind, shown_path};
pub use permanence::{is_marked_transient, permanence, permanence_of_place};
pub use plan::{Head, Named, PLAN_VERSION, Plan, PlanError, Removal, plan_path};
pub use portion::{Portion, messages_in};
pub use reread::Again;
pub use stamp::Stamp;
pub use task::Task;
pub use trouble::{Severity, Trouble};

use held::Held;
use listing::Listing;

/// The name of the folder into which removed messages are moved. Collections leave it out, unless it is named itself.
pub const TRASH: &str = ".Twicetold-Trash";

/// Files of many messages that are larger than this are read in blocks.
const STREAM_ABOVE: u64 = 4 << 20;

/// The part of a file in a Maildir, or of a message on a server, that is the message: some programs leave a `From ` line before it.
pub fn message_within(file: &[u8]) -> std::ops::Range<usize> {
    judge::message_in(file, false)
}

/// The path of a location, as the system knows it.
pub fn path_of(location: &Location) -> PathBuf {
    listing::real_path(&location.path)
}

/// Every message below the paths given, found but not yet read.
#[derive(Debug)]
pub struct Collection {
    listing: Arc<Listing>,
    held: Arc<Held>,
    mailboxes: Vec<Mailbox>,
    troubles: Vec<Trouble>,
    passed_over: usize,
    /// The paths that were given, as they are shown.
    given: Vec<String>,
}

impl Collection {
    /// Looks at the paths, recognises what they are, and lists what is below them.
    ///
    /// A file or folder that can be reached in several ways is listed once. Hidden files and
    /// folders are left out, except the folders of a Maildir++.
    pub fn open(paths: &[PathBuf]) -> Self {
        Self::open_without(paths, LeftOut::default())
    }

    /// The same, without some mailboxes, unless they are named themselves. Each that holds messages is told as a note.
    pub fn open_without(paths: &[PathBuf], left_out: LeftOut) -> Self {
        let found = walk::walk(paths, left_out);
        Self {
            listing: Arc::new(found.listing),
            held: Arc::default(),
            mailboxes: found.mailboxes,
            troubles: found.troubles,
            passed_over: found.passed_over,
            given: paths.iter().map(|path| shown_path(path)).collect(),
        }
    }

    /// Messages that somebody holds in memory: read and read again as if they stood in files at their locations. Of several with the same
    /// location the first counts.
    ///
    /// ```
    /// use twicetold_model::{Form, Location, RawMessage};
    /// use twicetold_source::Collection;
    ///
    /// let location = Location { path: "a".into(), offset: None };
    /// let bytes = b"Subject: Lunch\n\nAt noon?\n";
    /// let message = RawMessage { location: location.clone(), form: Form::Mail, bytes: bytes.as_slice().into() };
    /// let collection = Collection::of_messages(vec![message]);
    /// assert_eq!(collection.read(&location).unwrap().bytes, bytes.as_slice());
    /// assert_eq!(collection.tasks().count(), 1);
    /// ```
    pub fn of_messages(messages: Vec<RawMessage<'static>>) -> Self {
        let mut pile = Pile::with_room_for(u64::MAX);
        messages.into_iter().for_each(|message| pile.push(message));
        Self::of_pile(pile)
    }

    /// The same for messages of which some wait in a file.
    pub fn of_pile(pile: Pile) -> Self {
        Self {
            listing: Arc::default(),
            held: Arc::new(Held::new(pile)),
            mailboxes: Vec::new(),
            troubles: Vec::new(),
            passed_over: 0,
            given: Vec::new(),
        }
    }

    /// What could not be used, sorted by path.
    pub fn troubles(&self) -> &[Trouble] {
        &self.troubles
    }

    /// The files of many messages that are no longer what they were when they were listed, sorted by path: what was read of them may be of two times.
    pub fn changed(&self) -> Vec<Trouble> {
        let entries = self.listing.entries.iter();
        let large = entries.filter(|entry| entry.container.is_some());
        let changed = large.filter(|entry| {
            let now = std::fs::metadata(self.listing.path(entry));
            now.map_or(true, |now| !Stamp::of(&now).has_same_bytes(&entry.stamp))
        });
        let troubles = changed.map(|entry| Trouble::changed(&self.listing.shown(entry)));
        troubles.collect()
    }

    /// What was recognised, sorted by path.
    pub fn mailboxes(&self) -> &[Mailbox] {
        &self.mailboxes
    }

    /// How many bytes there are to read, as far as the file system tells.
    pub fn total_bytes(&self) -> u64 {
        let entries = self.listing.entries.iter();
        let files: u64 = entries.map(|entry| entry.stamp.size).sum();
        files + self.held.total_bytes()
    }

    /// How many files were passed over because they hold no messages: empty ones, pictures,
    /// archives, devices. Complete when every task has run.
    pub fn skipped(&self) -> usize {
        self.passed_over + self.listing.passed_over.load(Ordering::Relaxed)
    }

    /// The work to be done, in a fixed order; an mbox is read once, from front to back, as the iterator advances.
    ///
    /// Asking for the tasks begins a new reading: files passed over are counted anew.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + Send + '_ {
        self.tasks_but(0, |_| false)
    }

    /// The same for somebody who knows some of the [files](Self::files) already: those are not opened. Of the files that
    /// are known, `empty` hold no message.
    pub fn tasks_but(
        &self,
        empty: usize,
        known: impl Fn(usize) -> bool + Send,
    ) -> impl Iterator<Item = Task> + Send {
        self.listing.passed_over.store(empty, Ordering::Relaxed);
        tasks::Tasks::new(&self.listing, move |n| !known(n)).chain(Held::tasks(&self.held))
    }

    /// Every file there is to read, sorted by path: the path as the user would write it, and what the file system said of
    /// the file when it was listed.
    pub fn files(&self) -> impl Iterator<Item = (String, Stamp)> {
        let entries = self.listing.entries.iter();
        entries.map(|entry| (self.listing.shown(entry), entry.stamp))
    }

    /// The same files for somebody else to read, in the same order. Files of many messages that are longer than `room` are cut into stretches; for that they
    /// are read once, here. One that cannot be is handed on as a whole.
    pub fn portions(&self, room: u64) -> Vec<Portion> {
        portion::portions(&self.listing, room)
    }

    /// Reads one message again, from any thread.
    ///
    /// Only the message is read, not what stands before it in its file.
    pub fn read(&self, location: &Location) -> std::io::Result<RawMessage<'static>> {
        match self.held.read(location) {
            Some(message) => message,
            None => reread::read_again(&self.listing, location),
        }
    }
}
