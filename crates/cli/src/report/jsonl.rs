//! JSON lines: one object per message, for programs. The schema is told in `docs/output.md`.

use std::io::{self, Write};

use rayon::prelude::*;
use serde::Serialize;
use twicetold_detect::{Explanation, Scan, ScannedMessage, ShownPassage};
use twicetold_model::ResidueKind;

use super::escape::SafeJson;
use super::row::Row;
use super::units;

/// How many messages one thread makes lines of at a time.
const STRETCH: usize = 512;
/// How many such stretches wait to be written at the most.
const STRETCHES: usize = 32;

/// Writes every message of a scan, in the order of the scan. Threads make the lines, since a large mailbox has many.
pub(crate) fn write(out: &mut dyn Write, scan: &Scan) -> io::Result<()> {
    let lines = |stretch: &[ScannedMessage]| -> io::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for message in stretch {
            write_line(&mut lines, &Row::new(scan, message))?;
        }
        Ok(lines)
    };
    for some in scan.messages.chunks(STRETCH * STRETCHES) {
        let made: io::Result<Vec<Vec<u8>>> = some.par_chunks(STRETCH).map(lines).collect();
        made?.iter().try_for_each(|lines| out.write_all(lines))?;
    }
    Ok(())
}

/// Writes one message with its passages.
pub(crate) fn write_explanation(
    out: &mut dyn Write,
    scan: &Scan,
    message: u32,
    explanation: &Explanation,
) -> io::Result<()> {
    let Some(message) = scan.messages.get(message as usize) else {
        return Ok(());
    };
    write_line(
        out,
        &ExplainedRow {
            row: Row::new(scan, message),
            from: &message.from,
            date: message.date.and_then(units::moment),
            subject: &message.subject,
            bytes: message.bytes,
            passages: explanation
                .passages
                .iter()
                .map(|passage| PassageRow::new(scan, passage))
                .collect(),
        },
    )
}

pub(crate) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut *out, SafeJson,
    ))?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct ExplainedRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    from: &'a str,
    date: Option<String>,
    subject: &'a str,
    bytes: u64,
    passages: Vec<PassageRow<'a>>,
}

#[derive(Serialize)]
struct PassageRow<'a> {
    text: &'a str,
    stands_in: Option<StandsIn<'a>>,
    changed: bool,
    residue: Option<ResidueKind>,
}

#[derive(Serialize)]
struct StandsIn<'a> {
    path: &'a str,
    offset: Option<u64>,
    message_id: Option<&'a str>,
    text: &'a str,
}

impl<'a> PassageRow<'a> {
    fn new(scan: &'a Scan, passage: &'a ShownPassage) -> Self {
        let stands_in = passage.there.as_ref().and_then(|(number, text)| {
            let witness = scan.messages.get(*number as usize)?;
            Some(StandsIn {
                path: &witness.location.path,
                offset: witness.location.offset,
                message_id: witness.message_id.as_deref(),
                text,
            })
        });
        Self {
            text: &passage.text,
            stands_in,
            changed: passage.changed,
            residue: passage.residue,
        }
    }
}
