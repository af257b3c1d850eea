//! How is a scan to decide?

use crate::order::KeepRule;

/// Which words make fingerprints, and which numbers stand for them. Only candidates depend on it: every verdict is proved
/// on the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// Unicode words; a stable hash of each. The same numbers everywhere, so the default.
    #[default]
    Stable,
    /// The paper's words (its delimiters and stop words), numbered by first appearance; pairs `2³²·x − y`, mixed.
    Dictionary,
    /// The paper to the letter: `a·x − y` with `a` from the whole collection, and minima of that number itself.
    Paper,
}

/// How to scan.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which numbers stand for words in fingerprints.
    pub numbering: Numbering,
    /// Whether to decide early where word pairs show that nothing will be found. Without, a cover made of very short
    /// passages may be found besides, much later; with or without, every verdict is proved. And whether what copies to the letter say is read once.
    pub shortcuts: bool,
    /// Which copy survives; the first rule that tells two messages apart decides.
    pub keep: Vec<KeepRule>,
    /// Window of the winnowing, in word pairs.
    pub window: usize,
    /// How many witnesses a combined cover may have at the most.
    pub max_witnesses: usize,
    /// Texts with fewer content words than this are judged inside their thread only.
    pub short: usize,
    /// How many bytes of memory to do with, more or less; see [`Self::memory_for`] if nobody says so. Same result.
    pub memory: Option<u64>,
    /// Share of words that two messages must have in common to be called versions, in percent.
    pub version_percent: u32,
}

impl Options {
    /// How many bytes of memory to do with for so many bytes of mail: as many as the user says, or else half of the mail,
    /// and 256 MB at least.
    pub fn memory_for(&self, mail: u64) -> u64 {
        self.memory.unwrap_or_else(|| (mail / 2).max(256_000_000))
    }
}

impl Default for Options {
    fn default() -> Self {
        let keep = vec![KeepRule::Oldest];
        Self {
            numbering: Numbering::Stable,
            shortcuts: true,
            keep,
            window: 3,
            max_witnesses: 8,
            short: 8,
            memory: None,
            version_percent: 80,
        }
    }
}
