//! The lines of a text and their quote marks.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use twicetold_model::SegmentKind;

use super::fold::{fold, fold_onto};
use crate::ascii::is_tidy;

/// How many blanks may stand between two quote marks.
const BLANKS_BETWEEN_MARKS: usize = 3;

/// A line that holds words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// First byte of the line.
    pub(super) start: u32,
    /// First byte after quote marks and white space.
    pub(super) words: u32,
    /// One past its last byte that is not white space.
    pub(super) end: u32,
    /// How many quote marks it has.
    pub(super) depth: u8,
    /// Whether a line without words stands before it.
    pub(super) gap: bool,
    /// Whether it may hold a colon; most lines do not.
    pub(super) colon: bool,
    /// What it was found to be, once that is known.
    pub(super) kind: Option<SegmentKind>,
}

/// A text and its lines that hold words.
pub(super) struct Page<'t> {
    text: &'t str,
    /// The text in lower case as far as it is ASCII, so that most lines are folded all at once.
    lower: String,
    pub(super) lines: Vec<Line>,
}

impl<'t> Page<'t> {
    /// Finds the lines of a text.
    pub(super) fn new(text: &'t str) -> Self {
        // Offsets are 32 bits wide; no message comes near that, but a hostile one must not wrap around.
        let text = text
            .get(..u32::MAX as usize)
            .unwrap_or_else(|| head(text, u32::MAX as usize));
        let mut page = Self {
            text,
            lower: text.to_ascii_lowercase(),
            lines: Vec::with_capacity(text.len() / 40 + 4),
        };
        let mut styles = OtherStyles::default();
        let mut colon = next_colon(text, 0);
        let (mut start, mut gap) = (0, false);
        while start < text.len() {
            let rest = &text[start..];
            let length = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let line = without_white_end(&rest[..length]);
            let (depth, marks) = quote_marks(line);
            if marks == line.len() {
                gap = true;
            } else {
                if depth == 0 {
                    styles.see(&line[marks..]);
                }
                if colon < start {
                    colon = next_colon(text, start);
                }
                page.lines.push(Line {
                    start: start as u32,
                    words: (start + marks) as u32,
                    end: (start + line.len()) as u32,
                    depth,
                    gap,
                    colon: colon < start + line.len(),
                    kind: None,
                });
                gap = false;
            }
            start += length + 1;
        }
        if styles.bars >= 3 {
            page.mark_runs(b'|', 3);
        }
        if styles.colons >= 3 {
            page.mark_runs(b':', 3);
        }
        if styles.initials >= 2 {
            page.mark_initials();
        }
        page
    }

    /// The words of a line, without marks and white space around them.
    pub(super) fn words(&self, line: usize) -> &'t str {
        self.lines
            .get(line)
            .and_then(|line| self.text.get(line.words as usize..line.end as usize))
            .unwrap_or_default()
    }

    /// How many bytes the words of a line have.
    pub(super) fn length(&self, line: usize) -> usize {
        self.lines
            .get(line)
            .map_or(0, |line| (line.end - line.words) as usize)
    }

    /// The words of a line as [`fold`] leaves them.
    pub(super) fn folded(&self, line: usize) -> Cow<'_, str> {
        let words = self.words(line);
        if is_tidy(words.as_bytes()) {
            Cow::Borrowed(self.lowered(line))
        } else {
            Cow::Owned(fold(words))
        }
    }

    /// Folds a line and appends it, parted by one space from what is there.
    pub(super) fn fold_onto(&self, folded: &mut String, line: usize) {
        let words = self.words(line);
        if is_tidy(words.as_bytes()) {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(self.lowered(line));
        } else {
            fold_onto(folded, words);
        }
    }

    /// The words of a line in lower case, as far as they are ASCII.
    fn lowered(&self, line: usize) -> &str {
        self.lines
            .get(line)
            .and_then(|line| self.lower.get(line.words as usize..line.end as usize))
            .unwrap_or_default()
    }

    /// The first byte of the words of a line; lines here have some.
    pub(super) fn first(&self, line: usize) -> u8 {
        let at = self.lines.get(line).map(|line| line.words as usize);
        at.and_then(|at| self.text.as_bytes().get(at).copied())
            .unwrap_or_default()
    }

    /// The last byte of the words of a line.
    pub(super) fn last(&self, line: usize) -> u8 {
        let at = self
            .lines
            .get(line)
            .and_then(|line| (line.end as usize).checked_sub(1));
        at.and_then(|at| self.text.as_bytes().get(at).copied())
            .unwrap_or_default()
    }

    /// How many bytes of marks and white space stand before the words.
    pub(super) fn indent(&self, line: usize) -> u32 {
        self.lines
            .get(line)
            .map_or(0, |line| line.words - line.start)
    }

    /// Whether a line goes on where the line before it ended: no blank line, same depth.
    pub(super) fn continues(&self, line: usize) -> bool {
        line > 0
            && self
                .lines
                .get(line)
                .is_some_and(|this| !this.gap && this.depth == self.lines[line - 1].depth)
    }

    /// Whether the next line with words is quoted deeper, or is packaging of a quotation already.
    pub(super) fn quote_follows(&self, line: usize) -> bool {
        match (self.lines.get(line), self.lines.get(line + 1)) {
            (Some(this), Some(next)) => {
                next.depth > this.depth || next.kind == Some(SegmentKind::Attribution)
            }
            _ => false,
        }
    }

    /// Says what the lines of a range are.
    pub(super) fn mark(&mut self, lines: std::ops::Range<usize>, kind: SegmentKind) {
        for line in self.lines.get_mut(lines).unwrap_or_default() {
            line.kind = Some(kind);
        }
    }

    /// Takes `| text` or `: text` for quoted where enough lines in a row have it.
    fn mark_runs(&mut self, mark: u8, least: usize) {
        let mut at = 0;
        while at < self.lines.len() {
            let begin = at;
            let mut cells = 0;
            while at < self.lines.len() && (at == begin || self.continues(at)) {
                let words = self.words(at);
                let marks = repeated_marks(words, mark);
                if marks.0 == 0 || self.lines[at].depth > 0 {
                    break;
                }
                // A table has further bars in the line.
                cells += usize::from(memchr(mark, &words.as_bytes()[marks.1..]).is_some());
                at += 1;
            }
            if at - begin >= least && (mark != b'|' || cells * 2 < at - begin) {
                for line in begin..at {
                    let (depth, length) = repeated_marks(self.words(line), mark);
                    self.lines[line].depth = depth;
                    self.lines[line].words += length as u32;
                }
            }
            at = at.max(begin + 1);
        }
    }

    /// Takes `JD> text` for quoted where the same initials stand before lines near each other.
    fn mark_initials(&mut self) {
        const NEAR: usize = 4;
        let mut last: Option<usize> = None;
        for at in 0..self.lines.len() {
            if self.lines[at].depth > 0 {
                continue;
            }
            let words = self.words(at);
            let Some((depth, length)) = initials(words) else {
                continue;
            };
            let name = &words[..words.find('>').unwrap_or(0)];
            let before = last.filter(|&last| {
                at - last <= NEAR
                    && self.text[self.lines[last].start as usize..]
                        .trim_start()
                        .starts_with(name)
            });
            last = Some(at);
            let Some(before) = before else { continue };
            if self.lines[before].depth == 0
                && let Some((depth, length)) = initials(self.words(before))
            {
                self.lines[before].depth = depth;
                self.lines[before].words += length as u32;
            }
            self.lines[at].depth = depth;
            self.lines[at].words += length as u32;
        }
    }
}

/// Where the next colon may stand, from a place on: 0xef starts the full-width one.
fn next_colon(text: &str, from: usize) -> usize {
    memchr2(b':', 0xef, &text.as_bytes()[from..]).map_or(usize::MAX, |at| from + at)
}

/// A line without the white space at its end, which seldom is any but blanks.
fn without_white_end(line: &str) -> &str {
    let line = line.trim_ascii_end();
    match line.as_bytes().last() {
        Some(b'!'..=b'~') | None => line,
        _ => line.trim_end(),
    }
}

/// How often the quoting styles occur that count only in runs.
#[derive(Default)]
struct OtherStyles {
    bars: usize,
    colons: usize,
    initials: usize,
}

impl OtherStyles {
    fn see(&mut self, words: &str) {
        match words.as_bytes().first() {
            Some(b'|') => self.bars += 1,
            Some(b':') => self.colons += 1,
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.initials += usize::from(initials(words).is_some());
            }
            _ => {}
        }
    }
}

/// `| ` or `: `, once or several times, and how long that is.
fn repeated_marks(words: &str, mark: u8) -> (u8, usize) {
    let bytes = words.as_bytes();
    let (mut depth, mut at) = (0u8, 0);
    while bytes.get(at) == Some(&mark) && matches!(bytes.get(at + 1), None | Some(b' ' | b'\t')) {
        depth = depth.saturating_add(1);
        at += 1;
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
    }
    (depth, at)
}

/// `JD> `: one to four letters directly before marks that are followed by a space or nothing.
fn initials(words: &str) -> Option<(u8, usize)> {
    let letters = match words.as_bytes() {
        [_, b'>', ..] => 1,
        [_, _, b'>', ..] => 2,
        [_, _, _, b'>', ..] => 3,
        [_, _, _, _, b'>', ..] => 4,
        _ => return None,
    };
    if !words.bytes().take(letters).all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    let (depth, marks) = quote_marks(&words[letters..]);
    let end = letters + marks;
    let spaced = end == words.len() || words[..end].ends_with([' ', '\t', '\u{a0}']);
    spaced.then_some((depth, end))
}

/// Where the words of a line start: how many quote marks stand before it, and the byte length of
/// those marks and the white space around them.
///
/// Only marks that need no neighbours to be known count here: `>` and its full-width form.
/// `>From ` is how mailbox files protect a line that starts with "From ", so it is no quotation.
///
/// ```
/// use twicetold_mail::segment::quote_marks;
/// assert_eq!(quote_marks("> > text"), (2, 4));
/// assert_eq!(quote_marks("  text"), (0, 2));
/// assert_eq!(quote_marks(">From here on"), (0, 0));
/// ```
#[inline]
pub fn quote_marks(line: &str) -> (u8, usize) {
    match line.as_bytes().first() {
        // Most lines start with a letter.
        Some(byte) if byte.is_ascii_alphanumeric() => (0, 0),
        None => (0, 0),
        _ => marks_and_blanks(line),
    }
}

/// What follows a mark in a line that has been quoted many times.
const EIGHT_MARKS: &[u8; 16] = b" > > > > > > > >";

/// The same for a line that may start with marks or white space.
fn marks_and_blanks(line: &str) -> (u8, usize) {
    if line.starts_with(">From ") {
        return (0, 0);
    }
    let bytes = line.as_bytes();
    let (mut depth, mut at) = (0u8, 0);
    loop {
        let mut blanks = 0;
        let mut next = at;
        while let Some(length) = blank(&bytes[next..]) {
            next += length;
            blanks += 1;
        }
        let mark = mark(&bytes[next..]);
        if mark == 0 || (depth > 0 && blanks > BLANKS_BETWEEN_MARKS) {
            return (depth, next);
        }
        depth = depth.saturating_add(1);
        at = next + mark;
        // Deep quotations are read eight marks at a time.
        while bytes[at..].starts_with(EIGHT_MARKS) {
            depth = depth.saturating_add(8);
            at += EIGHT_MARKS.len();
        }
    }
}

/// Where the words of a line start in a segment of this depth, whatever the style of its marks:
/// also `| `, `: ` and initials, which [`segment`](super::segment) knows from the lines around.
pub fn marks_length(line: &str, depth: u8) -> usize {
    let (found, length) = quote_marks(line);
    if found > 0 || depth == 0 {
        return length;
    }
    let words = &line[length..];
    if let Some((_, marks)) = initials(words) {
        return length + marks;
    }
    length
        + repeated_marks(words, b'|')
            .1
            .max(repeated_marks(words, b':').1)
}

/// The length of the white space character at the start.
fn blank(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => Some(1),
        [0xc2, 0xa0, ..] => Some(2),
        [0xe3, 0x80, 0x80, ..] => Some(3),
        // Zero-width and directional marks take no room.
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xaf, ..] => Some(3),
        [0xef, 0xbb, 0xbf, ..] => Some(3),
        _ => None,
    }
}

/// The length of the quote mark at the start; 0 if there is none.
fn mark(bytes: &[u8]) -> usize {
    match bytes {
        [b'>', ..] => 1,
        [0xef, 0xbc, 0x9e, ..] => 3,
        _ => 0,
    }
}

/// The longest beginning of a text that has at most `length` bytes.
pub(super) fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}
