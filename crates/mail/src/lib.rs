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

use twicetold_model::{Document, Form};
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
    let visible = match form {
        Form::Mail => mime::open(bytes),
        Form::Text => mime::open_text(bytes),
        Form::Json => mime::open_json(bytes),
        Form::Sgml => mime::open_sgml(bytes),
    };
    let segments = segment::segment(&visible.text, &visible.envelope);
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
