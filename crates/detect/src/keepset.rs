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
use std::sync::Mutex;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_index::{Holders, Twice, sharing};

use crate::aside::Aside;
use crate::hard::Hard;
use crate::library::Library;
use crate::memo::Memo;
use crate::prove::CANDIDATES;
use crate::proven::Proven;
use crate::record::Record;
use crate::scan::{Options, Progress, Stage};
use crate::shared::Shared;

/// How many messages are compared with what is kept at a time.
pub(crate) const BATCH: usize = 512;

/// What is kept so far, and how to find it.
pub(crate) struct Kept {
    /// The kept messages by their fingerprints.
    pub(crate) index: Holders,
    /// The kept messages that have this sentence word for word.
    pub(crate) sentences: Holders,
    /// The kept messages that have this attachment or link.
    pub(crate) things: HashMap<u64, Vec<u32>, FixedState>,
    /// The kept messages of each conversation.
    pub(crate) threads: HashMap<u32, Vec<u32>, FixedState>,
}

/// Everything the walk needs to know.
pub(crate) struct Walk<'s> {
    pub(crate) records: &'s [Record],
    pub(crate) threads: &'s [u32],
    pub(crate) library: &'s Library<'s>,
    pub(crate) options: &'s Options,
    /// The fingerprints that several messages have.
    pub(crate) fingerprints: Shared<u32>,
    /// The sentences that several messages have.
    pub(crate) sentences: Shared<u64>,
    /// Which word pairs occur in more than one message.
    pub(crate) pairs: &'s Twice,
    /// If this is a part of a larger collection: in which batch of the whole each message is.
    pub(crate) batches: Option<Vec<u32>>,
    /// What there was no room for.
    pub(crate) aside: Aside,
    /// What comparing texts has led to before.
    pub(crate) memo: Memo,
    /// What was found out about messages that nothing covered so far.
    pub(crate) hard: Mutex<Hard>,
}

/// The result: for each message asked, the proof that it may go, or `None` if it is kept.
pub(crate) type Decisions = HashMap<u32, Proven, FixedState>;

impl<'s> Walk<'s> {
    /// Walks down `order` and decides.
    pub(crate) fn decide(&self, order: &[u32], progress: &dyn Progress) -> (Kept, Decisions) {
        let mut kept = Kept {
            index: self.fingerprints.index(),
            sentences: self.sentences.index(),
            things: HashMap::default(),
            threads: HashMap::default(),
        };
        let mut gone = Decisions::default();
        progress.begin(Stage::Proving, order.len() as u64);
        for batch in self.batches(order) {
            let first: Vec<Option<Proven>> = batch
                .par_iter()
                .map(|&a| {
                    let proven = self.prove(a, &kept, u32::MAX);
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

    /// The messages that are compared with what is kept at the same time.
    fn batches<'o>(&self, order: &'o [u32]) -> Vec<&'o [u32]> {
        match &self.batches {
            None => order.chunks(BATCH).collect(),
            Some(of) => order
                .chunk_by(|&a, &b| of.get(a as usize) == of.get(b as usize))
                .collect(),
        }
    }

    /// Compares the messages of a batch that nothing kept before covers with each other. One that shares fingerprints with
    /// an earlier one waits until that one is decided; those that wait for nobody are decided at the same time.
    fn decide_batch(&self, open: &[u32], kept: &mut Kept, gone: &mut Decisions) {
        let (new, rest): (Vec<u32>, Vec<u32>) = open.iter().partition(|&&a| self.is_new(a));
        for a in new {
            let proven = self.prove(a, kept, u32::MAX);
            self.note(a, proven, kept, gone);
        }
        // A message of a few words is judged by its conversation, so after all of it.
        let (brief, rest): (Vec<u32>, Vec<u32>) = rest
            .into_iter()
            .partition(|&a| self.records[a as usize].short);
        for mut turn in self.turns(open, &rest) {
            for (_, near) in &mut turn {
                near.retain(|b| !gone.contains_key(b));
            }
            let kept_before: &Kept = kept;
            let proven: Vec<Option<Proven>> = turn
                .par_iter()
                .map(|(a, near)| self.prove_by(*a, near, kept_before))
                .collect();
            for ((a, _), proven) in turn.into_iter().zip(proven) {
                self.note(a, proven, kept, gone);
            }
        }
        for a in brief {
            let proven = self.prove(a, kept, u32::MAX);
            self.note(a, proven, kept, gone);
        }
    }

    /// The messages of `rest` in the turns in which they can be decided, each with the earlier messages of the batch that
    /// share fingerprints with it.
    fn turns(&self, open: &[u32], rest: &[u32]) -> Vec<Vec<(u32, Vec<u32>)>> {
        let mut index: HashMap<u32, Vec<u32>, FixedState> = HashMap::default();
        let mut rank: HashMap<u32, usize, FixedState> = HashMap::default();
        for (n, &a) in open.iter().enumerate() {
            for &key in self.fingerprints.keys(a) {
                index.entry(key).or_default().push(a);
            }
            rank.insert(a, n);
        }
        let near: Vec<Vec<u32>> = rest
            .par_iter()
            .map(|&a| {
                let keys = self.fingerprints.keys(a);
                let holders = |key: u32| index.get(&key).map_or(&[][..], Vec::as_slice);
                let keys_of = |b: u32| self.fingerprints.keys(b);
                let found = sharing(keys, holders, keys.len(), CANDIDATES, keys_of);
                let mut near: Vec<u32> = found.into_iter().map(|c| c.message).collect();
                near.retain(|b| rank[b] < rank[&a]);
                near
            })
            .collect();
        let mut turn_of: HashMap<u32, usize, FixedState> = HashMap::default();
        let mut turns: Vec<Vec<(u32, Vec<u32>)>> = Vec::new();
        for (&a, near) in rest.iter().zip(near) {
            let before = near.iter().filter_map(|b| turn_of.get(b)).max();
            let turn = before.map_or(0, |before| before + 1);
            turn_of.insert(a, turn);
            if turns.len() == turn {
                turns.push(Vec::new());
            }
            turns[turn].push((a, near));
        }
        turns
    }

    fn note(&self, a: u32, proven: Option<Proven>, kept: &mut Kept, gone: &mut Decisions) {
        match proven {
            Some(proven) => drop(gone.insert(a, proven)),
            None => self.keep(a, kept),
        }
    }

    fn keep(&self, a: u32, kept: &mut Kept) {
        let record = &self.records[a as usize];
        kept.index.insert(a, self.fingerprints.keys(a));
        kept.sentences.insert(a, self.sentences.keys(a));
        for &thing in record.attachments.iter().chain(&record.links) {
            kept.things.entry(thing).or_default().push(a);
        }
        kept.threads
            .entry(self.threads[a as usize])
            .or_default()
            .push(a);
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
                self.prove(a, seen, a).is_some()
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
        kept.index.remove(a, self.fingerprints.keys(a));
        kept.sentences.remove(a, self.sentences.keys(a));
        let proven = self.prove(a, kept, a);
        let resting = rests_on.get(&a).cloned().unwrap_or_default();
        let again: Option<Vec<(u32, Proven)>> = resting
            .iter()
            .map(|&r| Some((r, self.prove(r, kept, a)?)))
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
            _ => {
                kept.index.insert(a, self.fingerprints.keys(a));
                kept.sentences.insert(a, self.sentences.keys(a));
            }
        }
    }
}
