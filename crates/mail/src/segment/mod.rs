//! Which lines of a text say something, and which are only its packaging?
//!
//! [`segment`] cuts the visible text of a message into runs of whole lines of one kind and one
//! quote depth. Quotations are told by their marks, or by the attribution above them; the tables
//! of attributions, header labels, greetings, closings and notices cover some sixty languages.
//!
//! A wrong guess costs unequally: packaging taken for content merely keeps a message, content taken
//! for packaging can lose it. So a line is packaging only if all of it fits a pattern.
//!
//! The order of work:
//!
//! 1. `lines`: lines, quote depth;
//! 2. `armour`: signatures of OpenPGP;
//! 3. `headers`: "Original message" rules and blocks of quoted headers;
//! 4. `attribution`: "On … wrote:";
//! 5. `boilerplate`: list footers below a rule;
//! 6. what remains between them falls into parts, each the text of one author at one depth, and
//!    each part loses, at its ends, notices, a `signature`, a `closing` and a `greeting`.

mod armour;
mod attribution;
mod boilerplate;
mod closing;
mod fold;
mod greeting;
mod headers;
mod index;
mod lines;
#[rustfmt::skip] // tables
mod markers;
mod names;
#[rustfmt::skip] // tables
mod phrases;
mod signature;

pub use lines::{marks_length, quote_marks};

use std::ops::Range;

use lines::Page;
use names::People;
use twicetold_model::{Envelope, Segment, SegmentKind};

/// Cuts a visible text into segments.
///
/// Segments are runs of whole lines, in order; lines without words may belong to the segment
/// before them or to none. Every line that holds words belongs to a segment.
///
/// ```
/// use twicetold_mail::segment::segment;
/// use twicetold_model::{Envelope, SegmentKind};
///
/// let text = "Dear all,\n\nThe hall is booked.\n\nKind regards\nAnna Kowalska\n";
/// let kinds: Vec<_> = segment(text, &Envelope::default()).iter().map(|part| part.kind).collect();
/// assert_eq!(kinds, [SegmentKind::Greeting, SegmentKind::Own, SegmentKind::Closing]);
/// ```
pub fn segment(text: &str, envelope: &Envelope) -> Vec<Segment> {
    let mut page = Page::new(text);
    let people = People::new(envelope);
    armour::mark(&mut page);
    let closed = headers::mark(&mut page);
    attribution::mark(&mut page);
    boilerplate::mark_footers(&mut page);
    let unmarked = quotations_without_marks(&page, &closed);
    for part in parts(&page, unmarked.as_ref()) {
        let part = boilerplate::mark_ends(&mut page, part);
        let part = signature::mark(&mut page, part);
        let part = closing::mark(&mut page, part, &people);
        greeting::mark(&mut page, part, &people);
    }
    collect(&page, unmarked)
}

/// Whether segments can be those of a text: they stand in it in order, each begins with a line, and no word stands outside of them.
/// No segments are nobody's.
pub(crate) fn may_be_of(text: &str, segments: &[Segment]) -> bool {
    let wordless = |from: usize, to: usize| {
        // No early end, so that the compiler can look at many bytes at once: marks of a deep quotation are all there is, as a rule.
        let may_be = |b: u8| b.is_ascii_alphanumeric() | !b.is_ascii();
        let may_have = |gap: &str| gap.bytes().fold(false, |found, b| found | may_be(b));
        text.get(from..to)
            .is_some_and(|gap| !may_have(gap) || !gap.contains(char::is_alphanumeric))
    };
    let begins_a_line = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let mut before = 0;
    for segment in segments {
        let (start, end) = (segment.start as usize, segment.end as usize);
        if end <= start || !wordless(before, start) || !begins_a_line(start) {
            return false;
        }
        before = end;
    }
    before > 0 && wordless(before, text.len())
}

/// Where text of depth 0 is quoted all the same, because an attribution stands above it.
///
/// An attribution that is followed by marked lines announces just these; one that is followed by
/// unmarked text announces everything down to the end, as nothing tells where it stops.
fn quotations_without_marks(page: &Page<'_>, closed: &[usize]) -> Option<Range<usize>> {
    let mut announced = false;
    for (at, line) in page.lines.iter().enumerate() {
        match line.kind {
            Some(SegmentKind::Attribution) => announced = line.depth == 0,
            Some(SegmentKind::Boilerplate) => {}
            _ if announced && line.depth == 0 => {
                let end = closed
                    .iter()
                    .copied()
                    .find(|&end| end > at)
                    .unwrap_or(page.lines.len());
                return Some(at..end);
            }
            _ => announced = false,
        }
    }
    None
}

/// Runs of lines of one depth that nothing is known of yet.
fn parts(page: &Page<'_>, unmarked: Option<&Range<usize>>) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (at, line) in page
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.kind.is_none())
    {
        match parts.last_mut() {
            Some(last)
                if last.end == at
                    && page.lines[at - 1].depth == line.depth
                    && unmarked.is_none_or(|unmarked| unmarked.start != at) =>
            {
                last.end += 1;
            }
            _ => parts.push(at..at + 1),
        }
    }
    parts
}

/// Joins lines of the same kind and depth.
fn collect(page: &Page<'_>, unmarked: Option<Range<usize>>) -> Vec<Segment> {
    let unmarked = unmarked.unwrap_or_default();
    let mut segments: Vec<Segment> = Vec::new();
    for (at, line) in page.lines.iter().enumerate() {
        let quoted = line.depth > 0 || unmarked.contains(&at);
        let content = if quoted {
            SegmentKind::Quoted
        } else {
            SegmentKind::Own
        };
        let kind = line.kind.unwrap_or(content);
        match segments.last_mut() {
            Some(last) if last.kind == kind && last.depth == line.depth => last.end = line.end,
            _ => segments.push(Segment {
                kind,
                depth: line.depth,
                start: line.start,
                end: line.end,
            }),
        }
    }
    segments
}
