//! Reading every message once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_index::Twice;
use twicetold_methods::winnow::Winnow;
use twicetold_methods::winnow::paper::{Dictionary, Multiplier, Order, fingerprints};
use twicetold_model::Location;
use twicetold_source::{Collection, Task, Trouble};

use crate::record::{Record, paper_words, record};
use crate::scan::{Numbering, Options, Progress, Stage};

/// What reading leaves behind.
struct Reading<'o> {
    options: &'o Options,
    progress: &'o dyn Progress,
    /// Which word pairs occur in more than one message that is not a mere copy.
    pairs: Twice,
    /// What has been read already, so that copies do not make a pair look shared.
    seen: Mutex<HashSet<u128, FixedState>>,
    troubles: Mutex<Vec<Trouble>>,
}

/// Reads every message once, on all threads. The records are sorted by location; the filter knows which word pairs occur
/// in more than one message that is not a mere copy.
pub(crate) fn read(
    collection: &Collection,
    options: &Options,
    progress: &dyn Progress,
) -> (Vec<Record>, Vec<Trouble>, Twice) {
    progress.begin(Stage::Reading, collection.total_bytes());
    let reading = Reading {
        options,
        progress,
        // A pair for every dozen bytes or so; headers and attachments have none.
        pairs: Twice::with_room_for((collection.total_bytes() / 16) as usize),
        seen: Mutex::default(),
        troubles: Mutex::default(),
    };
    let mut records: Vec<Record> = match options.numbering {
        Numbering::Stable => collection
            .tasks()
            .par_bridge()
            .flat_map_iter(|task| reading.run(task, &mut |_| {}))
            .collect(),
        numbering => number_in_order(collection, &reading, numbering),
    };
    let mut troubles = collection.troubles().to_vec();
    for trouble in reading
        .troubles
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        let location = Location {
            path: trouble.path.clone(),
            offset: None,
        };
        records.push(Record::unreadable(location, trouble.problem.clone()));
        troubles.push(trouble);
    }
    records.sort_by(|a, b| a.location.cmp(&b.location));
    troubles.sort_by(|a, b| a.path.cmp(&b.path));
    (records, troubles, reading.pairs)
}

/// Reads on one thread, in the order of the tasks, since numbers by first appearance depend on it.
fn number_in_order(
    collection: &Collection,
    reading: &Reading<'_>,
    numbering: Numbering,
) -> Vec<Record> {
    let mut dictionary = Dictionary::default();
    let mut numbers: Vec<Vec<u64>> = Vec::new();
    let mut records = Vec::new();
    for task in collection.tasks() {
        records.extend(reading.run(task, &mut |words| {
            numbers.push(words.iter().map(|word| dictionary.number(word)).collect());
        }));
    }
    let (multiplier, order) = match numbering {
        Numbering::Paper => (Multiplier::Paper, Order::Paper),
        Numbering::Stable | Numbering::Dictionary => (Multiplier::Fixed, Order::Mixed),
    };
    let a = dictionary.multiplier(multiplier);
    for (record, numbers) in records.iter_mut().zip(&numbers) {
        record.fingerprints =
            fingerprints(numbers, a, reading.options.window, order).into_boxed_slice();
    }
    records
}

impl Reading<'_> {
    /// Reads the messages of a task; the paper's words of each go to `words` where they are asked for.
    fn run(&self, task: Task, words: &mut dyn FnMut(Vec<String>)) -> Vec<Record> {
        let winnow = Winnow {
            window: self.options.window,
        };
        let mut records = Vec::new();
        let mut troubles = Vec::new();
        task.run(
            &mut |raw| {
                let (record, document, pairs) = record(&raw, winnow, self.options.short);
                if self.options.numbering != Numbering::Stable {
                    words(paper_words(&document));
                }
                let (identity, _, facts) = record.sameness();
                let first = record.short || lock(&self.seen).insert(identity ^ u128::from(facts));
                if first {
                    pairs.into_iter().for_each(|pair| self.pairs.insert(pair));
                }
                records.push(record);
                self.progress.advance(1, raw.bytes.len() as u64);
            },
            &mut |trouble| troubles.push(trouble),
        );
        lock(&self.troubles).extend(troubles);
        records
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
