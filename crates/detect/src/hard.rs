//! Sentences that no kept message is known to have word for word.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use twicetold_index::Twice;

use crate::align::most_altered;
use crate::cache::{Reader, Writer};

/// How many pairs of a sentence of so many words may be missing where it stands in another message: a word that differs
/// takes two with it, a compound written apart three.
pub(crate) fn most_broken(len: usize) -> usize {
    2 * most_altered(len) + 1
}

/// What is known of messages asked before. Most that no kept message covered are not covered later either, and for the same
/// sentence: it is asked about first, and no text is read for it.
#[derive(Debug, Default)]
pub(crate) struct Hard {
    /// Why each message was not covered when it was asked last.
    pub(crate) why: HashMap<u32, Why, FixedState>,
    /// A message, the number of a sentence of it, and a message that does not have that sentence.
    pub(crate) absent: HashSet<(u32, u32, u32), FixedState>,
}

/// Why no kept message covers a message.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// A sentence of it can stand nowhere else.
    Never,
    /// By the fingerprints of this sentence, nobody has it.
    Unlike(Open),
    /// Nobody who is like to have this sentence has it.
    Nowhere(Open),
}

/// A sentence that no kept message is known to have word for word.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// Its number among the units.
    pub(crate) number: usize,
    /// Its word pairs, as far as they take part in fingerprints.
    pub(crate) pairs: Vec<u64>,
    /// How many of the pairs stand wherever the sentence does.
    pub(crate) least: usize,
}

impl Open {
    pub(crate) fn of(number: usize, pairs: Vec<u64>, len: usize) -> Self {
        Self {
            number,
            least: pairs.len().saturating_sub(most_broken(len)),
            pairs,
        }
    }

    /// Whether more of its pairs occur in no other message than words that differ can explain.
    pub(crate) fn is_new(&self, known: &Twice) -> bool {
        self.pairs.iter().filter(|&&p| known.contains(p)).count() < self.least
    }
}

/// Writes hard sentences.
pub(crate) fn write_open(out: &mut Writer, open: &[Open]) {
    out.list(open.iter(), |out, unit| {
        out.number(unit.number as u64);
        out.number(unit.least as u64);
        out.hashes(&unit.pairs);
    });
}

/// Reads hard sentences.
pub(crate) fn read_open(from: &mut Reader<'_>) -> Option<Vec<Open>> {
    from.list(|from| {
        Some(Open {
            number: from.small()? as usize,
            least: from.small()? as usize,
            pairs: from.hashes()?,
        })
    })
}
