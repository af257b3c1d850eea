//! Which keys lead nowhere, answered without touching the file.
//!
//! Nearly all keys of an ordinary message lead to no campaign, and each costs a walk down a tree to find that out.
//! A filter (Bloom's, all bits of a key in one line of the cache) in memory answers for ninety-nine of a hundred of
//! them. It can only be wrong in saying that a key may lead somewhere: then the walk is made after all.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bits for each key there is when the filter is made.
const BITS: u64 = 10;
/// Bits that are there in any case: a megabyte.
const LEAST: u64 = 1 << 23;
/// More are not taken, whatever the number of keys: 256 MB.
const MOST: u64 = 1 << 31;
/// Bits of one key.
const EACH: u32 = 6;

/// Words that are fetched together.
type Line = [AtomicU64; 8];

/// A filter. It answers once it is complete.
#[derive(Debug)]
pub(super) struct Filter {
    lines: Vec<Line>,
    keys: AtomicU64,
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
            lines: (0..bits / 512).map(|_| Line::default()).collect(),
            keys: AtomicU64::new(0),
            complete: AtomicBool::new(false),
        }
    }

    /// The line of a key, which is a well-mixed number, and a number for its bits.
    fn line(&self, key: u64) -> (Option<&Line>, u64) {
        // The number of lines is a power of two.
        let line = self.lines.get(key as usize & (self.lines.len() - 1));
        let other = (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (line, other ^ other >> 29)
    }

    /// The words of a line in which a key has its bits, and those bits.
    fn bits(line: &Line, number: u64) -> impl Iterator<Item = (&AtomicU64, u64)> {
        (0..EACH).map(move |at| {
            let place = number >> (9 * at) & 511;
            (&line[place as usize / 64], 1 << (place % 64))
        })
    }

    /// Notes a key.
    pub(super) fn add(&self, key: u64) {
        if let (Some(line), number) = self.line(key) {
            for (word, bit) in Self::bits(line, number) {
                word.fetch_or(bit, Ordering::Release);
            }
        }
        self.keys.fetch_add(1, Ordering::Relaxed);
    }

    /// All keys have been noted, and every new one will be.
    pub(super) fn complete(&self) {
        self.complete.store(true, Ordering::Release);
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Whether so many keys were noted that a larger filter would be worth its memory.
    pub(super) fn is_crowded(&self) -> bool {
        let bits = self.lines.len() as u64 * 512;
        bits < MOST && self.keys.load(Ordering::Relaxed).saturating_mul(BITS) > bits
    }

    /// Whether a key certainly leads nowhere.
    pub(super) fn excludes(&self, key: u64) -> bool {
        let (line, number) = self.line(key);
        self.is_complete()
            && line.is_some_and(|line| {
                let mut bits = Self::bits(line, number);
                bits.any(|(word, bit)| word.load(Ordering::Acquire) & bit == 0)
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
        for keys in [0, 1000, 300_000, 1_600_000] {
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
            assert!(through < 200, "{keys}: {through}");
            // Twice as many keys, and it is time for another one.
            assert!(!filter.is_crowded(), "{keys}");
        }
    }
}
