//! Which keys lead nowhere, answered without touching the file.
//!
//! Nearly all keys of an ordinary message lead to no campaign, and each costs a walk down a tree to find that out.
//! A filter (Bloom's, two bits a key) in memory answers for nineteen of twenty of them. It can only be wrong in
//! saying that a key may lead somewhere: then the walk is made after all.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bits for each key there is when the filter is made. As campaigns are added it answers for fewer and
/// fewer keys, until the program starts again.
const BITS: u64 = 10;
/// Bits that are there in any case: room for a hundred thousand keys.
const LEAST: u64 = 1 << 20;
/// More are not taken, whatever the number of keys: 256 MB.
const MOST: u64 = 1 << 31;

/// A filter. It answers once it is complete.
#[derive(Debug)]
pub(super) struct Filter {
    bits: Vec<AtomicU64>,
    complete: AtomicBool,
}

impl Filter {
    /// An empty filter for so many keys.
    pub(super) fn new(keys: u64) -> Self {
        let bits = keys
            .saturating_mul(BITS)
            .clamp(LEAST, MOST)
            .next_power_of_two();
        Self {
            bits: (0..bits / 64).map(|_| AtomicU64::new(0)).collect(),
            complete: AtomicBool::new(false),
        }
    }

    /// Two places of a key, which is a well-mixed number.
    fn places(&self, key: u64) -> [(usize, u64); 2] {
        let bits = self.bits.len() as u64 * 64;
        // The number of bits is a power of two; the other half of the key is used by a second number.
        let other = key.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        [key, other >> 17 ^ other << 47].map(|place| {
            let place = place & (bits - 1);
            ((place / 64) as usize, 1 << (place % 64))
        })
    }

    /// Notes a key.
    pub(super) fn add(&self, key: u64) {
        for (word, bit) in self.places(key) {
            if let Some(word) = self.bits.get(word) {
                word.fetch_or(bit, Ordering::Release);
            }
        }
    }

    /// All keys have been noted, and every new one will be.
    pub(super) fn complete(&self) {
        self.complete.store(true, Ordering::Release);
    }

    /// Whether a key certainly leads nowhere.
    pub(super) fn excludes(&self, key: u64) -> bool {
        self.complete.load(Ordering::Acquire)
            && self.places(key).iter().any(|&(word, bit)| {
                self.bits
                    .get(word)
                    .is_some_and(|word| word.load(Ordering::Acquire) & bit == 0)
            })
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    #[test]
    fn what_is_there_is_never_excluded_and_little_else_is_let_through() {
        let key = |n: u64| xxh3_64(&n.to_le_bytes());
        for keys in [0, 1000, 300_000] {
            let filter = Filter::new(keys);
            for n in 0..keys {
                filter.add(key(n));
            }
            assert!(!filter.excludes(key(1 << 40)), "not before it is complete");
            filter.complete();
            assert!((0..keys).all(|n| !filter.excludes(key(n))));
            let through = (0..10_000)
                .filter(|n| !filter.excludes(key(n + (1 << 40))))
                .count();
            assert!(through < 600, "{keys}: {through}");
        }
    }
}
