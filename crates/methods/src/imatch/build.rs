//! Counting words to make a lexicon.

use std::collections::HashMap;

use twicetold_model::Document;

use super::lexicon::Lexicon;
use super::words::each_word;

/// A range of normalised inverse document frequency: 0 for a word of every document, 1 for a word of
/// one document only (`ln(N/df) / ln N`). Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end: commoner words are left out.
    pub low: f64,
    /// The upper end: rarer words go to the secondary lexicon.
    pub high: f64,
}

impl Range {
    /// The paper's for e-mail.
    pub const MAIL: Self = Self {
        low: 0.2,
        high: 0.3,
    };

    /// The paper's for web pages.
    pub const WEB: Self = Self {
        low: 0.2,
        high: 0.8,
    };
}

/// The normalised inverse document frequency of a word in `df` of `documents` documents.
pub(super) fn nidf(df: u32, documents: u32) -> f64 {
    if documents <= 1 || df == 0 {
        return 0.0;
    }
    (f64::from(documents) / f64::from(df)).ln() / f64::from(documents).ln()
}

/// Counts in how many documents each word occurs. What it makes depends on the documents alone, not
/// on their order or on how the work was divided.
#[derive(Clone, Debug, Default)]
pub struct LexiconBuilder {
    documents: u32,
    counts: HashMap<Box<str>, u32>,
}

impl LexiconBuilder {
    /// Counts the words of one more document.
    pub fn add(&mut self, document: &Document) {
        let mut words: Vec<Box<str>> = Vec::new();
        for text in [&document.envelope.subject, &document.text] {
            each_word(text, |word| words.push(word.into()));
        }
        words.sort_unstable();
        words.dedup();
        self.documents = self.documents.saturating_add(1);
        for word in words {
            *self.counts.entry(word).or_default() += 1;
        }
    }

    /// Adds what another builder has counted, in another thread for example.
    pub fn merge(&mut self, other: Self) {
        self.documents = self.documents.saturating_add(other.documents);
        for (word, count) in other.counts {
            let sum = self.counts.entry(word).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// How many documents were counted.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// In how many documents a word occurs.
    pub fn count(&self, word: &str) -> u32 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Forgets the words for which `keep` says no.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.counts.retain(|word, _| keep(word));
    }

    /// The lexicon: words in the range are primary, at most `secondary` rarer ones follow, commoner first.
    pub fn build(self, range: Range, secondary: usize) -> Lexicon {
        let documents = self.documents;
        let mut words: Vec<(Box<str>, u32)> = self
            .counts
            .into_iter()
            .filter(|(_, df)| nidf(*df, documents) >= range.low)
            .collect();
        words.sort_unstable_by(|(a, a_df), (b, b_df)| b_df.cmp(a_df).then_with(|| a.cmp(b)));
        let primary = words.partition_point(|(_, df)| nidf(*df, documents) <= range.high);
        words.truncate(primary.saturating_add(secondary).min(u32::MAX as usize));
        Lexicon::new(documents, range, primary as u32, words)
    }
}
