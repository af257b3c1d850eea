//! Many texts in one file, as the Reuters-21578 collection has them: `<REUTERS … NEWID="1">` to `</REUTERS>`.

use std::ops::Range;

use memchr::memmem;

/// The name of the element that holds a text.
const NAME: &[u8] = b"REUTERS";
/// How much may be cut off at the end of a buffer without being seen: `</REUTERS` and one byte more.
const TAIL: usize = NAME.len() + 3;

/// What was found by looking on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SgmlStep {
    /// The next text, from its start tag to its end tag.
    Text(Range<usize>),
    /// The end of a text that was given up.
    GivenUp,
    /// More of the file must be in the buffer to tell.
    More,
    /// No text is left.
    End,
}

/// A tag of the element that holds a text.
enum Tag {
    /// Where a start tag begins.
    Start(usize),
    /// Where an end tag ends.
    End(usize),
}

/// How far a buffer is split into texts, counted from the start of the buffer.
#[derive(Clone, Debug)]
pub(crate) struct SgmlCursor {
    /// The first byte that is still needed: a start tag, or what stands before it.
    start: usize,
    /// Everything before was looked at.
    seen: usize,
    /// The start tag was met, at `start`.
    inside: bool,
    given_up: bool,
}

impl SgmlCursor {
    /// Begins before a start tag.
    pub(crate) fn new(start: usize) -> Self {
        Self {
            start,
            seen: start,
            inside: false,
            given_up: false,
        }
    }

    /// The start of what is not yet complete.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// The first `by` bytes of the buffer were taken away.
    pub(crate) fn shift(&mut self, by: usize) {
        self.start -= by;
        self.seen -= by;
    }

    /// Gives the current text up; returns how many bytes are not needed to find its end.
    pub(crate) fn give_up(&mut self) -> usize {
        self.given_up = true;
        self.start = self.seen;
        self.seen
    }

    /// Looks for the end of the current text in `buffer`, which ends with the file if `at_end`.
    pub(crate) fn step(&mut self, buffer: &[u8], at_end: bool) -> SgmlStep {
        loop {
            match self.next_tag(buffer, at_end) {
                Some(Tag::Start(at)) => {
                    let before = self.start..at;
                    let (was_inside, given_up) = (self.inside, std::mem::take(&mut self.given_up));
                    self.start = at;
                    self.inside = true;
                    if given_up {
                        return SgmlStep::GivenUp;
                    }
                    // An end tag is missing: the next text ends this one.
                    if was_inside {
                        return SgmlStep::Text(trimmed(buffer, before));
                    }
                }
                Some(Tag::End(end)) => {
                    let text = self.start..end;
                    self.start = end;
                    let was_inside = std::mem::take(&mut self.inside);
                    if std::mem::take(&mut self.given_up) {
                        return SgmlStep::GivenUp;
                    }
                    if was_inside {
                        return SgmlStep::Text(text);
                    }
                }
                None if !at_end => return SgmlStep::More,
                None => {
                    let rest = self.start..buffer.len();
                    self.start = buffer.len();
                    self.seen = buffer.len();
                    if std::mem::take(&mut self.given_up) {
                        self.inside = false;
                        return SgmlStep::GivenUp;
                    }
                    return if std::mem::take(&mut self.inside) {
                        SgmlStep::Text(trimmed(buffer, rest))
                    } else {
                        SgmlStep::End
                    };
                }
            }
        }
    }

    /// The next start or end tag that is known to be one.
    fn next_tag(&mut self, buffer: &[u8], at_end: bool) -> Option<Tag> {
        while let Some(found) = memmem::find(&buffer[self.seen..], NAME) {
            let at = self.seen + found;
            let after = at + NAME.len();
            if after >= buffer.len() && !at_end {
                // Only the byte behind the name tells. What stands before it must stay in the buffer.
                self.seen = at.saturating_sub(2).max(self.seen);
                return None;
            }
            self.seen = after;
            let ends_name = buffer
                .get(after)
                .is_none_or(|b| b.is_ascii_whitespace() || *b == b'>');
            let before = &buffer[..at];
            if ends_name && before.ends_with(b"</") {
                let closed = usize::from(buffer.get(after) == Some(&b'>'));
                self.seen = after + closed;
                return Some(Tag::End(after + closed));
            }
            // A tag before `start` belongs to a text that was handed out.
            if ends_name && before.ends_with(b"<") && at > self.start {
                return Some(Tag::Start(at - 1));
            }
        }
        self.seen = self.seen.max(buffer.len().saturating_sub(TAIL));
        None
    }
}

fn trimmed(buffer: &[u8], text: Range<usize>) -> Range<usize> {
    let length = buffer[text.clone()].trim_ascii_end().len();
    text.start..text.start + length
}

/// Whether a file that begins so holds texts of this kind.
pub(crate) fn is_sgml(head: &[u8]) -> bool {
    let Some(tag) = memmem::find(head, b"<REUTERS ") else {
        return false;
    };
    let line = head[tag..].split(|&b| b == b'>').next().unwrap_or_default();
    // Nothing stands before the first text but declarations.
    let declared = head[..tag]
        .split(|&b| b == b'\n')
        .map(<[u8]>::trim_ascii)
        .all(|line| line.is_empty() || line.starts_with(b"<") && line.ends_with(b">"));
    declared && memmem::find(line, b"NEWID=").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Vec<&str> {
        let mut cursor = SgmlCursor::new(0);
        let mut texts = Vec::new();
        loop {
            match cursor.step(file.as_bytes(), true) {
                SgmlStep::Text(range) => texts.push(&file[range]),
                SgmlStep::End => return texts,
                step => panic!("{step:?}"),
            }
        }
    }

    #[test]
    fn texts_are_split() {
        let one = "<REUTERS NEWID=\"1\">\na\n</REUTERS>";
        let two = "<REUTERS NEWID=\"2\"></REUTERS>";
        assert_eq!(texts(&format!("{one}\n{two}\n")), [one, two]);
        assert_eq!(texts(&format!("<DATA>\n{one}{two}\n</DATA>")), [one, two]);
        assert_eq!(texts(""), [""; 0]);
        assert_eq!(texts("REUTERS <REUTERSX> </REUTERS>"), [""; 0]);
    }

    #[test]
    fn a_missing_end_tag_loses_nothing() {
        assert_eq!(
            texts("<REUTERS NEWID=\"1\">a\n<REUTERS NEWID=\"2\">b\n\n"),
            ["<REUTERS NEWID=\"1\">a", "<REUTERS NEWID=\"2\">b"]
        );
        assert_eq!(texts("<REUTERS>a</REUTERS"), ["<REUTERS>a</REUTERS"]);
    }

    #[test]
    fn files_are_known_by_their_beginning() {
        for good in [
            "<REUTERS TOPICS=\"YES\" NEWID=\"1\">\n",
            "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n<REUTERS NEWID=\"1\">",
            "\n<DATA>\r\n<REUTERS OLDID=\"1\" NEWID=\"1\">",
        ] {
            assert!(is_sgml(good.as_bytes()), "{good}");
        }
        for other in [
            "",
            "<REUTERS>",
            "<html><REUTERS x>",
            "A note on <REUTERS NEWID=\"1\">",
            "<p>\ntext\n<REUTERS NEWID=\"1\">",
        ] {
            assert!(!is_sgml(other.as_bytes()), "{other}");
        }
    }
}
