//! Who shares fingerprints with whom?
//!
//! Fingerprints that a few messages have tell more than those that many have. A message is near another one if it has a third of
//! those. A message made of little but what many have (a template, with names and numbers filled in) is compared by all of its fingerprints, and
//! with others of that kind that say about as much: they stand beside it in the walk.

use std::sync::OnceLock;

use rayon::prelude::*;
use twicetold_index::{Candidate, Met, Packed, Rows, met_often};

use crate::keepset::Walk;
use crate::record::Record;
use crate::shared::{Holding, Reach, Shared};

/// Who shares fingerprints with whom.
#[derive(Debug)]
pub(crate) enum Nearby {
    /// Who has which fingerprint is counted when it is asked.
    Counted(Box<Fingerprints>),
    /// For each message those near it, the nearest first: counted in the whole of which this is a part.
    Known(Vec<Vec<u32>>),
}

impl Default for Nearby {
    /// Nobody is near anybody.
    fn default() -> Self {
        Self::Known(Vec::new())
    }
}

/// So many that are near a message are remembered: few have more, but for those of a template.
const FEW: usize = 24;

/// The fingerprints that several messages have.
#[derive(Debug)]
pub(crate) struct Fingerprints {
    /// Whom each leads to: those that a few have to all of them, the others to those made of little else.
    leading: Rows,
    /// For each message of the walk those that others have as well.
    of: Packed,
    /// Which ones more than a few have.
    common: Bits,
    /// Who is near each message of the walk, the nearest first, once that was counted; nothing if they are more than [`FEW`].
    near: Vec<OnceLock<Option<Box<[u32]>>>>,
}

impl Fingerprints {
    /// Counts who has which.
    pub(crate) fn of(records: &[Record], order: &[u32], shared: Shared<u32>) -> Self {
        let Reach { few, row, .. } = Reach::USUAL;
        let mut common = Bits::default();
        shared.frequencies().for_each(|n| common.push(n > few));
        let by_all = order.par_iter().enumerate().map(|(rank, &a)| {
            let count = common.count(shared.keys(rank as u32));
            least_shared(records[a as usize].said.fingerprints, count).1
        });
        let by_all: Vec<bool> = by_all.collect();
        let leads =
            |holding: Holding<'_, u32>| holding.frequency <= few || by_all[holding.rank as usize];
        let (leading, of) = shared.leading(row as usize, leads).packed();
        Self {
            leading,
            of,
            common,
            near: std::iter::repeat_with(OnceLock::new)
                .take(order.len())
                .collect(),
        }
    }
}

impl Fingerprints {
    /// Tells the places of those to whom the message at a place may be near.
    pub(crate) fn who_finds(&self, rank: u32, mut each: impl FnMut(u32)) {
        for key in self.of.row(rank) {
            let list = self.leading.row(key);
            match list.binary_search(&rank) {
                Ok(_) if !self.common.has(key) => list.iter().copied().for_each(&mut each),
                Ok(at) => around(list, at, 0).iter().copied().for_each(&mut each),
                Err(_) => {}
            }
        }
    }

    /// Tells the places of those who are made of little but what many have and may see by a common key that the messages at these places have it, or
    /// have it no longer; of all of them if it is not known which.
    pub(crate) fn who_sees_by(&self, key: u32, ranks: Option<&[u32]>, mut each: impl FnMut(u32)) {
        let list = self.leading.row(key);
        match ranks {
            None => list.iter().copied().for_each(&mut each),
            Some(ranks) => {
                for rank in ranks {
                    let at = list.partition_point(|other| other < rank);
                    let seers = around(list, at, ranks.len()).iter();
                    seers.copied().for_each(&mut each);
                }
            }
        }
    }

    /// Whether more than a few have a key.
    pub(crate) fn is_common(&self, key: u32) -> bool {
        self.common.has(key)
    }

    /// The keys of the message at a place that others have as well.
    pub(crate) fn keys(&self, rank: u32) -> Vec<u32> {
        self.of.row(rank)
    }
}

/// Of a list of those made of little but what many have, who may see the one at a place, or somebody who stands up to `slack` places from there.
fn around(list: &[u32], at: usize, slack: usize) -> &[u32] {
    let Reach { first, beside, .. } = Reach::USUAL;
    let reach = beside as usize + slack;
    match at < first as usize + slack {
        true => list,
        false => &list[at - reach.min(at)..list.len().min(at + reach + 1)],
    }
}

/// A bit for each key.
#[derive(Debug, Default)]
struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(bit) << (self.len % 64);
        self.len += 1;
    }

    fn has(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// How many of these have it set.
    fn count(&self, numbers: &[u32]) -> u32 {
        numbers
            .iter()
            .map(|&number| u32::from(self.has(number)))
            .sum()
    }
}

/// Of a message with so many fingerprints, `common` of which more than a few messages have: how many it has to share with one that is
/// near, and whether the common ones count.
pub(crate) fn least_shared(fingerprints: u32, common: u32) -> (u32, bool) {
    let reach = Reach::USUAL;
    let telling = fingerprints.saturating_sub(common);
    let by_all = telling < fingerprints - telling;
    let least = match by_all {
        true => fingerprints.div_ceil(reach.of_all),
        false => telling.div_ceil(reach.of_the_telling),
    };
    (least.max(1), by_all)
}

impl Walk<'_> {
    /// The messages near `a` that are `wanted`, the nearest first, and no more than `most`.
    pub(crate) fn near(&self, a: u32, most: usize, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let fingerprints = match &self.leads.nearby {
            Nearby::Counted(fingerprints) => fingerprints,
            Nearby::Known(near) => {
                let near = near[a as usize].iter().copied();
                return near.filter(|&b| wanted(b)).take(most).collect();
            }
        };
        let rank = self.ranks[a as usize];
        let message = |b: u32| self.order[b as usize];
        let known = &fingerprints.near[rank as usize];
        // It is asked several times, and each time others are wanted.
        if let Some(Some(near)) = known.get() {
            let near = near.iter().map(|&b| message(b));
            return near.filter(|&b| wanted(b)).take(most).collect();
        }
        let own = self.records[a as usize].said.fingerprints;
        let met = fingerprints.met(rank, own, |b| wanted(message(b)), most);
        let near = |near: &[Candidate]| near.iter().map(|one| one.message).collect();
        let _ = known.set(met.all.as_deref().map(near));
        met.wanted.iter().map(|one| message(one.message)).collect()
    }
}

impl Fingerprints {
    /// Counts who is near the message at a place, which has so many fingerprints; of those that are `wanted` no more than `most`.
    fn met(&self, rank: u32, own: u32, wanted: impl Fn(u32) -> bool, most: usize) -> Met {
        let Self {
            leading,
            of,
            common,
            ..
        } = self;
        let keys = of.row(rank);
        let count = common.count(&keys);
        let (least, by_all) = least_shared(own, count);
        let telling = keys.iter().filter(|&&key| !common.has(key));
        let telling = telling.flat_map(|&key| leading.row(key));
        let common = keys.iter().filter(|&&key| by_all && common.has(key));
        let common = common.flat_map(|&key| first_and_beside(rank, leading.row(key)));
        let met = telling.chain(common).copied();
        // Everybody is near itself.
        let is_wanted = |b: u32| b != rank && wanted(b);
        let mut met = met_often(met, least, is_wanted, most, FEW + 1);
        if let Some(all) = &mut met.all {
            all.retain(|one| one.message != rank);
        }
        met
    }
}

/// The first of a list, and those who stand beside one of it, which may be among them.
fn first_and_beside(one: u32, list: &[u32]) -> impl Iterator<Item = &u32> {
    let Reach { first, beside, .. } = Reach::USUAL;
    let (first, beside) = (first as usize, beside as usize);
    let near = match list.binary_search(&one) {
        Ok(at) => at.saturating_sub(beside).max(first)..list.len().min(at + beside + 1),
        Err(_) => 0..0,
    };
    let near = list.get(near).unwrap_or_default();
    list.iter().take(first).chain(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_few_have_counts_and_all_of_a_template() {
        assert_eq!(least_shared(30, 0), (10, false));
        assert_eq!(least_shared(30, 15), (5, false));
        assert_eq!(least_shared(30, 16), (5, true));
        assert_eq!(least_shared(30, 30), (5, true));
        assert_eq!(least_shared(0, 0), (1, false));
        assert_eq!(least_shared(3, 7), (1, true));
    }
}
