//! Which keys occur more than once?

/// A small filter that remembers whether a key was seen once or more often. It may take a single key for a shared one,
/// never the other way round, and what it answers does not depend on the order of insertion.
#[derive(Clone, Debug)]
pub struct Twice {
    once: Vec<u64>,
    more: Vec<u64>,
    mask: u64,
}

impl Twice {
    /// A filter for about so many keys: two bytes each.
    pub fn with_room_for(keys: usize) -> Self {
        let bits = (keys.max(64) as u64 * 8).next_power_of_two();
        let words = (bits / 64) as usize;
        Self { once: vec![0; words], more: vec![0; words], mask: bits - 1 }
    }

    /// Notes an occurrence of a key. Keys are hashes: every bit is as good as another.
    pub fn insert(&mut self, key: u64) {
        let bit = key & self.mask;
        let (word, bit) = ((bit / 64) as usize, 1 << (bit % 64));
        if let (Some(once), Some(more)) = (self.once.get_mut(word), self.more.get_mut(word)) {
            *more |= *once & bit;
            *once |= bit;
        }
    }

    /// Whether a key may have been inserted more than once.
    pub fn contains(&self, key: u64) -> bool {
        let bit = key & self.mask;
        self.more.get((bit / 64) as usize).is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }
}
