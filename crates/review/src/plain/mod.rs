//! Numbers, words and strangers' text as people get to see them, on a page or in a terminal.

pub mod escape;
pub mod units;
pub mod words;
