//! A record as bytes.

use std::borrow::Cow;
use std::sync::Arc;

use twicetold_index::Filter;
use twicetold_model::{Form, Location, Problem};

use super::bytes::{Reader, Writer};
use super::frames::Place;
use super::{Counting, WithPairs};
use crate::amend::Watched;
use crate::aside::Stored;
use crate::record::{Record, all_pairs, id as id_of, name, permanence_of};
use crate::said::{Said, halves};
use crate::seldom::{Seldom, Shown};

/// What was wrong with a message.
pub(crate) fn problems(out: &mut Writer, problems: &[Problem]) {
    out.list(problems.iter(), |out, problem| out.text(&problem.what));
}

/// Problems that were written so.
pub(crate) fn read_problems(from: &mut Reader<'_>) -> Option<Vec<Problem>> {
    from.list(|from| from.text().map(|what| Problem::new(Cow::Owned(what))))
}

/// What is seldom asked for of a record, then the rest of it but for its place, then the word pairs that it has besides.
pub(super) fn write(record: &Record, seldom: &Seldom, besides: &[u32]) -> Vec<u8> {
    let mut out = Writer::with_room_for(seldom.size() + size_of_val(besides) + size_of::<Record>());
    seldom.write(&mut out);
    write_rest(&mut out, record);
    out.halves(&record.said.facts);
    out.halves(besides);
    out.bytes
}

/// The same for a message that says what the one says whose record is in these bytes, and of which a report shows this.
pub(super) fn write_copy(record: &Record, shown: &Shown, first: &[u8]) -> Option<Vec<u8>> {
    let mut from = Reader::new(first);
    Shown::skip(&mut from)?;
    let told = first.get(first.len() - from.left()..)?;
    Seldom::pass(&mut from, |_| false, |_| false)?;
    let told = told.get(..told.len() - from.left())?;
    read_rest(&mut from, nowhere(), 0)?;
    let mut out = Writer::with_room_for(first.len() + size_of::<Record>());
    shown.write(&mut out);
    out.raw(told);
    write_rest(&mut out, record);
    out.raw(from.raw(from.left())?);
    Some(out.bytes)
}

/// What stands behind that which is seldom asked for, up to the facts.
fn write_rest(out: &mut Writer, record: &Record) {
    let said = &record.said;
    out.byte(form_number(record.form));
    out.number(record.bytes);
    out.flags([
        record.answers,
        said.worded,
        said.short,
        record.marked_transient,
    ]);
    out.maybe(record.date, |out, date| out.hash(date as u64));
    out.hash(record.topic);
    out.wide(said.identity());
    out.number(u64::from(said.says));
    for hashes in [
        &*record.references,
        &said.attachments,
        &said.links,
        &record.subject_facts,
    ] {
        out.hashes(hashes);
    }
    out.number(u64::from(said.fingerprints));
}

/// The record that these bytes are, put in its place, and its word pairs.
pub(super) fn read(bytes: &[u8], location: Location, print: u128) -> Option<WithPairs> {
    let mut from = Reader::new(bytes);
    let seldom = Seldom::read(&mut from)?;
    let id = seldom.shown.message_id.as_deref().and_then(id_of);
    let sender = name(&seldom.shown.from);
    let (record, said) = read_rest(&mut from, location, print)?;
    let facts = from.halves()?.into();
    let pairs = all_pairs(&seldom.detail, from.halves()?);
    let said = Said {
        facts,
        pairs: Filter::of_halves(&pairs).into(),
        seldom: Stored::Here(Box::new(seldom)),
        ..said
    };
    let record = Record {
        id,
        sender,
        said: Arc::new(said),
        ..record
    };
    from.is_done().then_some((record, pairs))
}

/// The word pairs of the record that these bytes are.
pub(crate) fn all_pairs_in(from: &mut Reader<'_>) -> Option<Vec<u32>> {
    let all = from.raw(from.left())?;
    read(all, nowhere(), 0).map(|(_, pairs)| pairs)
}

/// For whoever does not care where a message stands.
fn nowhere() -> Location {
    Location {
        path: "".into(),
        offset: None,
    }
}

/// Of the record that these bytes are the word pairs that are watched for, and as what it counts, if it has one.
pub(super) fn read_having(
    bytes: &[u8],
    location: &Location,
    print: u128,
    watched: &Watched,
) -> Option<Option<Counting>> {
    let mut from = Reader::new(bytes);
    Shown::read_names(&mut from, |_| (), |_| ())?;
    let has = |number: u32| watched.has_number(number);
    let mut found = Seldom::pass(&mut from, |_| false, has)?;
    if !found {
        read_rest(&mut from, location.clone(), print)?;
        let _facts = from.each_half()?;
        found = from.each_half()?.any(has);
    }
    if !found {
        return Some(None);
    }
    let (record, mut pairs) = read(bytes, location.clone(), print)?;
    let counts_as = record.counts_as(&pairs);
    pairs.retain(|&pair| has(pair));
    Some((!pairs.is_empty()).then_some((counts_as, pairs)))
}

/// What stays at hand of the record that these bytes are and that stands at this place, and whether any of its sentences, word pairs and facts is watched for.
/// Its word pairs can be asked for later; its facts are there if something is watched for.
pub(super) fn read_at_hand(
    bytes: &[u8],
    location: Location,
    print: u128,
    place: Place,
    watched: &Watched,
) -> Option<(Record, bool)> {
    let mut from = Reader::new(bytes);
    let (id, sender) = Shown::read_names(&mut from, id_of, name)?;
    let mut found = Seldom::pass(
        &mut from,
        |sentence| watched.has_sentence(sentence),
        |number| watched.has_number(number),
    )?;
    let (record, mut said) = read_rest(&mut from, location, print)?;
    said.seldom = Stored::Cached(place);
    let facts = from.each_half()?;
    found |= facts.clone().any(|fact| watched.has_number(fact));
    if found {
        said.facts = facts.collect();
    }
    let record = Record {
        id: id.flatten(),
        sender,
        said: Arc::new(said),
        ..record
    };
    Some((record, found))
}

/// What [`write_rest`] has written; the rest is empty.
fn read_rest(from: &mut Reader<'_>, location: Location, print: u128) -> Option<(Record, Said)> {
    let form = form_of(from.byte()?)?;
    let bytes = from.number()?;
    let [answers, worded, short, marked_transient] = from.flags()?;
    let date = from.maybe(Reader::hash)?.map(|date| date as i64);
    let topic = from.hash()?;
    let identity = halves(from.wide()?);
    let says = from.small()?;
    let references = from.hashes()?.into();
    let attachments = from.hashes()?.into_iter().collect();
    let links = from.hashes()?.into_iter().collect();
    let subject_facts = from.hashes()?.into_iter().collect();
    let fingerprints = from.small()?;
    let said = Said {
        identity,
        fingerprints,
        says,
        worded,
        short,
        attachments,
        links,
        ..Said::default()
    };
    let record = Record {
        // One record stands for all messages with these bytes, wherever they are.
        permanence: permanence_of(&location, form, marked_transient),
        marked_transient,
        location,
        print,
        form,
        bytes,
        id: None,
        sender: 0,
        date,
        references,
        topic,
        answers,
        subject_facts,
        unreadable: false,
        said: Arc::default(),
        shown: None,
    };
    Some((record, said))
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
