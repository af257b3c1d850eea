//! What does this message say?
//!
//! Bytes come in, a [`Document`] comes out: `mime` and `html` find the text a reader would see,
//! `segment` tells own words from quoted ones and content from packaging, `words` cuts it into words
//! and sentences. Reading never fails and does no I/O: hostile bytes give a document with problems.

mod ascii;
pub mod html;
pub mod mime;
pub mod segment;
mod wanted;
pub mod words;

use twicetold_model::{Document, Form, Segment};
pub use wanted::{Wants, read_wanted};

/// Reads a message of the given form.
///
/// ```
/// use twicetold_model::Form;
/// let document = twicetold_mail::read(Form::Mail, b"Subject: Lunch\r\n\r\nAt noon?\r\n");
/// assert_eq!(document.envelope.subject, "Lunch");
/// assert_eq!(document.words.len(), 2);
/// ```
pub fn read(form: Form, bytes: &[u8]) -> Document {
    read_again(form, bytes, Vec::new())
}

/// Reads on in a document of which nothing was [wanted](read_wanted) but envelope and text: then it is as if [`read`] had read it.
///
/// ```
/// use twicetold_mail::{Wants, read, read_on, read_wanted};
/// use twicetold_model::Form;
/// let mail = b"Subject: Lunch\r\n\r\nAt noon?\r\n";
/// let mut document = read_wanted(Form::Mail, mail, Wants::default());
/// assert!(document.words.is_empty());
/// read_on(&mut document);
/// assert_eq!(document.words, read(Form::Mail, mail).words);
/// ```
pub fn read_on(document: &mut Document) {
    document.segments = segment::segment(&document.text, &document.envelope);
    words::read_words(document);
}

/// Reads a message that was read before: `segments` are those that it had then. If they cannot be those of its text they
/// are found out again, as they are if there are none; else nothing is read of its headers but who wrote it, and about what.
///
/// ```
/// use twicetold_model::Form;
/// let mail = b"Subject: Lunch\r\n\r\nAt noon?\r\n\r\nKind regards\r\nAnna\r\n";
/// let document = twicetold_mail::read(Form::Mail, mail);
/// let again = twicetold_mail::read_again(Form::Mail, mail, document.segments.clone());
/// assert_eq!(again.segments, document.segments);
/// assert_eq!(again.sentences, document.sentences);
/// ```
pub fn read_again(form: Form, bytes: &[u8], segments: Vec<Segment>) -> Document {
    let known = || {
        let visible = mime::open_again(form, bytes);
        segment::may_be_of(&visible.text, &segments).then_some(visible)
    };
    let (visible, segments) = match (!segments.is_empty()).then(known).flatten() {
        Some(visible) => (visible, segments),
        None => {
            let visible = mime::open_as(form, bytes);
            let segments = segment::segment(&visible.text, &visible.envelope);
            (visible, segments)
        }
    };
    let mut document = Document {
        envelope: visible.envelope,
        text: visible.text,
        segments,
        attachments: visible.attachments,
        links: visible.links,
        problems: visible.problems,
        ..Document::default()
    };
    words::read_words(&mut document);
    document
}
