//! SimHash: 64 bits that stay close when the text changes a little.
//!
//! Charikar's hash as used in *Near-duplicate mail detection with SimHash* (the spam paper builds on
//! it). Every feature of the text has a 64-bit hash; bit *i* of the fingerprint is 1 if the features
//! whose hash has that bit outweigh those whose hash has not. Two texts that share most of their
//! features differ in few bits; unrelated ones differ in about 32. Texts within `distance` bits are
//! near duplicates.
//!
//! | parameter | default | more | less |
//! |---|---|---|---|
//! | `features` | words | pairs, triples: order counts, but one edited word changes two or three features | words: robust to edits, blind to order |
//! | `weights` | frequency | – | presence: every feature once; a word repeated all over the text no longer rules it |
//! | `stop_words` | yes | more changed copies found: they make up much of every text | fewer false pairs, for the same reason |
//! | `distance` (k) | 3 | finds more changed copies, short texts need 5; more false pairs | 0 finds texts with the same features only |
//!
//! Features matter more than k. Share of 200 spam messages found after 1, 5 and 10 % of their words were
//! changed, and false alarms on 4,150 legitimate messages:
//!
//! | features | k = 3 | alarms | k = 5 | alarms | k = 8 | alarms |
//! |---|---|---|---|---|---|---|
//! | words | .97 .78 .54 | 3 | .995 .95 .79 | 42 | 1 .99 .96 | 398 |
//! | words, no stop words | .88 .50 .22 | 0 | .99 .79 .48 | 0 | 1 .96 .83 | 0 |
//! | words, each once | .75 .21 .05 | 0 | .92 .48 .18 | 0 | .995 .90 .57 | 0 |
//! | pairs | .64 .14 .03 | 0 | .92 .33 .09 | 0 | 1 .67 .29 | 0 |
//! | triples | .48 .06 .01 | 0 | .73 .13 .04 | 0 | .96 .37 .11 | 0 |
//!
//! Where alarms cost more than look-ups, leave stop words out and search within 8.
//!
//! **Search.** A sketch has `distance + 1` keys, one for each of as many blocks of bits. Two
//! fingerprints within `distance` bits agree in at least one whole block (pigeonhole), so any inverted
//! index finds every near duplicate. For a `distance` above 3 those blocks are short and their lists
//! long; [`HammingIndex`] stays fast there, and is exact for every distance.
//!
//! **Score.** `1 − d/64` with d the number of different bits: 1 for equal fingerprints, .953 for 3
//! bits, .922 for 5; unrelated texts are near .5. A fingerprint cannot tell a part from the whole, so
//! containment is given the same number.
//!
//! ```
//! use twicetold_methods::simhash::{HammingIndex, distance, fingerprint};
//!
//! let text: Vec<u64> = (1..=200).map(twicetold_methods::winnow::mix).collect();
//! let edited = &text[..198]; // two words less
//! let (a, b) = (fingerprint(text.iter().copied()), fingerprint(edited.iter().copied()));
//! assert!(distance(a, b) <= 5);
//!
//! let mut index = HammingIndex::default();
//! index.insert(7, a);
//! assert_eq!(index.within(b, 5)[0].id, 7);
//! index.remove(7, a);
//! assert!(index.within(b, 5).is_empty());
//! ```

mod bits;
mod features;
mod index;

pub use bits::{block_keys, distance, fingerprint, weighted};
pub use features::{Features, Weights};
pub use index::{Found, HammingIndex};

use twicetold_model::{Document, Evidence, Method, Sketch, Word, WordFlags};

/// The method and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimHash {
    /// What is hashed.
    pub features: Features,
    /// How much each feature counts.
    pub weights: Weights,
    /// Whether the commonest words ("the", "and") take part.
    pub stop_words: bool,
    /// How many bits near duplicates may differ in; also how many keys, less one, a sketch has.
    pub distance: u32,
}

impl Default for SimHash {
    fn default() -> Self {
        Self {
            features: Features::Words,
            weights: Weights::Frequency,
            stop_words: true,
            distance: 3,
        }
    }
}

impl SimHash {
    /// The fingerprint of what a document says; `None` if it has no word.
    pub fn of_document(&self, document: &Document) -> Option<u64> {
        let takes_part = |word: &&Word| self.stop_words || !word.flags.has(WordFlags::STOP);
        let words = document
            .words
            .iter()
            .filter(takes_part)
            .map(|word| word.hash);
        let mut features = self.features.of(words);
        if features.is_empty() {
            return None;
        }
        if self.weights == Weights::Presence {
            features.sort_unstable();
            features.dedup();
        }
        Some(fingerprint(features.into_iter()))
    }

    /// The fingerprint a sketch holds; `None` if the sketch is not one of this method.
    pub fn of_sketch(sketch: &Sketch) -> Option<u64> {
        sketch
            .body
            .as_slice()
            .try_into()
            .ok()
            .map(u64::from_le_bytes)
    }
}

impl Method for SimHash {
    fn name(&self) -> &'static str {
        "simhash"
    }

    fn sketch(&self, document: &Document) -> Option<Sketch> {
        let fingerprint = self.of_document(document)?;
        let keys = block_keys(fingerprint, self.distance + 1);
        Some(Sketch {
            keys,
            body: fingerprint.to_le_bytes().to_vec(),
        })
    }

    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence {
        let score = match (Self::of_sketch(a), Self::of_sketch(b)) {
            (Some(a), Some(b)) => 1.0 - f64::from(distance(a, b)) / 64.0,
            _ => 0.0,
        };
        Evidence {
            containment: score,
            resemblance: score,
        }
    }
}

#[cfg(test)]
mod tests;
