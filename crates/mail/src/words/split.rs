//! From lines to words.

use std::ops::Range;

use twicetold_model::{Segment, Word};

use super::letters;
use super::token::Tokens;
use crate::segment::marks_length;

/// Finds every word of the segments, line by line, without their quote marks.
pub(super) fn split(text: &str, segments: &[Segment]) -> Vec<Word> {
    // Mail has a word for every six or seven bytes.
    let mut tokens = Tokens::new(text, text.len() / 6);
    let mut lines = Vec::new();
    for segment in segments {
        content_lines(text, segment, &mut lines);
        // Where the last word ended that ran over a line end; it may have taken whole lines.
        let mut taken = 0;
        for (n, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.is_empty())
        {
            if taken >= line.end {
                continue;
            }
            let start = line.start.max(taken);
            let rest = lines.get(n + 1..).unwrap_or_default();
            taken =
                read_line(&mut tokens, start..line.end, start == line.start, rest).unwrap_or(taken);
        }
    }
    tokens.finish()
}

/// The lines of a segment, each without its quote marks and line end.
fn content_lines(text: &str, segment: &Segment, lines: &mut Vec<Range<usize>>) {
    lines.clear();
    let (mut at, end) = (segment.start as usize, segment.end as usize);
    let bytes = text.as_bytes();
    while at < end {
        let stop = memchr::memchr(b'\n', &bytes[at..end]).map_or(end, |n| at + n);
        let line = text.get(at..stop).unwrap_or_default();
        // Most lines start with a letter and are not quoted: then there are no marks to look for.
        let plain =
            segment.depth == 0 && line.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        let marks = if plain {
            0
        } else {
            marks_length(line, segment.depth)
        };
        lines.push(at + marks.min(line.len())..stop);
        at = stop + 1;
    }
}

/// Reads the words of one line. Returns where to go on in the next line if a word ran over the line end.
fn read_line(
    tokens: &mut Tokens<'_>,
    line: Range<usize>,
    at_start: bool,
    rest: &[Range<usize>],
) -> Option<usize> {
    let bytes = tokens.text.as_bytes();
    let mut at = line.start;
    tokens.line_start = at_start;
    while at < line.end {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        // Nearly everything is letters, or letters and one mark behind them.
        let letters = letters::run(bytes, at).min(line.end - at);
        if letters > 0
            && let Some(next) = plain_end(bytes, at + letters, line.end)
        {
            tokens.letters(at..at + letters);
            at = next;
            continue;
        }
        let len = bytes[at..line.end]
            .iter()
            .position(|b| b.is_ascii_whitespace())
            .unwrap_or(line.end - at);
        let chunk = at..at + len;
        at = chunk.end;
        if bytes[chunk.clone()].is_ascii() {
            tokens.ascii(chunk);
        } else if let Some(on) = tokens.unicode(chunk.clone(), chunk.end == line.end, rest) {
            return Some(on);
        }
    }
    None
}

/// Where to go on if the run of letters that ends here is all that its chunk says.
#[inline]
fn plain_end(bytes: &[u8], end: usize, line_end: usize) -> Option<usize> {
    if end >= line_end || bytes[end].is_ascii_whitespace() {
        return Some(end);
    }
    let mark = match bytes[end] {
        b',' | b';' | b':' | b'!' | b'?' | b')' | b'"' => true,
        // "www." would be the beginning of a web address.
        b'.' => !matches!(bytes[end - 1], b'w' | b'W'),
        _ => false,
    };
    let last = end + 1 >= line_end || bytes[end + 1].is_ascii_whitespace();
    (mark && last).then_some(end + 1)
}
