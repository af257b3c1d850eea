//! A filter in front of the index, filled in the background, and a larger one when it is crowded.
//!
//! The thread that writes notes every key in all filters there are before it commits, so a filter only has to be
//! filled with what had been committed when it was made. It answers once that is done, and the one before it goes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata};

use super::embedded::INDEX;
use super::filter::Filter;

/// The filter that answers, and the threads that fill the next one.
#[derive(Debug, Default)]
pub(super) struct Warmth {
    filter: RwLock<Option<Arc<Filter>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    ending: AtomicBool,
}

impl Warmth {
    /// The filter to ask.
    pub(super) fn filter(&self) -> Option<Arc<Filter>> {
        self.filter
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Has those who fill a filter give up, and waits for them.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::Release);
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // One that panicked has completed no filter, so nobody asks it.
            let _ = thread.join();
        }
    }
}

/// The filters that the writing thread notes keys in: one, or two while the second is being filled.
#[derive(Debug, Default)]
pub(super) struct Filters(Vec<Arc<Filter>>);

impl Filters {
    /// Notes keys that are about to be added.
    pub(super) fn note(&self, keys: impl Iterator<Item = u64>) {
        if self.0.is_empty() {
            return;
        }
        for key in keys {
            self.0.iter().for_each(|filter| filter.add(key));
        }
    }

    /// Begins to fill the first filter.
    pub(super) fn begin(&mut self, database: &Arc<Database>, warmth: &Arc<Warmth>) {
        if self.0.is_empty() {
            self.fill(database, warmth);
        }
    }

    /// Begins to fill a larger one if the one there is has become crowded, and lets go of one that is no longer asked.
    pub(super) fn renew(&mut self, database: &Arc<Database>, warmth: &Arc<Warmth>) {
        match self.0.as_slice() {
            [only] if only.is_complete() && only.is_crowded() => self.fill(database, warmth),
            [_, next] if next.is_complete() => drop(self.0.remove(0)),
            _ => {}
        }
    }

    fn fill(&mut self, database: &Arc<Database>, warmth: &Arc<Warmth>) {
        // Without a filter everything is found as well, only later.
        let Ok(filter) = begun(database) else { return };
        let filter = Arc::new(filter);
        self.0.push(Arc::clone(&filter));
        let (database, shared) = (Arc::clone(database), Arc::clone(warmth));
        let thread = thread::Builder::new()
            .name("spam-warm".to_owned())
            .spawn(move || {
                // One that cannot be filled is never asked; whoever reads the file hears why.
                if fill(&database, &filter, &shared.ending).is_ok() && filter.is_complete() {
                    let mut asked = shared
                        .filter
                        .write()
                        .unwrap_or_else(PoisonError::into_inner);
                    *asked = Some(filter);
                }
            });
        if let Ok(thread) = thread {
            let mut threads = warmth
                .threads
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            threads.retain(|thread| !thread.is_finished());
            threads.push(thread);
        }
    }
}

/// A filter with room for half as many keys again as there are.
fn begun(database: &Database) -> Result<Filter, redb::Error> {
    let transaction = database.begin_read()?;
    let keys = transaction.open_table(INDEX)?.len()?;
    Ok(Filter::new(keys.saturating_add(keys / 2)))
}

/// Notes all keys of the index; gives up when the state is closed.
fn fill(database: &Database, filter: &Filter, ending: &AtomicBool) -> Result<(), redb::Error> {
    let transaction = database.begin_read()?;
    let index = transaction.open_table(INDEX)?;
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
