//! What a scan found, for people and for programs.

pub(crate) mod csv;
pub(crate) mod explanation;
pub(crate) mod jsonl;
pub(crate) mod judged;
pub(crate) mod outlines;
pub(crate) mod pairs;
mod row;
pub(crate) mod sketches;
pub(crate) mod text;
mod words;

pub(crate) use twicetold_review::plain::{escape, units};

#[cfg(test)]
mod tests;
