//! What an engine with many machines has to know of a message to find out who can decide about whom.
//!
//! A scan keeps a record of every message in memory. Where they are too many for that, the engine keeps outlines: the
//! numbers of the record, without its text. [`crate::scan_part`] then judges the parts.

use std::num::NonZeroU64;
use std::sync::Arc;

use twicetold_methods::winnow::Winnow;
use twicetold_model::{Form, Location, Problem, RawMessage};

use crate::aside::Stored;
use crate::hard::most_broken;
use crate::options::Options;
use crate::order::{KeepRule, content_key, policy_key, rules_key};
use crate::record::{Record, record};
use crate::said::Said;
use crate::seldom::{Seldom, Sentence};

/// The outline of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Where it stands.
    pub location: Location,
    /// How its bytes are understood.
    pub form: Form,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its `Message-ID`, or the id of a JSON line.
    pub message_id: Option<String>,
    /// What was wrong with it.
    pub problems: Vec<Problem>,
    /// How much it says, as a text: who says more sorts first. Then comes [`Self::policy`], then the location: the order
    /// in which messages are asked.
    pub content: String,
    /// The user's rules, as a text: who is to be kept sorts first.
    pub policy: String,
    /// The same for messages that say word for word the same; `None` if nothing can be a copy of it.
    pub copy: Option<String>,
    /// Messages with the same name count once where it matters how many have a word pair; `None` if it counts alone.
    pub counted: Option<String>,
    /// It says so little that its meaning stands in its context.
    pub short: bool,
    /// It holds nothing to compare.
    pub empty: bool,
    /// Hash of its own id, if it has one.
    pub id_hash: Option<u64>,
    /// Hashes of the ids it answers.
    pub references: Vec<u64>,
    /// Hash of its subject without "Re:" and the like; 0 if nothing is left.
    pub topic: u64,
    /// Its subject says that it answers or forwards.
    pub answers: bool,
    /// Its date, as a text: the message after which a conversation is called sorts first.
    pub begins: String,
    /// Hashes of the sentences that have to stand elsewhere if it is to go; each once.
    pub asks: Vec<u64>,
    /// Hashes of all sentences it has; each once.
    pub holds: Vec<u64>,
    /// Its fingerprints, sorted, each once.
    pub fingerprints: Vec<u64>,
    /// How many fingerprints it has, counted as often as they occur.
    pub fingerprint_count: u32,
    /// Hashes of its attachments and of the links that its text does not show.
    pub things: Vec<u64>,
    /// What it is counted with, as [`crate::Counting`] reads it: 16 bytes that say as what it counts, nought if alone, and the
    /// half of each of the numbers of all its word pairs and of everything that can stand for a fact.
    pub words: Vec<u8>,
    /// What keeps it if no other message has it, as [`crate::Statistics::is_new`] reads it: its facts and its sentences.
    pub news: Vec<u8>,
}

/// Makes the outline of a message.
pub fn outline(raw: &RawMessage<'_>, options: &Options) -> Outline {
    let winnow = Winnow {
        window: options.window,
    };
    let (record, _, pairs) = record(raw, 0, winnow, options.short);
    let counted = record.counts_as(&pairs.all);
    let mut words = counted.unwrap_or(0).to_le_bytes().to_vec();
    push_each(&mut words, &pairs.all);
    let mut news = Vec::new();
    push(&mut news, record.said.facts.len() as u32);
    push_each(&mut news, &record.said.facts);
    let mut outline = Outline {
        content: content_key(&record),
        policy: policy_key(&options.keep, &record),
        copy: record.can_be_copied().then(|| copy_name(&record)),
        counted: counted.map(|counted| format!("{counted:032x}")),
        empty: record.is_empty(),
        id_hash: record.id.map(NonZeroU64::get),
        references: record.references.to_vec(),
        begins: begins(&record),
        asks: Vec::new(),
        holds: Vec::new(),
        fingerprints: Vec::new(),
        fingerprint_count: record.said.fingerprints,
        things: record.things().collect(),
        words,
        news,
        location: record.location,
        form: record.form,
        bytes: record.bytes,
        message_id: None,
        problems: Vec::new(),
        short: record.said.short,
        topic: record.topic,
        answers: record.answers,
    };
    if let Ok(Said {
        seldom: Stored::Here(seldom),
        ..
    }) = Arc::try_unwrap(record.said)
    {
        let Seldom { detail, shown, .. } = *seldom;
        outline.message_id = shown.message_id;
        outline.problems = shown.problems;
        for Sentence { told, pairs, .. } in detail.sentences() {
            outline.holds.push(told.hash);
            if told.is_content() {
                outline.asks.push(told.hash);
                push(&mut outline.news, most_broken(told.len() as usize) as u32);
                push(&mut outline.news, pairs.len() as u32);
                push_each(&mut outline.news, pairs);
            }
        }
        let fingerprints = detail.fingerprints(winnow);
        outline.fingerprints = fingerprints.into_iter().map(u64::from).collect();
    }
    for list in [
        &mut outline.asks,
        &mut outline.holds,
        &mut outline.fingerprints,
    ] {
        list.sort_unstable();
        list.dedup();
    }
    outline
}

fn push(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend(number.to_le_bytes());
}

fn push_each(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn copy_name(record: &Record) -> String {
    let (identity, sender, context) = record.sameness();
    format!("{identity:032x}{sender:016x}{context:016x}")
}

/// Sorts those that have a Message-ID as the scan does that looks for the one after which a conversation is called.
fn begins(record: &Record) -> String {
    let answers = u8::from(!record.references.is_empty());
    let oldest = rules_key(&[KeepRule::Oldest], record);
    format!("{answers}{oldest}")
}
