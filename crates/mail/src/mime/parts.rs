//! The parts of a message, walked in order: text is collected, the rest is attached.
//!
//! Depth is limited, so the walk may call itself; every level looks once for its own boundary.

use twicetold_model::{Attachment, Problem};

use super::alternatives::{self, Rendering};
use super::boundary;
use super::headers::{Field, Headers};
use super::params::Valued;
use super::transfer::{self, Transfer};
use super::{charset, clean, encoded, flowed, uuencode};
use crate::html;

/// Parts nested deeper than this are taken as text.
const DEEPEST: usize = 100;
/// What a transfer-encoded message inside a message counts: each one is copied.
const ENCODED_MESSAGE: usize = 10;
/// Alternatives nested deeper than this are shown one after the other.
const DEEPEST_ALTERNATIVE: usize = 8;
/// More problems than this help nobody.
const MOST_PROBLEMS: usize = 20;

/// What the walk collects.
#[derive(Default)]
pub(super) struct Content {
    pub(super) text: String,
    /// Whether some of the text comes from HTML.
    html: bool,
    /// A character set named in the headers, for text that names none.
    hint: Option<String>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) links: Vec<String>,
    pub(super) problems: Vec<Problem>,
}

/// How deep the walk is.
#[derive(Clone, Copy, Default)]
struct Depth {
    parts: usize,
    alternatives: usize,
}

/// Walks a message whose headers have been read.
pub(super) fn message(headers: &Headers<'_>) -> Content {
    let mut content = Content {
        hint: charset_hint(headers),
        ..Content::default()
    };
    content.part(headers, "text/plain", Depth::default());
    content
}

impl Content {
    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn part(&mut self, headers: &Headers<'_>, default_type: &str, mut depth: Depth) {
        let mut kind = headers
            .get(Field::ContentType)
            .map(Valued::parse)
            .unwrap_or_default();
        if !kind.value.contains('/') {
            kind.value = if kind.value.is_empty() {
                default_type
            } else {
                "text/plain"
            }
            .to_owned();
        }
        let disposition = headers
            .get(Field::Disposition)
            .map(Valued::parse)
            .unwrap_or_default();
        let part = Part {
            headers,
            kind,
            disposition,
        };
        depth.parts += 1;
        if depth.parts > DEEPEST {
            self.problem(Problem::new(
                "parts are nested too deeply; the innermost are read as text",
            ));
            self.plain(&part, part.headers.body);
            return;
        }
        let media_type = part.kind.value.as_str();
        if media_type.starts_with("multipart/") {
            self.multipart(&part, depth);
        } else if matches!(
            media_type,
            "message/rfc822" | "message/global" | "message/news"
        ) {
            self.attached_message(&part, depth);
        } else if is_signature(media_type) {
            // Says who wrote the message, not what it says.
        } else if part.disposition.value == "attachment" {
            self.attach(&part);
        } else {
            match media_type {
                "text/html" | "application/xhtml+xml" => self.html(&part),
                "text/enriched" | "text/richtext" => self.enriched(&part),
                "text/plain"
                | "text/markdown"
                | "text/x-markdown"
                | "text/x-patch"
                | "text/x-diff"
                | "text/rfc822-headers"
                | "message/delivery-status"
                | "message/disposition-notification"
                | "message/feedback-report" => {
                    let bytes = self.decoded(&part, true);
                    self.plain(&part, &bytes);
                }
                _ => self.attach(&part),
            }
        }
    }

    fn multipart(&mut self, part: &Part<'_>, mut depth: Depth) {
        let body = part.headers.body;
        let boundary = part
            .kind
            .get("boundary")
            .map(str::trim_end)
            .filter(|b| !b.is_empty());
        let mut pieces = boundary.and_then(|boundary| boundary::split(body, boundary.as_bytes()));
        if pieces.is_none() && !body.trim_ascii().is_empty() {
            self.problem(Problem::new(
                "the parts of a multipart message cannot be told apart",
            ));
            pieces = boundary::apparent(body).and_then(|found| boundary::split(body, found));
            if pieces.is_none() {
                self.plain(part, body);
            }
        }
        let Some(pieces) = pieces else { return };
        let subtype = &part.kind.value["multipart/".len()..];
        let default_type = if subtype == "digest" {
            "message/rfc822"
        } else {
            "text/plain"
        };
        depth.alternatives += usize::from(subtype == "alternative");
        if subtype != "alternative" || depth.alternatives > DEEPEST_ALTERNATIVE {
            for piece in pieces {
                self.part(&Headers::of_part(piece), default_type, depth);
            }
            return;
        }
        let mut renderings = Vec::new();
        for piece in pieces {
            let headers = Headers::of_part(piece);
            if is_extra_alternative(&headers) {
                continue;
            }
            let mut content = Content {
                hint: self.hint.clone(),
                ..Content::default()
            };
            content.part(&headers, default_type, depth);
            self.attachments.append(&mut content.attachments);
            self.links.extend_from_slice(&content.links);
            content
                .problems
                .into_iter()
                .for_each(|problem| self.problem(problem));
            renderings.push(Rendering {
                text: content.text,
                html: content.html,
                links: content.links,
            });
        }
        let (text, html) = alternatives::choose(renderings);
        alternatives::append(&mut self.text, &text);
        self.html |= html;
    }

    fn attached_message(&mut self, part: &Part<'_>, mut depth: Depth) {
        let bytes = self.decoded(part, false);
        if matches!(bytes, std::borrow::Cow::Owned(_)) {
            depth.parts += ENCODED_MESSAGE;
        }
        let headers = Headers::of_message(&bytes);
        let hint = headers.get(Field::ContentType).map(Valued::parse);
        let hint = hint.as_ref().and_then(|value| value.get("charset"));
        let mut block = String::from("-----Original Message-----\n");
        for (label, field) in [
            ("From", Field::From),
            ("Date", Field::Date),
            ("Subject", Field::Subject),
        ] {
            let value = headers
                .get(field)
                .map(|raw| encoded::decode(raw, hint).into_owned())
                .unwrap_or_default();
            if !value.is_empty() {
                block.push_str(&format!("{label}: {value}\n"));
            }
        }
        alternatives::append(&mut self.text, &block);
        let outer = std::mem::replace(&mut self.hint, charset_hint(&headers));
        self.part(&headers, "text/plain", depth);
        self.hint = outer;
    }

    /// Undoes the transfer encoding of a part.
    fn decoded<'a>(&mut self, part: &Part<'a>, text: bool) -> std::borrow::Cow<'a, [u8]> {
        let named = part.headers.get(Field::TransferEncoding);
        let transfer = match named {
            Some(name) => Transfer::named(name),
            // Archives have lost the header of many a message, not its encoding.
            None if text && transfer::is_quoted_printable(part.headers.body) => {
                Transfer::QuotedPrintable
            }
            None => Transfer::Plain,
        };
        if let Transfer::Unknown(name) = &transfer {
            self.problem(Problem::new(format!(
                "unknown transfer encoding \"{name}\""
            )));
        }
        if text && transfer == Transfer::Base64 && transfer::is_not_base64(part.headers.body) {
            self.problem(Problem::new(
                "the text is not base64, although its header says so",
            ));
            return part.headers.body.into();
        }
        transfer.decode(part.headers.body, text)
    }

    /// Decodes the characters of a part.
    fn characters<'a>(
        &mut self,
        bytes: &'a [u8],
        label: Option<&str>,
    ) -> std::borrow::Cow<'a, str> {
        let (text, problem) = charset::decode(bytes, label, self.hint.as_deref());
        problem
            .into_iter()
            .for_each(|problem| self.problem(problem));
        text
    }

    fn plain(&mut self, part: &Part<'_>, bytes: &[u8]) {
        let text = self.characters(bytes, part.charset());
        let flowed = part
            .kind
            .get("format")
            .is_some_and(|f| f.eq_ignore_ascii_case("flowed"));
        if self.text.is_empty() && !flowed {
            // The common case: nothing before, nothing to join.
            clean::append(&text, &mut self.text);
            if let Some((rest, files)) = uuencode::extract(&self.text) {
                self.text = rest;
                self.embedded(files);
            }
            return;
        }
        let mut text = clean::text(&text);
        if let Some((rest, files)) = uuencode::extract(&text) {
            text = rest;
            self.embedded(files);
        }
        if flowed {
            let delsp = part
                .kind
                .get("delsp")
                .is_some_and(|d| d.eq_ignore_ascii_case("yes"));
            text = flowed::unflow(&text, delsp);
        }
        alternatives::append(&mut self.text, &text);
    }

    fn html(&mut self, part: &Part<'_>) {
        let bytes = self.decoded(part, true);
        let declared = part
            .charset()
            .map(str::to_owned)
            .or_else(|| html::declared_charset(&bytes));
        let source = self.characters(&bytes, declared.as_deref());
        let mut page = html::read(&source);
        alternatives::append(&mut self.text, &clean::text(&page.text));
        self.links.append(&mut page.links);
        self.html = true;
    }

    fn enriched(&mut self, part: &Part<'_>) {
        let bytes = self.decoded(part, true);
        let text = self.characters(&bytes, part.charset());
        alternatives::append(&mut self.text, &super::enriched::strip(&clean::text(&text)));
    }

    fn attach(&mut self, part: &Part<'_>) {
        let bytes = self.decoded(part, false);
        let name = part
            .disposition
            .decoded("filename")
            .or_else(|| part.kind.decoded("name"));
        self.attachments
            .push(attachment(name, clean::line(&part.kind.value), &bytes));
    }

    fn embedded(&mut self, files: Vec<uuencode::Embedded>) {
        self.attachments.extend(files.into_iter().map(|file| {
            attachment(
                Some(file.name),
                "application/octet-stream".to_owned(),
                &file.bytes,
            )
        }));
    }
}

/// A part with its headers understood.
struct Part<'a> {
    headers: &'a Headers<'a>,
    kind: Valued,
    disposition: Valued,
}

impl Part<'_> {
    fn charset(&self) -> Option<&str> {
        self.kind
            .get("charset")
            .and_then(|label| label.split_whitespace().next())
    }
}

/// The character set of encoded words in the headers.
fn charset_hint(headers: &Headers<'_>) -> Option<String> {
    [Field::Subject, Field::From]
        .into_iter()
        .find_map(|field| encoded::label(headers.get(field)?))
}

fn attachment(name: Option<String>, media_type: String, bytes: &[u8]) -> Attachment {
    let digest = *blake3::hash(bytes).as_bytes();
    Attachment {
        name,
        media_type,
        size: bytes.len() as u64,
        digest,
    }
}

fn is_signature(media_type: &str) -> bool {
    matches!(
        media_type,
        "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
    )
}

/// Versions for watches and for AMP repeat the HTML and are seen by nobody else.
fn is_extra_alternative(headers: &Headers<'_>) -> bool {
    headers
        .get(Field::ContentType)
        .map(Valued::parse)
        .is_some_and(|kind| matches!(kind.value.as_str(), "text/x-amp-html" | "text/watch-html"))
}
