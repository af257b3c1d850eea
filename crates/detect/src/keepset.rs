//! Which messages are kept?
//!
//! Messages are asked in the order of how much they say. Each is kept unless messages that are kept
//! already cover it. So every witness is kept by construction, of equal copies exactly one stays, and
//! a chain of near copies loses nothing. A second walk asks the kept ones once more, the least first:
//! one that the *other* kept ones cover together may go too, if everything that rested on it can be
//! proved without it.
//!
//! The walk goes in batches of fixed size: a batch is compared with what is kept in parallel, then
//! with itself in order. Threads change nothing in the result.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_index::{Limits, MemoryIndex, Twice};
use twicetold_mail::words::hash_of;
use twicetold_methods::winnow::{counts, pair};
use twicetold_model::{Category, Residue, Witness};

use crate::check;
use crate::comparable::{Comparable, Unit};
use crate::cover::{Held, category, combine, content, hold, proof, residue, witnesses};
use crate::library::Library;
use crate::record::Record;
use crate::scan::{Numbering, Options, Progress, Stage};
use crate::versions::counterpart;

/// How many messages are compared with what is kept at a time.
const BATCH: usize = 512;
/// How many candidates are read for one message.
const CANDIDATES: usize = 12;
/// How many entries of the index are walked for one message.
const ENTRIES: usize = 20_000;
/// How many messages are read at the most when looking for a combined cover.
const COMBINED: usize = 40;
/// How many messages of its conversation are asked about a message of a few words.
const LOOKED_AT_IN_THREAD: usize = 4;
/// A pair that more kept messages than this have says nothing about where a unit stands.
const COMMON: usize = 32;
/// A run of so many fingerprints that no kept message has holds a sentence that stands nowhere else: no text needs to be
/// read to keep the message. (One that is kept may have the pair without having it for a fingerprint.)
const UNKEPT_RUN: usize = 8;
/// A run of so many word pairs that occur in no other message at all does so, too; a misspelt word makes two.
const LONE_RUN: usize = 4;

/// Why a message may go.
#[derive(Clone, Debug)]
pub(crate) struct Proven {
    pub(crate) category: Category,
    pub(crate) witnesses: Vec<Witness>,
    pub(crate) residue: Vec<Residue>,
}

/// What is kept so far, and how to find it.
pub(crate) struct Kept {
    index: MemoryIndex,
    /// The kept messages that have this attachment or link.
    things: HashMap<u64, Vec<u32>, FixedState>,
    /// The kept messages of each conversation.
    threads: HashMap<u32, Vec<u32>, FixedState>,
}

/// Everything the walk needs to know.
pub(crate) struct Walk<'s> {
    pub(crate) records: &'s [Record],
    pub(crate) threads: &'s [u32],
    pub(crate) library: &'s Library<'s>,
    pub(crate) options: &'s Options,
    /// The fingerprints of each message that other messages have as well.
    pub(crate) shared: Vec<Box<[u64]>>,
    /// Which word pairs occur in more than one message.
    pub(crate) pairs: Twice,
}

/// The result: for each message asked, the proof that it may go, or `None` if it is kept.
pub(crate) type Decisions = HashMap<u32, Proven, FixedState>;

impl<'s> Walk<'s> {
    /// Walks down `order` and decides.
    pub(crate) fn decide(&self, order: &[u32], progress: &dyn Progress) -> (Kept, Decisions) {
        let mut kept = Kept {
            index: MemoryIndex::new(),
            things: HashMap::default(),
            threads: HashMap::default(),
        };
        let mut gone = Decisions::default();
        progress.begin(Stage::Proving, order.len() as u64);
        for batch in order.chunks(BATCH) {
            let first: Vec<Option<Proven>> = batch
                .par_iter()
                .map(|&a| {
                    let proven = self.prove(a, &kept, &[], u32::MAX);
                    progress.advance(1, 0);
                    proven
                })
                .collect();
            let (mut open, mut done) = (Vec::new(), Vec::new());
            for (&a, proven) in batch.iter().zip(first) {
                match proven {
                    Some(proven) => done.push((a, proven)),
                    None => open.push(a),
                }
            }
            gone.extend(done);
            self.decide_batch(&open, &mut kept, &mut gone);
        }
        (kept, gone)
    }

    /// Compares the messages of a batch that nothing kept before covers with each other.
    fn decide_batch(&self, open: &[u32], kept: &mut Kept, gone: &mut Decisions) {
        let mut index = MemoryIndex::new();
        let mut rank: HashMap<u32, usize, FixedState> = HashMap::default();
        for (n, &a) in open.iter().enumerate() {
            index.insert(a, self.shared[a as usize].iter().copied());
            rank.insert(a, n);
        }
        let earlier: Vec<Vec<u32>> = open
            .par_iter()
            .enumerate()
            .map(|(n, &a)| {
                let mut found = self.candidates(&index, a, CANDIDATES);
                found.retain(|b| rank.get(b).is_some_and(|&r| r < n));
                // Read ahead, so that the walk below finds the texts ready.
                if !found.is_empty() {
                    self.library.get(a);
                }
                found
            })
            .collect();
        for (&a, earlier) in open.iter().zip(earlier) {
            let mut near: Vec<u32> = Vec::new();
            for b in earlier {
                match gone.get(&b) {
                    None => near.push(b),
                    Some(proven) => near.extend(proven.witnesses.iter().map(|w| w.message)),
                }
            }
            near.dedup();
            let brief = self.records[a as usize].short;
            let proven = if near.is_empty() && !brief {
                None
            } else {
                self.prove(a, kept, &near, u32::MAX)
            };
            match proven {
                Some(proven) => drop(gone.insert(a, proven)),
                None => self.keep(a, kept),
            }
        }
    }

    fn keep(&self, a: u32, kept: &mut Kept) {
        let record = &self.records[a as usize];
        kept.index
            .insert(a, self.shared[a as usize].iter().copied());
        for &thing in record.attachments.iter().chain(&record.links) {
            kept.things.entry(thing).or_default().push(a);
        }
        kept.threads
            .entry(self.threads[a as usize])
            .or_default()
            .push(a);
    }

    /// Messages of an index that share fingerprints with `a`: most first.
    pub(crate) fn candidates(&self, index: &MemoryIndex, a: u32, most: usize) -> Vec<u32> {
        let keys = &self.shared[a as usize];
        let limits = Limits {
            entries: ENTRIES,
            messages: most,
        };
        let found = index.sharing(keys, keys.len(), limits, |b| &self.shared[b as usize]);
        found
            .into_iter()
            .map(|c| c.message)
            .filter(|&b| b != a)
            .collect()
    }

    /// Whether word pairs may decide early. The shortcuts know stable pairs only.
    fn shortcuts(&self) -> bool {
        self.options.shortcuts && self.options.numbering == Numbering::Stable
    }

    /// Whether a message holds a fact or a run of words that no other message has, or nothing that another one has.
    fn is_new(&self, a: u32) -> bool {
        let record = &self.records[a as usize];
        if record.facts.iter().any(|&fact| !self.pairs.contains(fact)) {
            return true;
        }
        let (mut longest, mut run, mut known) = (0, 0, 0);
        for &f in &record.fingerprints {
            run = if self.pairs.contains(f) { 0 } else { run + 1 };
            known += usize::from(run == 0);
            longest = longest.max(run);
        }
        (known == 0 && !record.fingerprints.is_empty()) || longest >= LONE_RUN
    }

    /// Whether kept messages other than `a` have enough of its fingerprints that it is worth reading it.
    fn stands_elsewhere(&self, a: u32, kept: &Kept) -> bool {
        let record = &self.records[a as usize];
        let (mut found, mut unkept) = (0_usize, 0);
        for &f in &record.fingerprints {
            if kept.index.holders(f).iter().take(2).any(|&b| b != a) {
                (found, unkept) = (found + 1, 0);
            } else {
                unkept += 1;
            }
            if unkept >= UNKEPT_RUN && self.shortcuts() {
                return false;
            }
        }
        found * 2 >= record.fingerprints.len()
    }

    /// Tries to prove that kept messages cover `a`; `near` are asked first, `without` is not asked.
    fn prove(&self, a: u32, kept: &Kept, near: &[u32], without: u32) -> Option<Proven> {
        let shortcuts = self.shortcuts();
        if self.records[a as usize].is_empty() || shortcuts && self.is_new(a) {
            return None;
        }
        let mut asked = Vec::new();
        if self.stands_elsewhere(a, kept) {
            asked = near.to_vec();
            asked.extend(
                self.candidates(&kept.index, a, CANDIDATES)
                    .into_iter()
                    .filter(|b| !near.contains(b)),
            );
            asked.retain(|&b| b != without);
            asked = self.worth_asking(a, &asked).unwrap_or_default();
        }
        asked.extend(
            self.conversation(a, kept)
                .into_iter()
                .filter(|&b| b != without && !asked.contains(&b))
                .collect::<Vec<_>>(),
        );
        if asked.is_empty() {
            return None;
        }
        let text = self.library.get(a)?;
        let mut held: Vec<Held> = Vec::new();
        let mut open: Vec<Open> = content(&text)
            .map(|(n, unit)| Open::new(n, &text, unit))
            .collect();
        if shortcuts && open.iter().any(|unit| unit.is_new(&self.pairs)) {
            return None;
        }
        let brief = self.records[a as usize].short;
        for (rank, b) in asked.into_iter().enumerate() {
            if shortcuts
                && rank > 1
                && !brief
                && !open
                    .iter()
                    .any(|unit| unit.has_pair_in(&self.shared[b as usize]))
            {
                continue;
            }
            let Some(one) = self.hold(a, &text, b) else {
                continue;
            };
            if one.is_complete(&text)
                && let Some(proven) = self.conclude(a, &text, &[&one], kept, without)
            {
                return Some(proven);
            }
            open.retain(|unit| one.places[unit.number].is_none());
            held.push(one);
            // One unit that stands nowhere else decides.
            if shortcuts
                && open
                    .iter()
                    .any(|unit| unit.is_lone(a, &kept.index, self.options.window))
            {
                return None;
            }
        }
        if open.iter().any(|unit| {
            unit.holders(kept)
                .iter()
                .all(|list| list.iter().all(|&b| b == a || b == without))
        }) {
            return None;
        }
        self.ask_for_the_rest(a, &text, kept, &mut held, &open, without);
        let chosen = combine(&text, &held, self.options.max_witnesses)?;
        let chosen: Vec<&Held> = chosen.into_iter().map(|n| &held[n]).collect();
        if chosen.len() > 1 && chosen.iter().any(|one| contradicts(&text, one)) {
            return None;
        }
        self.conclude(a, &text, &chosen, kept, without)
    }

    /// For a message of a few words, which may have no fingerprint in a message that quotes it: those of its conversation
    /// that answer it, then the others.
    fn conversation(&self, a: u32, kept: &Kept) -> Vec<u32> {
        let record = &self.records[a as usize];
        if !record.short || record.is_empty() {
            return Vec::new();
        }
        let id = record.message_id.as_deref().map(hash_of);
        let answers =
            |b: &u32| id.is_some_and(|id| self.records[*b as usize].references.contains(&id));
        let mut members: Vec<u32> = kept
            .threads
            .get(&self.threads[a as usize])
            .cloned()
            .unwrap_or_default();
        members.retain(|&b| b != a);
        members.sort_by_key(|b| !answers(b));
        members.truncate(LOOKED_AT_IN_THREAD);
        members
    }

    /// The candidates in the order in which it pays to read them: the one that shares most, those that share nearly as
    /// much, then each that adds fingerprints the ones before it lack. `None` if all together share too little.
    fn worth_asking(&self, a: u32, candidates: &[u32]) -> Option<Vec<u32>> {
        let keys = &self.shared[a as usize];
        let has = |b: u32, key: u64| self.shared[b as usize].binary_search(&key).is_ok();
        let mut missing: Vec<u64> = keys.to_vec();
        let mut adding: Vec<u32> = Vec::new();
        while let Some((_, b)) = candidates
            .iter()
            .rev()
            .map(|&b| (missing.iter().filter(|&&key| has(b, key)).count(), b))
            .max_by_key(|&(gain, _)| gain)
            .filter(|&(gain, _)| gain > 0)
        {
            missing.retain(|&key| !has(b, key));
            adding.push(b);
        }
        let first = *adding.first()?;
        let count = |b: u32| keys.iter().filter(|&&key| has(b, key)).count();
        let most = count(first);
        let together = keys.len() - missing.len();
        if together * 2 < self.records[a as usize].fingerprints.len() {
            return None;
        }
        let mut order = vec![first];
        order.extend(
            candidates
                .iter()
                .copied()
                .filter(|&b| b != first && count(b) * 10 >= most * 9)
                .take(4),
        );
        order.extend(
            adding
                .into_iter()
                .filter(|b| !order.contains(b))
                .collect::<Vec<_>>(),
        );
        Some(order)
    }

    /// What `b` holds of `a`, if it may be a witness for it at all.
    fn hold(&self, a: u32, text: &Comparable, b: u32) -> Option<Held> {
        let held = hold(text, b, self.library.get(b)?);
        (!self.records[a as usize].short || self.in_context(a, text, &held)).then_some(held)
    }

    /// Whether a message of a few words means the same in the witness: the same sender on the same subject, or the same
    /// conversation and quoted there.
    fn in_context(&self, a: u32, text: &Comparable, held: &Held) -> bool {
        let (x, y) = (
            &self.records[a as usize],
            &self.records[held.message as usize],
        );
        let same_sender = !x.from.is_empty() && x.from == y.from;
        let same_topic = x.topic != 0 && x.topic == y.topic;
        let same_thread = self.threads[a as usize] == self.threads[held.message as usize];
        (same_sender && (same_topic || same_thread)) || (same_thread && held.quotes_own_text(text))
    }

    /// Asks further kept messages for the units that none of `held` has.
    fn ask_for_the_rest(
        &self,
        a: u32,
        text: &Arc<Comparable>,
        kept: &Kept,
        held: &mut Vec<Held>,
        open: &[Open],
        without: u32,
    ) {
        for unit in open {
            if held.len() >= COMBINED {
                return;
            }
            if held.iter().any(|h| h.places[unit.number].is_some()) {
                continue;
            }
            let lists = unit.holders(kept);
            let mut fresh: Vec<u32> = Vec::new();
            for &b in lists.iter().flat_map(|list| list.iter().take(8)) {
                let known = b == a
                    || b == without
                    || fresh.contains(&b)
                    || held.iter().any(|h| h.message == b);
                if !known && fresh.len() < 4 {
                    fresh.push(b);
                }
            }
            let before = held.len();
            held.extend(fresh.into_iter().filter_map(|b| self.hold(a, text, b)));
            if held[before..]
                .iter()
                .all(|h| h.places[unit.number].is_none())
            {
                return;
            }
        }
    }

    /// The last questions: attachments, links, facts outside the text, and the proof itself.
    fn conclude(
        &self,
        a: u32,
        text: &Comparable,
        chosen: &[&Held],
        kept: &Kept,
        without: u32,
    ) -> Option<Proven> {
        let record = &self.records[a as usize];
        let has = |thing: u64| {
            chosen.iter().any(|h| {
                let witness = &self.records[h.message as usize];
                witness.attachments.binary_search(&thing).is_ok() || h.text.has_fact(thing)
            })
        };
        if record.subject_facts.iter().any(|&fact| !has(fact)) {
            return None;
        }
        let mut holders: Vec<u32> = Vec::new();
        for &thing in record.attachments.iter().chain(&record.links) {
            if !has(thing) {
                holders.push(
                    *kept
                        .things
                        .get(&thing)?
                        .iter()
                        .find(|&&b| b != a && b != without)?,
                );
            }
        }
        holders.sort_unstable();
        holders.dedup();
        let proof = proof(text, chosen);
        let texts: Vec<&Comparable> = chosen.iter().map(|h| h.text.as_ref()).collect();
        if !check::holds(text, &texts, &proof) {
            return None;
        }
        let mut witnesses = witnesses(text, chosen);
        let category = if holders.is_empty() {
            category(text, chosen)
        } else {
            Category::Combined
        };
        for holder in holders {
            if witnesses.iter().all(|w| w.message != holder) {
                let containment = self.hold(a, text, holder).map_or(0, |h| h.words(text)) as f64
                    / text.says().max(1) as f64;
                witnesses.push(Witness {
                    message: holder,
                    containment,
                });
            }
        }
        Some(Proven {
            category,
            witnesses,
            residue: residue(text, chosen),
        })
    }

    /// The second walk, over what the first one kept.
    pub(crate) fn decide_again(
        &self,
        order: &[u32],
        kept: &mut Kept,
        gone: &mut Decisions,
        progress: &dyn Progress,
    ) {
        let stay: Vec<u32> = order
            .iter()
            .rev()
            .copied()
            .filter(|a| !gone.contains_key(a))
            .collect();
        progress.begin(Stage::Combining, stay.len() as u64);
        let seen: &Kept = kept;
        let hopeful: Vec<u32> = stay
            .par_iter()
            .copied()
            .filter(|&a| {
                progress.advance(1, 0);
                self.prove(a, seen, &[], a).is_some()
            })
            .collect();
        let mut rests_on: HashMap<u32, Vec<u32>, FixedState> = HashMap::default();
        let mut resting: Vec<(&u32, &Proven)> = gone.iter().collect();
        resting.sort_by_key(|r| r.0);
        for (&a, proven) in resting {
            proven
                .witnesses
                .iter()
                .for_each(|w| rests_on.entry(w.message).or_default().push(a));
        }
        for a in hopeful {
            self.let_go(a, kept, gone, &mut rests_on);
        }
    }

    /// Lets a kept message go if the others cover it and everything that rests on it.
    fn let_go(
        &self,
        a: u32,
        kept: &mut Kept,
        gone: &mut Decisions,
        rests_on: &mut HashMap<u32, Vec<u32>, FixedState>,
    ) {
        kept.index
            .remove(a, self.shared[a as usize].iter().copied());
        let proven = self.prove(a, kept, &[], a);
        let resting = rests_on.get(&a).cloned().unwrap_or_default();
        let again: Option<Vec<(u32, Proven)>> = resting
            .iter()
            .map(|&r| Some((r, self.prove(r, kept, &[], a)?)))
            .collect();
        match (proven, again) {
            (Some(proven), Some(again)) => {
                for (r, proven) in again.into_iter().chain([(a, proven)]) {
                    proven
                        .witnesses
                        .iter()
                        .for_each(|w| rests_on.entry(w.message).or_default().push(r));
                    gone.insert(r, proven);
                }
                let record = &self.records[a as usize];
                for thing in record.attachments.iter().chain(&record.links) {
                    if let Some(holders) = kept.things.get_mut(thing) {
                        holders.retain(|&b| b != a);
                    }
                }
                if let Some(thread) = kept.threads.get_mut(&self.threads[a as usize]) {
                    thread.retain(|&b| b != a);
                }
            }
            _ => kept
                .index
                .insert(a, self.shared[a as usize].iter().copied()),
        }
    }
}

/// Whether a witness of a combined cover says something else where it does not say what the message says: another order
/// number in the same sentence. Facts put together from such witnesses would no longer belong together.
fn contradicts(text: &Comparable, held: &Held) -> bool {
    content(text)
        .filter(|&(n, _)| held.places[n].is_none())
        .filter_map(|(_, unit)| Some((unit, counterpart(text, unit, &held.text)?)))
        .any(|(unit, (same, differs_in_fact))| differs_in_fact && same * 3 >= unit.len() * 2)
}

/// A unit that no message asked so far holds.
struct Open {
    /// Its number among the units.
    number: usize,
    /// Its word pairs, as far as they take part in fingerprints.
    pairs: Vec<u64>,
}

impl Open {
    fn new(number: usize, text: &Comparable, unit: &Unit) -> Self {
        let words = &text.document.words[unit.words.start as usize..unit.words.end as usize];
        let told: Vec<u64> = words.iter().filter(|w| counts(w)).map(|w| w.hash).collect();
        Self {
            number,
            pairs: told.windows(2).map(|w| pair(w[0], w[1])).collect(),
        }
    }

    /// Whether one of these fingerprints (sorted) is a pair of it.
    fn has_pair_in(&self, fingerprints: &[u64]) -> bool {
        self.pairs
            .iter()
            .any(|p| fingerprints.binary_search(p).is_ok())
    }

    /// The kept messages that have a pair of it, as long as few enough have it to tell something: the rarest pair first.
    fn holders<'k>(&self, kept: &'k Kept) -> Vec<&'k [u32]> {
        let mut lists: Vec<&[u32]> = self.pairs.iter().map(|&p| kept.index.holders(p)).collect();
        lists.retain(|list| !list.is_empty() && list.len() <= COMMON);
        lists.sort_by_key(|list| list.len());
        lists
    }

    /// Whether its word pairs occur in no other message: all of them, or a longer run than misspelt and inflected words
    /// explain, which make two each.
    fn is_new(&self, known: &Twice) -> bool {
        let (mut run, mut longest, mut lone) = (0, 0, 0);
        for &pair in &self.pairs {
            run = if known.contains(pair) { 0 } else { run + 1 };
            lone += usize::from(run > 0);
            longest = longest.max(run);
        }
        longest > LONE_RUN || (lone == self.pairs.len() && lone > 2)
    }

    /// Whether it is long enough to have a fingerprint in every message that holds it, even with a misspelling, and no
    /// kept message but `a` has one.
    fn is_lone(&self, a: u32, index: &MemoryIndex, window: usize) -> bool {
        self.pairs.len() > 2 * window
            && !self
                .pairs
                .iter()
                .any(|&p| index.holders(p).iter().take(2).any(|&b| b != a))
    }
}

impl Kept {
    /// The kept messages by their fingerprints.
    pub(crate) fn index(&self) -> &MemoryIndex {
        &self.index
    }
}
