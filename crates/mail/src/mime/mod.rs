//! What does a reader see of these bytes?
//!
//! [`open`] reads an Internet message (RFC 5322 and MIME), [`open_text`] a plain text, [`open_json`]
//! one object of JSON lines, [`open_sgml`] a story of Reuters-21578. None of them fails: what is broken is read as far as it goes, and told
//! in [`Visible::problems`]. Time grows with the number of bytes, whatever they are.
//!
//! ```
//! let visible = twicetold_mail::mime::open(
//!     b"Subject: =?utf-8?q?Caf=C3=A9?=\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n5 =3D five",
//! );
//! assert_eq!(visible.envelope.subject, "Café");
//! assert_eq!(visible.text, "5 = five");
//! ```

mod address;
mod alternatives;
mod boundary;
mod charset;
mod clean;
mod date;
mod encoded;
mod enriched;
mod envelope;
mod flowed;
mod headers;
mod json;
mod params;
mod parts;
mod sgml;
mod shifted;
mod transfer;
mod uuencode;

use twicetold_model::{Attachment, Envelope, Form, Problem};

use crate::html;
pub use crate::html::link_hash;
use headers::Headers;

/// What a reader sees of a message.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// Who, when, about what.
    pub envelope: Envelope,
    /// The text, lines ended by `\n`, quoted lines marked with `>`.
    pub text: String,
    /// What is attached, in order of appearance.
    pub attachments: Vec<Attachment>,
    /// [`link_hash`]es of link targets that the text does not show, sorted, each once.
    pub links: Vec<u64>,
    /// What was wrong.
    pub problems: Vec<Problem>,
}

impl Visible {
    /// Whether there is nothing to read: no text but blanks, and nothing attached.
    pub fn is_blank(&self) -> bool {
        self.attachments.is_empty() && self.text.trim().is_empty()
    }

    /// Tells of a message that has nothing at all, not even a subject or a sender.
    fn note_empty(&mut self) {
        let said = !self.envelope.subject.is_empty() || !self.envelope.from.is_empty();
        if self.is_blank() && !said && self.problems.is_empty() {
            self.problems.push(Problem::new("the message is empty"));
        }
    }
}

/// Reads a message of the given form.
pub(crate) fn open_as(form: Form, bytes: &[u8]) -> Visible {
    match form {
        Form::Mail => open(bytes),
        Form::Text => open_text(bytes),
        Form::Json => open_json(bytes),
        Form::Sgml => open_sgml(bytes),
    }
}

/// The same of a message of whose headers nothing is asked but who wrote it, and about what.
pub(crate) fn open_again(form: Form, bytes: &[u8]) -> Visible {
    match form {
        Form::Mail => open_with(bytes, |headers, _| envelope::brief(headers)),
        _ => open_as(form, bytes),
    }
}

/// Reads an Internet message.
pub fn open(bytes: &[u8]) -> Visible {
    open_with(bytes, envelope::read)
}

fn open_with(
    bytes: &[u8],
    read: impl FnOnce(&Headers<'_>, &mut Vec<Problem>) -> Envelope,
) -> Visible {
    let headers = Headers::of_message(bytes);
    let mut problems = Vec::new();
    let envelope = if headers.is_empty() {
        Envelope::default()
    } else {
        read(&headers, &mut problems)
    };
    let mut content = parts::message(&headers);
    problems.append(&mut content.problems);
    let links = html::hidden_links(&content.links, &content.text);
    let mut visible = Visible {
        envelope,
        text: content.text,
        attachments: content.attachments,
        links,
        problems,
    };
    visible.note_empty();
    visible
}

/// Reads a text without headers.
pub fn open_text(bytes: &[u8]) -> Visible {
    let (text, _) = charset::decode(bytes, None, None);
    let mut visible = Visible {
        text: clean::text(&text),
        ..Visible::default()
    };
    visible.note_empty();
    visible
}

/// Reads one `<REUTERS>` element of the Reuters-21578 collection.
pub fn open_sgml(bytes: &[u8]) -> Visible {
    let mut visible = sgml::open(bytes);
    visible.note_empty();
    visible
}

/// Reads one object of JSON lines.
///
/// `id` is the message's identifier and `text` (or `body`, `content`) what it says; `subject` (or
/// `title`), `from` (or `author`), `date` (seconds since 1970, or ISO 8601), `references` and
/// `in_reply_to` may be given.
pub fn open_json(bytes: &[u8]) -> Visible {
    let mut visible = json::open(bytes);
    visible.note_empty();
    visible
}
