//! Pairs and groups, for people and for programs. The schema is told in `docs/pairs.md`.

pub(crate) mod csv;
pub(crate) mod jsonl;
pub(crate) mod text;

use serde::Serialize;
use twicetold_detect::{Group, Looking, Pair, Pairs, groups};

use super::row::rounded;

/// The version of the schema. It changes when a field changes its meaning or goes away.
const SCHEMA: u32 = 1;

/// What is to be shown.
pub(crate) struct Report<'a> {
    pub(crate) pairs: &'a Pairs,
    pub(crate) looking: &'a Looking,
    pub(crate) groups: bool,
}

/// A score as it stands in the JSON lines.
pub(crate) fn score_text(score: f64) -> String {
    serde_json::json!(rounded(score)).to_string()
}

/// A pair as one method sees it; the order of the fields is the order in the output.
#[derive(Debug, Serialize)]
struct PairRow<'a> {
    schema: u32,
    a: &'a str,
    b: &'a str,
    method: &'static str,
    score: f64,
    verified: Option<bool>,
    verified_score: Option<f64>,
    a_path: &'a str,
    a_offset: Option<u64>,
    b_path: &'a str,
    b_offset: Option<u64>,
}

impl Report<'_> {
    fn method(&self, number: u32) -> &'static str {
        let sought = self.looking.methods.get(number as usize);
        sought.map_or("", |sought| sought.method.name())
    }

    /// Whether a pair is verified; `None` if nobody asked.
    fn verified(&self, pair: &Pair) -> Option<bool> {
        let verify = self.looking.verify?;
        Some(verify.holds(pair.checked))
    }

    fn groups(&self) -> Vec<Group> {
        groups(self.pairs, |pair| self.verified(pair) != Some(false))
    }

    fn row(
        &self,
        pair: &Pair,
        visit: impl FnOnce(&PairRow<'_>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let (a, b) = (self.pairs.location(pair.a), self.pairs.location(pair.b));
        visit(&PairRow {
            schema: SCHEMA,
            a: &self.pairs.name(pair.a),
            b: &self.pairs.name(pair.b),
            method: self.method(pair.method),
            score: rounded(pair.score),
            verified: self.verified(pair),
            verified_score: pair.checked.map(rounded),
            a_path: &a.path,
            a_offset: a.offset,
            b_path: &b.path,
            b_offset: b.offset,
        })
    }
}
