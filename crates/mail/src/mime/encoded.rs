//! Header values as people read them: unfolded, encoded words (RFC 2047) and raw 8-bit decoded.

use std::borrow::Cow;

use super::{charset, clean, transfer};

/// A header value unfolded, encoded words decoded, on one clean line.
pub(super) fn decode<'a>(raw: &'a [u8], hint: Option<&str>) -> Cow<'a, str> {
    match raw_text(raw, hint) {
        Cow::Borrowed(text) => words(text, hint),
        Cow::Owned(text) => Cow::Owned(words(&text, hint).into_owned()),
    }
}

/// A text with its encoded words decoded, on one clean line.
pub(super) fn words<'a>(text: &'a str, hint: Option<&str>) -> Cow<'a, str> {
    match decode_str(text, hint) {
        Cow::Borrowed(text) => clean::on_one_line(text),
        Cow::Owned(text) => Cow::Owned(clean::line(&text)),
    }
}

/// A header value unfolded and as characters, encoded words still in place.
///
/// `hint` names the character set of the body, the best guess for raw 8-bit headers.
pub(super) fn raw_text<'a>(raw: &'a [u8], hint: Option<&str>) -> Cow<'a, str> {
    let text: Cow<'_, str> = match std::str::from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => charset::decode(raw, None, hint).0,
    };
    if memchr::memchr2(b'\r', b'\n', text.as_bytes()).is_none() {
        return match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(end) = memchr::memchr2(b'\r', b'\n', rest.as_bytes()) {
        out.push_str(&rest[..end]);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    let start = out.len() - out.trim_start().len();
    out.drain(..start);
    out.truncate(out.trim_end().len());
    Cow::Owned(out)
}

/// RFC 2047 allows 75 bytes; programs that ignore it stay well below this.
const LONGEST_WORD: usize = 4_000;

struct Run<'a> {
    label: &'a str,
    bytes: Vec<u8>,
}

impl Run<'_> {
    fn finish(self, out: &mut String, hint: Option<&str>) {
        if std::str::from_utf8(&self.bytes).is_err() && charset::lookup(self.label).is_none() {
            out.push_str(&charset::decode(&self.bytes, None, hint).0);
        } else {
            out.push_str(&charset::decode(&self.bytes, Some(self.label), hint).0);
        }
    }
}

/// Decodes the encoded words of a value.
///
/// Neighbours of one character set are decoded together, because many programs cut a character in
/// two between them; the blanks between neighbours go.
pub(super) fn decode_str<'a>(text: &'a str, hint: Option<&str>) -> Cow<'a, str> {
    if opening(text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut run: Option<Run<'_>> = None;
    let mut rest = text;
    while let Some(at) = rest.find("=?") {
        let (before, from) = rest.split_at(at);
        let Some((label, bytes, after)) = encoded_word(from) else {
            if let Some(run) = run.take() {
                run.finish(&mut out, hint);
            }
            out.push_str(before);
            out.push_str("=?");
            rest = &from[2..];
            continue;
        };
        let joined = run.is_some() && before.trim().is_empty();
        match &mut run {
            Some(open) if joined && open.label.eq_ignore_ascii_case(label) => {
                open.bytes.extend_from_slice(&bytes);
            }
            _ => {
                if let Some(run) = run.take() {
                    run.finish(&mut out, hint);
                }
                if !joined {
                    out.push_str(before);
                }
                run = Some(Run { label, bytes });
            }
        }
        rest = after;
    }
    if let Some(run) = run.take() {
        run.finish(&mut out, hint);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where the first `=?` stands. Few headers hold any `=`, and looking for one byte needs no preparation.
pub(super) fn opening(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'=', bytes).find(|at| bytes.get(at + 1) == Some(&b'?'))
}

/// The character set of the first encoded word of a value: a good guess for everything around it.
pub(super) fn label(raw: &[u8]) -> Option<String> {
    let at = opening(raw)? + 2;
    let length = raw[at..]
        .iter()
        .take(60)
        .position(|b| matches!(b, b'?' | b'*'))?;
    let label = String::from_utf8_lossy(&raw[at..at + length]).into_owned();
    charset::lookup(&label).map(|_| label)
}

/// Splits `=?charset?B?text?=` from the front: its character set, its bytes and what follows.
fn encoded_word(text: &str) -> Option<(&str, Vec<u8>, &str)> {
    let inside = text.strip_prefix("=?")?;
    // Looking for the end of a word must not be quadratic on hostile headers.
    let mut limit = inside.len().min(LONGEST_WORD);
    while !inside.is_char_boundary(limit) {
        limit -= 1;
    }
    let (window, beyond) = inside.split_at(limit);
    let (label, rest) = window.split_once('?')?;
    // RFC 2231 allows a language after the character set.
    let label = label.split('*').next().unwrap_or(label);
    if label.is_empty() || label.len() > 60 || label.contains(char::is_whitespace) {
        return None;
    }
    let (method, rest) = rest.split_once('?')?;
    let (content, after) = match method {
        "Q" | "q" | "B" | "b" => rest.split_once("?=")?,
        _ => return None,
    };
    let bytes = if method.eq_ignore_ascii_case("B") {
        transfer::base64(content.as_bytes(), false)
    } else {
        let spaced = content.replace('_', " ");
        transfer::quoted_printable(spaced.as_bytes())
    };
    let after = &inside[inside.len() - beyond.len() - after.len()..];
    Some((label, bytes, after))
}
