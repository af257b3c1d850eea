//! A part of a larger collection, judged as it would be judged in the whole.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::FixedState;
use twicetold_index::Twice;
use twicetold_model::Location;

use crate::keepset::BATCH;
use crate::record::Record;
use crate::threads::conversation;

/// What is known of a message from the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InWhole {
    /// How many are asked before it in the walk; of copies, before the one that stands for them.
    pub rank: u64,
    /// A number for its conversation.
    pub thread: u64,
    /// The name of its conversation, if it belongs to one with other messages.
    pub thread_name: Option<String>,
    /// The places in the walk of those that share fingerprints with it, the nearest first.
    pub near: Vec<u64>,
    /// The sentences, things and conversation of it that more than a [few](crate::Reach::few) have,
    pub common: Vec<u64>,
    /// and those of them that lead to it.
    pub leading: Vec<u64>,
}

/// Which word pairs and facts occur in more than one message of the whole, as a file tells it.
#[derive(Debug)]
pub struct Statistics {
    pairs: Twice,
}

/// Bytes that are no statistics, or nothing to make them of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStatistics;

/// How a file of statistics begins.
const BEGINS: &[u8] = b"twicetold statistics 1\n";

impl Statistics {
    /// What a file tells: after its first line a bit for each slot in which several messages have something, the lowest bit
    /// of each byte first.
    ///
    /// # Errors
    /// If these are not the bytes of such a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotStatistics> {
        let bits = bytes.strip_prefix(BEGINS).ok_or(NotStatistics)?;
        let pairs = Twice::of_shared(bits).ok_or(NotStatistics)?;
        Ok(Self { pairs })
    }

    /// Whether a message holds a fact or a run of words that no other message has, so that nothing can cover it; asked with the
    /// [`news`](crate::Outline::news) of its outline.
    ///
    /// # Errors
    /// If these are not the news of an outline.
    pub fn is_new(&self, news: &[u8]) -> Result<bool, NotStatistics> {
        let (numbers, rest) = news.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(NotStatistics);
        }
        let mut numbers = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut next = || numbers.next().ok_or(NotStatistics);
        let mut rest = news.len() / 4;
        let (mut new, mut first) = (false, true);
        while rest > 0 {
            // The facts come first: not one of them may be missing.
            let missing = if first { 0 } else { next()? };
            let count = next()?;
            rest -= if first { 1 } else { 2 };
            rest = rest.checked_sub(count as usize).ok_or(NotStatistics)?;
            let mut without = 0;
            for _ in 0..count {
                without += u32::from(!self.pairs.contains(u64::from(next()?)));
            }
            new |= without > missing;
            first = false;
        }
        Ok(new)
    }

    pub(crate) fn pairs(&self) -> &Twice {
        &self.pairs
    }

    /// How many slots a collection of so many bytes has.
    pub fn slots(bytes: u64) -> u64 {
        Twice::bits_for(pairs_in(bytes))
    }
}

/// For how many word pairs there has to be room: one for every dozen bytes or so; headers and attachments have none.
pub(crate) fn pairs_in(bytes: u64) -> usize {
    (bytes / 16) as usize
}

/// What a part has to know of the whole.
#[derive(Debug)]
pub struct Whole<'w> {
    pairs: &'w Twice,
    known: HashMap<Location, InWhole, FixedState>,
    common: HashSet<u64, FixedState>,
}

impl<'w> Whole<'w> {
    /// What the statistics say, and what is known of each message.
    pub fn new(
        statistics: &'w Statistics,
        known: impl IntoIterator<Item = (Location, InWhole)>,
    ) -> Self {
        let mut known: HashMap<Location, InWhole, FixedState> = known.into_iter().collect();
        for known in known.values_mut() {
            let thread = known.thread;
            // A conversation is looked up by a number that is spread.
            for keys in [&mut known.common, &mut known.leading] {
                let own = keys.iter_mut().filter(|key| **key == thread);
                own.for_each(|key| *key = conversation(thread));
                keys.sort_unstable();
            }
        }
        let common = known
            .values()
            .flat_map(|known| known.common.iter().copied());
        Self {
            pairs: &statistics.pairs,
            common: common.collect(),
            known,
        }
    }

    pub(crate) fn pairs(&self) -> &Twice {
        self.pairs
    }

    /// For every message a number that is the same for those of its conversation.
    pub(crate) fn threads(&self, records: &[Record]) -> Vec<u32> {
        let mut numbers: HashMap<u64, u32, FixedState> = HashMap::default();
        let number = |(n, record): (usize, &Record)| match self.known.get(&record.location) {
            Some(known) => *numbers.entry(known.thread).or_insert(n as u32),
            None => n as u32,
        };
        records.iter().enumerate().map(number).collect()
    }

    pub(crate) fn thread_names(
        &self,
        records: &[Record],
        threads: &[u32],
    ) -> HashMap<u32, Arc<str>, FixedState> {
        let mut names = HashMap::default();
        for (record, &thread) in records.iter().zip(threads) {
            let known = self.known.get(&record.location);
            if let Some(name) = known.and_then(|known| known.thread_name.as_deref()) {
                names.entry(thread).or_insert_with(|| name.into());
            }
        }
        names
    }

    /// In which batch of the walk each message is asked.
    pub(crate) fn batches(&self, records: &[Record]) -> Vec<u32> {
        let batch = |record: &Record| match self.known.get(&record.location) {
            Some(known) => (known.rank / BATCH as u64) as u32,
            None => 0,
        };
        records.iter().map(batch).collect()
    }

    /// For each message those near it, the nearest first.
    pub(crate) fn near(&self, records: &[Record], order: &[u32]) -> Vec<Vec<u32>> {
        let known = |a: u32| self.known.get(&records[a as usize].location);
        let by_rank: HashMap<u64, u32, FixedState> = order
            .iter()
            .filter_map(|&a| Some((known(a)?.rank, a)))
            .collect();
        let mut near = vec![Vec::new(); records.len()];
        for &a in order {
            let ranks = known(a).map_or(&[][..], |known| &known.near).iter();
            near[a as usize] = ranks
                .filter_map(|rank| by_rank.get(rank).copied())
                .collect();
        }
        near
    }

    /// The number of a message's conversation.
    pub(crate) fn thread(&self, record: &Record) -> Option<u64> {
        self.known.get(&record.location).map(|known| known.thread)
    }

    /// Whether a key leads to a message that has it.
    pub(crate) fn leads(&self, record: &Record, key: u64) -> bool {
        !self.common.contains(&key)
            || self
                .known
                .get(&record.location)
                .is_some_and(|known| known.leading.binary_search(&key).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    #[test]
    fn a_fact_or_a_sentence_of_its_own_makes_a_message_new() {
        let mut file = BEGINS.to_vec();
        file.resize(BEGINS.len() + 64, 0);
        // Slots 0 to 7 are those that several messages have.
        file[BEGINS.len()] = 0xFF;
        let statistics = Statistics::from_bytes(&file).unwrap();
        for (news, new) in [
            (vec![0], false),
            (vec![2, 1, 7], false),
            (vec![2, 1, 8], true),
            (vec![0, 1, 3, 1, 2, 99], false),
            (vec![0, 1, 3, 1, 98, 99], true),
            (vec![0, 0, 1, 512, 0, 1, 513, 0, 1, 9], true),
            (vec![], false),
        ] {
            assert_eq!(statistics.is_new(&bytes(&news)), Ok(new), "{news:?}");
        }
        for wrong in [vec![1], vec![0, 1], vec![0, 1, 2, 3], vec![u32::MAX, 1]] {
            assert_eq!(statistics.is_new(&bytes(&wrong)), Err(NotStatistics));
        }
        assert_eq!(statistics.is_new(&[0; 5]), Err(NotStatistics));
    }
}
