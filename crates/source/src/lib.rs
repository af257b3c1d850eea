//! Where is the mail?
//!
//! Finds the messages below the paths a user names, whatever form they are kept in, and hands
//! their bytes out. It never judges, and reading never changes anything.

use std::path::PathBuf;

use twicetold_model::{Location, Problem, RawMessage};

/// Every message below the paths given, found but not yet read.
#[derive(Debug)]
pub struct Collection {}

/// A piece of work that one thread can do on its own: a few files, or a stretch of an mbox.
#[derive(Debug)]
pub struct Task {}

/// A file or folder that could not be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The path as the user would write it.
    pub path: String,
    /// What was wrong.
    pub problem: Problem,
}

impl Collection {
    /// Looks at the paths, recognises what they are, and lists what is below them.
    pub fn open(_paths: &[PathBuf]) -> Self {
        Self {}
    }
    /// What could not be used, sorted by path.
    pub fn troubles(&self) -> &[Trouble] {
        &[]
    }
    /// How many bytes there are to read, as far as the file system tells.
    pub fn total_bytes(&self) -> u64 {
        0
    }
    /// The work to be done, in a fixed order; an mbox is read once, from front to back, as the iterator advances.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + Send + '_ {
        std::iter::empty()
    }
    /// Reads one message again.
    pub fn read(&self, _location: &Location) -> std::io::Result<RawMessage<'static>> {
        Err(std::io::Error::other("not found"))
    }
}

impl Task {
    /// Reads the task's messages and hands each to `each`; a file that cannot be read goes to `trouble`.
    pub fn run(self, _each: &mut dyn FnMut(RawMessage<'_>), _trouble: &mut dyn FnMut(Trouble)) {}
}
