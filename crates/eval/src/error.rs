//! What can go wrong in an experiment.

use std::io;
use std::path::PathBuf;

/// Why an experiment could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file or folder could not be read or written.
    #[error("cannot {what} {}", path.display())]
    File {
        /// Which of both: "read", "write".
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is nothing to measure on.
    #[error("there is nothing to measure: {what}")]
    Nothing {
        /// What is missing, and where it was looked for.
        what: String,
    },
    /// Something cannot be done with what was given.
    #[error("{what}")]
    Refused {
        /// What was given, and why it cannot be used.
        what: String,
    },
    /// A line of a file of truths, classifications or labels cannot be understood.
    #[error("{} line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A picture could not be drawn.
    #[error("cannot draw the chart {name}: {why}")]
    Chart {
        /// Its name.
        name: String,
        /// What the drawing library says.
        why: String,
    },
    /// The store of the spam service failed.
    #[error(transparent)]
    State(#[from] twicetold_service::StateError),
}

impl EvalError {
    /// A file that could not be read.
    pub fn reading(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            what: "read",
            path,
            source,
        }
    }

    /// A file that could not be written.
    pub fn writing(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            what: "write",
            path,
            source,
        }
    }

    /// Something that cannot be used, in these words.
    pub fn refused(what: impl Into<String>) -> Self {
        Self::Refused { what: what.into() }
    }

    /// Nothing to measure on, in these words.
    pub fn nothing(what: impl Into<String>) -> Self {
        Self::Nothing { what: what.into() }
    }
}
