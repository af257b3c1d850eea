//! What the page asks of the program around it: it cannot scan, remove or bring back anything itself.

use std::path::PathBuf;

use twicetold_detect::{Options, Progress, Scan};
use twicetold_source::{Collection, Plan};

/// A collection and what was found in it.
#[derive(Debug)]
pub struct Scanned {
    /// Where the messages are.
    pub collection: Collection,
    /// What was found.
    pub scan: Scan,
    /// How it was scanned.
    pub options: Options,
    /// The folder in which relative paths begin.
    pub folder: PathBuf,
    /// The paths that were scanned.
    pub roots: Vec<PathBuf>,
}

/// What went wrong, and what the user can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What happened, without a full stop.
    pub what: String,
    /// What to do next.
    pub next: String,
}

/// What became of a plan, or of undoing it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The run, by its number in the history.
    pub run: u32,
    /// How many messages went, or came back.
    pub done: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// Messages for which it could not be done, and why.
    pub stayed: Vec<(String, Told)>,
    /// What the user should know besides.
    pub told: Vec<String>,
}

/// A run of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// Its number.
    pub number: u32,
    /// When it began, in seconds since 1970.
    pub began: i64,
    /// What was done with messages.
    pub action: String,
    /// How it stands.
    pub state: String,
    /// How many messages are out because of it.
    pub out: u64,
    /// How many bytes those have.
    pub bytes: u64,
    /// Whether it can be undone.
    pub undoable: bool,
}

/// The way out of the page.
pub trait Doors: Send + Sync {
    /// Reads and judges all messages.
    fn scan(&self, progress: &dyn Progress) -> Result<Scanned, Told>;

    /// Moves the messages of a plan to the trash. `count` is told how many more are dealt with. An error means that nothing was changed.
    fn apply(&self, plan: &Plan, count: &dyn Fn(u64)) -> Result<Outcome, Told>;

    /// Brings back what a run removed. An error means that nothing was changed.
    fn undo(&self, run: u32, count: &dyn Fn(u64)) -> Result<Outcome, Told>;

    /// The runs there were, the first one first.
    fn runs(&self) -> Result<Vec<PastRun>, Told>;
}
