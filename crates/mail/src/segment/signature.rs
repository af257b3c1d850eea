//! What follows "-- ", and "Sent from my phone".

use std::ops::Range;
use std::sync::LazyLock;

use twicetold_model::SegmentKind;

use super::fold::{after_phrase, before_phrase};
use super::index::{Inside, Openings};
use super::lines::Page;
use super::markers::{DEVICES, SENT_FROM};

static NAMED: LazyLock<Inside> = LazyLock::new(|| Inside::of(DEVICES));
static STARTS: LazyLock<Openings> = LazyLock::new(|| {
    let openings: Vec<&str> = SENT_FROM.iter().map(|(opening, _)| *opening).collect();
    Openings::of(&[&openings])
});

/// More lines than this are not a signature.
const LINES: usize = 12;
/// A paragraph on one line is not part of a signature.
const LONGEST_LINE: usize = 160;
/// A longer line does not just name a device.
const LONGEST_DEVICE_LINE: usize = 110;

/// Marks the signature at the end of a part and gives what is left before it.
pub(super) fn mark(page: &mut Page<'_>, part: Range<usize>) -> Range<usize> {
    let part = mark_devices(page, part);
    let from = part.start.max(part.end.saturating_sub(LINES + 1));
    let Some(begin) = (from..part.end).find(|&at| is_delimiter(page.words(at))) else {
        return part;
    };
    let fits = (begin + 1..part.end).all(|at| {
        let words = page.words(at);
        words.len() <= LONGEST_LINE && !is_postscript(words)
    });
    if !fits {
        return part;
    }
    page.mark(begin..part.end, SegmentKind::Signature);
    mark_devices(page, part.start..begin)
}

/// "-- ", or as OpenPGP escapes it.
fn is_delimiter(words: &str) -> bool {
    matches!(words, "--" | "- --")
}

/// Something remembered late is content.
fn is_postscript(words: &str) -> bool {
    let start = words.as_bytes();
    matches!(
        start,
        [
            b'P' | b'p',
            b'S' | b's',
            b':' | b'.' | b' ' | b',' | b'-',
            ..
        ] | [b'P' | b'p', b'.', b' ' | b'S' | b's', ..]
    )
}

/// Marks lines that name the program or the device, at the end of a part.
fn mark_devices(page: &mut Page<'_>, part: Range<usize>) -> Range<usize> {
    let mut end = part.end;
    while end > part.start && part.end - end < 3 && names_device(page, end - 1) {
        end -= 1;
    }
    page.mark(end..part.end, SegmentKind::Signature);
    part.start..end
}

/// What may stand around the name of a device.
fn is_frame(letter: char) -> bool {
    matches!(
        letter,
        '.' | '!' | '*' | '-' | '_' | '[' | ']' | '(' | ')' | ' ' | '"' | '~'
    )
}

/// "Sent from my iPhone".
fn names_device(page: &Page<'_>, at: usize) -> bool {
    let words = page.words(at);
    if words.len() > LONGEST_DEVICE_LINE {
        return false;
    }
    // Only lines in other letters are told by their end alone.
    if !STARTS.may_open(words.trim_start_matches(is_frame)) && words.is_ascii() {
        return false;
    }
    let folded = page.folded(at);
    let line = folded.trim_matches(is_frame);
    let from_its_end = |ending: &str| !ending.is_empty() && line.ends_with(ending);
    let possible = STARTS.starting(line).next().is_some()
        || SENT_FROM
            .iter()
            .any(|(opening, ending)| opening.is_empty() && from_its_end(ending));
    if !possible {
        return false;
    }
    let shaped = SENT_FROM.iter().any(|(opening, ending)| {
        let rest = if opening.is_empty() {
            Some(line)
        } else {
            after_phrase(line, opening)
        };
        rest.is_some_and(|rest| {
            ending.is_empty() || before_phrase(rest, ending).is_some() || rest.ends_with(ending)
        })
    });
    // A sentence goes on: "Sent from my phone, the figures are …" has a verb we cannot know, so
    // only few words may surround the device.
    let short = line.split(' ').filter(|word| !word.contains("://")).count() <= 9;
    shaped && short && NAMED.any(line)
}

#[cfg(test)]
mod tests {
    use super::SENT_FROM;

    #[test]
    fn lines_told_by_their_end_alone_are_not_ascii() {
        let mut endings = SENT_FROM.iter().filter(|(opening, _)| opening.is_empty());
        assert!(endings.all(|(_, ending)| !ending.is_ascii()));
    }
}
