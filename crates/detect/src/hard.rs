//! Sentences that no kept message is known to have word for word.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use crate::align::most_altered;
use crate::seldom::{Detail, Sentence};

/// How many pairs of a sentence of so many words may be missing where it stands in another message: a word that differs
/// takes two with it, a compound written apart three.
pub(crate) fn most_broken(len: usize) -> usize {
    2 * most_altered(len) + 1
}

/// What is known of messages asked before. Most that no kept message covered are not covered later either, and for the same
/// sentence: it is asked about first, and no text is read for it.
#[derive(Debug, Default)]
pub(crate) struct Hard {
    /// The sentence that nobody had when each message was asked last.
    pub(crate) missed: HashMap<u32, u32, FixedState>,
    /// A message, the number of a sentence of it, and a message that does not have that sentence.
    pub(crate) absent: HashSet<(u32, u32, u32), FixedState>,
}

/// A sentence that no kept message is known to have word for word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open<'d> {
    /// Its number among the units.
    pub(crate) number: usize,
    /// Its word pairs, as far as they take part in fingerprints.
    pub(crate) pairs: &'d [u32],
    /// Its facts.
    pub(crate) facts: &'d [u32],
    /// How many of the pairs stand wherever the sentence does.
    pub(crate) least: usize,
}

impl<'d> Open<'d> {
    /// These sentences of a message.
    pub(crate) fn of(
        detail: &'d Detail,
        which: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = Self> {
        let all = detail.sentences().enumerate();
        all.filter(move |(number, _)| which(*number)).map(
            |(number, Sentence { told, pairs, facts })| Self {
                number,
                pairs,
                facts,
                least: pairs.len().saturating_sub(most_broken(told.len() as usize)),
            },
        )
    }
}

/// Whether a message has a sentence of which more pairs occur in no other message than words that differ can explain.
/// `single` counts the pairs that do.
pub(crate) fn tells_news(detail: &Detail, single: impl Fn(&[u32]) -> usize) -> bool {
    detail.sentences().any(|Sentence { told, pairs, .. }| {
        let broken = most_broken(told.len() as usize);
        told.is_content() && pairs.len() > broken && single(pairs) > broken
    })
}
