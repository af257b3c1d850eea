//! Verdicts about groups that were handed over: the rows of `scan`, with group and ids behind them.

use std::io::{self, Write};

use serde::Serialize;
use twicetold_detect::Scan;
use twicetold_model::Location;

use super::jsonl::write_line;
use super::row::{Row, SCHEMA};

#[derive(Serialize)]
struct JudgedRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    group: Option<&'a str>,
    id: &'a str,
    covered_by_ids: Vec<&'a str>,
}

/// Writes every message of a group. `id_of` says what the message at a place was called.
pub(crate) fn write<'a>(
    out: &mut dyn Write,
    group: &str,
    scan: &Scan,
    id_of: impl Fn(&Location) -> Option<&'a str>,
) -> io::Result<()> {
    for message in &scan.messages {
        let witnesses = message.verdict.witnesses.iter();
        let covered_by_ids = witnesses
            .filter_map(|witness| scan.messages.get(witness.message as usize))
            .map(|witness| id_of(&witness.location).unwrap_or_default());
        let row = JudgedRow {
            row: Row::new(scan, message),
            group: Some(group),
            id: id_of(&message.location).unwrap_or_default(),
            covered_by_ids: covered_by_ids.collect(),
        };
        write_line(out, &row)?;
    }
    Ok(())
}

/// Writes a line that could not be judged; what it stands for stays.
pub(crate) fn write_unread(
    out: &mut dyn Write,
    group: Option<&str>,
    id: &str,
    location: &Location,
    problem: &str,
) -> io::Result<()> {
    let row = Row {
        schema: SCHEMA,
        path: &location.path,
        offset: location.offset,
        message_id: None,
        verdict: "unreadable",
        category: None,
        keep: true,
        covered_by: Vec::new(),
        residue: &[],
        thread: None,
        problems: vec![problem],
    };
    write_line(
        out,
        &JudgedRow {
            row,
            group,
            id,
            covered_by_ids: Vec::new(),
        },
    )
}
