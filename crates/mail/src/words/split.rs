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
    let text = tokens.text.as_bytes();
    let bytes = &text[..line.end];
    let mut at = line.start;
    tokens.line_start = at_start;
    while at < bytes.len() {
        if SORT[usize::from(bytes[at])] == SPACE {
            at += 1;
            continue;
        }
        // Nearly everything is letters, or letters and one mark behind them.
        let letters = match letters::start(text, at) {
            Some(start) if start.length < 16 && at + start.length <= bytes.len() => {
                if start.length > 0
                    && let Some(next) = plain_end(bytes, at + start.length)
                {
                    tokens.letters(at, &start);
                    at = next;
                    continue;
                }
                start.length
            }
            _ => 0,
        };
        let (end, seen) = chunk_end(bytes, at + letters);
        let chunk = at..end;
        at = end;
        if seen & BEYOND_ASCII == 0 {
            // Letters that were stepped over matter only to "www.".
            let web = seen & DOT != 0 && (letters > 0 || seen & LETTER_W != 0);
            tokens.ascii(chunk, web || seen & ADDRESS_MARK != 0);
        } else if let Some(on) = tokens.unicode(chunk.clone(), chunk.end == line.end, rest) {
            return Some(on);
        }
    }
    None
}

/// Where a run without spaces ends, and what sorts of bytes are in it.
fn chunk_end(line: &[u8], from: usize) -> (usize, u8) {
    let mut seen = 0;
    for (n, b) in line.get(from..).unwrap_or_default().iter().enumerate() {
        let sort = SORT[usize::from(*b)];
        if sort == SPACE {
            return (from + n, seen);
        }
        seen |= sort;
    }
    (line.len(), seen)
}

/// What a byte may be part of.
const SPACE: u8 = 1;
const BEYOND_ASCII: u8 = 2;
const ADDRESS_MARK: u8 = 4;
const DOT: u8 = 8;
const LETTER_W: u8 = 16;

const SORT: [u8; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let byte = n as u8;
        table[n] = match byte {
            0x80.. => BEYOND_ASCII,
            b'@' | b':' => ADDRESS_MARK,
            b'.' => DOT,
            b'w' | b'W' => LETTER_W,
            _ if byte.is_ascii_whitespace() => SPACE,
            _ => 0,
        };
        n += 1;
    }
    table
};

/// Where to go on if the run of letters that ends here is all that its chunk says.
#[inline]
fn plain_end(line: &[u8], end: usize) -> Option<usize> {
    let ends = |at: usize| line.get(at).is_none_or(|b| SORT[usize::from(*b)] == SPACE);
    if ends(end) {
        // The one blank that follows most words needs no look of its own.
        return Some(end + 1);
    }
    let mark = match line[end] {
        b',' | b';' | b':' | b'!' | b'?' | b')' | b'"' => true,
        // "www." would be the beginning of a web address.
        b'.' => !matches!(line[end - 1], b'w' | b'W'),
        _ => false,
    };
    (mark && ends(end + 1)).then_some(end + 2)
}
