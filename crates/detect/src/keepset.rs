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

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;

use foldhash::fast::FixedState;
use rayon::prelude::*;

use crate::amend::Before;
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

/// How many messages are compared with what is kept at a time; few in tests, which have few messages.
pub(crate) const BATCH: usize = if cfg!(test) { 8 } else { 512 };

/// So many messages at the most are asked about one after the other, on one thread: some take much longer than others, and nobody should wait for who has them all.
const TOGETHER: usize = 4;

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

/// The result: for each message that may go, the proof.
pub(crate) type Decisions = HashMap<u32, Proven, FixedState>;

/// When the first walk decided about a message, and how: in which turn of its batch, and whether it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(pub(crate) u32);

impl Outcome {
    /// What is kept before its batch covers it.
    const COVERED: Self = Self(0);
    /// Before the turns: it stays in any case, as a rule.
    const AT_ONCE: u32 = 0;
    /// After the turns: it has a few words only.
    const LAST: u32 = 1;

    /// Decided in a step of its batch.
    fn in_step(step: u32, kept: bool) -> Self {
        Self(step * 2 + 2 - u32::from(kept))
    }

    /// The step that a turn is.
    fn turn_step(turn: usize) -> u32 {
        turn as u32 + 2
    }

    /// In which turn, if in one.
    fn turn(self) -> Option<usize> {
        let step = self.0.div_ceil(2);
        step.checked_sub(3).map(|turn| turn as usize)
    }

    /// Whether a walk can have come to it.
    pub(crate) fn is_possible(self) -> bool {
        self.turn().is_none_or(|turn| turn < BATCH)
    }

    /// Whether it is kept.
    pub(crate) fn is_kept(self) -> bool {
        self.0 % 2 == 1
    }
}

/// What the first walk decided.
pub(crate) struct First {
    pub(crate) kept: Kept,
    pub(crate) gone: Decisions,
    /// For each message when and how, by its place in the walk.
    pub(crate) outcomes: Vec<Outcome>,
}

/// What the second walk changed, and found out on its way.
#[derive(Debug, Default)]
pub(crate) struct Second {
    /// The messages that what the first walk kept may cover; sorted.
    pub(crate) hopeful: Vec<u32>,
    /// What the first walk had decided about those of which something else holds now.
    pub(crate) before: BTreeMap<u32, Option<Proven>>,
}

impl<'s> Walk<'s> {
    /// Walks down the order and decides. With `before`, only what has changed is asked again.
    pub(crate) fn decide(&self, mut before: Option<&mut Before>, progress: &dyn Progress) -> First {
        let mut kept = Kept {
            stands: vec![false; self.records.len()],
        };
        let mut gone = Decisions::default();
        let mut outcomes = Vec::with_capacity(self.order.len());
        progress.begin(Stage::Proving, self.order.len() as u64);
        for batch in self.batches() {
            let decided = loop {
                let decided = self.decide_batch(batch, before.as_deref(), &mut kept, &mut gone);
                let more = before.as_deref_mut();
                if !more.is_some_and(|before| before.note(self, batch, &decided)) {
                    break decided;
                }
                // What was decided otherwise concerns others of the batch: they are asked as well, as if nothing had been asked yet.
                self.forget_missed(batch);
                for a in batch {
                    kept.stands[*a as usize] = false;
                    gone.remove(a);
                }
            };
            outcomes.extend(decided);
            progress.advance(batch.len() as u64, 0);
        }
        First {
            kept,
            gone,
            outcomes,
        }
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

    /// Compares the messages of a batch with what is kept, and those that this does not cover with each other. One that shares fingerprints with
    /// an earlier one waits until that one is decided; those that wait for nobody are decided at the same time.
    fn decide_batch(
        &self,
        batch: &[u32],
        before: Option<&Before>,
        kept: &mut Kept,
        gone: &mut Decisions,
    ) -> Vec<Outcome> {
        let known = |a: u32| before.and_then(|before| before.outcome(a));
        // What was decided before is decided again, without a question.
        let again = |a: u32, outcome: Outcome| match outcome.is_kept() {
            true => None,
            false => before.and_then(|before| before.proof(a)),
        };
        let seen: &Kept = kept;
        let first: Vec<Option<Proven>> = batch
            .par_iter()
            .with_max_len(TOGETHER)
            .map(|&a| match known(a) {
                None => self.prove(a, seen, u32::MAX),
                Some(outcome) if outcome == Outcome::COVERED => again(a, outcome),
                Some(_) => None,
            })
            .collect();
        let mut outcomes: HashMap<u32, Outcome, FixedState> = HashMap::default();
        let mut open = Vec::new();
        for (&a, proven) in batch.iter().zip(first) {
            match proven {
                Some(proven) => {
                    gone.insert(a, proven);
                    outcomes.insert(a, Outcome::COVERED);
                }
                None => open.push(a),
            }
        }
        let mut note =
            |a: u32, step: u32, proven: Option<Proven>, kept: &mut Kept, gone: &mut Decisions| {
                outcomes.insert(a, Outcome::in_step(step, proven.is_none()));
                match proven {
                    Some(proven) => drop(gone.insert(a, proven)),
                    None => kept.stands[a as usize] = true,
                }
            };
        let ask = |a: u32, kept: &Kept| match known(a) {
            None => self.prove(a, kept, u32::MAX),
            Some(outcome) => again(a, outcome),
        };
        let (new, rest): (Vec<u32>, Vec<u32>) = open.iter().partition(|&&a| self.new[a as usize]);
        for a in new {
            let proven = ask(a, kept);
            note(a, Outcome::AT_ONCE, proven, kept, gone);
        }
        // A message of a few words is judged by its conversation, so after all of it.
        let (brief, rest): (Vec<u32>, Vec<u32>) = rest
            .into_iter()
            .partition(|&a| self.records[a as usize].said.short);
        for (turn, mut waiting) in self.turns(&open, &rest, known).into_iter().enumerate() {
            for (_, near) in &mut waiting {
                near.retain(|b| !gone.contains_key(b));
            }
            let kept_before: &Kept = kept;
            let proven: Vec<Option<Proven>> = waiting
                .par_iter()
                .with_max_len(TOGETHER)
                .map(|(a, near)| match known(*a) {
                    None => self.prove_by(*a, near, kept_before),
                    Some(outcome) => again(*a, outcome),
                })
                .collect();
            for ((a, _), proven) in waiting.into_iter().zip(proven) {
                note(a, Outcome::turn_step(turn), proven, kept, gone);
            }
        }
        for a in brief {
            let proven = ask(a, kept);
            note(a, Outcome::LAST, proven, kept, gone);
        }
        let outcome = |a: &u32| outcomes.get(a).copied().unwrap_or(Outcome::COVERED);
        batch.iter().map(outcome).collect()
    }

    /// The messages of `rest` in the turns in which they can be decided, each with the earlier messages of the batch that
    /// share fingerprints with it; without those, where the turn is `known`.
    fn turns(
        &self,
        open: &[u32],
        rest: &[u32],
        known: impl Fn(u32) -> Option<Outcome> + Sync,
    ) -> Vec<Vec<(u32, Vec<u32>)>> {
        let open: HashSet<u32, FixedState> = open.iter().copied().collect();
        let near: Vec<Vec<u32>> = rest
            .par_iter()
            .with_max_len(TOGETHER)
            .map(|&a| {
                if known(a).is_some() {
                    return Vec::new();
                }
                let is_before = |b: u32| self.ranks[b as usize] < self.ranks[a as usize];
                self.near(a, CANDIDATES, |b| open.contains(&b) && is_before(b))
            })
            .collect();
        let mut turn_of: HashMap<u32, usize, FixedState> = HashMap::default();
        let mut turns: Vec<Vec<(u32, Vec<u32>)>> = Vec::new();
        for (&a, near) in rest.iter().zip(near) {
            let before = near.iter().filter_map(|b| turn_of.get(b)).max();
            let turn = match known(a).and_then(Outcome::turn) {
                Some(turn) => turn,
                None => before.map_or(0, |before| before + 1),
            };
            turn_of.insert(a, turn);
            if turns.len() <= turn {
                turns.resize_with(turn + 1, Vec::new);
            }
            turns[turn].push((a, near));
        }
        turns
    }

    /// The second walk, over what the first one kept. With `before`, only what has changed is asked again.
    pub(crate) fn decide_again(
        &self,
        kept: &mut Kept,
        gone: &mut Decisions,
        before: Option<&Before>,
        progress: &dyn Progress,
    ) -> Second {
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
            .with_max_len(TOGETHER)
            .copied()
            .filter(|&a| {
                progress.advance(1, 0);
                match before.and_then(|before| before.is_hopeful(a)) {
                    Some(hopeful) => hopeful,
                    None => self.prove(a, seen, a).is_some(),
                }
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
        let mut second = Second::default();
        for &a in &hopeful {
            self.let_go(a, kept, gone, &mut rests_on, &mut second);
        }
        second.hopeful = hopeful;
        second.hopeful.sort_unstable();
        second
    }

    /// Lets a kept message go if the others cover it and everything that rests on it.
    fn let_go(
        &self,
        a: u32,
        kept: &mut Kept,
        gone: &mut Decisions,
        rests_on: &mut HashMap<u32, Vec<u32>, FixedState>,
        second: &mut Second,
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
                    let was = gone.insert(r, proven);
                    second.before.entry(r).or_insert(was);
                }
            }
            _ => kept.stands[a as usize] = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_tells_its_turn_and_how_it_ended() {
        let mut all = vec![Outcome::COVERED];
        for step in [Outcome::AT_ONCE, Outcome::LAST] {
            for kept in [true, false] {
                let one = Outcome::in_step(step, kept);
                assert_eq!((one.turn(), one.is_kept()), (None, kept));
                all.push(one);
            }
        }
        for turn in [0, 1, 7] {
            for kept in [true, false] {
                let one = Outcome::in_step(Outcome::turn_step(turn), kept);
                assert_eq!((one.turn(), one.is_kept()), (Some(turn), kept));
                all.push(one);
            }
        }
        assert!(!Outcome::COVERED.is_kept() && Outcome::COVERED.turn().is_none());
        let different: HashSet<u32> = all.iter().map(|one| one.0).collect();
        assert_eq!(different.len(), all.len());
    }
}
