//! Which keys do several messages have?

use rayon::prelude::*;
use twicetold_index::{Holders, Key, Numbers, Twice};

use crate::record::Record;

/// The keys that several messages have, numbered, and those of each message.
#[derive(Debug)]
pub(crate) struct Shared<K> {
    /// The numbers of the keys.
    pub(crate) numbers: Numbers<K>,
    /// For each message the keys that others have as well, sorted, each once.
    of: Vec<Box<[u32]>>,
    /// How many messages have each key.
    frequency: Vec<u32>,
}

impl<K: Key> Shared<K> {
    /// Finds the keys that several messages of `order` have; `keys` gives those of one, and `twice` knows at least those
    /// that several messages have.
    pub(crate) fn of<'r>(
        records: &'r [Record],
        order: &[u32],
        twice: &Twice,
        keys: impl Fn(&'r Record, &mut Vec<K>) + Sync,
    ) -> Self {
        // The filter lets some through that only one message has.
        let likely: Vec<Box<[K]>> = order
            .par_iter()
            .map(|&a| {
                let mut own = Vec::new();
                keys(&records[a as usize], &mut own);
                own.retain(|&key| twice.contains(key.into()));
                // A message that repeats itself shares nothing with others by that.
                own.sort_unstable();
                own.dedup();
                own.into()
            })
            .collect();
        let mut all: Vec<K> = Vec::with_capacity(likely.iter().map(|own| own.len()).sum());
        all.extend(likely.iter().flatten());
        all.par_sort_unstable();
        let several = || all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        let frequency = several().map(|same| same.len() as u32).collect();
        let numbers = Numbers::of(several().map(|same| same[0]).collect());
        drop(all);
        let mut of = vec![Box::default(); records.len()];
        let found: Vec<Box<[u32]>> = likely
            .into_par_iter()
            .map(|own| own.iter().filter_map(|&key| numbers.get(key)).collect())
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
    pub(crate) fn holders<'i>(&self, index: &'i Holders, key: K) -> &'i [u32] {
        let number = self.numbers.get(key);
        number.map_or(&[], |number| index.holders(number))
    }
}
