//! For whom do keys lead to others than they did?

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::FixedState;

use super::Members;
use super::gone::Gone;
use super::merge::{Merged, Touched};
use crate::cache::Course;
use crate::leads::Told;
use crate::near::{Fingerprints, least_shared};
use crate::record::Record;
use crate::shared::Reach;

/// Those who have to be asked again.
pub(super) struct Asked<'a> {
    told: &'a Told<'a>,
    members: &'a Members,
    course: &'a Course,
    /// For each place in the last walk that in this one; `u32::MAX` if there is none.
    ranks: &'a [u32],
    /// For each message whether it holds what no other has,
    new: &'a [bool],
    /// and those of which that is not as it was.
    newness_changed: &'a [u32],
    /// Those who stood for themselves or for others, and now stand behind one that came.
    stepped_back: Vec<u32>,
    /// For each message whether it is one of them.
    pub(super) again: Vec<bool>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        told: &'a Told<'a>,
        members: &'a Members,
        course: &'a Course,
        now: &[u32],
        ranks: &'a [u32],
        new: &'a [bool],
        newness_changed: &'a [u32],
    ) -> Self {
        let left = course.order.iter().zip(ranks);
        let left = left.filter(|(_, rank)| **rank == u32::MAX);
        let stepped_back = left.map(|(&was, _)| now[was as usize]);
        Self {
            stepped_back: stepped_back.filter(|&n| n != u32::MAX).collect(),
            again: members.looked_at.clone(),
            told,
            members,
            course,
            ranks,
            new,
            newness_changed,
        }
    }

    /// Those that came, that stepped back, or that are new now or no longer: whoever sees them sees something else than before.
    fn changed(&self) -> impl Iterator<Item = u32> {
        let came = (0..)
            .zip(&self.members.were)
            .filter(|(_, was)| was.is_none());
        came.map(|(n, _)| n)
            .chain(self.stepped_back.iter().copied())
            .chain(self.newness_changed.iter().copied())
    }

    /// A message of a few words sees its conversation.
    pub(super) fn by_conversations(&mut self) {
        let mut sizes = vec![0_u32; self.course.threads.len()];
        for &thread in &self.course.threads {
            sizes[thread as usize] += 1;
        }
        // For each conversation which one it was, and how many of its messages have been met; and whether it is another one.
        let mut was: Vec<Option<(u32, u32)>> = vec![None; self.told.threads.len()];
        let mut other = vec![false; self.told.threads.len()];
        for (&thread, then) in self.told.threads.iter().zip(&self.members.were) {
            let thread = thread as usize;
            match then.map(|then| self.course.threads[then as usize]) {
                None => other[thread] = true,
                Some(then) => {
                    let (first, met) = was[thread].get_or_insert((then, 0));
                    other[thread] |= *first != then;
                    *met += 1;
                }
            }
        }
        for (other, was) in other.iter_mut().zip(was) {
            *other |= was.is_some_and(|(then, met)| sizes[then as usize] != met);
        }
        for n in self.changed() {
            other[self.told.threads[n as usize] as usize] = true;
        }
        for ((again, record), &thread) in self
            .again
            .iter_mut()
            .zip(self.told.records)
            .zip(self.told.threads)
        {
            *again |= record.said.short && other[thread as usize];
        }
    }

    /// A message with an attachment or a link sees others that have it.
    pub(super) fn by_things(&mut self, gone: &[Gone]) {
        let records = self.told.records;
        let changed = self.changed().map(|n| &records[n as usize]);
        let had = gone.iter().map(|gone| &gone.record);
        let things: HashSet<u64, FixedState> =
            changed.chain(had).flat_map(Record::things).collect();
        if things.is_empty() {
            return;
        }
        for (again, record) in self.again.iter_mut().zip(records) {
            *again |= record.things().any(|thing| things.contains(&thing));
        }
    }

    /// A message sees whom its sentences lead to.
    pub(super) fn by_sentences(&mut self, sentences: &Merged<u64>) {
        let Self { told, course, .. } = *self;
        for touched in &sentences.touched {
            let before = shown(&touched.before, |rank| {
                course.new[course.order[rank as usize] as usize]
            });
            let before: Vec<u32> = before.iter().map(|&was| self.ranks[was as usize]).collect();
            let after = shown(&touched.after, |rank| self.is_new(rank));
            if before != after {
                self.ask_all(touched);
            }
        }
        // Where nobody came or went, somebody may be shown now or no longer, since it is new or no longer new.
        let mut numbers: BTreeSet<usize> = BTreeSet::new();
        for &n in self.newness_changed {
            let detail = told.aside.detail(&told.records[n as usize].said.seldom);
            let own = detail.as_ref().map_or(&[][..], |detail| &detail.told);
            let keys = &sentences.lists.keys;
            numbers.extend(
                own.iter()
                    .filter_map(|told| keys.binary_search(&told.hash).ok()),
            );
        }
        for number in numbers {
            let list = sentences.lists.holders.row(number as u32);
            let before = shown(list, |rank| self.was_new(rank));
            if before != shown(list, |rank| self.is_new(rank)) {
                list.iter().for_each(|&rank| self.ask(rank));
            }
        }
    }

    fn is_new(&self, rank: u32) -> bool {
        self.new[self.told.order[rank as usize] as usize]
    }

    fn was_new(&self, rank: u32) -> bool {
        let was = self.members.were[self.told.order[rank as usize] as usize];
        was.is_some_and(|was| self.course.new[was as usize])
    }

    /// A message sees who shares fingerprints with it.
    pub(super) fn by_fingerprints(&mut self, touched: &[Touched], now: &Fingerprints) {
        let few = Reach::USUAL.few as usize;
        let mut was = vec![u32::MAX; self.told.order.len()];
        for (&rank, then) in self.ranks.iter().zip(0..) {
            if rank != u32::MAX {
                was[rank as usize] = then;
            }
        }
        // Those who may be counted among the ones made of little but what many have, or no longer.
        let mut in_doubt: HashSet<u32, FixedState> = HashSet::default();
        for (n, &rank) in self.told.ranks.iter().enumerate() {
            if self.members.looked_at[n] && rank != u32::MAX && was[rank as usize] != u32::MAX {
                in_doubt.insert(rank);
            }
        }
        for list in touched {
            let (before, after) = (list.before.len(), list.after.len());
            if before.min(after) <= few {
                self.ask_all(list);
                if before.max(after) > few {
                    let after = list.after.iter().copied();
                    in_doubt.extend(after.filter(|&rank| was[rank as usize] != u32::MAX));
                }
            } else if let Some(number) = list.number {
                let left = list
                    .before
                    .iter()
                    .any(|&was| self.ranks[was as usize] == u32::MAX);
                let came = |rank: &u32| list.before.binary_search(&was[*rank as usize]).is_err();
                let came: Vec<u32> = list.after.iter().copied().filter(came).collect();
                let ranks = (!left).then_some(came.as_slice());
                now.who_sees_by(number, ranks, |rank| self.ask(rank));
            }
        }
        let by_number: HashMap<u32, &Touched, FixedState> = touched
            .iter()
            .filter_map(|list| Some((list.number?, list)))
            .collect();
        let ended: Vec<&Touched> = touched
            .iter()
            .filter(|list| list.number.is_none() && list.before.len() > few)
            .collect();
        for rank in in_doubt {
            let keys = now.keys(rank);
            let had = |list: &Touched| list.before.binary_search(&was[rank as usize]).is_ok();
            let was_common = |key: &&u32| match by_number.get(key) {
                Some(list) => list.before.len() > few && had(list),
                None => now.is_common(**key),
            };
            let count = keys.iter().filter(|key| now.is_common(**key)).count();
            let then = keys.iter().filter(was_common).count()
                + ended.iter().filter(|list| had(list)).count();
            let record = &self.told.records[self.told.order[rank as usize] as usize];
            let by_all = |count: usize| least_shared(record.said.fingerprints, count as u32).1;
            if by_all(count) != by_all(then) {
                for &key in keys.iter().filter(|key| now.is_common(**key)) {
                    now.who_sees_by(key, Some(&[rank]), |rank| self.ask(rank));
                }
            }
        }
    }

    fn ask_all(&mut self, touched: &Touched) {
        let ranks = self.ranks;
        let before = touched.before.iter().map(|&was| ranks[was as usize]);
        let there = before.filter(|&rank| rank != u32::MAX);
        there
            .chain(touched.after.iter().copied())
            .for_each(|rank| self.ask(rank));
    }

    fn ask(&mut self, rank: u32) {
        self.again[self.told.order[rank as usize] as usize] = true;
    }
}

/// Whom a key leads to of those that have it, as [`Told::leading`] finds it.
fn shown(list: &[u32], stays: impl Fn(u32) -> bool) -> Vec<u32> {
    let reach = Reach::USUAL;
    let shows =
        |&(place, rank): &(usize, u32)| reach.shows(list.len() as u32, place as u32, stays(rank));
    // What more than a few have leads to none behind the first that can be shown.
    let first = list.iter().take(reach.shown.max(reach.few) as usize);
    let shown = first.copied().enumerate().filter(shows);
    shown.map(|(_, rank)| rank).collect()
}
