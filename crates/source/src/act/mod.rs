//! Carrying out a plan, and undoing it.
//!
//! The rest of this crate only reads. Here mailboxes are changed, by these rules:
//!
//! - **Nobody judges here.** Whether a message may go is asked of a [`Judge`], with the bytes as they are now, right before it goes.
//! - **Written down first.** A [`Step`] is in the [`Journal`], on disk, before anything of it happens, with everything that is needed to finish it,
//!   take it back or undo it.
//! - **Each message all or nothing.** Files are renamed, never over another one; a file of many messages is replaced by one rename under locks.
//!   What was begun when the program was killed is settled by [`recover`], which the next run calls first.
//! - **A copy before a removal.** What leaves a file of many messages is on disk in the bin before the file is replaced.
//!
//! [`Hands`] is the joint at which kinds of mailboxes meet the engine. [`Local`] are the hands for files and folders; those for folders on a server are
//! in the crate of accounts, and [`Both`] are both. Each has its own kind of [`Step`].

mod apply;
mod both;
mod disk;
mod journal;
mod local;
mod on_server;
mod state;
mod step;
mod undo;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use twicetold_model::{Category, Problem, RawMessage};

use crate::plan::{Named, Removal};

pub use apply::{Applied, BATCH, BATCH_BYTES, Progress, apply};
pub use both::{Both, Side};
pub use disk::{Kept, Moment, Whole};
pub use journal::{Entry, Journal, RunHead, Stayed};
pub use local::{Local, Spot as LocalSpot, Wishes};
pub use on_server::{Carry, Deed, OnServer, Place, ServerChange, StoredCopy};
pub use state::{Run, RunState, RunStep, SERVER_COPIES, State};
pub use step::{Bin, Change, Edit, Files, Made, Move, Rewrite, Step, Text, Touched, Was};
pub use undo::{Recovered, Undone, recover, undo};

/// What is done with a message that may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It is moved to a trash folder beside the mailbox.
    Trash,
    /// It is moved to a folder that the user names.
    MoveTo,
    /// It leaves the mailbox; its bytes are kept beside the journal until the run is forgotten.
    Delete,
    /// It stays, marked as deleted.
    Flag,
    /// It becomes another name of a file that holds the same bytes.
    Hardlink,
    /// It stays, with a label.
    Label,
}

impl Action {
    /// Whether messages leave their mailbox.
    pub fn removes(self) -> bool {
        matches!(self, Self::Trash | Self::MoveTo | Self::Delete)
    }

    /// The word for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trash => "trash",
            Self::MoveTo => "move-to",
            Self::Delete => "delete",
            Self::Flag => "flag",
            Self::Hardlink => "hardlink",
            Self::Label => "label",
        }
    }
}

/// What could not be done, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened, to which file, without a full stop.
    pub what: String,
    /// What the user can do about it.
    pub next: String,
}

impl Failure {
    /// What happened, and what to do next.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: next.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.next)
    }
}

impl std::error::Error for Failure {}

/// Somebody who is told of every point at which a kill would matter; tests kill there.
pub trait Watch {
    /// This point is reached.
    fn reached(&self, point: &'static str);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undisturbed;

impl Watch for Undisturbed {
    fn reached(&self, _point: &'static str) {}
}

/// A removal with everything that was read again for it.
#[derive(Debug)]
pub struct Case<'p> {
    /// What the plan says.
    pub removal: &'p Removal,
    /// The message as it is now.
    pub message: RawMessage<'static>,
    /// Its witnesses as they are now, in the order of the plan.
    pub witnesses: Vec<RawMessage<'static>>,
}

/// Somebody who can tell whether a message may go.
pub trait Judge {
    /// For each case whether the proof holds, and else why not.
    fn check(&self, cases: &[Case<'_>]) -> Vec<Result<(), Problem>>;
}

/// A removal that may be carried out.
#[derive(Debug)]
pub struct Ready<'p, S> {
    /// What the plan says.
    pub removal: &'p Removal,
    /// Where the message was found.
    pub spot: S,
    /// Where its witnesses were found.
    pub witnesses: Vec<S>,
}

/// A step that can be carried out, and what cannot.
#[derive(Debug, Default)]
pub struct Prepared<'p> {
    /// What to do; nothing has happened yet.
    pub step: Option<Step>,
    /// What is left out of it.
    pub refused: Vec<(&'p Removal, Failure)>,
    /// What people should know.
    pub told: Vec<String>,
}

/// How far a step came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The messages of the step that are out or marked.
    pub out: Vec<usize>,
    /// The messages of the step that should be as the caller wished and are not, and why.
    pub failed: Vec<(usize, Failure)>,
    /// What people should know.
    pub told: Vec<String>,
    /// Where messages are that are out, as far as their place in the step does not say it.
    pub places: Vec<Place>,
    /// It cannot be told now how far the step came, and why: somebody has to look later. Nothing else counts then.
    pub unknown: Option<Failure>,
}

/// Whether a message that goes for this reason is the same message as the one that stays, so that what a reader did with it
/// was done with that one.
pub fn is_copy(category: Category) -> bool {
    matches!(
        category,
        Category::Identical | Category::AlmostIdentical | Category::Rearranged
    )
}

/// Who can change a kind of mailbox.
pub trait Hands {
    /// Where a message was found, as these hands know it.
    type Spot;

    /// Cuts removals, by their number in the plan, into groups that are checked and carried out together.
    fn groups(&self, chosen: &[usize]) -> Vec<Vec<usize>>;

    /// The lock file that holding the group will make, and what will be in it.
    fn lock_file(&self, group: &[&Removal]) -> Option<(PathBuf, String)>;

    /// Keeps other programs from changing the group's mailbox until [`Hands::release`], unless it is `only_looking`.
    fn hold(&mut self, group: &[&Removal], only_looking: bool) -> Result<(), Failure>;

    /// Lets other programs at the mailbox again.
    fn release(&mut self);

    /// Reads a message again, and recognises it.
    fn read(&mut self, named: &Named) -> Result<(RawMessage<'static>, Self::Spot), Failure>;

    /// Works out what to do, without doing anything.
    fn prepare<'p>(&mut self, ready: Vec<Ready<'p, Self::Spot>>) -> Result<Prepared<'p>, Failure>;

    /// Whether something is left to do when all groups are done, and the lock file that doing it will make, if any.
    fn owes(&self) -> Option<Option<(PathBuf, String)>>;

    /// Works out the next thing that is left to do, and holds what it needs; `None` if nothing had to be done after all.
    fn remainder(&mut self) -> Option<Result<Step, Failure>>;

    /// All is done: a last look at what was replaced. Returns what people should know.
    fn finish(&mut self) -> Vec<String>;

    /// Does it. What could not be done for a message is taken back for that message.
    fn carry_out(&mut self, step: &Step, watch: &dyn Watch) -> Settled;

    /// Looks how far a step came that was interrupted, and brings every message of it to all or nothing.
    ///
    /// `places` is where its messages were when that was last known.
    fn settle(&mut self, step: &Step, places: &[Place]) -> Settled;

    /// The lock file that undoing the step will make, and what will be in it.
    fn lock_file_of(&self, step: &Step) -> Option<(PathBuf, String)>;

    /// Brings back what is out, from where it is.
    fn take_back(
        &mut self,
        step: &Step,
        out: &[usize],
        places: &[Place],
        watch: &dyn Watch,
    ) -> Settled;

    /// Removes a lock file that a killed run left, if it is ours.
    fn unlock(&mut self, path: &std::path::Path, token: &str);
}
