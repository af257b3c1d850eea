//! Word pairs, winnowed, compared by containment.
//!
//! *Elimination of Redundant Emails* (2007). A text becomes its sequence of content words; every two
//! neighbours make a pair; every pair has a number; of every `window` consecutive numbers the
//! smallest is kept. Texts that share a run of at least `window + 1` words share a fingerprint.
//!
//! | parameter | default | more | less |
//! |---|---|---|---|
//! | `window` | 3 | fewer fingerprints, short passages slip through | more memory, shorter passages seen |
//!
//! Numbers are *stable* by default: a 64-bit hash of each word, mixed for a pair, the same on every
//! machine and in every run. Clashes are a matter of 2⁻⁶⁴, and since a verdict is proved on text, a
//! clash can cost time but never content. The paper's own numbers, by order of first appearance and
//! free of collisions, are in [`paper`].
//!
//! Fingerprints are compared as sets: a passage repeated in the message counts once. (The paper merges
//! sorted lists, which counts multisets; [`paper::containment`] does that.)
//!
//! ```
//! use twicetold_methods::winnow::Winnow;
//! use twicetold_model::Method;
//!
//! let winnow = Winnow::default();
//! let fingerprints = winnow.select(&[5, 19, 33, 55, 5, 15, 61, 83, 33, 43, 89]);
//! assert_eq!(fingerprints, [0, 1, 4, 5, 8]); // positions, as in the paper's example
//! assert_eq!(winnow.name(), "winnow");
//! ```

pub mod paper;

use std::hint::select_unpredictable;

use twicetold_model::{Document, Evidence, Method, Sketch, Word, WordFlags, shared_keys};

/// The method and its one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winnow {
    /// How many consecutive pairs compete for one fingerprint.
    pub window: usize,
}

impl Default for Winnow {
    fn default() -> Self {
        Self { window: 3 }
    }
}

/// The number of an ordered pair of words: a mix of both hashes in which every bit depends on every bit.
pub fn pair(first: u64, second: u64) -> u64 {
    mix(mixed_with(mix(first), second))
}

/// A pair before it is mixed as a whole; of its first word the mixed hash.
fn mixed_with(first: u64, second: u64) -> u64 {
    first.wrapping_add(second.rotate_left(32))
}

/// A bijection of 64-bit numbers that leaves no order of its arguments (the finaliser of SplitMix64).
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Whether a word takes part in pairs: list numbers and the commonest words do not.
pub fn counts(word: &Word) -> bool {
    !word.flags.has(WordFlags::STOP) && !word.flags.has(WordFlags::ENUMERATOR)
}

impl Winnow {
    /// The positions that winnowing keeps of a sequence of numbers: in every window the smallest,
    /// the rightmost of equal ones, each position once. A sequence shorter than the window is one window.
    pub fn select(&self, numbers: &[u64]) -> Vec<usize> {
        let mut kept = Vec::with_capacity(numbers.len() / 2 + 1);
        self.select_with(numbers, |at| kept.push(at));
        kept
    }

    /// As [`Winnow::select`], handing each position to `keep`.
    fn select_with<N: Copy + Ord>(&self, numbers: &[N], mut keep: impl FnMut(usize)) {
        let window = self.window.clamp(1, numbers.len().max(1));
        let mut best: Option<usize> = None;
        for end in window..=numbers.len() {
            let start = end - window;
            let new = end - 1;
            match best {
                Some(at) if at >= start => {
                    if numbers[new] <= numbers[at] {
                        best = Some(new);
                        keep(new);
                    }
                }
                _ => {
                    let least = (start..end).rev().min_by_key(|&at| numbers[at]);
                    best = least;
                    least.into_iter().for_each(&mut keep);
                }
            }
        }
    }

    /// How many fingerprints are among the numbers of word pairs.
    pub fn count(&self, pairs: &[u32]) -> usize {
        if self.window != THREE || pairs.len() < THREE {
            let mut count = 0;
            self.select_with(pairs, |_| count += 1);
            return count;
        }
        let mut count = 0;
        each_of_three(pairs, |_, kept| count += usize::from(kept));
        count
    }

    /// Adds the fingerprints among the numbers of word pairs to `kept`, in their order.
    pub fn append(&self, pairs: &[u32], kept: &mut Vec<u32>) {
        if self.window != THREE || pairs.len() < THREE {
            return self.select_with(pairs, |at| kept.push(pairs[at]));
        }
        // Every number has its turn at the next place, and those that are kept stay there: nothing has to be guessed.
        let mut next = kept.len();
        kept.resize(next + pairs.len(), 0);
        each_of_three(pairs, |pair, is_kept| {
            kept[next] = pair;
            next += usize::from(is_kept);
        });
        kept.truncate(next);
    }

    /// The fingerprints of a sequence of words, in their order.
    pub fn fingerprints(&self, words: impl Iterator<Item = u64>) -> Vec<u64> {
        self.of_pairs(&pairs(words))
    }

    /// The fingerprints among the numbers of word pairs, in their order.
    pub fn of_pairs(&self, pairs: &[u64]) -> Vec<u64> {
        let mut kept = Vec::with_capacity(pairs.len() / 2 + 1);
        self.select_with(pairs, |at| kept.push(pairs[at]));
        kept
    }
}

/// The usual window, for which there is a short way.
const THREE: usize = 3;

/// Tells of each of three or more numbers, in their order, whether it is the smallest in a window of three, the rightmost of equal ones; without a branch, since
/// it is so for every other number.
#[inline]
fn each_of_three(numbers: &[u32], mut tell: impl FnMut(u32, bool)) {
    let is_least = |[far_left, left, right, far_right]: [bool; 4]| {
        (far_left & left) | (left & right) | (right & far_right)
    };
    // Near the ends a window may not be there.
    let tell_near_an_end = |at: usize, tell: &mut dyn FnMut(u32, bool)| {
        let own = numbers[at];
        let before = |steps: usize| at.checked_sub(steps).is_some_and(|at| own <= numbers[at]);
        let after = |steps: usize| numbers.get(at + steps).is_some_and(|&other| own < other);
        tell(own, is_least([before(2), before(1), after(1), after(2)]));
    };
    let ends = 2.max(numbers.len() - 2)..numbers.len();
    (0..2).for_each(|at| tell_near_an_end(at, &mut tell));
    for five in numbers.windows(5) {
        if let &[a, b, own, c, d] = five {
            tell(own, is_least([own <= a, own <= b, own < c, own < d]));
        }
    }
    ends.for_each(|at| tell_near_an_end(at, &mut tell));
}

/// The numbers of all pairs of neighbours in a sequence of words. A single word stands for itself.
pub fn pairs(words: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut pairs = Vec::with_capacity(words.size_hint().0);
    // Every word is mixed once, for both of its pairs.
    let mut before = None;
    for word in words {
        if let Some(before) = before {
            pairs.push(mix(mixed_with(before, word)));
        }
        before = Some(mix(word));
    }
    if let (true, Some(mixed)) = (pairs.is_empty(), before) {
        pairs.push(mixed);
    }
    pairs
}

/// The numbers of all word pairs of a document, packaging included, in the order of the text.
pub fn all_pairs(document: &Document) -> Vec<u64> {
    pairs(document.words.iter().filter(|w| counts(w)).map(|w| w.hash))
}

/// Half of the number of a word pair: enough to tell candidates from others, where every verdict is proved on the text. It is
/// the upper one, so that of two numbers and of their halves the same one is the smaller.
pub fn half(number: u64) -> u32 {
    (number >> 32) as u32
}

/// The [`half`] of each of the numbers that [`all_pairs`] gives, found word by word.
///
/// ```
/// use twicetold_methods::winnow::{HalfPairs, half, pair};
///
/// let mut pairs = HalfPairs::with_room_for(3);
/// for (word, counts) in [(7, true), (8, false), (9, true)] {
///     pairs.add(word, counts);
/// }
/// assert_eq!(pairs.finish(), [half(pair(7, 9))]);
/// ```
#[derive(Debug)]
pub struct HalfPairs {
    /// For each word that counts the half of its pair with the one before, of which the first has none. Whoever comes next has a turn at the place
    /// behind them, and stays there if it counts: nothing has to be guessed.
    halves: Vec<u32>,
    /// How many words count so far.
    words: usize,
    /// The last of them, and its hash mixed.
    last: u64,
    mixed: u64,
}

impl HalfPairs {
    /// Room for so many words.
    pub fn with_room_for(words: usize) -> Self {
        Self {
            halves: vec![0; words + 1],
            words: 0,
            last: 0,
            mixed: 0,
        }
    }

    /// Adds a word, if there is room for it; it takes part in pairs only if it counts.
    #[inline]
    pub fn add(&mut self, word: u64, counts: bool) {
        if let Some(place) = self.halves.get_mut(self.words) {
            *place = half(mix(mixed_with(self.mixed, word)));
            self.words += usize::from(counts);
            self.last = select_unpredictable(counts, word, self.last);
            self.mixed = select_unpredictable(counts, mix(word), self.mixed);
        }
    }

    /// How many words take part in pairs so far.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The pairs that so many words have with each other, as places in the list of all.
    pub fn between(&self, words: std::ops::Range<usize>) -> std::ops::Range<usize> {
        words.start..words.end.saturating_sub(1).max(words.start)
    }

    /// Pairs by their places in the list of all, as far as there are any yet.
    pub fn all(&self, places: std::ops::Range<usize>) -> &[u32] {
        let known = 1..self.words.max(1);
        let known = self.halves.get(known).unwrap_or_default();
        known.get(places).unwrap_or_default()
    }

    /// All pairs. A single word stands for itself.
    pub fn finish(mut self) -> Vec<u32> {
        match self.words {
            0 => Vec::new(),
            1 => vec![half(mix(self.last))],
            words => {
                self.halves.truncate(words);
                self.halves.remove(0);
                self.halves
            }
        }
    }
}

/// The numbers of the word pairs of what a document says, without its packaging, in the order of the text.
pub fn content_pairs(document: &Document) -> Vec<u64> {
    let content = document
        .sentences
        .iter()
        .filter(|s| {
            document
                .segments
                .get(s.segment as usize)
                .is_some_and(|g| g.kind.is_content())
        })
        .flat_map(|s| document.sentence_words(s))
        .filter(|w| counts(w))
        .map(|w| w.hash);
    pairs(content)
}

impl Method for Winnow {
    fn name(&self) -> &'static str {
        "winnow"
    }

    fn sketch(&self, document: &Document) -> Option<Sketch> {
        Sketch::of_keys(self.of_pairs(&content_pairs(document)))
    }

    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence {
        let common = shared_keys(&a.keys, &b.keys) as f64;
        let share = |keys: &[u64]| {
            if keys.is_empty() {
                0.0
            } else {
                common / keys.len() as f64
            }
        };
        let (there, back) = (share(&a.keys), share(&b.keys));
        Evidence {
            containment: there,
            resemblance: (there + back) / 2.0,
        }
    }
}

#[cfg(test)]
mod tests;
