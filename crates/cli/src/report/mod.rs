//! What a scan found, for people and for programs.

pub(crate) mod csv;
pub(crate) mod escape;
pub(crate) mod explanation;
pub(crate) mod jsonl;
pub(crate) mod pairs;
mod row;
pub(crate) mod text;
pub(crate) mod units;
mod words;

#[cfg(test)]
mod tests;
