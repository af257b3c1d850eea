//! The HTML parts of a message, in order.
//!
//! Only what is needed to reach them: no text is decoded that is not HTML, and character sets do not
//! matter, since tags and hosts are ASCII in every set that mail is written in.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// Parts nested deeper than this are not looked into.
const DEEPEST: usize = 50;
/// More parts than this are not looked at.
const MOST_PARTS: usize = 1000;

/// The decoded HTML parts of a message; what is attached as a file is none.
pub(super) fn pages(message: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut pages = Vec::new();
    let mut waiting = vec![(message, 0)];
    let mut seen = 0;
    while let Some((part, depth)) = waiting.pop() {
        seen += 1;
        if seen > MOST_PARTS {
            break;
        }
        let (headers, body) = split_headers(part);
        let headers = Headers::read(headers);
        if headers.kind.starts_with("multipart/") && depth < DEEPEST {
            let first = waiting.len();
            if let Some(boundary) = parameter(&headers.content_type, "boundary") {
                split(body, boundary.trim_end().as_bytes(), |piece| {
                    waiting.push((piece, depth + 1))
                });
            }
            // The last in is the first out.
            waiting[first..].reverse();
        } else if headers.kind == "message/rfc822" && depth < DEEPEST {
            waiting.push((body, depth + 1));
        } else if headers.kind == "text/html" && !headers.attached {
            pages.push(headers.decode(body));
        }
    }
    pages
}

/// The headers that lead to HTML.
#[derive(Default)]
struct Headers {
    content_type: String,
    /// The media type in lower case, without parameters.
    kind: String,
    encoding: String,
    attached: bool,
}

impl Headers {
    fn read(block: &[u8]) -> Self {
        let mut found = Self::default();
        let mut lines = block.split(|b| *b == b'\n').peekable();
        while let Some(line) = lines.next() {
            if !line
                .get(..8)
                .is_some_and(|start| start.eq_ignore_ascii_case(b"content-"))
            {
                continue;
            }
            let mut value = line.to_vec();
            while let Some(more) = lines.next_if(|next| matches!(next.first(), Some(b' ' | b'\t')))
            {
                value.extend_from_slice(more);
            }
            let value = String::from_utf8_lossy(&value);
            let Some((name, value)) = value.split_once(':') else {
                continue;
            };
            let word = || {
                value
                    .split([';', '('])
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_lowercase()
            };
            match name.trim_end().to_ascii_lowercase().as_str() {
                "content-type" if found.kind.is_empty() => {
                    found.kind = word();
                    found.content_type = value.to_owned();
                }
                "content-transfer-encoding" => found.encoding = word(),
                "content-disposition" => found.attached = word() == "attachment",
                _ => {}
            }
        }
        found
    }

    fn decode<'a>(&self, body: &'a [u8]) -> Cow<'a, [u8]> {
        let plain = match self.encoding.as_str() {
            "quoted-printable" => Cow::Owned(quoted_printable(body)),
            // Some senders name base64 and then write HTML.
            "base64" if memchr(b'<', body).is_none() => Cow::Owned(base64(body)),
            _ => Cow::Borrowed(body),
        };
        let wide = parameter(&self.content_type, "charset")
            .and_then(|label| encoding_rs::Encoding::for_label(label.trim().as_bytes()))
            .filter(|set| !set.is_ascii_compatible());
        match wide {
            Some(set) => Cow::Owned(set.decode(&plain).0.into_owned().into_bytes()),
            None => plain,
        }
    }
}

fn split_headers(part: &[u8]) -> (&[u8], &[u8]) {
    if let Some(body) = part
        .strip_prefix(b"\n")
        .or_else(|| part.strip_prefix(b"\r\n"))
    {
        return (&[], body);
    }
    let mut from = 0;
    while let Some(at) = memchr(b'\n', &part[from..]) {
        from += at + 1;
        let rest = &part[from..];
        if let Some(body) = rest
            .strip_prefix(b"\n")
            .or_else(|| rest.strip_prefix(b"\r\n"))
        {
            return (&part[..from], body);
        }
    }
    (part, &[])
}

/// The value of a parameter of a header, without its quotation marks.
fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|part| {
        let (found, value) = part.split_once('=')?;
        if !found.trim().eq_ignore_ascii_case(name) {
            return None;
        }
        let value = value.trim();
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => value.split_whitespace().next()?,
        };
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// Hands on what stands between the boundary lines.
fn split<'a>(body: &'a [u8], boundary: &[u8], mut piece: impl FnMut(&'a [u8])) {
    let marker = [b"--", boundary].concat();
    let mut open = None;
    for at in memmem::find_iter(body, &marker) {
        if at > 0 && body[at - 1] != b'\n' {
            continue;
        }
        let line = &body[at + marker.len()..];
        let end = memchr(b'\n', line).unwrap_or(line.len());
        let tail = line[..end].trim_ascii_end();
        if !matches!(tail, b"" | b"--") {
            continue;
        }
        if let Some(start) = open {
            piece(body.get(start..at).unwrap_or_default());
        }
        open = Some((at + marker.len() + end + 1).min(body.len()));
        if tail == b"--" {
            return;
        }
    }
    if let Some(start) = open {
        piece(&body[start..]);
    }
}

fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr(b'=', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let byte = match rest {
            [high, low, ..] => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        if let Some(byte) = byte {
            out.push(byte);
            rest = &rest[2..];
        } else if let Some(next) = rest
            .strip_prefix(b"\r\n")
            .or_else(|| rest.strip_prefix(b"\n"))
        {
            rest = next;
        } else {
            out.push(b'=');
        }
    }
    out.extend_from_slice(rest);
    out
}

fn hex(digit: u8) -> Option<u8> {
    (digit as char)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

fn base64(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in body {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    out
}
