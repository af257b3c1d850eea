//! The table for spreadsheets; lists joined by ` | `.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};

use super::table::Row;
use crate::plain::escape::cell;
use crate::session::Desk;

const HEADER: [&str; 18] = [
    "table",
    "path",
    "offset",
    "message_id",
    "date",
    "from",
    "subject",
    "bytes",
    "verdict",
    "choice",
    "thread_group",
    "inclusive",
    "reason",
    "duplicate_group",
    "near_duplicate_of",
    "near_duplicate_percent",
    "contained_in",
    "problems",
];

pub(super) fn write(desk: &Desk, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(HEADER).map_err(into_io)?;
    for number in 0..desk.catalogue.len() as u32 {
        if let Some(row) = Row::new(desk, number) {
            writer.write_record(cells(&row)).map_err(into_io)?;
        }
    }
    writer.flush()
}

fn cells(row: &Row<'_>) -> [String; HEADER.len()] {
    let optional = |value: Option<String>| value.unwrap_or_default();
    [
        row.table.to_string(),
        cell(row.path),
        optional(row.offset.map(|offset| offset.to_string())),
        cell(row.message_id.unwrap_or_default()),
        optional(row.date.clone()),
        cell(row.from),
        cell(row.subject),
        row.bytes.to_string(),
        row.verdict.to_owned(),
        row.choice.to_owned(),
        cell(row.thread_group.unwrap_or_default()),
        if row.inclusive { "yes" } else { "no" }.to_owned(),
        row.reason.clone(),
        cell(row.duplicate_group.as_deref().unwrap_or_default()),
        cell(row.near_duplicate_of.as_deref().unwrap_or_default()),
        optional(
            row.near_duplicate_percent
                .map(|percent| percent.to_string()),
        ),
        cell(&row.contained_in.join(" | ")),
        cell(&row.problems.join(" | ")),
    ]
}

/// Keeps the kind of an I/O error, by which a closed pipe is told from a full disk.
fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
