//! CSV for spreadsheets: the fields of the JSON lines, lists joined by ` | `.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};
use twicetold_detect::Scan;

use super::escape::cell;
use super::row::Row;

const HEADER: [&str; 12] = [
    "schema",
    "path",
    "offset",
    "message_id",
    "verdict",
    "category",
    "keep",
    "covered_by",
    "containment",
    "residue",
    "thread",
    "problems",
];

/// Writes a header and every message of a scan, in the order of the scan.
pub(crate) fn write(out: &mut dyn Write, scan: &Scan) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(HEADER).map_err(into_io)?;
    for message in &scan.messages {
        writer
            .write_record(cells(&Row::new(scan, message)))
            .map_err(into_io)?;
    }
    writer.flush()
}

fn cells(row: &Row<'_>) -> [String; HEADER.len()] {
    let place = |path: &str, offset: Option<u64>| match offset {
        Some(offset) => format!("{path}@{offset}"),
        None => path.to_owned(),
    };
    [
        row.schema.to_string(),
        cell(row.path),
        row.offset
            .map(|offset| offset.to_string())
            .unwrap_or_default(),
        cell(row.message_id.unwrap_or_default()),
        row.verdict.to_owned(),
        row.category.unwrap_or_default().to_owned(),
        row.keep.to_string(),
        cell(&joined(
            row.covered_by.iter().map(|by| place(by.path, by.offset)),
        )),
        joined(row.covered_by.iter().map(|by| by.containment.to_string())),
        cell(&joined(row.residue.iter().cloned())),
        cell(row.thread.unwrap_or_default()),
        cell(&joined(
            row.problems.iter().map(|problem| (*problem).to_owned()),
        )),
    ]
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" | ")
}

/// Keeps the kind of an I/O error, by which a closed pipe is told from a full disk.
pub(crate) fn into_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
