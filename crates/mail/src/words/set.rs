//! A small set of words, asked about by their hashes.

use super::normal::hash_of;

/// Words by their hashes. Nearly all words that are asked about are not among them, and most of those are told by one look.
///
/// ```
/// use twicetold_mail::words::{WordSet, hash_of};
///
/// let set = WordSet::of(["yes", "no"]);
/// assert!(set.has(hash_of("no")) && !set.has(hash_of("maybe")));
/// ```
#[derive(Clone, Debug)]
pub struct WordSet {
    /// Sorted.
    hashes: Vec<u64>,
    /// The bit of each word is set, by the highest of its own.
    sieve: [u64; 16],
}

impl WordSet {
    /// The set of these words in their normal form.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut hashes: Vec<u64> = words.into_iter().map(hash_of).collect();
        hashes.sort_unstable();
        let mut sieve = [0; 16];
        for hash in &hashes {
            let (word, bit) = Self::place(*hash);
            sieve[word] |= bit;
        }
        Self { hashes, sieve }
    }

    fn place(hash: u64) -> (usize, u64) {
        ((hash >> 60) as usize, 1 << (hash >> 54 & 63))
    }

    /// Whether the word with this hash is one of them.
    pub fn has(&self, hash: u64) -> bool {
        let (word, bit) = Self::place(hash);
        self.sieve[word] & bit != 0 && self.hashes.binary_search(&hash).is_ok()
    }
}
