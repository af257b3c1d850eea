//! A message as programs get it: the schema of `docs/output.md`.

use serde::Serialize;
use twicetold_detect::{Scan, ScannedMessage};
use twicetold_model::{Standing, Witness};

/// The version of the schema. It changes when a field changes its meaning or goes away.
pub(crate) const SCHEMA: u32 = 1;

/// One message; the order of the fields is the order in the output.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'a> {
    pub(crate) schema: u32,
    pub(crate) path: &'a str,
    pub(crate) offset: Option<u64>,
    pub(crate) message_id: Option<&'a str>,
    pub(crate) verdict: &'static str,
    pub(crate) category: Option<&'static str>,
    pub(crate) keep: bool,
    pub(crate) covered_by: Vec<CoveredBy<'a>>,
    pub(crate) residue: &'a [String],
    pub(crate) thread: Option<&'a str>,
    pub(crate) problems: Vec<&'a str>,
}

/// A message that holds what another one says.
#[derive(Debug, Serialize)]
pub(crate) struct CoveredBy<'a> {
    pub(crate) path: &'a str,
    pub(crate) offset: Option<u64>,
    pub(crate) message_id: Option<&'a str>,
    pub(crate) containment: f64,
}

impl<'a> Row<'a> {
    /// The row of one message of a scan.
    pub(crate) fn new(scan: &'a Scan, message: &'a ScannedMessage) -> Self {
        let (verdict, category) = match message.verdict.standing {
            Standing::Unique => ("unique", None),
            Standing::Redundant(category) => ("redundant", Some(category.name())),
            Standing::Version => ("version", None),
            Standing::Unreadable => ("unreadable", None),
        };
        Self {
            schema: SCHEMA,
            path: &message.location.path,
            offset: message.location.offset,
            message_id: message.message_id.as_deref(),
            verdict,
            category,
            keep: category.is_none(),
            covered_by: message
                .verdict
                .witnesses
                .iter()
                .filter_map(|witness| CoveredBy::new(scan, witness))
                .collect(),
            residue: &message.residue,
            thread: message.thread.as_deref(),
            problems: message
                .problems
                .iter()
                .map(|problem| problem.what.as_ref())
                .collect(),
        }
    }
}

impl<'a> CoveredBy<'a> {
    fn new(scan: &'a Scan, witness: &Witness) -> Option<Self> {
        let message = scan.messages.get(witness.message as usize)?;
        Some(Self {
            path: &message.location.path,
            offset: message.location.offset,
            message_id: message.message_id.as_deref(),
            containment: rounded(witness.containment),
        })
    }
}

/// To four decimals, which is more than a share of words can mean.
pub(crate) fn rounded(share: f64) -> f64 {
    if share.is_finite() {
        (share.clamp(0.0, 1.0) * 10_000.0).round() / 10_000.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn shares_have_four_decimals_and_are_shares() {
        let cases = [
            (2.0 / 3.0, 0.6667),
            (1.0, 1.0),
            (0.999_99, 1.0),
            (-0.1, 0.0),
            (f64::NAN, 0.0),
        ];
        for (share, expected) in cases {
            assert_eq!(rounded(share), expected);
        }
    }
}
