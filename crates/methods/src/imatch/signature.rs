//! From a set of words to K + 1 hashes.

use super::lexicon::Part;
use super::{Imatch, TOO_SHORT};
use crate::winnow::mix;

/// How much of the lexicon a randomised copy lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Removal {
    /// The same share `p` of every copy: the paper's way.
    Same {
        /// The probability that a word is removed. The paper's .33 is near what a bootstrap leaves out.
        p: f64,
    },
    /// As much as it takes to leave about `words` lexicon words of the message, but at least `p`: for
    /// texts with many changed or substituted words.
    ///
    /// Shares go down by halves. A message uses the two nearest, half of the copies each, so that a
    /// copy with a few words more or less always has one in common with it.
    Fitted {
        /// The least probability that a word is removed.
        p: f64,
        /// How many lexicon words one hash should stand for.
        words: u32,
    },
}

impl Removal {
    /// The paper's: a third, of every copy.
    pub const PAPER: Self = Self::Same { p: 0.33 };

    /// Found by measurement: with 20 copies it finds most of what a tenth of changed words hides from the paper's.
    pub const FITTED: Self = Self::Fitted { p: 0.33, words: 12 };
}

/// A lexicon word of the message.
#[derive(Clone, Copy)]
struct Term {
    number: u64,
    rank: u32,
}

/// The part of the lexicon that one hash is made with.
struct Sample {
    /// Tells the copies apart.
    key: u64,
    /// A word belongs to the copy if its draw, 53 bits, is below.
    limit: u64,
}

impl Sample {
    fn holds(&self, term: &Term) -> bool {
        mix(term.number ^ self.key) >> 11 < self.limit
    }
}

/// Makes the hash of a set differ from that of the set with a word of number 0 added.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// All of the lexicon, as a limit on draws.
const ALL: u64 = 1 << 53;

fn kept(p: f64) -> u64 {
    ((1.0 - p.clamp(0.0, 1.0)) * ALL as f64) as u64
}

impl Imatch {
    /// The hashes of a set of words (numbers, sorted, each once): the lexicon's first, then those of its
    /// randomised copies; a copy in which too few words are left has none.
    pub fn signature(&self, unique: &[u64]) -> Vec<u64> {
        if unique.len() < TOO_SHORT {
            return Vec::new();
        }
        let (mut primary, mut secondary) = (Vec::new(), Vec::new());
        for &number in unique {
            if let Some(rank) = self.lexicon.rank(number) {
                let part = match self.lexicon.part(rank) {
                    Part::Primary => &mut primary,
                    Part::Secondary => &mut secondary,
                };
                part.push(Term { number, rank });
            }
        }
        secondary.sort_unstable_by_key(|term| term.rank);
        let needed = (unique.len() as u64 * u64::from(self.ratio)).div_ceil(100) as usize;
        let whole = Sample {
            key: self.seed,
            limit: ALL,
        };
        let mut hashes = Vec::with_capacity(self.copies as usize + 1);
        hashes.extend(self.hash(&whole, &primary, &secondary, needed));
        for copy in 1..=self.copies {
            let sample = self.sample(copy, primary.len());
            hashes.extend(self.hash(&sample, &primary, &secondary, needed));
        }
        hashes
    }

    /// The part of the lexicon that a copy has.
    fn sample(&self, copy: u32, terms: usize) -> Sample {
        let key = |band: u64| mix(mix(self.seed).wrapping_add(band << 32 | u64::from(copy)));
        match self.removal {
            Removal::Same { p } => Sample {
                key: key(0),
                limit: kept(p),
            },
            Removal::Fitted { p, words } => {
                let fold = (terms / words.max(1) as usize).max(1);
                let band = fold.ilog2();
                // Even copies take the even one of the two bands, odd copies the odd one.
                let band = band + (band ^ copy) % 2;
                Sample {
                    key: key(band.into()),
                    limit: kept(p) >> band.min(63),
                }
            }
        }
    }

    /// The hash of the words a sample leaves; `None` if they are too few.
    fn hash(
        &self,
        sample: &Sample,
        primary: &[Term],
        secondary: &[Term],
        needed: usize,
    ) -> Option<u64> {
        // A copy sees only its share of a message's words, so only that share of them is asked for.
        let needed = (needed as u128 * u128::from(sample.limit)).div_ceil(ALL.into()) as usize;
        // Primary words come in the order of their numbers, secondary ones by rank: one order for one set.
        let mut hash = mix(sample.key ^ sample.limit);
        let mut count = 0;
        for term in primary.iter().filter(|term| sample.holds(term)) {
            hash = mix(hash ^ term.number).wrapping_add(STEP);
            count += 1;
        }
        for term in secondary.iter().filter(|term| sample.holds(term)) {
            if count >= needed {
                break;
            }
            hash = mix(hash ^ term.number).wrapping_add(STEP);
            count += 1;
        }
        (count >= needed.max(self.least_words)).then_some(hash)
    }
}
