//! A part of a larger collection, judged as it would be judged in the whole.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use twicetold_index::Twice;
use twicetold_model::Location;

use crate::record::Record;

/// What is known of a message from the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InWhole {
    /// In which batch of the walk it is asked.
    pub batch: u32,
    /// A number for its conversation.
    pub thread: u64,
    /// The name of its conversation, if it belongs to one with other messages.
    pub thread_name: Option<String>,
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
}

impl<'w> Whole<'w> {
    /// What the statistics say, and what is known of each message.
    pub fn new(
        statistics: &'w Statistics,
        known: impl IntoIterator<Item = (Location, InWhole)>,
    ) -> Self {
        Self {
            pairs: &statistics.pairs,
            known: known.into_iter().collect(),
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
    ) -> HashMap<u32, String, FixedState> {
        let known = records.iter().zip(threads).filter_map(|(record, &thread)| {
            let known = self.known.get(&record.location)?;
            Some((thread, known.thread_name.clone()?))
        });
        known.collect()
    }

    pub(crate) fn batches(&self, records: &[Record]) -> Vec<u32> {
        let batch = |record: &Record| self.known.get(&record.location).map_or(0, |k| k.batch);
        records.iter().map(batch).collect()
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
