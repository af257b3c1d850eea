//! JSON lines: one object for each pair and method, or for each group.

use std::io::{self, Write};

use serde::Serialize;

use super::{Report, SCHEMA};
use crate::report::jsonl::write_line;

#[derive(Serialize)]
struct GroupRow {
    schema: u32,
    group: usize,
    size: usize,
    methods: Vec<&'static str>,
    texts: Vec<TextRow>,
}

#[derive(Serialize)]
struct TextRow {
    name: String,
    path: String,
    offset: Option<u64>,
}

/// Writes every pair or group, in order.
pub(crate) fn write(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    if !report.groups {
        let pairs = report.pairs.pairs.iter();
        return pairs
            .into_iter()
            .try_for_each(|pair| report.row(pair, |row| write_line(out, row)));
    }
    for (number, group) in (1..).zip(report.groups()) {
        let texts = group.texts.iter().map(|&text| {
            let location = report.pairs.location(text);
            TextRow {
                name: report.pairs.name(text).into_owned(),
                path: location.path.to_string(),
                offset: location.offset,
            }
        });
        let row = GroupRow {
            schema: SCHEMA,
            group: number,
            size: group.texts.len(),
            methods: group.methods.iter().map(|&n| report.method(n)).collect(),
            texts: texts.collect(),
        };
        write_line(out, &row)?;
    }
    Ok(())
}
