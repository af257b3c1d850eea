//! Reading no more of a message than somebody asks for.
//!
//! A verdict needs everything a message says, and what each line is for; a fingerprint often needs the text alone. What
//! is not mail is taken as it stands: all of it is content, so nothing is spent on telling greetings from text.

use twicetold_model::{Document, Form, Segment, SegmentKind, Sentence};

use crate::{html, mime, segment, words};

/// What somebody asks for besides envelope and text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Which lines are content, and which packaging.
    pub segments: bool,
    /// Words and sentences; needs segments, and gets them.
    pub words: bool,
    /// How the HTML is laid out.
    pub layout: bool,
}

impl Wants {
    /// What either of two asks for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            segments: self.segments | other.segments,
            words: self.words | other.words,
            layout: self.layout | other.layout,
        }
    }
}

/// Reads of a message what is wanted.
///
/// A message of the form [`Form::Mail`] comes as [`crate::read`] gives it, less what is not wanted. Everything else is
/// one segment of own text, and its words are one sentence.
///
/// ```
/// use twicetold_mail::{Wants, read_wanted};
/// use twicetold_model::Form;
///
/// let line = br#"{"id": 7, "text": "At noon?\nKind regards"}"#;
/// let document = read_wanted(Form::Json, line, Wants { words: true, ..Wants::default() });
/// assert_eq!(document.envelope.message_id.as_deref(), Some("7"));
/// assert_eq!((document.words.len(), document.sentences.len()), (4, 1));
/// ```
pub fn read_wanted(form: Form, bytes: &[u8], wants: Wants) -> Document {
    let visible = mime::open_as(form, bytes);
    let mut document = Document {
        envelope: visible.envelope,
        text: visible.text,
        attachments: visible.attachments,
        links: visible.links,
        problems: visible.problems,
        ..Document::default()
    };
    if wants.layout {
        document.layout = html::tags::layout_of(form, bytes).map(Box::new);
    }
    if !wants.segments && !wants.words {
        return document;
    }
    if form == Form::Mail {
        document.segments = segment::segment(&document.text, &document.envelope);
        if wants.words {
            words::read_words(&mut document);
        }
        return document;
    }
    document.segments = vec![Segment {
        kind: SegmentKind::Own,
        depth: 0,
        start: 0,
        // Messages of half a gigabyte are passed over before they get here.
        end: u32::try_from(document.text.len()).unwrap_or(u32::MAX),
    }];
    if wants.words {
        words::split_words(&mut document);
        let count = document.words.len() as u32;
        if count > 0 {
            document.sentences = vec![Sentence {
                words: 0..count,
                segment: 0,
            }];
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &[u8] =
        b"From: a@b.example\nContent-Type: text/html\n\n<p>Dear all,</p><p>The hall is booked.</p>";

    #[test]
    fn mail_is_read_as_ever_less_what_is_not_wanted() {
        let whole = crate::read(Form::Mail, MAIL);
        let all = Wants {
            segments: true,
            words: true,
            layout: true,
        };
        let wanted = read_wanted(Form::Mail, MAIL, all);
        assert_eq!(wanted.text, whole.text);
        assert_eq!(wanted.segments, whole.segments);
        assert_eq!(wanted.words, whole.words);
        assert_eq!(wanted.sentences, whole.sentences);
        assert!(wanted.layout.is_some());
        let text = read_wanted(Form::Mail, MAIL, Wants::default());
        assert_eq!(text.text, whole.text);
        assert!(text.words.is_empty() && text.segments.is_empty() && text.layout.is_none());
    }

    #[test]
    fn the_words_of_a_text_are_those_of_a_full_reading() {
        let text = "Dear all,\n\nthe hall, 3 rooms, isn't booked: see http://a.example/x.\n> quoted 東京\n";
        let whole = crate::read(Form::Text, text.as_bytes());
        let words = Wants {
            words: true,
            ..Wants::default()
        };
        let wanted = read_wanted(Form::Text, text.as_bytes(), words);
        let hashes = |document: &Document| -> Vec<u64> {
            document.words.iter().map(|word| word.hash).collect()
        };
        assert_eq!(hashes(&wanted), hashes(&whole));
        assert_eq!(wanted.segments.len(), 1);
    }
}
