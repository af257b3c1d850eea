//! How far is it?

/// What the scan is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading every message once.
    Reading,
    /// Finding out who shares what with whom.
    Relating,
    /// Comparing texts.
    Proving,
    /// Looking for messages that several others cover together.
    Combining,
    /// Looking for near copies that differ in a fact.
    Versions,
    /// Comparing copies once more, word for word.
    Copies,
}

/// Somebody who wants to know how far a scan is.
pub trait Progress: Sync {
    /// A stage begins; `total` counts bytes for reading, messages otherwise.
    fn begin(&self, stage: Stage, total: u64);
    /// So many more messages and bytes are done.
    fn advance(&self, messages: u64, bytes: u64);
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _stage: Stage, _total: u64) {}
    fn advance(&self, _messages: u64, _bytes: u64) {}
}
