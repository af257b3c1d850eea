//! Where does a message end and the next begin?

use std::ops::Range;

use memchr::{memchr, memmem};

use super::from_line::{LOOKAHEAD, begins_message};

/// Headers larger than this are not searched for a `Content-Length`.
const SEARCHED_HEADERS: usize = 64 * 1024;

/// Shows some bytes of the file at a distance from the start of the buffer, without moving on;
/// `None` behind the end of the file.
pub(crate) type Peek<'a> = dyn FnMut(u64, usize) -> Option<Vec<u8>> + 'a;

/// A message in a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first byte of its `From ` line.
    pub(crate) start: usize,
    /// Its bytes, between the `From ` line and the empty line that separates it from the next.
    pub(crate) content: Range<usize>,
    /// Whether `>From ` lines in it are to be unstuffed.
    pub(crate) stuffed: bool,
}

/// What was found by looking on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The next message.
    Message(Span),
    /// The end of a message that was given up with [`Cursor::give_up`].
    GivenUp,
    /// More of the file must be in the buffer to tell.
    More,
    /// No message is left.
    End,
}

/// How far a buffer is split. Everything is counted from the start of the buffer, and what was
/// looked at once is not looked at again when the buffer grows.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    start: usize,
    state: State,
    given_up: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before a `From ` line; empty lines may come first.
    Between,
    /// At the headers, whose `Content-Length` is not yet known.
    Headers { content: usize },
    /// Looking for the next `From ` line; there is none before `from`.
    Scan { content: usize, from: usize },
    /// The message is known to end at `end`.
    Until { content: usize, end: usize },
}

impl Cursor {
    /// Begins where a `From ` line is expected.
    pub(crate) fn new(start: usize) -> Self {
        Self {
            start,
            state: State::Between,
            given_up: false,
        }
    }

    /// The start of the first message that is not yet complete: what lies before is done with.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// How long the buffer must be at least to complete the message, as far as is known.
    pub(crate) fn wanted(&self) -> usize {
        match self.state {
            State::Until { end, .. } => end,
            _ => 0,
        }
    }

    /// The first `by` bytes of the buffer were taken away.
    pub(crate) fn shift(&mut self, by: usize) {
        self.start -= by;
        match &mut self.state {
            State::Between => {}
            State::Headers { content } => *content -= by,
            State::Scan { content, from } => {
                *content -= by;
                *from -= by;
            }
            State::Until { content, end } => {
                *content -= by;
                *end -= by;
            }
        }
    }

    /// Gives the current message up: it will not be handed out, only its end is looked for.
    /// Returns how many bytes of the buffer are not needed for that.
    pub(crate) fn give_up(&mut self, length: usize) -> usize {
        self.given_up = true;
        match &mut self.state {
            State::Scan { content, from } => {
                // Keep the line end before, to see whether an empty line stands there.
                let needless = from.saturating_sub(3).max(self.start);
                self.start = needless;
                *content = (*content).max(needless + 1);
                needless
            }
            State::Until { content, end } => {
                let needless = length.min(*end);
                self.start = needless;
                *content = needless;
                needless
            }
            State::Between | State::Headers { .. } => self.start,
        }
    }

    /// Looks for the end of the current message in `buffer`, which ends with the file if `at_end`.
    pub(crate) fn step(&mut self, buffer: &[u8], at_end: bool, peek: &mut Peek<'_>) -> Step {
        loop {
            self.state = match self.state {
                State::Between => {
                    let blank = buffer[self.start..]
                        .iter()
                        .take_while(|&&byte| byte == b'\n' || byte == b'\r')
                        .count();
                    self.start += blank;
                    match memchr(b'\n', &buffer[self.start..]) {
                        _ if at_end && !buffer[self.start..].starts_with(b"From ") => {
                            return Step::End;
                        }
                        Some(_) if !buffer[self.start..].starts_with(b"From ") => return Step::End,
                        Some(line) => State::Headers {
                            content: self.start + line + 1,
                        },
                        None if at_end => State::Until {
                            content: buffer.len(),
                            end: buffer.len(),
                        },
                        None => return Step::More,
                    }
                }
                State::Headers { content } => match stated_end(buffer, content, at_end, peek) {
                    Stated::Unknown => return Step::More,
                    Stated::At(end) => State::Until { content, end },
                    Stated::Nowhere => State::Scan {
                        content,
                        from: content - 1,
                    },
                },
                State::Scan { content, from } => match find_next(buffer, content, from, at_end) {
                    Next::At(next) => {
                        return self.found(without_separator(buffer, content..next), true, next);
                    }
                    Next::NotBefore(from) if !at_end => {
                        self.state = State::Scan { content, from };
                        return Step::More;
                    }
                    Next::NotBefore(_) => {
                        let end = buffer.len();
                        return self.found(without_separator(buffer, content..end), true, end);
                    }
                },
                State::Until { content, end } => {
                    if end > buffer.len() && !at_end {
                        return Step::More;
                    }
                    let end = end.min(buffer.len());
                    let bare =
                        memmem::find(&buffer[content.saturating_sub(1)..end], b"\nFrom ").is_some();
                    return self.found(content..end, !bare, end);
                }
            }
        }
    }

    fn found(&mut self, content: Range<usize>, stuffed: bool, next: usize) -> Step {
        let span = Span {
            start: self.start,
            content,
            stuffed,
        };
        self.start = next;
        self.state = State::Between;
        if std::mem::take(&mut self.given_up) {
            Step::GivenUp
        } else {
            Step::Message(span)
        }
    }
}

enum Next {
    At(usize),
    NotBefore(usize),
}

/// The next line that begins a message, at or behind the line end at `from`.
fn find_next(buffer: &[u8], content: usize, from: usize, at_end: bool) -> Next {
    for found in memmem::find_iter(&buffer[from..], b"\nFrom ") {
        let line_end = from + found;
        let line = line_end + 1;
        if !at_end && buffer.len() - line < LOOKAHEAD {
            return Next::NotBefore(line_end);
        }
        let before = &buffer[content - 1..line_end];
        let after_blank_line = before.ends_with(b"\n") || before.ends_with(b"\n\r");
        if begins_message(&buffer[line..], after_blank_line) {
            return Next::At(line);
        }
    }
    // The last bytes may be the beginning of "\nFrom ".
    Next::NotBefore(buffer.len().saturating_sub(5).max(from))
}

/// The content without the empty line that the mailbox puts behind each message.
fn without_separator(buffer: &[u8], content: Range<usize>) -> Range<usize> {
    let bytes = &buffer[content.start - 1..content.end];
    let separator = if content.is_empty() {
        0
    } else if bytes.ends_with(b"\n\n") {
        1
    } else if bytes.ends_with(b"\n\r\n") {
        2
    } else {
        0
    };
    content.start..content.end - separator
}

enum Stated {
    At(usize),
    Nowhere,
    Unknown,
}

/// Where the message ends according to its `Content-Length`, if that can be true.
fn stated_end(buffer: &[u8], content: usize, at_end: bool, peek: &mut Peek<'_>) -> Stated {
    let limit = buffer.len().min(content + SEARCHED_HEADERS);
    let mut length = None;
    let mut line = content;
    let body = loop {
        let Some(end) = memchr(b'\n', &buffer[line..limit]) else {
            let all_seen = at_end || limit - content == SEARCHED_HEADERS;
            return if all_seen {
                Stated::Nowhere
            } else {
                Stated::Unknown
            };
        };
        let text = buffer[line..line + end].trim_ascii_end();
        line += end + 1;
        if text.is_empty() {
            break line;
        }
        length = length.or_else(|| content_length(text));
    };
    let Some(end) = length.and_then(|length| body.checked_add(length)) else {
        return Stated::Nowhere;
    };
    if may_end_here(buffer, end, at_end, peek) {
        Stated::At(end)
    } else {
        Stated::Nowhere
    }
}

fn content_length(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    if !line.get(..NAME.len())?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    std::str::from_utf8(&line[NAME.len()..])
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Whether a message or the file ends at `end`, give or take two line ends.
fn may_end_here(buffer: &[u8], end: usize, at_end: bool, peek: &mut Peek<'_>) -> bool {
    const SEEN: usize = LOOKAHEAD + 5;
    let before = end - 1;
    let peeked;
    let bytes = if at_end || before + SEEN <= buffer.len() {
        if end > buffer.len() {
            return false;
        }
        &buffer[before..buffer.len().min(before + SEEN)]
    } else {
        match peek(before as u64, SEEN) {
            Some(bytes) => peeked = bytes,
            None => return false,
        }
        &peeked[..]
    };
    let Some((&before, mut rest)) = bytes.split_first() else {
        return false;
    };
    let mut line_ends = usize::from(before == b'\n');
    for _ in 0..2 {
        let Some(shorter) = rest
            .strip_prefix(b"\n")
            .or_else(|| rest.strip_prefix(b"\r\n"))
        else {
            break;
        };
        rest = shorter;
        line_ends += 1;
    }
    rest.is_empty() || line_ends >= 1 && begins_message(rest, line_ends >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a file that is in memory as a whole.
    fn split(file: &str) -> Vec<&str> {
        let mut cursor = Cursor::new(0);
        let mut messages = Vec::new();
        while let Step::Message(span) = cursor.step(file.as_bytes(), true, &mut |_, _| None) {
            assert!(file[span.start..].starts_with("From "));
            messages.push(&file[span.content]);
        }
        messages
    }

    const FROM: &str = "From a@b Thu Jan  1 00:00:00 1970\n";

    #[test]
    fn messages_lie_between_from_lines() {
        let file = format!("{FROM}Subject: 1\n\none\n\n{FROM}Subject: 2\n\ntwo\n\n");
        assert_eq!(split(&file), ["Subject: 1\n\none\n", "Subject: 2\n\ntwo\n"]);
    }

    #[test]
    fn line_ends_of_dos() {
        let file =
            format!("{FROM}Subject: 1\n\none\n\n{FROM}Subject: 2\n\ntwo\n\n").replace('\n', "\r\n");
        assert_eq!(
            split(&file),
            ["Subject: 1\r\n\r\none\r\n", "Subject: 2\r\n\r\ntwo\r\n"]
        );
    }

    #[test]
    fn odd_ends() {
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split("\n\n"), [""; 0]);
        assert_eq!(split("From a"), [""]);
        assert_eq!(split("From a\n"), [""]);
        assert_eq!(split("From a\n\n"), [""]);
        assert_eq!(split(&format!("{FROM}{FROM}A: b\n")), ["", "A: b\n"]);
        assert_eq!(split(&format!("{FROM}\n{FROM}\n")), ["", ""]);
        assert_eq!(split(&format!("\n\n{FROM}A: b\n\nx")), ["A: b\n\nx"]);
        assert_eq!(
            split(&format!("{FROM}A: b\n\n\n{FROM}A: c\n")),
            ["A: b\n\n", "A: c\n"]
        );
    }

    #[test]
    fn a_sentence_is_not_a_boundary() {
        let file = format!("{FROM}Subject: 1\n\nhello\n\nFrom now on\nall is well\n");
        assert_eq!(split(&file).len(), 1);
    }

    #[test]
    fn a_missing_empty_line_is_tolerated() {
        let file = format!("{FROM}Subject: 1\n\none\n{FROM}Subject: 2\n\ntwo\n");
        assert_eq!(split(&file), ["Subject: 1\n\none\n", "Subject: 2\n\ntwo\n"]);
    }

    #[test]
    fn a_length_that_leads_to_a_boundary_is_honoured() {
        let body = format!("x\n\n{FROM}Subject: inner\n\ny\n");
        let file = format!(
            "{FROM}Content-Length: {}\n\n{body}\n{FROM}Content-Length: {}\n\n{body}",
            body.len(),
            body.len()
        );
        let expected = format!("Content-Length: {}\n\n{body}", body.len());
        assert_eq!(split(&file), [&expected, &expected]);
    }

    #[test]
    fn a_wrong_length_is_ignored() {
        for wrong in [
            "0",
            "1",
            "9999999999999999999999",
            "18446744073709551615",
            "-1",
            "x",
            "7",
        ] {
            let file = format!("{FROM}content-length: {wrong}\n\none\n\n{FROM}Subject: 2\n\ntwo\n");
            assert_eq!(split(&file).len(), 2, "{wrong}");
        }
    }

    #[test]
    fn a_message_with_bare_from_lines_is_not_unstuffed() {
        let file = format!("{FROM}Content-Length: 16\n\n>From x\nFrom y\n\n");
        let mut cursor = Cursor::new(0);
        let step = cursor.step(file.as_bytes(), true, &mut |_, _| None);
        let Step::Message(span) = step else {
            panic!("{step:?}")
        };
        assert!(!span.stuffed);
    }
}
