//! MinHash over word tuples: super-shingles, megashingles, and LSH.

use twicetold_methods::winnow::{mix, pair};
use twicetold_model::Document;

/// How the smallest hashes become keys. Two texts that share a key are called near duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// DSC-SS: six super-shingles of fourteen smallest hashes each; one in common is enough.
    SuperShingles,
    /// Megashingles: every two super-shingles of the six; one in common, so two super-shingles.
    MegaShingles,
    /// LSH by bands of so many smallest hashes out of 84.
    Bands(usize),
}

/// The smallest hashes of a text's word tuples under 84 random orders.
#[derive(Clone, Copy, Debug)]
pub struct MinHash {
    /// How many words a tuple has.
    pub words: usize,
}

/// How many random orders.
const ORDERS: usize = 84;
/// How many smallest hashes make a super-shingle: six of fourteen, as for the web.
const FOURTEEN: usize = 14;

impl MinHash {
    /// The smallest hash under each order; `None` for a text without words. A text shorter than a tuple is one tuple.
    pub fn smallest(&self, document: &Document) -> Option<Vec<u64>> {
        let words: Vec<u64> = document.words.iter().map(|word| word.hash).collect();
        if words.is_empty() {
            return None;
        }
        let tuples = words.windows(self.words.clamp(1, words.len()));
        let shingles: Vec<u64> = tuples
            .map(|tuple| tuple.iter().copied().fold(0, pair))
            .collect();
        let least = |order: u64| {
            let key = mix(order + 1);
            shingles.iter().map(|&shingle| mix(shingle ^ key)).min()
        };
        (0..ORDERS as u64).map(least).collect()
    }

    /// The keys of a text under a rule, sorted.
    pub fn keys(smallest: &[u64], rule: Rule) -> Vec<u64> {
        let join = |part: &[u64], salt: usize| part.iter().copied().fold(mix(salt as u64), pair);
        let cut = |size: usize| -> Vec<u64> {
            let parts = smallest.chunks_exact(size.max(1)).enumerate();
            parts.map(|(n, part)| join(part, n)).collect()
        };
        let mut keys = match rule {
            Rule::SuperShingles => cut(FOURTEEN),
            Rule::Bands(size) => cut(size),
            Rule::MegaShingles => {
                let supers = cut(FOURTEEN);
                let twos =
                    (0..supers.len()).flat_map(|i| (i + 1..supers.len()).map(move |j| (i, j)));
                twos.map(|(i, j)| pair(supers[i], supers[j])).collect()
            }
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

#[cfg(test)]
mod tests {
    use twicetold_model::{Form, shared_keys};

    use super::*;

    fn keys(text: &str, rule: Rule) -> Vec<u64> {
        let document = twicetold_mail::read(Form::Text, text.as_bytes());
        MinHash::keys(&MinHash { words: 3 }.smallest(&document).unwrap(), rule)
    }

    #[test]
    fn the_share_of_equal_minima_estimates_the_resemblance() {
        let text = |from: usize| {
            (from..from + 300)
                .map(|n| format!("word{n} "))
                .collect::<String>()
        };
        let smallest = |text: &str| {
            MinHash { words: 1 }
                .smallest(&twicetold_mail::read(Form::Text, text.as_bytes()))
                .unwrap()
        };
        let (a, b) = (smallest(&text(0)), smallest(&text(100)));
        let equal = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64;
        // 200 of 400 words in common: one half, within four standard errors.
        assert!(
            (equal - 0.5).abs() < 4.0 * (0.25_f64 / 84.0).sqrt(),
            "{equal}"
        );
    }

    #[test]
    fn equal_texts_share_all_keys_and_strangers_none() {
        for (rule, count) in [
            (Rule::SuperShingles, 6),
            (Rule::MegaShingles, 15),
            (Rule::Bands(6), 14),
        ] {
            let a = keys("the harbour opens again on the first of May", rule);
            assert_eq!(a.len(), count);
            assert_eq!(
                a,
                keys("The harbour opens again, on the first of May!", rule)
            );
            assert_eq!(
                shared_keys(
                    &a,
                    &keys("lunch will be served at noon in the garden", rule)
                ),
                0
            );
        }
    }
}
