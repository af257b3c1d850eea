//! Which keys occur more than once?

use std::sync::atomic::{AtomicU64, Ordering};

/// A small filter that remembers whether a key was seen once or more often. It may take a single key for a shared one,
/// never the other way round, and what it answers depends neither on the order of insertion nor on threads.
#[derive(Debug)]
pub struct Twice {
    once: Vec<AtomicU64>,
    more: Vec<AtomicU64>,
    mask: u64,
}

impl Twice {
    /// A filter for about so many keys: two to four bytes each.
    pub fn with_room_for(keys: usize) -> Self {
        let bits = Self::bits_for(keys);
        let empty = || (0..bits / 64).map(|_| AtomicU64::new(0)).collect();
        Self {
            once: empty(),
            more: empty(),
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
            once: Vec::new(),
            more: more.as_chunks().0.iter().map(word).collect(),
            mask: bits - 1,
        })
    }

    /// How many bits a filter for so many keys has.
    pub fn bits_for(keys: usize) -> u64 {
        // The lower half of a key is enough to ask.
        (keys.max(64) as u64 * 8).next_power_of_two().min(1 << 32)
    }

    /// Notes an occurrence of a key. Keys are hashes: every bit is as good as another.
    pub fn insert(&self, key: u64) {
        let (word, bit) = self.slot(key);
        if let (Some(once), Some(more)) = (self.once.get(word), self.more.get(word)) {
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

    /// Forgets what is needed for insertions only: half of the memory. From here on nothing can be inserted.
    #[must_use]
    pub fn complete(self) -> Self {
        let once = Vec::new();
        Self { once, ..self }
    }

    /// Whether a key may have been inserted more than once.
    pub fn contains(&self, key: u64) -> bool {
        let (word, bit) = self.slot(key);
        self.more
            .get(word)
            .is_some_and(|more| more.load(Ordering::Relaxed) & bit != 0)
    }

    fn slot(&self, key: u64) -> (usize, u64) {
        let bit = key & self.mask;
        ((bit / 64) as usize, 1 << (bit % 64))
    }
}
