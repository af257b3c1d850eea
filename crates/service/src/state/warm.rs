//! The index in memory, read in the background and kept as the file is; or, if it does not fit, a filter.
//!
//! The thread that writes begins to fill from a snapshot and from then on writes down what it commits. Who has read the
//! snapshot does what was written down meanwhile, and only then is the memory asked. From then on the thread
//! that writes does to the memory what it did to the file, after it is durable and before anybody hears of it. A filter is filled
//! in the same way, but notes keys before they are committed: it may know too many, never too few.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata};

use super::embedded::INDEX;
use super::filter::Filter;
use super::memory::{AT_ONCE, Deed, Memory};
use super::{Owners, Question, reading};
use crate::campaign::CampaignId;
use crate::glance::Glance;

/// More is not written down while a snapshot is read: it is read anew instead.
const WRITTEN_DOWN: usize = 1 << 21;

/// What answers, and the threads that fill the next one.
#[derive(Debug, Default)]
pub(super) struct Warmth {
    memory: RwLock<Option<Memory>>,
    filter: RwLock<Option<Arc<Filter>>>,
    /// What was committed since the snapshot that is being read.
    deeds: Mutex<Option<Vec<Deed>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    ending: AtomicBool,
    /// Whether all that was wished for is there.
    warm: AtomicBool,
}

impl Warmth {
    /// The owners of keys, and the places of those that have to be read from the file; `None` if nothing is in memory.
    pub(super) fn owners(&self, keys: &[u64], most: usize) -> Option<(Vec<Owners>, Vec<usize>)> {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let mut unread = Vec::new();
        let owners = memory
            .as_ref()?
            .owners(keys, most, |place| unread.push(place));
        Some((owners, unread))
    }

    /// As [`super::State::propose`]; `None` if that is not known without the file.
    pub(super) fn propose(&self, question: &Question<'_>) -> Option<Vec<CampaignId>> {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        memory.as_ref()?.propose(question)
    }

    /// What glances at campaigns tell.
    pub(super) fn glances(&self, ids: &[CampaignId]) -> Vec<Option<Glance>> {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let glance = |&id: &CampaignId| memory.as_ref()?.glance(id);
        ids.iter().map(glance).collect()
    }

    /// The filter to ask where nothing is in memory.
    pub(super) fn filter(&self) -> Option<Arc<Filter>> {
        self.filter
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether the index is in memory, or the filter complete.
    pub(super) fn is_warm(&self) -> bool {
        self.warm.load(Ordering::Acquire)
    }

    /// Has those who fill give up, and waits for them.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::Release);
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // One that panicked has completed nothing, so nobody asks it.
            let _ = thread.join();
        }
    }

    fn deeds(&self) -> MutexGuard<'_, Option<Vec<Deed>>> {
        self.deeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_memory(&self, memory: Option<Memory>) {
        let mut held = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, memory);
        drop(held);
        // To give so much memory back takes a while.
        drop(before);
    }

    fn of_memory<T>(&self, what: impl FnOnce(&Memory) -> T) -> Option<T> {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        memory.as_ref().map(what)
    }

    fn spawn(self: &Arc<Self>, work: impl FnOnce(&Self) + Send + 'static) -> bool {
        let shared = Arc::clone(self);
        let thread = thread::Builder::new()
            .name("spam-warm".to_owned())
            .spawn(move || work(&shared));
        let Ok(thread) = thread else { return false };
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        true
    }
}

/// What the thread that writes does for the memory and for filters.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    /// How many bytes the index may take in memory; nothing is wanted before that is known.
    most: Option<u64>,
    /// One filter, or two while the second is being filled.
    filters: Vec<Arc<Filter>>,
}

impl Keeper {
    /// From now on the index is wanted in memory, if it takes no more than so many bytes.
    pub(super) fn begin(&mut self, most: u64) {
        self.most.get_or_insert(most);
    }

    /// Whether anybody wants to know what is committed.
    pub(super) fn is_wanted(&self) -> bool {
        self.most.is_some()
    }

    /// Notes keys that are about to be added.
    pub(super) fn note(&self, keys: impl Iterator<Item = u64>) {
        if self.filters.is_empty() {
            return;
        }
        for key in keys {
            self.filters.iter().for_each(|filter| filter.add(key));
        }
    }

    /// Does to the memory what was committed.
    pub(super) fn done(&self, warmth: &Warmth, done: Vec<Deed>) {
        let mut deeds = warmth.deeds();
        if let Some(written) = deeds.as_mut() {
            if written.len() + done.len() > WRITTEN_DOWN {
                // Whoever reads the snapshot finds that this is gone, and lets go of it.
                *deeds = None;
            } else {
                written.extend(done.iter().cloned());
            }
        }
        // In pieces, so that nobody who asks waits long.
        for some in done.chunks(AT_ONCE) {
            let mut held = warmth
                .memory
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            let Some(memory) = held.as_mut() else { break };
            some.iter().for_each(|deed| memory.apply(deed));
            if memory.is_full() {
                // The file knows everything, and a larger one will be made.
                *held = None;
            }
        }
    }

    /// It is not known what was committed: what is in memory may be wrong.
    pub(super) fn lost(&self, warmth: &Warmth) {
        *warmth.deeds() = None;
        warmth.set_memory(None);
    }

    /// Begins to fill what is wanted and not there, or there and crowded, and lets go of what is no longer asked.
    pub(super) fn renew(&mut self, database: &Database, warmth: &Arc<Warmth>) {
        let Some(most) = self.most else { return };
        match self.filters.as_slice() {
            [only] if only.is_complete() && only.is_crowded() => self.fill_filter(database, warmth),
            [_, next] if next.is_complete() => drop(self.filters.remove(0)),
            [] => self.remember(database, warmth, most),
            _ => {}
        }
    }

    fn remember(&mut self, database: &Database, warmth: &Arc<Warmth>, most: u64) {
        let wanted = warmth.of_memory(Memory::is_crowded).unwrap_or(true);
        if !wanted || warmth.deeds().is_some() {
            return;
        }
        // Without it everything is found as well, only later.
        let Ok(snapshot) = database.begin_read() else {
            return;
        };
        match Memory::new(&snapshot, most) {
            Ok(Some(memory)) => {
                // There is not always room for both.
                let before = warmth.of_memory(Memory::bytes).unwrap_or(0);
                if before.saturating_add(memory.bytes()) > most {
                    warmth.set_memory(None);
                }
                *warmth.deeds() = Some(Vec::new());
                let begun = warmth.spawn(move |shared| fill_memory(shared, &snapshot, memory));
                if !begun {
                    *warmth.deeds() = None;
                }
            }
            Ok(None) => self.fill_filter(database, warmth),
            Err(_) => {}
        }
    }

    fn fill_filter(&mut self, database: &Database, warmth: &Arc<Warmth>) {
        let begun = || -> Result<(ReadTransaction, u64), redb::Error> {
            let snapshot = database.begin_read()?;
            let keys = snapshot.open_table(INDEX)?.len()?;
            Ok((snapshot, keys))
        };
        let Ok((snapshot, keys)) = begun() else {
            return;
        };
        // Room for half as many again as there are.
        let filter = Arc::new(Filter::new(keys.saturating_add(keys / 2)));
        self.filters.push(Arc::clone(&filter));
        warmth.spawn(move |shared| {
            // One that cannot be filled is never asked; whoever reads the file hears why.
            if fill_filter(&snapshot, &filter, &shared.ending).is_ok() && filter.is_complete() {
                *shared
                    .filter
                    .write()
                    .unwrap_or_else(PoisonError::into_inner) = Some(filter);
                shared.set_memory(None);
                shared.warm.store(true, Ordering::Release);
            }
        });
    }
}

/// Reads a snapshot, does what was committed meanwhile, and lets everybody ask.
fn fill_memory(shared: &Warmth, snapshot: &ReadTransaction, mut memory: Memory) {
    let unwanted = || shared.ending.load(Ordering::Acquire);
    let filled = reading::read(&mut memory, snapshot, &unwanted);
    // As long as this is held nothing else is done.
    let mut deeds = shared.deeds();
    if let Some(written) = deeds.take()
        && filled.is_ok()
        && !unwanted()
    {
        for some in written.chunks(AT_ONCE) {
            if !memory.is_full() {
                some.iter().for_each(|deed| memory.apply(deed));
            }
        }
        if !memory.is_full() {
            shared.set_memory(Some(memory));
        }
    }
    // If it came to nothing, the next commit begins anew, and meanwhile nothing better is to come; whoever reads a
    // damaged file hears of it.
    shared.warm.store(true, Ordering::Release);
}

/// Notes all keys of a snapshot; gives up when the state is closed.
fn fill_filter(
    snapshot: &ReadTransaction,
    filter: &Filter,
    ending: &AtomicBool,
) -> Result<(), redb::Error> {
    let index = snapshot.open_table(INDEX)?;
    let mut last = None;
    for (at, entry) in index.iter()?.enumerate() {
        let (key, _) = entry?.0.value();
        if last != Some(key) {
            filter.add(key);
            last = Some(key);
        }
        if at % 4096 == 0 && ending.load(Ordering::Acquire) {
            return Ok(());
        }
    }
    filter.complete();
    Ok(())
}
