//! Which keys occur more than once?

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

/// A small filter that remembers whether a key was seen once or more often. It may take a single key for a shared one,
/// never the other way round, and what it answers depends neither on the order of insertion nor on threads.
#[derive(Debug)]
pub struct Twice {
    /// Sixty-four keys in turn: whether each was seen, and whether it was seen again. Both stand side by side, since whoever
    /// inserts waits for memory more than for anything else. Without the former once nothing is inserted any more.
    bits: Vec<AtomicU64>,
    /// How many words sixty-four keys take: two, or one.
    stride: usize,
    mask: u64,
}

/// How many keys are looked up before the first of them is noted: memory is fetched for all of them at once, and for none while something is noted.
const TOGETHER: usize = 64;

/// How many words a page of memory has, at the least.
const PAGE: usize = 512;

impl Twice {
    /// A filter for about so many keys: two to four bytes each.
    pub fn with_room_for(keys: usize) -> Self {
        let bits = Self::bits_for(keys);
        let words = 0..(bits / 32) as usize;
        // Memory that nobody has written to is no memory yet: all processors would have to stop for each page that is written to later. All threads write.
        let zeros = words.into_par_iter().with_min_len(PAGE);
        Self {
            bits: zeros.map(|_| AtomicU64::new(0)).collect(),
            stride: 2,
            mask: bits - 1,
        }
    }

    /// A filter that knows nothing but which keys occur more than once: `more` is the bit of each, the lowest bit of each
    /// byte first. `None` if that is no filter: its bits are a power of two, 512 at least.
    pub fn of_shared(more: &[u8]) -> Option<Self> {
        let bits = more.len() as u64 * 8;
        if !bits.is_power_of_two() || !(512..=1 << 32).contains(&bits) {
            return None;
        }
        let word = |bytes: &[u8; 8]| AtomicU64::new(u64::from_le_bytes(*bytes));
        Some(Self {
            bits: more.as_chunks().0.iter().map(word).collect(),
            stride: 1,
            mask: bits - 1,
        })
    }

    /// How many bits a filter for so many keys has.
    pub fn bits_for(keys: usize) -> u64 {
        // The lower half of a key is enough to ask.
        (keys.max(64) as u64 * 8).next_power_of_two().min(1 << 32)
    }

    /// How many bits it has for keys.
    pub fn slots(&self) -> u64 {
        self.mask + 1
    }

    /// Notes an occurrence of a key. Keys are hashes: every bit is as good as another.
    pub fn insert(&self, key: u64) {
        let (word, bit) = self.slot(key);
        let place = self.bits.get(word * 2..word * 2 + 2);
        if self.stride == 2
            && let Some([once, more]) = place
        {
            // Whoever comes second sees the bit that the first one left: no order of threads can miss it. A bit that is there
            // already is not written again: processors wait for each other when they write, and not when they read.
            let is_set = |bits: u64| bits & bit != 0;
            let seen = is_set(once.load(Ordering::Relaxed))
                || is_set(once.fetch_or(bit, Ordering::Relaxed));
            if seen && !is_set(more.load(Ordering::Relaxed)) {
                more.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Notes an occurrence of each of these keys.
    pub fn insert_each(&self, keys: impl IntoIterator<Item = u64>) {
        let mut keys = keys.into_iter();
        let mut some = [0; TOGETHER];
        loop {
            let mut count = 0;
            let mut known = 0_u64;
            for (slot, key) in some.iter_mut().zip(keys.by_ref()) {
                *slot = key;
                count += 1;
                // Nothing waits for these, so memory is fetched for all of them at the same time.
                known |= self.seen_again(key) << (count - 1);
            }
            for (n, &key) in some.iter().take(count).enumerate() {
                if known >> n & 1 == 0 {
                    self.insert(key);
                }
            }
            if count < TOGETHER {
                return;
            }
        }
    }

    /// For sixty-four slots in turn which were seen, and which of them again. Nothing once it is [complete](Self::complete).
    pub(crate) fn word(&self, number: usize) -> (u64, u64) {
        match self.bits.get(number * 2..number * 2 + 2) {
            Some([once, more]) if self.stride == 2 => {
                (once.load(Ordering::Relaxed), more.load(Ordering::Relaxed))
            }
            _ => (0, 0),
        }
    }

    fn seen_again(&self, key: u64) -> u64 {
        let (word, bit) = self.slot(key);
        let more = self.bits.get(word * self.stride + self.stride - 1);
        more.map_or(0, |more| u64::from(more.load(Ordering::Relaxed) & bit != 0))
    }

    /// Forgets what is needed for insertions only: half of the memory. From here on nothing can be inserted.
    #[must_use]
    pub fn complete(mut self) -> Self {
        if self.stride == 2 {
            let words = self.bits.len() / 2;
            for word in 0..words {
                let more = *self.bits[word * 2 + 1].get_mut();
                *self.bits[word].get_mut() = more;
            }
            self.bits.truncate(words);
            self.bits.shrink_to_fit();
            self.stride = 1;
        }
        self
    }

    /// Whether a key may have been inserted more than once.
    pub fn contains(&self, key: u64) -> bool {
        self.seen_again(key) == 1
    }

    /// Keeps of these keys those that may have been inserted more than once, in their order.
    pub fn keep_shared<K: Copy + Into<u64>>(&self, keys: &mut Vec<K>) {
        // No step waits for the answer to the one before, so memory is fetched for many keys at the same time.
        let mut kept = 0;
        for at in 0..keys.len() {
            let key = keys[at];
            keys[kept] = key;
            kept += usize::from(self.contains(key.into()));
        }
        keys.truncate(kept);
    }

    /// How many of these keys were inserted no more than once, for certain.
    pub fn count_single<K: Copy + Into<u64>>(&self, keys: &[K]) -> usize {
        let single = |&key: &K| usize::from(!self.contains(key.into()));
        keys.iter().map(single).sum()
    }

    fn slot(&self, key: u64) -> (usize, u64) {
        let bit = key & self.mask;
        ((bit / 64) as usize, 1 << (bit % 64))
    }
}
