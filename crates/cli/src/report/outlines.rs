//! Outlines, for an engine that finds out which messages have to be judged together. The schema is told in `docs/scale.md`.

use twicetold_cluster::{OutlineRow, Outlined, form_name};
use twicetold_detect::{Options, outline};
use twicetold_model::{Location, RawMessage};

/// Engines know 64-bit numbers with a sign.
fn signed(numbers: Vec<u64>) -> Vec<i64> {
    numbers.into_iter().map(u64::cast_signed).collect()
}

/// The row of a message; with the message itself, if that is asked for.
pub(crate) fn row(
    id: Option<&str>,
    raw: &RawMessage<'_>,
    options: &Options,
    with_message: bool,
) -> OutlineRow {
    let made = outline(raw, options);
    let problems = made.problems.iter().map(|p| p.what.to_string());
    OutlineRow {
        outline: Some(Outlined {
            form: form_name(made.form),
            bytes: made.bytes,
            message_id: made.message_id,
            content: made.content,
            policy: made.policy,
            copy: made.copy,
            counted: made.counted,
            short: made.short,
            empty: made.empty,
            id_hash: made.id_hash.map(u64::cast_signed),
            references: signed(made.references),
            topic: made.topic.cast_signed(),
            answers: made.answers,
            begins: made.begins,
            asks: signed(made.asks),
            holds: signed(made.holds),
            fingerprints: signed(made.fingerprints),
            fingerprint_count: made.fingerprint_count,
            things: signed(made.things),
            words: Some(made.words),
            news: Some(made.news),
            message: with_message.then(|| raw.bytes.to_vec()),
        }),
        ..unread(id, &raw.location, problems.collect())
    }
}

/// The row of something that could not be read.
pub(crate) fn unread(id: Option<&str>, place: &Location, problems: Vec<String>) -> OutlineRow {
    let id = id.map_or_else(|| place.to_string(), str::to_owned);
    OutlineRow::new(id, place.path.to_string(), place.offset, problems)
}
