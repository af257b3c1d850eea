//! The paper's own way, to the letter, for reproducing its tables.
//!
//! Words are cut at the delimiters of its Figure 5, stop words are those of Figure 6, words are
//! numbered 1, 3, 5 … in order of first appearance, and a pair `(x, y)` becomes `a·x − y`. With
//! `a > largest(y) / 2` no two pairs share a number (Appendix A). The paper takes
//! `a = largest(y) / 2 + 1`, which changes with every new word; [`Multiplier::Fixed`] takes 2³², for
//! which the same proof holds as long as word numbers stay below 2³².
//!
//! Two remarks. The paper counts in 32 bits, which overflow at 212,913 words; here it is 64. And
//! minima of `a·x − y` favour the words that entered the dictionary first, the commonest ones;
//! [`Order::Mixed`] sends each number through a bijection first, which stays free of collisions.

use std::collections::HashMap;

use super::{Winnow, mix};

/// The characters that separate words (Figure 5).
pub const DELIMITERS: &str = " \t\r\n<>.,;\"\\?:-_+=*&!";

/// The words left out (Figure 6 and section 5.7).
pub const STOP_WORDS: &[&str] = &[
    "the", "to", "and", "of", "a", "in", "from", "for", "on", "is", "that", "http", "an", "was",
    "www", "about", "hi", "hey", "dear", "i", "will",
];

/// Cuts a text into lower-case words as the paper does, without its stop words.
///
/// ```
/// use twicetold_methods::winnow::paper::words;
/// let kept: Vec<String> = words("Hi Anna, the *report* is ready.").collect();
/// assert_eq!(kept, ["anna", "report", "ready"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c| DELIMITERS.contains(c))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

/// Which number the first word of a pair is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplier {
    /// Half the largest number in the dictionary, plus one: the paper's.
    Paper,
    /// 2³²: an index can grow without changing its numbers.
    Fixed,
}

/// In which order pairs compete in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the number itself: the paper's.
    Paper,
    /// By the number sent through a bijection.
    Mixed,
}

/// Distinct odd numbers for distinct words, by first appearance.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    numbers: HashMap<String, u64>,
}

impl Dictionary {
    /// The number of a word, given now if it has none yet.
    pub fn number(&mut self, word: &str) -> u64 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = 2 * self.numbers.len() as u64 + 1;
        self.numbers.insert(word.to_owned(), number);
        number
    }

    /// How many words it holds.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The multiplier for the words it holds now.
    pub fn multiplier(&self, multiplier: Multiplier) -> u64 {
        match multiplier {
            Multiplier::Fixed => 1 << 32,
            Multiplier::Paper => {
                let largest = (2 * self.numbers.len() as u64).saturating_sub(1);
                largest / 2 + 1
            }
        }
    }
}

/// The numbers of the pairs of a sequence of word numbers: `a·x − y`.
///
/// The subtraction wraps for a first word numbered 1 and a second numbered above `a`; it is the same
/// difference modulo 2⁶⁴, and still one number per pair.
pub fn pairs(numbers: &[u64], a: u64) -> Vec<u64> {
    numbers
        .windows(2)
        .map(|w| a.wrapping_mul(w[0]).wrapping_sub(w[1]))
        .collect()
}

/// The paper's fingerprints of a sequence of word numbers: sorted, repetitions kept.
pub fn fingerprints(numbers: &[u64], a: u64, window: usize, order: Order) -> Vec<u64> {
    let mut pairs = pairs(numbers, a);
    if order == Order::Mixed {
        pairs.iter_mut().for_each(|e| *e = mix(*e));
    }
    let mut kept: Vec<u64> = Winnow { window }
        .select(&pairs)
        .into_iter()
        .map(|at| pairs[at])
        .collect();
    kept.sort_unstable();
    kept
}

/// The share of A's fingerprints found in B, both sorted, repetitions counted.
pub fn containment(a: &[u64], b: &[u64]) -> f64 {
    let (mut i, mut j, mut matches) = (0, 0, 0_u64);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Equal => (matches, i, j) = (matches + 1, i + 1, j + 1),
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    if a.is_empty() {
        0.0
    } else {
        matches as f64 / a.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "alpha beta gamma delta alpha beta epsilon zeta gamma delta eta theta";

    fn example() -> (Vec<u64>, u64) {
        let mut dictionary = Dictionary::default();
        let numbers = words(EXAMPLE).map(|w| dictionary.number(&w)).collect();
        (numbers, dictionary.multiplier(Multiplier::Paper))
    }

    #[test]
    fn the_worked_example() {
        let (numbers, a) = example();
        assert_eq!(numbers, [1, 3, 5, 7, 1, 3, 9, 11, 5, 7, 13, 15]);
        assert_eq!(a, 8);
        assert_eq!(
            pairs(&numbers, a),
            [5, 19, 33, 55, 5, 15, 61, 83, 33, 43, 89]
        );
        assert_eq!(
            fingerprints(&numbers, a, 3, Order::Paper),
            [5, 5, 15, 19, 33]
        );
    }

    #[test]
    fn no_two_pairs_share_a_number() {
        for multiplier in [Multiplier::Paper, Multiplier::Fixed] {
            let mut dictionary = Dictionary::default();
            for n in 0..60 {
                dictionary.number(&n.to_string());
            }
            let a = dictionary.multiplier(multiplier);
            let mut seen = std::collections::HashSet::new();
            for x in 0..60 {
                for y in 0..60 {
                    assert!(
                        seen.insert(pairs(&[2 * x + 1, 2 * y + 1], a)[0]),
                        "{x} {y} {multiplier:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn repetitions_count_in_the_paper() {
        assert_eq!(containment(&[5, 5, 15], &[5, 15]), 2.0 / 3.0);
        assert_eq!(containment(&[], &[5]), 0.0);
    }
}
