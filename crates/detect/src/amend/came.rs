//! Which messages have come since the last scan, which are gone, and which stand in the files in which they stood?

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_index::Seen;
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Location, RawMessage};
use twicetold_source::{Again, Collection};

use crate::aside::Stored;
use crate::cache::{LastFile, Opened, Place, Unchanged};
use crate::keepset::BATCH;
use crate::options::Options;
use crate::progress::Progress;
use crate::record::{Record, print, record};

/// If more than this have come or gone, everything is counted anew: nobody is further than a batch from where it was in the walk.
pub(super) const MOST: usize = BATCH / 2;

/// A message that was not there before.
pub(super) struct Came {
    pub(super) record: Record,
    /// All its word pairs.
    pub(super) pairs: Vec<u32>,
    /// The same bytes stood elsewhere, and stand there no longer.
    pub(super) moved: bool,
}

/// What has changed.
pub(super) struct Changes {
    /// The messages that stand in the files in which they stood, as they were and in that order, by their numbers in the last scan.
    pub(super) stay: Vec<u32>,
    /// For each where it stands, the checksum of its bytes, and where its record is.
    pub(super) places: Vec<(Location, u128, Place)>,
    /// Those that came, in the order of their places.
    pub(super) came: Vec<Came>,
    /// The checksums of those that are there no longer.
    pub(super) gone: Vec<u128>,
    /// How many messages the last scan had.
    pub(super) before: usize,
    /// How many of those that came were known by their bytes.
    pub(super) known: u64,
}

enum Found {
    /// Number so and so of the last scan.
    Stays(u32),
    /// One that may stand elsewhere in its file than it stood.
    Elsewhere(Box<Elsewhere>),
    Came(Box<Came>, bool),
}

/// A message that its file held, perhaps in another place.
struct Elsewhere {
    location: Location,
    bytes: u64,
    /// The checksum by which it is known in the file.
    sum: u128,
}

impl Changes {
    /// Looks at every file that is not as it was. `None` if too much has changed, or if something cannot be read.
    pub(super) fn since(
        cache: &Opened,
        unchanged: &Unchanged,
        collection: &Collection,
        options: &Options,
        progress: &dyn Progress,
    ) -> Option<Self> {
        let mut first = 0_u32;
        let mut last: HashMap<&str, (u32, LastFile<'_>), FixedState> = HashMap::default();
        for file in cache.last_files() {
            let count = file.messages().len() as u32;
            last.insert(file.path, (first, file));
            first += count;
        }
        let before = first as usize;
        // For each message of the last scan whether it is there.
        let mut there = vec![false; before];
        let known = |n: usize| unchanged.files.get(n).copied().unwrap_or(false);
        for (n, (path, _)) in collection.files().enumerate() {
            if known(n)
                && let Some((first, file)) = last.get(path.as_str())
            {
                there[*first as usize..][..file.messages().len()].fill(true);
            }
        }
        let winnow = Winnow {
            window: options.window,
        };
        let (coming, troubled) = (AtomicUsize::new(0), AtomicBool::new(false));
        let too_much = || coming.load(Ordering::Relaxed) > MOST || troubled.load(Ordering::Relaxed);
        let look_for = |raw: &RawMessage<'_>| -> Option<(Box<Came>, bool)> {
            // Whoever is one too many is not read.
            if coming.fetch_add(1, Ordering::Relaxed) >= MOST {
                return None;
            }
            let print = print(raw);
            let known = cache.find(print, &raw.location);
            let is_known = known.is_some();
            let (record, pairs) = known
                .map(|(record, pairs, _)| (record, pairs))
                .unwrap_or_else(|| {
                    let (record, _, pairs) = record(raw, print, winnow, options.short);
                    if let Stored::Here(seldom) = &record.said.seldom {
                        cache.keep(raw, &record, seldom, &pairs.besides);
                    }
                    (record, pairs.all)
                });
            let came = Came {
                record,
                pairs,
                moved: false,
            };
            Some((Box::new(came), is_known))
        };
        let look = |raw: &RawMessage<'_>| -> Option<Found> {
            let came = || look_for(raw).map(|(one, known)| Found::Came(one, known));
            let Some((first, file)) = last.get(&*raw.location.path) else {
                return came();
            };
            if let Some(n) = file.same(raw) {
                return Some(Found::Stays(first + n as u32));
            }
            // In a file of many, those behind one that is gone move up.
            match raw.location.offset.and_then(|_| file.known(raw)) {
                Some(sum) => {
                    let (location, bytes) = (raw.location.clone(), raw.bytes.len() as u64);
                    let elsewhere = Elsewhere {
                        location,
                        bytes,
                        sum,
                    };
                    Some(Found::Elsewhere(Box::new(elsewhere)))
                }
                None => came(),
            }
        };
        let tasks = collection.tasks_but(unchanged.empty, known).par_bridge();
        let found: Vec<Vec<Found>> = tasks
            .map(|task| {
                let mut found = Vec::new();
                // Everything is going to be read anew.
                if too_much() {
                    return found;
                }
                task.run(
                    &mut |raw| {
                        found.extend(look(&raw));
                        progress.advance(1, raw.bytes.len() as u64);
                    },
                    &mut |_| troubled.store(true, Ordering::Relaxed),
                );
                found
            })
            .collect();
        if too_much() {
            return None;
        }
        let (mut elsewhere, mut new) = (Vec::new(), Vec::new());
        for found in found.into_iter().flatten() {
            match found {
                Found::Stays(number) => there[number as usize] = true,
                Found::Elsewhere(one) => elsewhere.push(one),
                Found::Came(one, known) => new.push((one, known)),
            }
        }
        elsewhere.sort_by(|a, b| a.location.cmp(&b.location));
        // For each message of the last scan that stands elsewhere in its file: where.
        let mut offsets: HashMap<u32, Option<u64>, FixedState> = HashMap::default();
        let again = Again::of(collection);
        for own in elsewhere.chunk_by(|a, b| a.location.path == b.location.path) {
            let (first, file) = last.get(&*own[0].location.path)?;
            let sums = own.iter().map(|one| one.sum);
            let numbers = file.shifted(sums, |n| there[*first as usize + n], MOST)?;
            for (one, number) in own.iter().zip(numbers) {
                match number {
                    Some(n) => {
                        there[*first as usize + n] = true;
                        offsets.insert(first + n as u32, one.location.offset);
                    }
                    // One more of what is there, or out of its order.
                    None => new.push(look_for(&again.read(&one.location, one.bytes).ok()?)?),
                }
            }
        }
        if too_much() {
            return None;
        }
        let mut came = Vec::new();
        let mut is_known = 0;
        for (one, known) in new {
            is_known += u64::from(known);
            came.push(*one);
        }
        came.sort_by(|a, b| a.record.location.cmp(&b.record.location));
        let (mut stay, mut places) = (Vec::with_capacity(before), Vec::with_capacity(before));
        let mut gone = Vec::new();
        let mut number = 0;
        for file in cache.last_files() {
            let path: std::sync::Arc<str> = file.path.into();
            for (offset, print, place) in file.messages() {
                match there[number as usize] {
                    true => {
                        let path = path.clone();
                        let offset = offsets.get(&number).copied().unwrap_or(offset);
                        stay.push(number);
                        places.push((Location { path, offset }, print, place));
                    }
                    false => {
                        let mut others = came.iter_mut().filter(|one| !one.moved);
                        match others.find(|one| one.record.print == print) {
                            Some(one) => one.moved = true,
                            None => gone.push(print),
                        }
                        if came.len() + gone.len() > MOST {
                            return None;
                        }
                    }
                }
                number += 1;
            }
        }
        // What is not in the order in which it was is not among those that stay.
        let in_order = offsets.is_empty() || places.is_sorted_by(|a, b| a.0 < b.0);
        in_order.then_some(Self {
            stay,
            places,
            came,
            gone,
            before,
            known: is_known,
        })
    }
}

/// The word pairs of those that came, before they are counted: those of copies are not.
pub(super) struct Uncounted {
    /// As what each counts, and its pairs.
    came: Vec<(Option<u128>, Vec<u32>)>,
    /// What they say: only who says the same can count as the same.
    said: HashSet<(u128, u64), FixedState>,
    /// For each of the numbers that they count as whether it was met.
    met: HashMap<u128, bool, FixedState>,
}

fn said(record: &Record) -> (u128, u64) {
    let (identity, _, facts) = record.sameness();
    (identity, facts)
}

impl Uncounted {
    /// Takes the pairs of those that came; what only moved was counted.
    pub(super) fn of(came: &mut [Came]) -> Self {
        let mut uncounted = Self {
            came: Vec::new(),
            said: HashSet::default(),
            met: HashMap::default(),
        };
        for one in came.iter_mut().filter(|one| !one.moved) {
            let counted = one.record.counts_as(&one.pairs);
            uncounted.said.insert(said(&one.record));
            uncounted
                .met
                .extend(counted.map(|counted| (counted, false)));
            uncounted
                .came
                .push((counted, std::mem::take(&mut one.pairs)));
        }
        for one in came.iter().filter(|one| one.moved) {
            uncounted.note(&one.record, &one.pairs);
        }
        uncounted
    }

    fn note(&mut self, record: &Record, pairs: &[u32]) {
        let counted = record.counts_as(pairs);
        if let Some(met) = counted.and_then(|counted| self.met.get_mut(&counted)) {
            *met = true;
        }
    }

    /// One that was counted. If one that came says the same, all of it has to be known; `None` if it is not.
    pub(super) fn meet(&mut self, record: &Record, cache: &Opened) -> Option<()> {
        if !record.said.short && self.said.contains(&said(record)) {
            let (whole, pairs, _) = cache.find(record.print, &record.location)?;
            self.note(&whole, &pairs);
        }
        Some(())
    }

    /// Counts the pairs of those that count as something else than those that were met, and than each other.
    pub(super) fn count(mut self, seen: &mut Seen) {
        for (counted, pairs) in self.came {
            let met = counted.and_then(|counted| self.met.insert(counted, true));
            if met != Some(true) {
                pairs.iter().for_each(|&pair| seen.note(u64::from(pair)));
            }
        }
    }
}
