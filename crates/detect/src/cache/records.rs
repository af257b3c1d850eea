//! A record as bytes.

use std::borrow::Cow;

use twicetold_index::Filter;
use twicetold_mail::words::hash_of;
use twicetold_model::{Form, Location, Problem};

use super::bytes::{Reader, Writer};
use crate::aside::Stored;
use crate::record::{Record, Told, all_pairs, name};
use crate::seldom::{Detail, Seldom, Shown};

/// Sentences.
pub(crate) fn told(out: &mut Writer, told: &[Told]) {
    out.list(told.iter(), |out, told| {
        out.hash(told.hash);
        out.number(u64::from(told.len()));
        out.number(u64::from(told.pairs));
        out.number(told.facts() as u64);
        out.flags([told.is_content(), told.answers()]);
    });
}

/// Sentences that were written so.
pub(crate) fn read_told(from: &mut Reader<'_>) -> Option<Vec<Told>> {
    from.list(|from| {
        let hash = from.hash()?;
        let [len, pairs, facts] = [from.small()?, from.small()?, from.small()?];
        let [content, answers] = from.flags()?;
        let told = Told::new(hash, len as usize, pairs as usize, facts as usize);
        Some(told.marked(content, answers))
    })
}

/// What was wrong with a message.
pub(crate) fn problems(out: &mut Writer, problems: &[Problem]) {
    out.list(problems.iter(), |out, problem| out.text(&problem.what));
}

/// Problems that were written so.
pub(crate) fn read_problems(from: &mut Reader<'_>) -> Option<Vec<Problem>> {
    from.list(|from| from.text().map(|what| Problem::new(Cow::Owned(what))))
}

/// A record without its place, what is seldom asked for of it, and the word pairs that it has besides.
pub(super) fn write(record: &Record, seldom: &Seldom, besides: &[u32]) -> Vec<u8> {
    let Seldom { detail, shown, .. } = seldom;
    let mut out = Writer::default();
    out.byte(form_number(record.form));
    out.number(record.bytes);
    out.flags([record.answers, record.worded, record.short]);
    out.maybe(shown.message_id.as_deref(), Writer::text);
    out.text(&shown.subject);
    out.text(&shown.from);
    out.maybe(record.date, |out, date| out.hash(date as u64));
    out.hash(record.topic);
    out.wide(record.identity);
    out.raw(&shown.digest);
    out.number(u64::from(record.says));
    for hashes in [
        &record.references,
        &record.attachments,
        &record.links,
        &record.subject_facts,
    ] {
        out.hashes(hashes);
    }
    out.number(u64::from(record.fingerprints));
    out.halves(&record.facts);
    out.halves(&detail.numbers);
    told(&mut out, &detail.told);
    problems(&mut out, &shown.problems);
    out.halves(besides);
    out.bytes
}

/// The record that these bytes are, put in its place, and its word pairs.
pub(super) fn read(bytes: &[u8], location: Location, print: u128) -> Option<(Record, Vec<u32>)> {
    let mut from = Reader::new(bytes);
    let form = form_of(from.byte()?)?;
    let size = from.number()?;
    let [answers, worded, short] = from.flags()?;
    let message_id = from.maybe(Reader::text)?;
    let subject = from.text()?;
    let sender = from.text()?;
    let date = from.maybe(Reader::hash)?.map(|date| date as i64);
    let topic = from.hash()?;
    let identity = from.wide()?;
    let digest = from.digest()?;
    let says = from.small()?;
    let references = from.hashes()?.into();
    let attachments = from.hashes()?.into();
    let links = from.hashes()?.into();
    let subject_facts = from.hashes()?.into();
    let fingerprints = from.small()?;
    let facts = from.halves()?.into();
    let numbers = from.halves()?.into();
    let told = read_told(&mut from)?.into();
    let detail = Detail {
        told,
        numbers,
        numbered: None,
    };
    let problems = read_problems(&mut from)?;
    let pairs = all_pairs(&detail, from.halves()?);
    let record = Record {
        location,
        print,
        form,
        bytes: size,
        id: message_id.as_deref().map(hash_of),
        sender: name(&sender),
        date,
        references,
        topic,
        answers,
        identity,
        fingerprints,
        seldom: Stored::Here(Box::new(Seldom {
            detail,
            shown: Shown {
                message_id,
                subject,
                from: sender,
                digest,
                problems,
            },
            segments: Box::default(),
        })),
        pairs: Filter::of_halves(&pairs),
        says,
        worded,
        short,
        attachments,
        links,
        facts,
        subject_facts,
        unreadable: false,
    };
    from.is_done().then_some((record, pairs))
}

pub(super) fn form_number(form: Form) -> u8 {
    match form {
        Form::Mail => 0,
        Form::Text => 1,
        Form::Json => 2,
        Form::Sgml => 3,
    }
}

pub(super) fn form_of(number: u8) -> Option<Form> {
    [Form::Mail, Form::Text, Form::Json, Form::Sgml]
        .get(usize::from(number))
        .copied()
}
