//! May it go, if the user keeps others than the scan would?
//!
//! The scan decides who is kept. Where a user decides otherwise, the question about one message is asked again, of messages that stay for
//! certain. The answer is the scan's: `recheck` gives it. What is added here is who is asked, and what would be lost.

use std::sync::Arc;

use twicetold_model::{Category, RawMessage, Witness};
use twicetold_source::{Collection, permanence};

use crate::check;
use crate::comparable::Comparable;
use crate::cover::{Held, category, combine, content, hold, witnesses};
use crate::explain::shown;
use crate::options::Options;
use crate::recheck::{Doubt, recheck};
use crate::scan::Scan;

/// How many passages that would be lost are told.
const MOST_PASSAGES: usize = 5;

/// Messages that hold everything another one says.
#[derive(Clone, Debug, PartialEq)]
pub struct Cover {
    /// In which way they hold it.
    pub category: Category,
    /// The messages, and how much of it each holds.
    pub witnesses: Vec<Witness>,
}

/// What would be lost if a message went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The message, by its number in the scan.
    pub message: u32,
    /// The first passages of it that stand in none of the messages asked.
    pub passages: Vec<String>,
    /// Why it has to stay, in words that follow "it stays:", without a full stop.
    pub why: String,
}

/// One of the messages asked, read again.
struct Asked {
    raw: RawMessage<'static>,
    held: Held,
    same_thread: bool,
}

/// Whether some of `asked` hold everything that a message says. All are numbers of the scan.
pub fn cover(
    collection: &Collection,
    scan: &Scan,
    options: &Options,
    message: u32,
    asked: &[u32],
) -> Result<Cover, Lost> {
    let lost = |passages, why: &str| Lost {
        message,
        passages,
        why: why.to_owned(),
    };
    let again = |m: u32| -> Option<(RawMessage<'static>, Comparable)> {
        let found = scan.messages.get(m as usize)?;
        let raw = collection.read(&found.location).ok()?;
        let same = raw.bytes.len() as u64 == found.bytes;
        let text = same.then(|| Comparable::new(twicetold_mail::read(raw.form, &raw.bytes)));
        Some((raw, text?))
    };
    let Some((raw, text)) = again(message) else {
        return Err(lost(Vec::new(), "it can no longer be read"));
    };
    let thread = |m: u32| {
        scan.messages
            .get(m as usize)
            .and_then(|m| m.thread.as_ref())
    };
    let asked: Vec<Asked> = asked
        .iter()
        .filter(|&&m| m != message)
        .filter_map(|&m| {
            let (other_raw, other) = again(m)?;
            // What may be gone tomorrow is asked nothing.
            if !permanence(&other_raw).can_hold(permanence(&raw)) {
                return None;
            }
            let raw = other_raw;
            Some(Asked {
                raw,
                held: hold(&text, m, Arc::new(other)),
                same_thread: thread(m).is_some() && thread(m) == thread(message),
            })
        })
        .collect();
    let try_these = |chosen: &[&Asked]| {
        let doubt = Doubt {
            message: &raw,
            witnesses: chosen.iter().map(|a| (&a.raw, a.same_thread)).collect(),
            short: options.short,
        };
        recheck(&doubt).map(|()| found(&text, chosen))
    };
    let mut why = None;
    // A copy holds what has no sentences to compare, too.
    for one in asked.iter().filter(|a| a.held.is_complete(&text)) {
        match try_these(&[one]) {
            Ok(cover) => return Ok(cover),
            Err(problem) => why = why.or(Some(problem)),
        }
    }
    let held: Vec<Held> = asked.iter().map(|a| a.held.clone()).collect();
    if let Some(chosen) = combine(&text, &held, options.max_witnesses) {
        let mut chosen: Vec<&Asked> = chosen.into_iter().map(|n| &asked[n]).collect();
        // Those who have the attachments and links that the others lack.
        for one in &asked {
            let is_new = chosen.iter().all(|c| c.held.message != one.held.message);
            let room = chosen.len() < options.max_witnesses;
            if is_new && room && !chosen.is_empty() && adds_a_thing(&text, &chosen, one) {
                chosen.push(one);
            }
        }
        if !chosen.is_empty() {
            match try_these(&chosen) {
                Ok(cover) => return Ok(cover),
                Err(problem) => why = Some(problem),
            }
        }
    }
    let missing = content(&text).filter(|(n, _)| held.iter().all(|h| h.places[*n].is_none()));
    let passages: Vec<String> = missing
        .map(|(_, unit)| shown(&text, &unit.words))
        .take(MOST_PASSAGES)
        .collect();
    let why = match why {
        _ if !passages.is_empty() => "this stands in no message that stays".to_owned(),
        Some(problem) => problem.to_string(),
        None => "no message that stays holds what it says".to_owned(),
    };
    Err(lost(passages, &why))
}

/// Whether a message has an attachment or a link that the chosen ones lack.
fn adds_a_thing(text: &Comparable, chosen: &[&Asked], one: &Asked) -> bool {
    let has = |a: &Asked, digest| {
        let theirs = &a.held.text.document.attachments;
        theirs.iter().any(|b| b.digest == digest)
    };
    let linked = |a: &Asked, link: u64| a.held.text.has_fact(link);
    let document = &text.document;
    let attached = document.attachments.iter().map(|a| a.digest);
    let mut lacking = attached.filter(|&d| chosen.iter().all(|c| !has(c, d)));
    let links = document.links.iter().copied();
    let mut unlinked = links.filter(|&l| chosen.iter().all(|c| !linked(c, l)));
    lacking.any(|d| has(one, d)) || unlinked.any(|l| linked(one, l))
}

fn found(text: &Comparable, chosen: &[&Asked]) -> Cover {
    let held: Vec<&Held> = chosen.iter().map(|a| &a.held).collect();
    let category = match held.as_slice() {
        [one] if check::identical(text, &one.text) => Category::Identical,
        _ => category(text, &held),
    };
    Cover {
        category,
        witnesses: witnesses(text, &held),
    }
}
