//! Verdicts about groups that were handed over: the rows of `scan`, with group and ids behind them.

use twicetold_cluster::{Covering, Given, VerdictRow};
use twicetold_detect::Scan;
use twicetold_model::Location;

use super::row::{Row, SCHEMA};

/// The row of every message of a group for which `own` says so. `id_of` says what the message at a place was called.
pub(crate) fn rows<'a>(
    group: &str,
    scan: &Scan,
    own: impl Fn(&Location) -> bool,
    id_of: impl Fn(&Location) -> Option<&'a str>,
) -> Vec<VerdictRow> {
    let name = |location: &Location| id_of(location).unwrap_or_default().to_owned();
    let judged = scan.messages.iter().filter(|m| own(&m.location));
    let judged = judged.map(|message| {
        let witnesses = message.verdict.witnesses.iter();
        let covered_by_ids = witnesses
            .filter_map(|witness| scan.messages.get(witness.message as usize))
            .map(|witness| name(&witness.location))
            .collect();
        let row = Row::new(scan, message);
        VerdictRow {
            schema: row.schema,
            path: row.path.to_owned(),
            offset: row.offset,
            message_id: row.message_id.map(str::to_owned),
            verdict: row.verdict,
            category: row.category,
            keep: row.keep,
            covered_by: row
                .covered_by
                .iter()
                .map(|witness| Covering {
                    path: witness.path.to_owned(),
                    offset: witness.offset,
                    message_id: witness.message_id.map(str::to_owned),
                    containment: witness.containment,
                })
                .collect(),
            residue: row.residue.to_vec(),
            thread: row.thread.map(str::to_owned),
            problems: row.problems.into_iter().map(str::to_owned).collect(),
            given: Some(Given {
                group: Some(group.to_owned()),
                id: name(&message.location),
                covered_by_ids,
            }),
        }
    });
    judged.collect()
}

/// A row that could not be judged; what it stands for stays.
pub(crate) fn unread(
    group: Option<String>,
    id: String,
    location: Location,
    problem: String,
) -> VerdictRow {
    VerdictRow {
        schema: SCHEMA,
        path: location.path.to_string(),
        offset: location.offset,
        message_id: None,
        verdict: "unreadable",
        category: None,
        keep: true,
        covered_by: Vec::new(),
        residue: Vec::new(),
        thread: None,
        problems: vec![problem],
        given: Some(Given {
            group,
            id,
            covered_by_ids: Vec::new(),
        }),
    }
}
