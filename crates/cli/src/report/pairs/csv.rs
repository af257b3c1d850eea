//! CSV for spreadsheets: the fields of the JSON lines; of groups a row for each text.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};

use super::{PairRow, Report, SCHEMA};
use crate::report::csv::into_io;
use crate::report::escape::cell;

const PAIRS: [&str; 11] = [
    "schema",
    "a",
    "b",
    "method",
    "score",
    "verified",
    "verified_score",
    "a_path",
    "a_offset",
    "b_path",
    "b_offset",
];
const GROUPS: [&str; 7] = [
    "schema", "group", "size", "methods", "name", "path", "offset",
];

/// Writes a header and every pair, or every text of every group, in order.
pub(crate) fn write(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    if report.groups {
        writer.write_record(GROUPS).map_err(into_io)?;
        for (number, group) in (1..).zip(report.groups()) {
            let methods: Vec<&str> = group.methods.iter().map(|&n| report.method(n)).collect();
            for &text in &group.texts {
                let location = report.pairs.location(text);
                let row: [String; GROUPS.len()] = [
                    SCHEMA.to_string(),
                    u32::to_string(&number),
                    group.texts.len().to_string(),
                    methods.join(" | "),
                    cell(&report.pairs.name(text)),
                    cell(&location.path),
                    shown(location.offset),
                ];
                writer.write_record(row).map_err(into_io)?;
            }
        }
    } else {
        writer.write_record(PAIRS).map_err(into_io)?;
        for pair in &report.pairs.pairs {
            report.row(pair, |row| writer.write_record(cells(row)).map_err(into_io))?;
        }
    }
    writer.flush()
}

fn cells(row: &PairRow<'_>) -> [String; PAIRS.len()] {
    [
        row.schema.to_string(),
        cell(row.a),
        cell(row.b),
        row.method.to_owned(),
        row.score.to_string(),
        shown(row.verified),
        shown(row.verified_score),
        cell(row.a_path),
        shown(row.a_offset),
        cell(row.b_path),
        shown(row.b_offset),
    ]
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
