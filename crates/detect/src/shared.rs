//! Which keys do several messages have?

use std::ops::RangeInclusive;

use rayon::prelude::*;
use twicetold_index::{Holders, Numbers, Twice};

use crate::record::Record;

/// How many keys are brought together at a time.
const AT_A_TIME: u64 = 8_000_000;

/// All keys there can be, in parts of which each has its turn: the keys of a large mailbox need a lot of room side by side.
fn parts(records: &[Record], order: &[u32]) -> impl Iterator<Item = RangeInclusive<u64>> {
    let count = |&a: &u32| u64::from(records[a as usize].fingerprints);
    let all: u64 = order.iter().map(count).sum();
    let bits = (all / AT_A_TIME)
        .checked_ilog2()
        .map_or(0, |bits| bits + 1)
        .min(4);
    let size = u64::MAX >> bits;
    (0..1_u64 << bits).map(move |part| {
        let start = part.checked_shl(64 - bits).unwrap_or(0);
        start..=start + size
    })
}

/// The key of half a number: as different at its beginning as at its end.
pub(crate) fn key(half: u32) -> u64 {
    u64::from(half) << 32 | u64::from(half)
}

/// The keys that several messages have, numbered, and those of each message.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The numbers of the keys.
    pub(crate) numbers: Numbers,
    /// For each message the keys that others have as well, sorted, each once.
    of: Vec<Box<[u32]>>,
    /// How many messages have each key.
    frequency: Vec<u32>,
}

impl Shared {
    /// Finds the keys that several messages of `order` have; `keys` gives those of one, and `twice` knows at least those
    /// that several messages have.
    pub(crate) fn of<'r>(
        records: &'r [Record],
        order: &[u32],
        twice: &Twice,
        keys: impl Fn(&'r Record, &mut Vec<u64>) + Sync,
    ) -> Self {
        let own = |a: u32, part: &RangeInclusive<u64>| {
            let mut own = Vec::new();
            keys(&records[a as usize], &mut own);
            own.retain(|key| part.contains(key) && twice.contains(*key));
            // A message that repeats itself shares nothing with others by that.
            own.sort_unstable();
            own.dedup();
            own
        };
        let (mut several, mut frequency) = (Vec::new(), Vec::new());
        for part in parts(records, order) {
            // The filter lets some through that only one message has.
            let mut likely: Vec<u64> = order.par_iter().flat_map_iter(|&a| own(a, &part)).collect();
            likely.par_sort_unstable();
            for same in likely.chunk_by(|a, b| a == b).filter(|same| same.len() > 1) {
                several.push(same[0]);
                frequency.push(same.len() as u32);
            }
        }
        let numbers = Numbers::of(several);
        let mut of = vec![Box::default(); records.len()];
        let found: Vec<Box<[u32]>> = order
            .par_iter()
            .map(|&a| {
                own(a, &(0..=u64::MAX))
                    .into_iter()
                    .filter_map(|key| numbers.get(key))
                    .collect()
            })
            .collect();
        for (&a, found) in order.iter().zip(found) {
            of[a as usize] = found;
        }
        Self {
            numbers,
            of,
            frequency,
        }
    }

    /// The keys of a message that others have as well, sorted.
    pub(crate) fn keys(&self, message: u32) -> &[u32] {
        &self.of[message as usize]
    }

    /// An empty index with room for every message.
    pub(crate) fn index(&self) -> Holders {
        Holders::with_room_for(&self.frequency)
    }

    /// The messages of an index that have a key.
    pub(crate) fn holders<'i>(&self, index: &'i Holders, key: u64) -> &'i [u32] {
        let number = self.numbers.get(key);
        number.map_or(&[], |number| index.holders(number))
    }
}

#[cfg(test)]
mod tests {
    use twicetold_model::{Location, Problem};

    use super::*;

    #[test]
    fn the_parts_are_all_keys_each_once() {
        for fingerprints in [0, 1, 8_000_000, 16_000_000, 100_000_000, u32::MAX] {
            let location = Location {
                path: "a".to_owned(),
                offset: None,
            };
            let mut record = Record::unreadable(location, Problem::new("nothing"));
            record.fingerprints = fingerprints;
            let mut next = Some(0);
            for part in parts(&[record], &[0]) {
                assert_eq!(Some(*part.start()), next, "{fingerprints}");
                next = part.end().checked_add(1);
            }
            assert_eq!(next, None, "{fingerprints}");
        }
    }
}
