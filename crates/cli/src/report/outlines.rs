//! Outlines as JSON lines, for an engine that finds out which messages have to be judged together. The schema is told in
//! `docs/scale.md`.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use twicetold_cluster::form_name;
use twicetold_detect::{Options, outline};
use twicetold_model::{Location, RawMessage};

use super::jsonl::write_line;

/// The version of the schema. It changes when a field changes its meaning or goes away.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Row<'a> {
    schema: u32,
    id: Cow<'a, str>,
    path: &'a str,
    offset: Option<u64>,
    problems: Vec<&'a str>,
    #[serde(flatten)]
    outline: Option<Numbers<'a>>,
}

#[derive(Serialize)]
struct Numbers<'a> {
    form: &'static str,
    bytes: u64,
    message_id: Option<&'a str>,
    content: &'a str,
    policy: &'a str,
    copy: Option<&'a str>,
    counted: Option<&'a str>,
    short: bool,
    empty: bool,
    id_hash: Option<i64>,
    references: Vec<i64>,
    topic: i64,
    answers: bool,
    begins: &'a str,
    asks: Vec<i64>,
    holds: Vec<i64>,
    fingerprints: Vec<i64>,
    fingerprint_count: u32,
    things: Vec<i64>,
    facts: &'a [u32],
    news: &'a [(u32, Vec<u32>)],
    pairs: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Engines know 64-bit numbers with a sign.
fn signed(numbers: &[u64]) -> Vec<i64> {
    numbers.iter().map(|&number| number.cast_signed()).collect()
}

/// Writes the row of a message; with the message itself, if that is asked for.
pub(crate) fn write(
    out: &mut dyn Write,
    id: Option<&str>,
    raw: &RawMessage<'_>,
    options: &Options,
    with_message: bool,
) -> io::Result<()> {
    let made = outline(raw, options);
    let pairs: Vec<u8> = made.pairs.iter().flat_map(|p| p.to_le_bytes()).collect();
    let numbers = Numbers {
        form: form_name(made.form),
        bytes: made.bytes,
        message_id: made.message_id.as_deref(),
        content: &made.content,
        policy: &made.policy,
        copy: made.copy.as_deref(),
        counted: made.counted.as_deref(),
        short: made.short,
        empty: made.empty,
        id_hash: made.id_hash.map(u64::cast_signed),
        references: signed(&made.references),
        topic: made.topic.cast_signed(),
        answers: made.answers,
        begins: &made.begins,
        asks: signed(&made.asks),
        holds: signed(&made.holds),
        fingerprints: signed(&made.fingerprints),
        fingerprint_count: made.fingerprint_count,
        things: signed(&made.things),
        facts: &made.facts,
        news: &made.news,
        pairs: STANDARD.encode(pairs),
        message: with_message.then(|| STANDARD.encode(&raw.bytes)),
    };
    let problems = made.problems.iter().map(|p| p.what.as_ref());
    write_row(out, id, &made.location, problems.collect(), Some(numbers))
}

/// Writes the row of something that could not be read.
pub(crate) fn write_unread(
    out: &mut dyn Write,
    id: Option<&str>,
    location: &Location,
    problem: &str,
) -> io::Result<()> {
    write_row(out, id, location, vec![problem], None)
}

fn write_row(
    out: &mut dyn Write,
    id: Option<&str>,
    location: &Location,
    problems: Vec<&str>,
    outline: Option<Numbers<'_>>,
) -> io::Result<()> {
    write_line(
        out,
        &Row {
            schema: SCHEMA,
            id: id.map_or_else(|| location.to_string().into(), Cow::Borrowed),
            path: &location.path,
            offset: location.offset,
            problems,
            outline,
        },
    )
}
