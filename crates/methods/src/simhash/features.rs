//! What is hashed, and how much it counts.

use crate::winnow::pair;

/// What a text is taken to be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Features {
    /// Single words: robust to edits, blind to order.
    Words,
    /// Every two neighbouring words.
    Pairs,
    /// Every three neighbouring words.
    Triples,
}

impl Features {
    /// All of them, in order of length.
    pub const ALL: [Self; 3] = [Self::Words, Self::Pairs, Self::Triples];

    /// The word users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Pairs => "pairs",
            Self::Triples => "triples",
        }
    }

    /// How many words make one feature.
    fn length(self) -> usize {
        match self {
            Self::Words => 1,
            Self::Pairs => 2,
            Self::Triples => 3,
        }
    }

    /// The features of a sequence of word hashes. A text shorter than one feature is one feature.
    pub fn of(self, words: impl Iterator<Item = u64>) -> Vec<u64> {
        let words: Vec<u64> = words.collect();
        let length = self.length();
        if length == 1 || words.is_empty() {
            return words;
        }
        words.windows(length.min(words.len())).map(join).collect()
    }
}

/// One number for a run of words.
fn join(words: &[u64]) -> u64 {
    words.iter().copied().reduce(pair).unwrap_or_default()
}

/// How much a feature counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// As often as it occurs.
    Frequency,
    /// Once, however often it occurs.
    Presence,
}
