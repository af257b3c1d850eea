//! A message before anyone has looked inside it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where a message stands: a path as the user would write it and, where one file holds many
/// messages (mbox, JSON lines, SGML), the byte offset at which this one begins.
///
/// The order of locations is the order of every report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The path as given, or below the folder given, with `/` between its parts.
    pub path: Arc<str>,
    /// The offset of the first byte of the message in that file; `None` where the file is the message.
    pub offset: Option<u64>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{}@{offset}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// How the bytes of a message are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Form {
    /// An Internet message: headers, a blank line, a body (RFC 5322, MIME).
    Mail,
    /// Plain text without headers: a forum post, a note.
    Text,
    /// One line of JSON lines with an `id` and a `text`.
    Json,
    /// One `<REUTERS>` element of the Reuters-21578 collection, with its `NEWID`.
    Sgml,
}

/// How sure it is that a message will still be there tomorrow. The surest sorts first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permanence {
    /// Its owner keeps it.
    #[default]
    Lasting,
    /// A mail program's copy of what is on a server: whoever empties the server empties it.
    Cached,
    /// Marked deleted, a draft, or in the trash or junk.
    Transient,
}

impl Permanence {
    /// Whether a message of this permanence may be the reason to let one of the `other` go.
    pub fn can_hold(self, other: Self) -> bool {
        match self {
            Self::Lasting => true,
            Self::Cached => other != Self::Lasting,
            Self::Transient => false,
        }
    }
}

/// A message as it was found: its place and its bytes.
#[derive(Clone, Debug)]
pub struct RawMessage<'a> {
    /// Where it was found.
    pub location: Location,
    /// How to understand its bytes.
    pub form: Form,
    /// Its bytes, without what the mailbox adds around them (no `From ` line, no `>From` stuffing).
    pub bytes: Cow<'a, [u8]>,
}

/// Something that was wrong with a message or a file, and that did not stop the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// What was wrong, in words a user understands, without a full stop.
    pub what: Cow<'static, str>,
}

impl Problem {
    /// A problem told in these words.
    pub fn new(what: impl Into<Cow<'static, str>>) -> Self {
        Self { what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_can_hold_whom() {
        use Permanence::{Cached, Lasting, Transient};
        for (holder, other, can) in [
            (Lasting, Lasting, true),
            (Lasting, Transient, true),
            (Cached, Lasting, false),
            (Cached, Cached, true),
            (Cached, Transient, true),
            (Transient, Lasting, false),
            (Transient, Transient, false),
        ] {
            assert_eq!(holder.can_hold(other), can, "{holder:?} {other:?}");
        }
        assert!(Lasting < Cached && Cached < Transient);
    }
}
