//! A small, strict IMAP client (RFC 3501, 9051, with UIDPLUS, MOVE, CONDSTORE, QRESYNC and others).
//!
//! Responses are read whole and taken apart by pure functions ([`response`]); only the messages
//! themselves, which may be of any size, pass through to where they are kept ([`session`]).

pub(crate) mod actions;
pub(crate) mod cursor;
pub(crate) mod date;
pub(crate) mod folders;
pub(crate) mod names;
pub(crate) mod reading;
pub(crate) mod response;
pub(crate) mod session;
