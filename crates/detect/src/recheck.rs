//! May it still go? Asked right before a message is removed, of the message and its witnesses as they are then.
//!
//! The plan says which messages hold what this one says. Nothing else of it is believed: the passages are looked for again,
//! and the proof is checked again on the text.

use std::sync::Arc;

use twicetold_methods::winnow::Winnow;
use twicetold_model::{Problem, RawMessage};

use crate::check;
use crate::comparable::Comparable;
use crate::cover::{Held, content, hold, proof};
use crate::options::Options;
use crate::prove::contradicts;
use crate::record::{Record, record};

/// A message about which is to be asked once more.
#[derive(Clone, Debug)]
pub struct Doubt<'a> {
    /// The message as it is now.
    pub message: &'a RawMessage<'a>,
    /// The messages that hold what it says, as they are now, and whether each belongs to the same conversation.
    pub witnesses: Vec<(&'a RawMessage<'a>, bool)>,
    /// Texts with fewer content words than this mean something in their conversation only, as in the scan.
    pub short: usize,
}

/// Whether everything the message says stands in its witnesses; if not, what is missing.
pub fn recheck(doubt: &Doubt<'_>) -> Result<(), Problem> {
    let window = Options::default().window;
    let read = |raw: &RawMessage<'_>| -> (Record, Arc<Comparable>) {
        let (record, document, _) = record(raw, 0, Winnow { window }, doubt.short);
        (record, Arc::new(Comparable::new(document)))
    };
    let (message, text) = read(doubt.message);
    let witnesses: Vec<(Record, Arc<Comparable>, bool)> = doubt
        .witnesses
        .iter()
        .map(|&(raw, same_thread)| {
            let (record, text) = read(raw);
            (record, text, same_thread)
        })
        .collect();
    let stays = |(witness, ..): &(Record, Arc<Comparable>, bool)| {
        witness.permanence.can_hold(message.permanence)
    };
    if !witnesses.iter().all(stays) {
        return Err(Problem::new(
            "a message that is to hold it is marked deleted, a draft, or in the trash or junk",
        ));
    }
    if is_copy(&message, &text, &witnesses) {
        return Ok(());
    }
    if message.is_empty() {
        return Err(Problem::new("it says nothing that could be compared"));
    }
    let held: Vec<Held> = witnesses
        .iter()
        .zip(0_u32..)
        .map(|((_, witness, _), number)| hold(&text, number, Arc::clone(witness)))
        .collect();
    if content(&text).any(|(n, _)| held.iter().all(|h| h.places[n].is_none())) {
        return Err(Problem::new(
            "a sentence of it stands in none of the messages that are to hold it",
        ));
    }
    let all: Vec<&Held> = held.iter().collect();
    let proof = proof(&text, &all);
    let texts: Vec<&Comparable> = held.iter().map(|h| h.text.as_ref()).collect();
    if !check::holds(&text, &texts, &proof) {
        return Err(Problem::new(
            "a passage of it does not read the same in the message that is to hold it",
        ));
    }
    let mut used: Vec<usize> = proof.passages.iter().map(|p| p.witness as usize).collect();
    used.sort_unstable();
    used.dedup();
    if used.len() > 1 && used.iter().any(|&n| contradicts(&text, &held[n])) {
        return Err(Problem::new(
            "one of the messages that are to hold it says something else",
        ));
    }
    let in_context = |&n: &usize| {
        let (witness, other, same_thread) = &witnesses[n];
        let same_sender = message.sender != 0 && check::same_sender(&text, other);
        let same_topic = message.topic != 0 && message.topic == witness.topic;
        (same_sender && (same_topic || *same_thread))
            || (*same_thread && held[n].quotes_own_text(&text))
    };
    if message.said.short && !used.iter().all(in_context) {
        return Err(Problem::new(
            "it is short, and stands in another conversation",
        ));
    }
    let has = |thing: u64| {
        witnesses.iter().any(|(witness, text, _)| {
            witness.said.attachments.binary_search(&thing).is_ok()
                || witness.said.links.binary_search(&thing).is_ok()
                || text.has_fact(thing)
        })
    };
    for (things, what) in [
        (
            &message.said.attachments,
            "an attachment of it is in none of the messages that are to hold it",
        ),
        (
            &message.said.links,
            "a link of it is in none of the messages that are to hold it",
        ),
        (
            &message.subject_facts,
            "its subject says something that none of the messages that are to hold it says",
        ),
    ] {
        if !things.iter().all(|&thing| has(thing)) {
            return Err(Problem::new(what));
        }
    }
    Ok(())
}

/// Whether a witness says word for word the same.
fn is_copy(
    message: &Record,
    text: &Comparable,
    witnesses: &[(Record, Arc<Comparable>, bool)],
) -> bool {
    message.can_be_copied()
        && witnesses.iter().any(|(record, other, _)| {
            record.sameness() == message.sameness()
                && (!message.said.short || check::same_sender(text, other))
                && check::identical(text, other)
        })
}
