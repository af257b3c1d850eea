//! Values with parameters: `Content-Type` and `Content-Disposition` (RFC 2045, 2183, 2231).

use std::borrow::Cow;

use super::charset;
use super::encoded;

/// A header value such as `text/plain; charset=utf-8`.
#[derive(Default)]
pub(super) struct Valued {
    /// What stands before the first semicolon, in lower case.
    pub(super) value: String,
    parameters: Vec<(String, String)>,
}

impl Valued {
    /// Reads a value and its parameters; what cannot be understood is left out.
    pub(super) fn parse(raw: &[u8]) -> Self {
        let text = encoded::raw_text(raw, None);
        let mut pieces = split_outside_quotes(&text).into_iter();
        let value = pieces.next().map(without_comment).unwrap_or_default();
        let value = value
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let parameters = pieces
            .filter_map(|piece| {
                let (name, value) = piece.split_once('=')?;
                Some((name.trim().to_ascii_lowercase(), unquote(value.trim())))
            })
            .take(100)
            .collect();
        Self { value, parameters }
    }

    /// A parameter as written, without quotation marks.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }

    /// A parameter for people, such as a file name, with RFC 2231 pieces and encoded words decoded.
    pub(super) fn decoded(&self, name: &str) -> Option<String> {
        let plain = self.get(name).map(|v| encoded::decode_str(v, None));
        let value = self.extended(name).map(Cow::Owned).or(plain)?;
        let value = super::clean::line(&value);
        (!value.is_empty()).then_some(value)
    }

    /// `name*=utf-8''a%20b` and `name*0=…; name*1*=…`.
    fn extended(&self, name: &str) -> Option<String> {
        let mut pieces: Vec<(u32, bool, &str)> = Vec::new();
        for (key, value) in &self.parameters {
            let Some(rest) = key.strip_prefix(name).and_then(|k| k.strip_prefix('*')) else {
                continue;
            };
            let (number, coded) = match rest.strip_suffix('*') {
                Some(number) => (number, true),
                None => (rest, rest.is_empty()),
            };
            pieces.push((number.parse().unwrap_or(0), coded, value));
        }
        pieces.sort_by_key(|(number, ..)| *number);
        let (_, first_coded, first) = *pieces.first()?;
        let mut label = None;
        let mut bytes = Vec::new();
        for (i, (_, coded, value)) in pieces.iter().enumerate() {
            let mut value = *value;
            if i == 0 && first_coded {
                let mut marks = first.splitn(3, '\'');
                if let (Some(charset), Some(_), Some(text)) =
                    (marks.next(), marks.next(), marks.next())
                {
                    label = Some(charset);
                    value = text;
                }
            }
            if *coded {
                percent_decode(value.as_bytes(), &mut bytes);
            } else {
                bytes.extend_from_slice(value.as_bytes());
            }
        }
        Some(charset::decode(&bytes, label, None).0.into_owned())
    }
}

fn percent_decode(value: &[u8], out: &mut Vec<u8>) {
    let mut i = 0;
    while i < value.len() {
        let byte = match &value[i..] {
            [b'%', high, low, ..] => super::transfer::hex_pair(*high, *low),
            _ => None,
        };
        out.push(byte.unwrap_or(value[i]));
        i += if byte.is_some() { 3 } else { 1 };
    }
}

/// Cuts at semicolons that do not stand inside quotation marks.
fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (i, b) in text.bytes().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b';' if !quoted => {
                pieces.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces
}

fn without_comment(text: &str) -> &str {
    text.split_once(" (")
        .map_or(text, |(before, _)| before)
        .trim()
}

/// The inside of a quoted string with its escapes undone, or a bare value without a comment.
fn unquote(value: &str) -> String {
    let Some(inside) = value.strip_prefix('"') else {
        return without_comment(value).to_owned();
    };
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}
