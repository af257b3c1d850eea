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

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use foldhash::fast::FixedState;
use rayon::prelude::*;

use crate::aside::Aside;
use crate::hard::Hard;
use crate::leads::Leads;
use crate::library::Library;
use crate::memo::Memo;
use crate::options::Options;
use crate::progress::{Progress, Stage};
use crate::prove::CANDIDATES;
use crate::proven::Proven;
use crate::record::Record;

/// How many messages are compared with what is kept at a time.
pub(crate) const BATCH: usize = 512;

/// What is kept so far.
pub(crate) struct Kept {
    /// For each message whether it is.
    stands: Vec<bool>,
}

impl Kept {
    /// Whether a message is kept.
    pub(crate) fn has(&self, message: u32) -> bool {
        self.stands[message as usize]
    }
}

/// Everything the walk needs to know.
pub(crate) struct Walk<'s> {
    pub(crate) records: &'s [Record],
    pub(crate) threads: &'s [u32],
    pub(crate) library: &'s Library<'s>,
    pub(crate) options: &'s Options,
    /// What leads from messages to others.
    pub(crate) leads: Leads,
    /// For each message whether it holds a fact or a run of words that no other has, so that nothing can cover it.
    pub(crate) new: Vec<bool>,
    /// The messages in the order in which they are asked.
    pub(crate) order: &'s [u32],
    /// For each message its place there.
    pub(crate) ranks: Vec<u32>,
    /// If this is a part of a larger collection: in which batch of the whole each message is.
    pub(crate) batches: Option<Vec<u32>>,
    /// What there was no room for.
    pub(crate) aside: &'s Aside,
    /// What comparing texts has led to before.
    pub(crate) memo: Memo,
    /// What was found out about messages that nothing covered so far.
    pub(crate) hard: Mutex<Hard>,
}

/// The result: for each message asked, the proof that it may go, or `None` if it is kept.
pub(crate) type Decisions = HashMap<u32, Proven, FixedState>;

impl<'s> Walk<'s> {
    /// Walks down the order and decides.
    pub(crate) fn decide(&self, progress: &dyn Progress) -> (Kept, Decisions) {
        let mut kept = Kept {
            stands: vec![false; self.records.len()],
        };
        let mut gone = Decisions::default();
        progress.begin(Stage::Proving, self.order.len() as u64);
        for batch in self.batches() {
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
    fn batches(&self) -> Vec<&[u32]> {
        match &self.batches {
            None => self.order.chunks(BATCH).collect(),
            Some(of) => self
                .order
                .chunk_by(|&a, &b| of.get(a as usize) == of.get(b as usize))
                .collect(),
        }
    }

    /// Compares the messages of a batch that nothing kept before covers with each other. One that shares fingerprints with
    /// an earlier one waits until that one is decided; those that wait for nobody are decided at the same time.
    fn decide_batch(&self, open: &[u32], kept: &mut Kept, gone: &mut Decisions) {
        let (new, rest): (Vec<u32>, Vec<u32>) = open.iter().partition(|&&a| self.new[a as usize]);
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
        let open: HashSet<u32, FixedState> = open.iter().copied().collect();
        let near: Vec<Vec<u32>> = rest
            .par_iter()
            .map(|&a| {
                let is_before = |b: u32| self.ranks[b as usize] < self.ranks[a as usize];
                self.near(a, CANDIDATES, |b| open.contains(&b) && is_before(b))
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
            None => kept.stands[a as usize] = true,
        }
    }

    /// The second walk, over what the first one kept.
    pub(crate) fn decide_again(
        &self,
        kept: &mut Kept,
        gone: &mut Decisions,
        progress: &dyn Progress,
    ) {
        let stay: Vec<u32> = self
            .order
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
        kept.stands[a as usize] = false;
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
            }
            _ => kept.stands[a as usize] = true,
        }
    }
}
