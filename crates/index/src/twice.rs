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
        // The lower half of a key is enough to ask.
        let bits = (keys.max(64) as u64 * 8).next_power_of_two().min(1 << 32);
        let empty = || (0..bits / 64).map(|_| AtomicU64::new(0)).collect();
        Self {
            once: empty(),
            more: empty(),
            mask: bits - 1,
        }
    }

    /// Notes an occurrence of a key. Keys are hashes: every bit is as good as another.
    pub fn insert(&self, key: u64) {
        let (word, bit) = self.slot(key);
        if let (Some(once), Some(more)) = (self.once.get(word), self.more.get(word)) {
            // Whoever comes second sees the bit that the first one left: no order of threads can miss it.
            let before = once.fetch_or(bit, Ordering::Relaxed);
            if before & bit != 0 {
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
