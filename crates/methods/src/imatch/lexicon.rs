//! The words that count.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;

use super::build::Range;

/// Which part of a lexicon a word is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// L: the words whose inverse document frequency is in the range.
    Primary,
    /// B: rarer words, taken where L is not enough.
    Secondary,
}

/// A primary and a secondary lexicon with the statistics they come from.
///
/// It is made by a [`LexiconBuilder`](super::LexiconBuilder) or read from a file, and never learns by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Lexicon {
    pub(super) documents: u32,
    pub(super) range: Range,
    pub(super) primary: u32,
    /// All words by falling document frequency, equal ones in the order of the alphabet.
    pub(super) words: Vec<(Box<str>, u32)>,
    /// The place of a word in that order, by the word's number.
    ranks: HashMap<u64, u32, FixedState>,
}

impl Lexicon {
    /// A lexicon of words in order, the first `primary` of which are the primary lexicon.
    pub(super) fn new(
        documents: u32,
        range: Range,
        primary: u32,
        words: Vec<(Box<str>, u32)>,
    ) -> Self {
        let ranks = (0..)
            .zip(&words)
            .map(|(rank, (word, _))| (super::words::number(word), rank));
        let ranks = ranks.collect();
        Self {
            documents,
            range,
            primary,
            words,
            ranks,
        }
    }

    /// The lexicon that comes with the program: how many of 37,368 different messages a word stands in,
    /// from the Enron inboxes and the legitimate mail of the SpamAssassin corpus, English business and
    /// technical mail of about 2001. Only words that both collections have in at least 3 messages were
    /// taken, so that it knows a language rather than an office. `examples/lexicon.rs` makes it.
    pub fn shipped() -> Arc<Self> {
        static SHIPPED: OnceLock<Arc<Lexicon>> = OnceLock::new();
        let bytes = include_bytes!("../../data/lexicon.txt");
        // A test reads the file; were it ever damaged, the method would abstain.
        let read = || Arc::new(Self::from_bytes(bytes).unwrap_or_else(|_| Self::empty()));
        Arc::clone(SHIPPED.get_or_init(read))
    }

    fn empty() -> Self {
        Self::new(0, Range::MAIL, 0, Vec::new())
    }

    /// How many documents were counted.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// The range of normalised inverse document frequency that the primary lexicon has.
    pub fn range(&self) -> Range {
        self.range
    }

    /// How many words the primary lexicon has.
    pub fn primary(&self) -> usize {
        self.primary as usize
    }

    /// How many words the secondary lexicon has.
    pub fn secondary(&self) -> usize {
        self.words.len() - self.primary as usize
    }

    /// Every word with the number of documents it occurs in, commonest first.
    pub fn words(&self) -> impl Iterator<Item = (&str, u32, Part)> {
        (0..)
            .zip(&self.words)
            .map(|(rank, (word, df))| (&**word, *df, self.part(rank)))
    }

    /// Whether it holds a word, and where.
    pub fn find(&self, word: &str) -> Option<Part> {
        self.rank(super::words::number(word))
            .map(|rank| self.part(rank))
    }

    pub(super) fn rank(&self, number: u64) -> Option<u32> {
        self.ranks.get(&number).copied()
    }

    pub(super) fn part(&self, rank: u32) -> Part {
        if rank < self.primary {
            Part::Primary
        } else {
            Part::Secondary
        }
    }

    /// Whether two words have the same number, which would make the order of ranks ambiguous.
    pub(super) fn has_repetitions(&self) -> bool {
        self.ranks.len() != self.words.len()
    }
}
