//! The index for keys that are all known beforehand: no hashing, no list of its own for every key.

use crate::memory::{Candidate, Limits, sharing};

/// Small numbers for keys, in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Sorted, each once.
    keys: Vec<u64>,
    /// For each beginning of a key, where keys that begin so start.
    starts: Vec<u32>,
    shift: u32,
}

impl Numbers {
    /// Numbers these keys, which are sorted, each once. Keys are hashes: every beginning is as frequent as another.
    pub fn of(keys: Vec<u64>) -> Self {
        // About two keys for each beginning.
        let bits = (keys.len() / 2).max(1).ilog2();
        let shift = 64 - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        let begins = |key: u64| key.checked_shr(shift).unwrap_or(0) as usize;
        for &key in &keys {
            starts[begins(key) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            keys,
            starts,
            shift,
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The number of a key, if it has one.
    pub fn get(&self, key: u64) -> Option<u32> {
        let begin = key.checked_shr(self.shift).unwrap_or(0) as usize;
        let (start, end) = (*self.starts.get(begin)?, *self.starts.get(begin + 1)?);
        let near = self.keys.get(start as usize..end as usize)?;
        let at = near.iter().position(|&other| other == key)?;
        Some(start + at as u32)
    }
}

/// Which messages hold which keys, for numbered keys of which it is known how many messages may hold each.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    /// Where the list of each key starts; one more for the end.
    starts: Vec<u64>,
    /// How many holders each key has by now.
    filled: Vec<u32>,
    lists: Vec<u32>,
}

impl Holders {
    /// Room for keys of which each is held by at most so many messages.
    pub fn with_room_for(most: &[u32]) -> Self {
        let mut starts = Vec::with_capacity(most.len() + 1);
        let mut sum = 0;
        for &most in most {
            starts.push(sum);
            sum += u64::from(most);
        }
        starts.push(sum);
        Self {
            starts,
            filled: vec![0; most.len()],
            lists: vec![0; usize::try_from(sum).unwrap_or(0)],
        }
    }

    /// Adds a message with its keys, each once. A key whose list is full is passed over.
    pub fn insert(&mut self, message: u32, keys: &[u32]) {
        for &key in keys {
            let (from, to) = self.room(key);
            let Some(filled) = self.filled.get_mut(key as usize) else {
                continue;
            };
            if let Some(free) = self.lists[from..to].get_mut(*filled as usize) {
                *free = message;
                *filled += 1;
            }
        }
    }

    /// Takes a message out again, with the keys it was added with.
    pub fn remove(&mut self, message: u32, keys: &[u32]) {
        for &key in keys {
            let (from, to) = self.room(key);
            let Some(filled) = self.filled.get_mut(key as usize) else {
                continue;
            };
            let list = &mut self.lists[from..to][..*filled as usize];
            if let Some(at) = list.iter().position(|&m| m == message) {
                list.copy_within(at + 1.., at);
                *filled -= 1;
            }
        }
    }

    /// The messages that hold a key, in the order in which they were added.
    pub fn holders(&self, key: u32) -> &[u32] {
        let filled = self.filled.get(key as usize).copied().unwrap_or(0);
        let (from, _) = self.room(key);
        self.lists
            .get(from..from + filled as usize)
            .unwrap_or_default()
    }

    /// The messages that hold one of the `rarest` rarest of `keys` (sorted, each once), as
    /// [`MemoryIndex::sharing`](crate::MemoryIndex::sharing) finds them.
    pub fn sharing<'k>(
        &self,
        keys: &[u32],
        rarest: usize,
        limits: Limits,
        keys_of: impl Fn(u32) -> &'k [u32],
    ) -> Vec<Candidate> {
        sharing(keys, |key| self.holders(key), rarest, limits, keys_of)
    }

    /// Where the list of a key is.
    fn room(&self, key: u32) -> (usize, usize) {
        let at = |n: usize| self.starts.get(n).map_or(0, |&start| start as usize);
        let key = key as usize;
        match key + 1 < self.starts.len() {
            true => (at(key), at(key + 1)),
            false => (0, 0),
        }
    }
}
