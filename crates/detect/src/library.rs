//! Texts on demand.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;
use twicetold_source::{Again, Collection};

use crate::aside::Aside;
use crate::comparable::Comparable;
use crate::record::Record;
use crate::scan::Reread;

/// How many bytes of text are held ready in each of two shelves, as a rule.
const SHELF: usize = 6 << 20;

/// So many times the bytes of a usual message are wanted: with its words, a text takes some four times its bytes, and near ones are asked one after the other.
const TEXTS: u64 = 256;
/// About how many bytes have to be at hand for a message, besides a sixth of its own.
const RECORD: u64 = 1 << 10;

/// Reads messages again when their text is needed, and keeps the ones used lately.
pub(crate) struct Library<'c> {
    again: Again<'c>,
    pub(crate) records: &'c [Record],
    /// Who knows what the lines of messages are for.
    aside: &'c Aside,
    shelves: Mutex<Shelves>,
    /// How many bytes a shelf holds.
    room: usize,
    messages: AtomicU64,
    bytes: AtomicU64,
    /// A text could not be read.
    missed: AtomicBool,
}

/// What was used lately, and what was used before that.
#[derive(Default)]
struct Shelves {
    front: HashMap<u32, Arc<Comparable>, FixedState>,
    back: HashMap<u32, Arc<Comparable>, FixedState>,
    bytes: usize,
}

impl<'c> Library<'c> {
    pub(crate) fn new(
        collection: &'c Collection,
        records: &'c [Record],
        aside: &'c Aside,
        memory: u64,
    ) -> Self {
        Self {
            again: Again::of(collection),
            records,
            aside,
            shelves: Mutex::default(),
            room: room(records, memory),
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            missed: AtomicBool::new(false),
        }
    }

    /// The text of a message; `None` if it can no longer be read, or says something else than it did.
    pub(crate) fn get(&self, message: u32) -> Option<Arc<Comparable>> {
        {
            let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = shelves.front.get(&message) {
                return Some(Arc::clone(found));
            }
            if let Some(found) = shelves.back.remove(&message) {
                shelves.put(message, Arc::clone(&found), self.room);
                return Some(found);
            }
        }
        let read = Arc::new(self.read(message)?);
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.put(message, Arc::clone(&read), self.room);
        Some(read)
    }

    /// How much has been read so far.
    pub(crate) fn reread(&self) -> Reread {
        Reread {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Whether every text that was asked for could be read.
    pub(crate) fn is_whole(&self) -> bool {
        !self.missed.load(Ordering::Relaxed)
    }

    /// The text of a message that will not be asked for again soon.
    pub(crate) fn read(&self, message: u32) -> Option<Comparable> {
        let record = self.records.get(message as usize)?;
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(record.bytes, Ordering::Relaxed);
        let raw = self.again.read(&record.location, record.bytes);
        self.missed.fetch_or(raw.is_err(), Ordering::Relaxed);
        let raw = raw.ok()?;
        let segments = self.aside.segments(&record.said.seldom);
        let document = twicetold_mail::read_again(record.form, &raw.bytes, segments);
        Some(Comparable::new(document))
    }
}

/// How many bytes of text a shelf holds: what is usual, or more where messages are long, as far as the records leave room in memory.
fn room(records: &[Record], memory: u64) -> usize {
    let count = records.len() as u64;
    let bytes: u64 = records.iter().map(|record| record.bytes).sum();
    let usual = (memory / 8).min(SHELF as u64);
    let wanted = bytes / count.max(1) * TEXTS;
    let left = memory.saturating_sub(count * RECORD + bytes / 6) / 8;
    usize::try_from(wanted.min(left).max(usual)).unwrap_or(SHELF)
}

impl Shelves {
    fn put(&mut self, message: u32, text: Arc<Comparable>, room: usize) {
        self.bytes += text.document.text.len() + text.document.words.len() * 48;
        self.front.insert(message, text);
        if self.bytes > room {
            self.back = std::mem::take(&mut self.front);
            self.bytes = 0;
        }
    }
}
