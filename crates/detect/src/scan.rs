//! The way of a collection: read, sketch, find candidates, prove, decide.

use twicetold_model::{Form, Location, Problem, ResidueKind, Verdict};
use twicetold_source::{Collection, Trouble};

/// What decides which of several messages that say the same is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepRule {
    /// The one with the earliest date.
    Oldest,
    /// The one with the latest date.
    Newest,
    /// The one with the most bytes.
    Largest,
    /// The one with the fewest bytes.
    Smallest,
    /// The one whose path starts with the earliest of these prefixes.
    Folders(Vec<String>),
}

/// How to scan.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which copy survives; the first rule that tells two messages apart decides.
    pub keep: Vec<KeepRule>,
    /// Window of the winnowing, in word pairs.
    pub window: usize,
    /// How many witnesses a combined cover may have at the most.
    pub max_witnesses: usize,
    /// Texts with fewer content words than this are judged inside their thread only.
    pub short: usize,
    /// Share of words that two messages must have in common to be called versions, in percent.
    pub version_percent: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { keep: vec![KeepRule::Oldest], window: 3, max_witnesses: 8, short: 8, version_percent: 80 }
    }
}

/// What the scan is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading every message once.
    Reading,
    /// Comparing texts.
    Proving,
    /// Looking for messages that several others cover together.
    Combining,
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

/// What a scan found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Every message, sorted by location; the numbers in verdicts are indices into this.
    pub messages: Vec<ScannedMessage>,
    /// Files and folders that could not be used.
    pub troubles: Vec<Trouble>,
}

/// A message and what was decided about it.
#[derive(Clone, Debug)]
pub struct ScannedMessage {
    /// Where it stands.
    pub location: Location,
    /// How its bytes are understood.
    pub form: Form,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its `Message-ID`, or the id of a JSON line.
    pub message_id: Option<String>,
    /// Its subject, for people.
    pub subject: String,
    /// Its sender's address, for people.
    pub from: String,
    /// Its date in seconds since 1970.
    pub date: Option<i64>,
    /// A name for the conversation it belongs to, if it belongs to one with other messages.
    pub thread: Option<String>,
    /// What was decided.
    pub verdict: Verdict,
    /// The text of each residue of the verdict, white space folded.
    pub residue: Vec<String>,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
}

/// A proof with its texts, for people.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The passages of the message in the order of its text, matched or not.
    pub passages: Vec<ShownPassage>,
}

/// A stretch of a message, and where it stands elsewhere.
#[derive(Clone, Debug)]
pub struct ShownPassage {
    /// The text as it stands in the message, white space folded.
    pub text: String,
    /// The number of the witness in the scan, and the text as it stands there; `None` if it stands nowhere else.
    pub there: Option<(u32, String)>,
    /// If it stands nowhere else: what it is.
    pub residue: Option<ResidueKind>,
    /// Whether the two texts differ by more than case, white space and quote marks.
    pub changed: bool,
}

/// Scans a collection. Reads only. Same input, same result, whatever the number of threads.
pub fn scan(_collection: &Collection, _options: &Options, _progress: &dyn Progress) -> Scan {
    Scan::default()
}

/// Shows why the message with this number in `scan` got its verdict, passage by passage.
pub fn explain(_collection: &Collection, _scan: &Scan, _options: &Options, _message: u32) -> Explanation {
    Explanation::default()
}
