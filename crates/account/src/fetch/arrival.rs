//! Messages of one command arriving in one folder.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::fault::Fault;
use crate::imap::date;
use crate::imap::response::{Body, Fetched};
use crate::imap::session::Delivery;
use crate::local::draft::Draft;
use crate::local::flags::{Key, keywords, letters};
use crate::local::folder::{Kept, LocalFolder};
use crate::local::labels::{self, Label};
use crate::local::settle;
use crate::uids::UidSet;
use crate::wire::Sink;

use super::FetchProgress;

/// Messages arriving.
pub(crate) struct Arrival<'a> {
    local: &'a Mutex<LocalFolder>,
    maildir: PathBuf,
    validity: u32,
    wanted: UidSet,
    with_checksum: bool,
    progress: &'a dyn FetchProgress,
    draft: Option<Draft>,
    arrived: Vec<u32>,
    files: Vec<PathBuf>,
    labels: Vec<Label>,
    counts: Arrived,
}

/// What arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) new: u64,
    pub(crate) bytes: u64,
    pub(crate) again: u64,
}

/// The lock of a folder. A thread that panicked while holding it left files, not half-made notes.
pub(crate) fn locked(local: &Mutex<LocalFolder>) -> std::sync::MutexGuard<'_, LocalFolder> {
    local
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl<'a> Arrival<'a> {
    pub(crate) fn new(
        local: &'a Mutex<LocalFolder>,
        validity: u32,
        wanted: UidSet,
        progress: &'a dyn FetchProgress,
    ) -> Self {
        let folder = locked(local);
        let (maildir, with_checksum) = (folder.path.clone(), folder.has_earlier());
        drop(folder);
        Self {
            local,
            maildir,
            validity,
            wanted,
            with_checksum,
            progress,
            draft: None,
            arrived: Vec::new(),
            files: Vec::new(),
            labels: Vec::new(),
            counts: Arrived::default(),
        }
    }

    /// What was asked for and has not arrived.
    pub(crate) fn missing(&self) -> UidSet {
        self.wanted.without(&self.arrived.iter().copied().collect())
    }

    /// Notes what has arrived, once it is safely on the disk.
    pub(crate) fn settle(mut self) -> Result<Arrived, Fault> {
        self.draft = None;
        let arrived: UidSet = self.arrived.iter().copied().collect();
        if !arrived.is_empty() {
            settle(&self.maildir, &self.files)?;
            let mut local = locked(self.local);
            labels::add(&self.maildir, &self.labels)?;
            local.state.have.extend(&arrived);
            local.note()?;
        }
        Ok(self.counts)
    }

    fn begin_draft(&mut self) -> Result<&mut Draft, Fault> {
        let draft = Draft::begin(Path::new(&self.maildir), self.with_checksum)?;
        Ok(self.draft.insert(draft))
    }
}

impl Sink for Arrival<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        match &mut self.draft {
            Some(draft) => draft.take(bytes),
            None => Ok(()),
        }
    }
}

impl Delivery for Arrival<'_> {
    fn begin(&mut self, _size: u64) -> Result<(), Fault> {
        self.begin_draft().map(drop)
    }

    fn end(&mut self, message: Fetched) -> Result<(), Fault> {
        match message.body {
            // News about flags that nobody asked for; the next run asks.
            None | Some(Body::Missing) => {
                self.draft = None;
                return Ok(());
            }
            Some(Body::Streamed(_)) => {}
            Some(Body::Inline(bytes)) => self.begin_draft()?.take(&bytes)?,
        }
        let (Some(draft), Some(uid)) = (self.draft.take(), message.uid) else {
            return Err(Fault::garbage("a message without its UID"));
        };
        if !self.wanted.contains(uid) {
            return Err(Fault::garbage(format!(
                "a message that was not asked for, UID {uid}"
            )));
        }
        let flags = message.flags.unwrap_or_default();
        let date = message.date.as_deref().and_then(date::parse);
        let size = draft.size();
        let key = Key::Imap(self.validity, uid);
        let kept = locked(self.local).keep(draft, key, date, &letters(&flags))?;
        self.arrived.push(uid);
        self.files.push(kept.0);
        match kept.1 {
            Kept::New => {
                self.counts.new += 1;
                self.counts.bytes += size;
            }
            Kept::Again => self.counts.again += 1,
        }
        let label = Label {
            validity: self.validity,
            uid,
            gmail_id: message.gmail_id,
            labels: message.gmail_labels.unwrap_or_default(),
            keywords: keywords(&flags),
        };
        if !label.says_nothing() {
            self.labels.push(label);
        }
        self.progress.advance(1, size);
        Ok(())
    }
}
