//! Sentence and paragraph hashes, compared in order.
//!
//! *An e-mail deduplication algorithm based on SHA-1* (Zhang, Li, Lin). Headers can be forged, so only
//! the text counts. A long text is cut into paragraphs, a shorter one into sentences; the record of a
//! message is the list of their SHA-1 sums. Two records of the same kind are compared block by block,
//! and a block counts the less, the further it has moved.
//!
//! | parameter | default | more | less |
//! |---|---|---|---|
//! | `formula` | [`Formula::Matched`] | – | [`Formula::Paper`] and [`Formula::Share`] reproduce the paper's tables |
//! | `large` | 20,480 bytes | more messages cut into sentences: finer, longer records | more cut into paragraphs |
//! | threshold | .6 | changed copies slip through | rearranged texts count as copies |
//!
//! **Formulas** for X = (x₁ … x_m) and Y = (y₁ … y_n), M = max(m, n):
//! the paper prints `Σᵢ Σⱼ (M − |i − j|)·[xᵢ = yⱼ] / (m·n)`. Its divisor is the weight of a perfect match
//! only if m = n, so a copy with a block missing scores 1, and repeated blocks push it above 1. The
//! default matches the k-th occurrence of a block with its k-th occurrence and divides by M². Where m = n
//! and no block repeats, which is the paper's own case, both give the same number.
//!
//! **Search.** Keys are the distinct blocks. Under the default formula a similarity of t or more needs
//! `⌈t·M⌉` matched blocks, so `min(m, n)/M ≥ t` ([`Blocks::counts_fit`]), and any [`Blocks::enough`] of a
//! record's keys include one that the other has: look up the rarest, and neither is anything missed nor
//! do footers and greetings make it quadratic. The printed formula has no such bounds: all keys are looked up.
//!
//! **Limits.** SHA-1 is fine as a fingerprint of text and no defence against forged collisions: a removal
//! never rests on it alone. Two copies on both sides of `large` are of different kinds and score 0. One
//! changed letter changes its whole block: texts of one or two sentences are found only if they are equal.
//!
//! ```
//! use twicetold_methods::blocks::{Formula, similarity};
//!
//! let value = |formula, x: &[u8], y: &[u8]| similarity(formula, x, y).value();
//! assert_eq!(value(Formula::Matched, &[1, 2, 3, 4], &[4, 3, 2, 1]), 0.5);
//! assert_eq!(value(Formula::Matched, &[1, 2, 3, 4], &[1, 2, 9, 3, 4]), 0.72);
//! assert_eq!(value(Formula::Matched, &[1, 2, 3, 4], &[1, 2, 3]), 0.75);
//! assert_eq!(value(Formula::Paper, &[1, 2, 3, 4], &[1, 2, 3]), 1.0); // although a block is missing
//! ```

mod cut;
mod formula;
mod record;

pub use cut::{Kind, sentences};
pub use formula::{Formula, Similarity, similarity};
pub use record::{Block, Record};

use twicetold_model::{Document, Evidence, Method, Share, Sketch};

/// The method and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// How two records are compared.
    pub formula: Formula,
    /// From how many bytes of text on a message is cut into paragraphs instead of sentences.
    pub large: usize,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            formula: Formula::Matched,
            large: 20 * 1024,
        }
    }
}

impl Blocks {
    /// The record of what a document says; it has no block if the document has no text.
    pub fn record(&self, document: &Document) -> Record {
        let kind = if document.text.len() >= self.large {
            Kind::Paragraphs
        } else {
            Kind::Sentences
        };
        Record::of(kind, &document.text)
    }

    /// How alike two records are; nothing if they are of different kinds.
    pub fn similarity(&self, x: &Record, y: &Record) -> Similarity {
        if x.kind == y.kind {
            similarity(self.formula, &x.blocks, &y.blocks)
        } else {
            Similarity::NONE
        }
    }

    /// Whether records of `m` and `n` blocks can be as alike as `t` at all.
    ///
    /// `Sim = Σ(M − |i − j|)/M² ≤ min(m, n)·M/M²`, so nothing at or above the threshold is refused.
    pub fn counts_fit(&self, m: usize, n: usize, t: Share) -> bool {
        match self.formula {
            Formula::Matched => m.min(n) >= t.least(m.max(n)),
            Formula::Share => m == n,
            Formula::Paper => true,
        }
    }

    /// How many of a record's `keys` distinct blocks another record must share to be as alike as `t`;
    /// `blocks` counts repetitions too.
    ///
    /// At least `⌈t·blocks⌉` blocks are matched, so at most `blocks − ⌈t·blocks⌉` are not; every key that
    /// is not shared is at least one of those.
    pub fn least_shared(&self, blocks: usize, keys: usize, t: Share) -> usize {
        match self.formula {
            Formula::Matched | Formula::Share => keys
                .saturating_sub(blocks - t.least(blocks).min(blocks))
                .max(1),
            Formula::Paper => 1,
        }
    }

    /// How many of a record's keys, whichever they are, include one that every record as alike as `t` has.
    pub fn enough(&self, blocks: usize, keys: usize, t: Share) -> usize {
        (keys + 1)
            .saturating_sub(self.least_shared(blocks, keys, t))
            .min(keys)
    }
}

impl Method for Blocks {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn sketch(&self, document: &Document) -> Option<Sketch> {
        let record = self.record(document);
        (!record.blocks.is_empty()).then(|| Sketch {
            keys: record.keys(),
            body: record.to_bytes(),
        })
    }

    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence {
        let (Some(x), Some(y)) = (Record::from_bytes(&a.body), Record::from_bytes(&b.body)) else {
            return Evidence {
                containment: 0.0,
                resemblance: 0.0,
            };
        };
        let similarity = self.similarity(&x, &y);
        let found = similarity.matched as f64 / x.blocks.len().max(1) as f64;
        // The printed formula knows no upper end; a score does.
        Evidence {
            containment: found,
            resemblance: similarity.value().min(1.0),
        }
    }
}

#[cfg(test)]
mod tests;
