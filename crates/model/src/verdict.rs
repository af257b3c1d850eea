//! What was decided about a message, and why.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Whether a message tells anything new.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The short answer.
    pub standing: Standing,
    /// Where the message's content can be read instead; for a version, the message it is a version of.
    pub witnesses: Vec<Witness>,
    /// What is found in no witness, in the order of the text.
    pub residue: Vec<Residue>,
}

/// The short answer about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It says something found nowhere else, or is the one copy that is kept.
    Unique,
    /// Everything it says can be read in messages that are kept.
    Redundant(Category),
    /// A near copy of a kept message that differs in a fact; never removed.
    Version,
    /// It could not be read; never removed.
    Unreadable,
}

/// How a redundant message is contained in its witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Word for word the same.
    Identical,
    /// The same but for greetings, articles, inflection or a typing error.
    AlmostIdentical,
    /// The same sentences in another order.
    Rearranged,
    /// Inside a longer message, in order and unchanged.
    Quoted,
    /// Inside a longer message, changed slightly or in another order.
    QuotedChanged,
    /// Covered by several messages together.
    Combined,
}

impl Category {
    /// All categories, in the order in which they are reported.
    pub const ALL: [Self; 6] = [
        Self::Identical,
        Self::AlmostIdentical,
        Self::Rearranged,
        Self::Quoted,
        Self::QuotedChanged,
        Self::Combined,
    ];

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::AlmostIdentical => "almost-identical",
            Self::Rearranged => "rearranged",
            Self::Quoted => "quoted",
            Self::QuotedChanged => "quoted-changed",
            Self::Combined => "combined",
        }
    }
}

/// A message that holds what another one says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness {
    /// The message's number in the scan.
    pub message: u32,
    /// The share of the redundant message's content words found in it, 0 to 1.
    pub containment: f64,
}

/// Why a message may go: each passage of it and where it stands in a message that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The messages it rests on, by their number in the scan.
    pub witnesses: Vec<u32>,
    /// The matched passages, in the order of the message's text.
    pub passages: Vec<Passage>,
}

/// A stretch of a message found again in a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Words of the message, as indices into its words.
    pub words: Range<u32>,
    /// Which of the proof's witnesses holds it.
    pub witness: u32,
    /// The words of that witness that say the same.
    pub there: Range<u32>,
}

/// A stretch of a message found in no witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residue {
    /// The words, as indices into the message's words.
    pub words: Range<u32>,
    /// Why it matters, or why not.
    pub kind: ResidueKind,
}

/// What an uncovered stretch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResidueKind {
    /// New content: keeps the message.
    Content,
    /// Content that differs from a witness in a number, date, address or negation: keeps the message.
    Fact,
    /// A greeting or closing.
    Greeting,
    /// A line that says who wrote what follows.
    Attribution,
    /// A signature, footer or disclaimer.
    Boilerplate,
}
