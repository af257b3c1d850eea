//! A message and its witnesses, made ready for the eye.
//!
//! [`explain`](crate::explain()) tells a proof in words; this tells it in places: which bytes of the message stand at which bytes of a
//! witness, and which words differ between the two. Nothing is decided here. The messages are read again, so what is shown is what stands in the mailbox.

use std::ops::Range;
use std::sync::Arc;

use twicetold_model::{Attachment, ResidueKind, Segment, SegmentKind, Standing};
use twicetold_source::Collection;

use crate::align::{Place, find};
use crate::comparable::{Comparable, Unit};
use crate::cover::{Held, hold, residue_kind, words_of};
use crate::differ::{Pairing, pair_up};
use crate::scan::{Scan, ScannedMessage};

/// How many bytes of a text are shown; nobody reads more on one page.
pub const SHOWN_BYTES: usize = 256 << 10;

/// The text of a message, with what a page needs to lay it out. Ranges are bytes of the text.
#[derive(Clone, Debug, Default)]
pub struct ShownText {
    /// The message's number in the scan.
    pub message: u32,
    /// Who it went to.
    pub recipients: String,
    /// The visible text, at most [`SHOWN_BYTES`] of it.
    pub text: String,
    /// Whether there is more of it.
    pub cut: bool,
    /// Its stretches of one kind, in order.
    pub segments: Vec<Segment>,
    /// Its sentences that say something, in order.
    pub sentences: Vec<Range<u32>>,
    /// Numbers, dates, links, addresses and denials in those sentences, in order.
    pub facts: Vec<Range<u32>>,
    /// What is attached.
    pub attachments: Vec<Attachment>,
}

/// A sentence of a message, and where it stands elsewhere.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// Where it stands in the message.
    pub here: Range<u32>,
    /// Which of the witnesses shown has it, and where. A sentence that differs in a fact has the place of its counterpart.
    pub there: Option<(usize, Range<u32>)>,
    /// If it is not held: what it is.
    pub residue: Option<ResidueKind>,
    /// The words here that are not so there, in order.
    pub changed_here: Vec<Range<u32>>,
    /// The words there that are not so here, in order.
    pub changed_there: Vec<Range<u32>>,
}

/// A message beside the messages that hold what it says.
#[derive(Clone, Debug, Default)]
pub struct SideBySide {
    /// The message.
    pub message: ShownText,
    /// Its witnesses, in the order of its verdict; those that can no longer be read are missing.
    pub witnesses: Vec<ShownText>,
    /// The sentences of the message, in order; those beyond what is shown are left out.
    pub passages: Vec<Aligned>,
    /// For each attachment of the message, which witness has it too.
    pub attachments: Vec<Option<usize>>,
}

/// A message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number in the scan.
    pub message: u32,
    /// How many messages of the conversation stand above it.
    pub depth: u32,
}

/// Shows a message beside `witnesses`, numbers of the scan; `None` if the message can no longer be read.
pub fn side_by_side(
    collection: &Collection,
    scan: &Scan,
    message: u32,
    witnesses: &[u32],
) -> Option<SideBySide> {
    let text = again(collection, scan, message)?;
    let judged = scan.messages.get(message as usize)?;
    let held: Vec<Held> = witnesses
        .iter()
        .filter_map(|&w| Some(hold(&text, w, Arc::new(again(collection, scan, w)?))))
        .collect();
    let shown = shown_text(message, &text);
    let whole = shown.text.len() as u32;
    let mut passages = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (n, unit) in text.units.iter().enumerate() {
        let found = held.iter().enumerate().find_map(|(w, h)| {
            let place = match unit.content {
                true => h.places[n],
                false => find(&text, unit, &h.text, None),
            }?;
            Some((w, words_of(&h.text, place)))
        });
        if found.is_none() && unit.content {
            open.push(passages.len());
        }
        passages.push(aligned(&text, unit, judged, &held, found));
    }
    // What has no place may have a counterpart that says something else.
    if let Some(first) = held.first()
        && judged.verdict.standing == Standing::Version
    {
        counterparts(&text, first, &open, &mut passages);
    }
    passages.retain(|p| p.here.end <= whole);
    let attachments = shown
        .attachments
        .iter()
        .map(|a| {
            held.iter().position(|h| {
                let theirs = &h.text.document.attachments;
                theirs.iter().any(|b| b.digest == a.digest)
            })
        })
        .collect();
    let witnesses: Vec<ShownText> = held
        .iter()
        .map(|h| shown_text(h.message, &h.text))
        .collect();
    for passage in &mut passages {
        let beyond = |(w, r): &(usize, Range<u32>)| r.end > witnesses[*w].text.len() as u32;
        if passage.there.as_ref().is_some_and(beyond) {
            (passage.there, passage.changed_there) = (None, Vec::new());
        }
    }
    Some(SideBySide {
        message: shown,
        witnesses,
        passages,
        attachments,
    })
}

/// The messages of a conversation in the order of reading: every answer below what it answers, the earliest first.
pub fn conversation(collection: &Collection, scan: &Scan, members: &[u32]) -> Vec<Turn> {
    let date = |m: u32| {
        let message = &scan.messages[m as usize];
        (message.date.is_none(), message.date, m)
    };
    let mut members: Vec<u32> = members
        .iter()
        .copied()
        .filter(|&m| (m as usize) < scan.messages.len())
        .collect();
    members.sort_by_key(|&m| date(m));
    members.dedup();
    let id = |m: u32| scan.messages[m as usize].message_id.as_deref();
    // Copies share a Message-ID: the first stands for it.
    let mut owners = std::collections::BTreeMap::new();
    for (n, &m) in members.iter().enumerate() {
        if let Some(id) = id(m) {
            owners.entry(id).or_insert(n);
        }
    }
    let parents: Vec<Option<usize>> = members
        .iter()
        .enumerate()
        .map(|(n, &m)| {
            let raw = collection.read(&scan.messages[m as usize].location).ok()?;
            let envelope = twicetold_mail::read(raw.form, &raw.bytes).envelope;
            let mut answered = envelope.references.iter().rev();
            answered.find_map(|id| owners.get(id.as_str()).copied().filter(|&p| p != n))
        })
        .collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    let mut roots = Vec::new();
    for (n, parent) in parents.iter().enumerate() {
        match parent {
            Some(p) if !leads_to(&parents, *p, n) => below[*p].push(n),
            _ => roots.push(n),
        }
    }
    let mut turns = Vec::with_capacity(members.len());
    let mut stack: Vec<(usize, u32)> = roots.into_iter().rev().map(|n| (n, 0)).collect();
    while let Some((n, depth)) = stack.pop() {
        turns.push(Turn {
            message: members[n],
            depth,
        });
        stack.extend(below[n].iter().rev().map(|&c| (c, depth + 1)));
    }
    turns
}

/// Whether the way up from `from` leads to `to`: messages that claim to answer each other have no order.
fn leads_to(parents: &[Option<usize>], mut from: usize, to: usize) -> bool {
    for _ in 0..parents.len() {
        if from == to {
            return true;
        }
        match parents[from] {
            Some(up) => from = up,
            None => return false,
        }
    }
    true
}

fn again(collection: &Collection, scan: &Scan, message: u32) -> Option<Comparable> {
    let found = scan.messages.get(message as usize)?;
    let raw = collection.read(&found.location).ok()?;
    (raw.bytes.len() as u64 == found.bytes)
        .then(|| Comparable::new(twicetold_mail::read(raw.form, &raw.bytes)))
}

fn aligned(
    text: &Comparable,
    unit: &Unit,
    judged: &ScannedMessage,
    held: &[Held],
    found: Option<(usize, Range<u32>)>,
) -> Aligned {
    let here = bytes_of(text, &unit.words);
    let Some((w, there)) = found else {
        let mut known = judged.verdict.residue.iter();
        let known = known.find(|r| r.words == unit.words).map(|r| r.kind);
        return Aligned {
            here,
            there: None,
            residue: Some(known.unwrap_or_else(|| residue_kind(unit))),
            changed_here: Vec::new(),
            changed_there: Vec::new(),
        };
    };
    let other = &held[w].text;
    let pairs = pair_up(&keys(text, &unit.words), &keys(other, &there));
    Aligned {
        here,
        residue: None,
        changed_here: changed(text, &unit.words, &pairs.only_first()),
        changed_there: changed(other, &there, &pairs.only_second()),
        there: Some((w, bytes_of(other, &there))),
    }
}

/// Finds for sentences without a place those of the witness that stand where they would stand.
fn counterparts(text: &Comparable, held: &Held, open: &[usize], passages: &mut [Aligned]) {
    let mut rest = open;
    while let Some(&first) = rest.first() {
        // A run of sentences without a place, and the gap in the witness between the places around it.
        let is_open = |n: usize| open.binary_search(&n).is_ok() || !text.units[n].content;
        let mut last = first;
        while last + 1 < text.units.len() && is_open(last + 1) {
            last += 1;
        }
        rest = &rest[rest.partition_point(|&n| n <= last)..];
        let before = held.places[..first].iter().rev().flatten().next();
        let after = held.places[last + 1..].iter().flatten().next();
        let from = before.map_or(0, |p| p.end);
        let to = after.map_or(held.text.stream.len() as u32, |p| p.start);
        if from >= to {
            continue;
        }
        let gap = words_of(
            &held.text,
            Place {
                start: from,
                end: to,
            },
        );
        let here = text.units[first].words.start..text.units[last].words.end;
        let pairs = pair_up(&keys(text, &here), &keys(&held.text, &gap));
        for n in (first..=last).filter(|&n| text.units[n].content) {
            place_counterpart(text, held, n, &here, &gap, &pairs, &mut passages[n]);
        }
    }
}

fn place_counterpart(
    text: &Comparable,
    held: &Held,
    n: usize,
    here: &Range<u32>,
    gap: &Range<u32>,
    pairs: &Pairing,
    passage: &mut Aligned,
) {
    let unit = &text.units[n].words;
    let inside = |word: u32| unit.contains(&(here.start + word));
    let met = pairs.pairs.iter().filter(|p| inside(p.0));
    let Some((low, high)) = met.fold(None, |seen: Option<(u32, u32)>, &(_, b)| {
        Some(seen.map_or((b, b), |(low, high)| (low.min(b), high.max(b))))
    }) else {
        return;
    };
    let sentences = &held.text.document.sentences;
    let around = |word: u32| {
        let at = sentences.partition_point(|s| s.words.end <= gap.start + word);
        sentences.get(at).map(|s| s.words.clone())
    };
    let (Some(first), Some(last)) = (around(low), around(high)) else {
        return;
    };
    let there = first.start.max(gap.start)..last.end.min(gap.end);
    let shift = |words: Vec<u32>, by: u32, from: u32| -> Vec<u32> {
        let moved = words.into_iter().map(|w| w + by);
        moved.filter_map(|w| w.checked_sub(from)).collect()
    };
    let only_here = shift(pairs.only_first(), here.start, unit.start);
    let only_there = shift(pairs.only_second(), gap.start, there.start);
    passage.changed_here = changed(text, unit, &only_here);
    passage.changed_there = changed(&held.text, &there, &only_there);
    passage.there = Some((0, bytes_of(&held.text, &there)));
    passage.residue = Some(ResidueKind::Fact);
}

/// What words are compared by.
fn keys(text: &Comparable, words: &Range<u32>) -> Vec<u64> {
    let slice = text
        .document
        .words
        .get(words.start as usize..words.end as usize);
    slice.unwrap_or_default().iter().map(|w| w.hash).collect()
}

/// The bytes of those words of a stretch that stand at these positions of it.
fn changed(text: &Comparable, words: &Range<u32>, positions: &[u32]) -> Vec<Range<u32>> {
    let all = &text.document.words;
    positions
        .iter()
        .map(|p| words.start + p)
        .filter(|w| words.contains(w))
        .filter_map(|w| all.get(w as usize))
        .map(|w| w.start..w.end)
        .collect()
}

/// The bytes that words take, with the mark that ends them.
pub(crate) fn bytes_of(text: &Comparable, words: &Range<u32>) -> Range<u32> {
    let slice = text
        .document
        .words
        .get(words.start as usize..words.end as usize)
        .unwrap_or_default();
    let (Some(first), Some(last)) = (slice.first(), slice.last()) else {
        return 0..0;
    };
    let tail = text
        .document
        .text
        .get(last.end as usize..)
        .unwrap_or_default();
    let mark: usize = tail
        .chars()
        .take_while(|c| !c.is_whitespace() && !c.is_alphanumeric())
        .take(3)
        .map(char::len_utf8)
        .sum();
    first.start..last.end + mark as u32
}

fn shown_text(message: u32, text: &Comparable) -> ShownText {
    let document = &text.document;
    let end = document.text.floor_char_boundary(SHOWN_BYTES);
    let whole = end as u32;
    let content: Vec<&Unit> = text.units.iter().filter(|u| u.content).collect();
    let sentences = content.iter().map(|u| bytes_of(text, &u.words));
    let facts = content
        .iter()
        .flat_map(|u| &document.words[u.words.start as usize..u.words.end as usize])
        .filter(|w| w.is_fact() && w.end <= whole)
        .map(|w| w.start..w.end);
    let segments = document.segments.iter().filter(|s| s.start < whole);
    ShownText {
        message,
        recipients: document.envelope.recipients.clone(),
        text: document.text.get(..end).unwrap_or_default().to_owned(),
        cut: end < document.text.len(),
        segments: segments
            .map(|s| Segment {
                end: s.end.min(whole),
                ..*s
            })
            .collect(),
        sentences: sentences.filter(|s| s.end <= whole).collect(),
        facts: facts.collect(),
        attachments: document.attachments.clone(),
    }
}

impl ShownText {
    /// What kind of text stands at this byte.
    pub fn kind_at(&self, byte: u32) -> SegmentKind {
        let at = self.segments.partition_point(|s| s.end <= byte);
        let found = self.segments.get(at).filter(|s| s.start <= byte);
        found.map_or(SegmentKind::Own, |s| s.kind)
    }
}
