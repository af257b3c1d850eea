//! What went wrong, told so that somebody can do something about it.

use std::io;

use twicetold_model::Problem;

/// How much a [`Trouble`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; everything was read that was to be read.
    Note,
    /// Something was not read.
    Unread,
}

/// A file or folder that was not used as it was meant, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trouble {
    /// The path as the user would write it.
    pub path: String,
    /// What was wrong.
    pub problem: Problem,
    /// Whether something was not read because of it.
    pub severity: Severity,
}

impl Trouble {
    /// Whether it is only good to know: everything was read that was to be read.
    pub fn is_note(&self) -> bool {
        self.severity == Severity::Note
    }

    pub(crate) fn new(path: impl Into<String>, what: &'static str) -> Self {
        Self {
            path: path.into(),
            problem: Problem::new(what),
            severity: Severity::Unread,
        }
    }

    pub(crate) fn named_twice(path: &str) -> Self {
        Self {
            severity: Severity::Note,
            ..Self::new(path, "named twice, read once")
        }
    }

    pub(crate) fn discarded(path: &str) -> Self {
        Self {
            severity: Severity::Note,
            ..Self::new(
                path,
                "trash or junk, left out, as it may be emptied; name it or add --with-trash to read it",
            )
        }
    }

    /// A path that the user named cannot be looked at.
    pub(crate) fn named(path: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::new(path, "there is no such file or folder; check the spelling")
            }
            _ => Self::reading(path, error),
        }
    }

    /// A file or folder that was there cannot be read.
    pub(crate) fn reading(path: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::new(
                path,
                "gone since its folder was listed: another program moved or removed it; scan again",
            ),
            io::ErrorKind::PermissionDenied => Self::new(
                path,
                "permission denied; ask for the right to read it, or leave it out",
            ),
            _ => Self {
                path: path.into(),
                problem: Problem::new(format!("cannot be read: {error}")),
                severity: Severity::Unread,
            },
        }
    }

    pub(crate) fn not_messages(path: &str) -> Self {
        Self::new(
            path,
            "holds no text, so no messages; if it is an archive, unpack it first",
        )
    }

    pub(crate) fn own(path: &str) -> Self {
        Self::new(
            path,
            "a report or a plan that Twicetold has written, so no messages; name the mail that it is about",
        )
    }

    /// A file of many messages is no longer what it was when it was listed.
    pub(crate) fn changed(path: &str) -> Self {
        Self::new(
            path,
            "changed while it was read: another program wrote to it; scan again",
        )
    }

    /// A link below a folder leads to nothing that can be looked at. Mail programs use such links as locks.
    pub(crate) fn link(path: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::reading(path, error),
            _ => Self {
                severity: Severity::Note,
                ..Self::new(
                    path,
                    "a link that leads nowhere; if its disk is not mounted, mount it and scan again",
                )
            },
        }
    }

    pub(crate) fn too_large(path: &str) -> Self {
        Self::new(
            path,
            "a message of more than 512 MB was passed over; it stays as it is",
        )
    }
}
