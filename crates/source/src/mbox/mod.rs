//! Many messages in one file, each behind a line that starts with `From `.
//!
//! Four flavours share the name, and none of them writes down which one it is:
//!
//! | flavour | a line `From ` in a message becomes | a line `>From ` becomes | where a message ends |
//! |---|---|---|---|
//! | mboxo | `>From ` | stays, and looks like the above | at the next `From ` line |
//! | mboxrd | `>From ` | `>>From ` | at the next `From ` line |
//! | mboxcl | `>From ` | stays | after `Content-Length` bytes |
//! | mboxcl2 | stays | stays | after `Content-Length` bytes |
//!
//! **Where a message ends.** If it has a `Content-Length` that leads exactly to a `From ` line or to
//! the end of the file, there; a length that leads anywhere else is somebody's mistake and ignored.
//! Otherwise at the next `From ` line that stands after an empty line and either carries a date or
//! is followed by a header; or that lacks the empty line but carries a date *and* is followed by a
//! header. So "From now on …" in a letter that some program forgot to stuff does not tear it in two.
//! The end of a message depends on the bytes after its beginning only: a single message can be
//! read again without reading the file from its front.
//!
//! **What is taken away.** One `>` from every line of one or more `>` followed by `From `, as mboxrd
//! wants it. On mboxo and mboxcl this is right for every `From ` that was stuffed, and costs a
//! line that was really quoted (`>From `) one of its quote marks; comparing never looks at
//! the number of quote marks, whereas leaving the stuffing in would show the sender's own line
//! as somebody else's. A message found by `Content-Length` that holds a bare `From ` line was
//! evidently not stuffed (mboxcl2), and is left as it is.

pub(crate) mod from_line;
mod split;
mod stuffing;

pub(crate) use split::{Cursor, Peek, Span, Step};
pub(crate) use stuffing::unstuff;
