//! How a run ends, and what is said when it ends badly.

use std::fmt;
use std::io;
use std::process::ExitCode;

use twicetold_source::Trouble;

use crate::report::escape::{self, visible};
use crate::terminal::talk;

/// How a run ended; the numbers are documented in `docs/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done.
    Done,
    /// Nothing was done because of an error.
    Failed,
    /// The command line asks for something that cannot be.
    Usage,
    /// It was done, but some paths or messages could not be read.
    Partly,
    /// It was done, and a message is spam; only where that was asked for.
    Spam,
    /// It was done, no message is spam, and one may be; only where that was asked for.
    Unsure,
}

impl Exit {
    /// How a run ended that had these troubles, and no others: what is only noted is none.
    pub(crate) fn after(troubles: &[Trouble]) -> Self {
        match troubles.iter().all(Trouble::is_note) {
            true => Self::Done,
            false => Self::Partly,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Partly => 3,
            Exit::Spam => 10,
            Exit::Unsure => 11,
        })
    }
}

/// What went wrong and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Advice {
    what: String,
    list: Vec<String>,
    hint: String,
    exit: Exit,
}

impl Advice {
    /// What happened to which file, without a full stop, and what to do next.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            list: Vec::new(),
            hint: hint.into(),
            exit: Exit::Failed,
        }
    }

    /// Marks it as a mistake on the command line.
    pub(crate) fn usage(mut self) -> Self {
        self.exit = Exit::Usage;
        self
    }

    /// Adds lines to choose from, shown below what happened.
    pub(crate) fn listing(mut self, list: Vec<String>) -> Self {
        self.list = list;
        self
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> &str {
        &self.hint
    }

    /// An error that carries this advice.
    pub(crate) fn into_error(self) -> anyhow::Error {
        anyhow::Error::msg(self)
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Tells the user about an error on stderr and says how to end.
///
/// A reader that has seen enough (`| head`) is no error: nothing is said then.
pub(crate) fn tell(error: &anyhow::Error) -> Exit {
    if is_closed_pipe(error) {
        return Exit::Done;
    }
    talk(&format!(
        "error: {}",
        visible(&format!("{error:#}"), escape::MESSAGE)
    ));
    let Some(advice) = error.downcast_ref::<Advice>() else {
        return Exit::Failed;
    };
    for line in &advice.list {
        talk(&format!("  {}", visible(line, escape::MESSAGE)));
    }
    talk(&format!("hint: {}", visible(&advice.hint, escape::MESSAGE)));
    advice.exit
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_closed_pipe_is_seen_below_context() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Err::<(), _>(closed)
            .context(Advice::new("a", "b"))
            .unwrap_err();
        assert!(is_closed_pipe(&error));
        assert_eq!(tell(&error), Exit::Done);
    }

    #[test]
    fn advice_decides_the_exit_with_and_without_a_cause() {
        let wrong = Advice::new("wrong", "right").usage().into_error();
        assert_eq!(tell(&wrong), Exit::Usage);
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = Err::<(), _>(denied)
            .context(Advice::new("a", "b"))
            .unwrap_err();
        assert_eq!(tell(&error), Exit::Failed);
        assert_eq!(tell(&anyhow::anyhow!("plain")), Exit::Failed);
    }
}
