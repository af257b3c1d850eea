//! One message per line.

use std::ops::Range;

use memchr::memchr;

/// What was found by looking on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineStep {
    /// The next line that is not blank, without its end.
    Line(Range<usize>),
    /// The end of a line that was given up.
    GivenUp,
    /// More of the file must be in the buffer to tell.
    More,
    /// No line is left.
    End,
}

/// How far a buffer is split into lines, counted from the start of the buffer.
#[derive(Clone, Debug)]
pub(crate) struct LineCursor {
    start: usize,
    seen: usize,
    given_up: bool,
}

impl LineCursor {
    /// Begins at the start of a line.
    pub(crate) fn new(start: usize) -> Self {
        Self {
            start,
            seen: start,
            given_up: false,
        }
    }

    /// The start of the first line that is not yet complete.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// The first `by` bytes of the buffer were taken away.
    pub(crate) fn shift(&mut self, by: usize) {
        self.start -= by;
        self.seen -= by;
    }

    /// Gives the current line up; returns how many bytes are not needed to find its end.
    pub(crate) fn give_up(&mut self) -> usize {
        self.given_up = true;
        self.start = self.seen;
        self.seen
    }

    /// Looks for the end of the current line in `buffer`, which ends with the file if `at_end`.
    pub(crate) fn step(&mut self, buffer: &[u8], at_end: bool) -> LineStep {
        loop {
            let found = memchr(b'\n', &buffer[self.seen..]);
            let (line, next) = match found {
                Some(end) => (self.start..self.seen + end, self.seen + end + 1),
                None if at_end && self.start < buffer.len() => {
                    (self.start..buffer.len(), buffer.len())
                }
                None if at_end => return LineStep::End,
                None => {
                    self.seen = buffer.len();
                    return LineStep::More;
                }
            };
            self.start = next;
            self.seen = next;
            if std::mem::take(&mut self.given_up) {
                return LineStep::GivenUp;
            }
            let text = buffer[line.clone()].trim_ascii_end();
            if !text.trim_ascii_start().is_empty() {
                return LineStep::Line(line.start..line.start + text.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(file: &str) -> Vec<&str> {
        let mut cursor = LineCursor::new(0);
        let mut lines = Vec::new();
        while let LineStep::Line(line) = cursor.step(file.as_bytes(), true) {
            lines.push(&file[line]);
        }
        lines
    }

    #[test]
    fn lines() {
        assert_eq!(split("{1}\n{2}\r\n\n  \n{3}"), ["{1}", "{2}", "{3}"]);
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split("\n\n"), [""; 0]);
    }

    #[test]
    fn a_line_that_grows_is_scanned_once() {
        let mut cursor = LineCursor::new(0);
        assert_eq!(cursor.step(b"ab", false), LineStep::More);
        assert_eq!(cursor.step(b"abcd", false), LineStep::More);
        assert_eq!(cursor.step(b"abcd\ne", false), LineStep::Line(0..4));
        assert_eq!(cursor.step(b"abcd\ne", true), LineStep::Line(5..6));
        assert_eq!(cursor.step(b"abcd\ne", true), LineStep::End);
    }
}
