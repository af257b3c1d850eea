//! Reading every message once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_index::Twice;
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::winnow::paper::{Dictionary, Multiplier, Order, fingerprints};
use twicetold_methods::winnow::{Winnow, half, mix};
use twicetold_model::{Document, Location, RawMessage};
use twicetold_source::{Collection, Task, Trouble};

use crate::aside::{Aside, Stored};
use crate::cache::{Opened, Place, Unchanged};
use crate::counted::{Sample, Unfit};
use crate::gathered::gathered;
use crate::options::{Numbering, Options};
use crate::part::{Statistics, pairs_in};
use crate::progress::{Progress, Stage};
use crate::record::{Record, paper_words, print, record_of};
use crate::said::{Digested, Heard, Once};
use crate::seldom::{Seldom, Shown};

/// How many records are loaded at a time.
const LOADED: usize = 1024;

/// What reading leaves behind.
struct Reading<'o> {
    options: &'o Options,
    progress: &'o dyn Progress,
    /// What is known from the last scan.
    cache: Option<&'o Opened>,
    /// How many messages were known by their checksum.
    remembered: AtomicU64,
    /// Which word pairs occur in more than one message that is not a mere copy.
    pairs: Twice,
    /// Where that was counted before: a sample of it.
    sample: Option<Sample<'o>>,
    /// Which sentences do.
    told: Twice,
    /// What there is no room for.
    aside: Aside,
    /// What has been read already, so that copies do not make a pair look shared.
    seen: Mutex<HashSet<u128, FixedState>>,
    /// What has been said already, so that copies need not be read; nothing if all of every message is asked for, to be numbered.
    heard: Option<Heard>,
    troubles: Mutex<Vec<Trouble>>,
}

/// What was read.
pub(crate) struct Read {
    /// The records, sorted by location.
    pub(crate) records: Vec<Record>,
    /// What could not be read, sorted by path.
    pub(crate) troubles: Vec<Trouble>,
    /// Which word pairs occur in more than one message that is not a mere copy, to which more can be added; nothing if that was counted before.
    pub(crate) pairs: Twice,
    /// Whether what was counted before is about this mail.
    pub(crate) fits: Result<(), Unfit>,
    /// Which sentences do.
    pub(crate) told: Twice,
    /// What there was no room for.
    pub(crate) aside: Aside,
    /// How many messages were known from the last scan.
    pub(crate) remembered: u64,
}

/// Reads every message once, on all threads, but for those that the cache knows. With statistics, word pairs are not counted.
pub(crate) fn read(
    collection: &Collection,
    options: &Options,
    cache: Option<(&Opened, &Unchanged)>,
    statistics: Option<&Statistics>,
    progress: &dyn Progress,
) -> Read {
    progress.begin(Stage::Reading, collection.total_bytes());
    let reading = Reading {
        options,
        progress,
        cache: cache.map(|(opened, _)| opened),
        remembered: AtomicU64::new(0),
        pairs: Twice::with_room_for(match statistics {
            Some(_) => 0,
            None => pairs_in(collection.total_bytes()),
        }),
        sample: statistics.map(Sample::of),
        told: Twice::with_room_for((collection.total_bytes() / 64) as usize),
        // A small part of the memory; the rest is for what has to be at hand.
        aside: Aside::beyond(options.memory_for(collection.total_bytes()) / 32)
            .beside(cache.and_then(|(opened, _)| opened.records())),
        seen: Mutex::default(),
        heard: (options.shortcuts && options.numbering == Numbering::Stable).then(Heard::default),
        troubles: Mutex::default(),
    };
    let nothing = Unchanged::default();
    let unchanged = cache.map_or(&nothing, |(_, unchanged)| unchanged);
    let mut records: Vec<Record> = match options.numbering {
        Numbering::Stable => {
            let (mut records, missing) = reading.load(unchanged);
            // A file of which a record is lost is read as if nothing were known of it.
            records.retain(|record| !missing.contains(&*record.location.path));
            let numbers = collection
                .files()
                .enumerate()
                .filter(|(_, (path, _))| missing.contains(path.as_str()));
            let lost: HashSet<usize, FixedState> = match missing.is_empty() {
                true => HashSet::default(),
                false => numbers.map(|(n, _)| n).collect(),
            };
            reading
                .remembered
                .store(records.len() as u64, Ordering::Relaxed);
            let known =
                |n: usize| unchanged.files.get(n).copied().unwrap_or(false) && !lost.contains(&n);
            let tasks = collection.tasks_but(unchanged.empty, known).par_bridge();
            gathered(records, tasks.map(|task| reading.run(task, &mut |_| {})))
        }
        numbering => number_in_order(collection, &reading, numbering),
    };
    let mut troubles = collection.troubles().to_vec();
    for trouble in reading
        .troubles
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        let location = Location {
            path: trouble.path.as_str().into(),
            offset: None,
        };
        records.push(Record::unreadable(location, trouble.problem.clone()));
        troubles.push(trouble);
    }
    records.shrink_to_fit();
    let place = |r: &'_ Record| (r.location.offset, r.unreadable);
    records.par_sort_unstable_by(|a, b| {
        let path = a.location.path.cmp(&b.location.path);
        path.then_with(|| place(a).cmp(&place(b)))
    });
    troubles.sort_by(|a, b| a.path.cmp(&b.path));
    Read {
        records,
        troubles,
        pairs: reading.pairs,
        fits: reading.sample.map_or(Ok(()), Sample::compare),
        told: reading.told.complete(),
        aside: reading.aside,
        remembered: reading.remembered.into_inner(),
    }
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
        let own = fingerprints(numbers, a, reading.options.window, order);
        // Numbers by first appearance are small: mixed, every bit is as good as another.
        let own: Box<[u32]> = own.iter().map(|&number| half(mix(number))).collect();
        reading
            .pairs
            .insert_each(own.iter().map(|&fingerprint| u64::from(fingerprint)));
        let Some(said) = Arc::get_mut(&mut record.said) else {
            continue;
        };
        said.fingerprints = own.len() as u32;
        if let Stored::Here(seldom) = &mut said.seldom {
            seldom.detail.numbered = Some(own);
        }
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
                records.push(self.message(&raw, winnow, words));
                self.progress.advance(1, raw.bytes.len() as u64);
            },
            &mut |trouble| troubles.push(trouble),
        );
        lock(&self.troubles).extend(troubles);
        records
    }
}

impl Reading<'_> {
    /// Reads a message, unless one with the same bytes is known.
    fn message(
        &self,
        raw: &RawMessage<'_>,
        winnow: Winnow,
        words: &mut dyn FnMut(Vec<String>),
    ) -> Record {
        let print = self.cache.map_or(0, |_| print(raw));
        if let Some((record, pairs, place)) = self
            .cache
            .and_then(|cache| cache.find(print, &raw.location))
        {
            let record = self.note(record, &pairs, Some(place));
            self.remembered.fetch_add(1, Ordering::Relaxed);
            return record;
        }
        let document = read_wanted(raw.form, &raw.bytes, Wants::default());
        let digested = Digested::of(&document);
        let heard = self.heard.as_ref();
        let once = heard.and_then(|heard| heard.before(&document, &digested));
        if let Some(record) =
            once.and_then(|once| self.copy(raw, print, &document, &digested, once))
        {
            return record;
        }
        let short = self.options.short;
        let (record, document, pairs) =
            record_of(raw, print, document, digested.text, winnow, short);
        if self.options.numbering != Numbering::Stable {
            words(paper_words(&document));
        }
        let kept = match (self.cache, &record.said.seldom) {
            (Some(cache), Stored::Here(seldom)) => cache.keep(raw, &record, seldom, &pairs.besides),
            _ => None,
        };
        let record = self.note(record, &pairs.all, kept);
        if let Some(heard) = heard {
            let said = Arc::clone(&record.said);
            heard.remember(&document, &digested, Once { said, cached: kept });
        }
        record
    }

    /// The record of a message that says what another one has said; nothing if the cache has the record of that one, and cannot tell it at the moment.
    fn copy(
        &self,
        raw: &RawMessage<'_>,
        print: u128,
        document: &Document,
        digested: &Digested,
        once: Once,
    ) -> Option<Record> {
        let record = Record::of(raw, print, &document.envelope, once.said);
        let shown = Shown::new(document, digested.text);
        let kept = match self.cache.zip(once.cached) {
            Some((cache, first)) => Some(cache.keep_copy(raw, &record, &shown, first)?),
            None => None,
        };
        let stored = self.aside.put(Box::new(Seldom::showing(shown)), kept);
        let shown = Some(Box::new(stored));
        Some(Record { shown, ..record })
    }

    /// Notes the word pairs and sentences of a message, unless it is a copy, and puts aside what there is no room for.
    fn note(&self, mut record: Record, pairs: &[u32], cached: Option<Place>) -> Record {
        let counts_as = record.counts_as(pairs);
        let first = counts_as.is_none_or(|counted| lock(&self.seen).insert(counted));
        // Nobody else has said it yet.
        let Some(said) = Arc::get_mut(&mut record.said) else {
            return record;
        };
        let Stored::Here(seldom) = &mut said.seldom else {
            return record;
        };
        if first {
            match &self.sample {
                Some(sample) => sample.note(pairs),
                None => {
                    let pairs = pairs.iter().map(|&pair| u64::from(pair));
                    self.pairs.insert_each(pairs);
                }
            }
            self.told
                .insert_each(seldom.detail.told.iter().map(|told| told.hash));
        }
        // Numbers by first appearance make other fingerprints, later.
        if self.options.numbering == Numbering::Stable {
            said.seldom = self.aside.put(std::mem::take(seldom), cached);
        }
        record
    }

    /// The records of messages in files that have not changed, and the paths of files of which a record is lost.
    fn load<'u>(&self, unchanged: &'u Unchanged) -> (Vec<Record>, HashSet<&'u str, FixedState>) {
        let Some(cache) = self.cache else {
            return Default::default();
        };
        let mut missing = HashSet::default();
        let loaded: Vec<Vec<Option<Record>>> = unchanged
            .messages
            .par_chunks(LOADED)
            .map(|some| {
                let loaded = cache.load(some).into_iter().zip(some);
                let loaded = loaded.map(|(found, (.., place))| {
                    let (record, pairs) = found?;
                    self.progress.advance(1, record.bytes);
                    Some(self.note(record, &pairs, Some(*place)))
                });
                loaded.collect()
            })
            .collect();
        let mut records = Vec::with_capacity(unchanged.messages.len());
        for ((location, ..), record) in unchanged.messages.iter().zip(loaded.into_iter().flatten())
        {
            match record {
                Some(record) => records.push(record),
                None => drop(missing.insert(&*location.path)),
            }
        }
        (records, missing)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
