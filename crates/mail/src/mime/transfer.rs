//! Content transfer encodings (RFC 2045), read leniently: nothing is refused.

use std::borrow::Cow;

use memchr::memchr;

/// How the bytes of a part were made fit for transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// 7bit, 8bit, binary: as they are.
    Plain,
    QuotedPrintable,
    Base64,
    Uuencode,
    /// A name nobody knows.
    Unknown(String),
}

impl Transfer {
    /// Understands the value of `Content-Transfer-Encoding`.
    pub(super) fn named(raw: &[u8]) -> Self {
        let name = super::encoded::raw_text(raw, None).to_ascii_lowercase();
        let name = name
            .split([';', ' ', '('])
            .next()
            .unwrap_or_default()
            .trim_matches('"');
        match name {
            "" | "7bit" | "8bit" | "binary" | "7-bit" | "8-bit" | "7bits" | "8bits" | "none" => {
                Self::Plain
            }
            "quoted-printable" | "quotedprintable" | "quoted_printable" | "qp" => {
                Self::QuotedPrintable
            }
            "base64" | "base-64" => Self::Base64,
            "x-uuencode" | "uuencode" | "x-uue" | "uue" => Self::Uuencode,
            other => Self::Unknown(super::clean::short(other)),
        }
    }

    /// The bytes as they were before transport.
    ///
    /// `text` says that they are text: lines that a mailing list appended behind base64 are then
    /// kept as they stand.
    pub(super) fn decode<'a>(&self, bytes: &'a [u8], text: bool) -> Cow<'a, [u8]> {
        match self {
            Self::QuotedPrintable => Cow::Owned(quoted_printable(bytes)),
            Self::Base64 => Cow::Owned(base64(bytes, text)),
            Self::Uuencode => Cow::Owned(super::uuencode::decode_part(bytes)),
            Self::Plain | Self::Unknown(_) => Cow::Borrowed(bytes),
        }
    }
}

/// Whether bytes with no named encoding are quoted-printable all the same: lines end softly, and nearly every `=` starts
/// an escape.
pub(super) fn is_quoted_printable(bytes: &[u8]) -> bool {
    let start = bytes.get(..1 << 16).unwrap_or(bytes);
    let (mut soft, mut escaped, mut other) = (0, 0, 0);
    for at in memchr::memchr_iter(b'=', start) {
        match &start[at + 1..] {
            [b'\n', ..] | [b'\r', b'\n', ..] => soft += 1,
            [high, low, ..] if hex_pair(*high, *low).is_some() => escaped += 1,
            _ => other += 1,
        }
    }
    soft >= 2 && escaped >= 1 && other * 10 <= soft + escaped
}

/// Undoes quoted-printable; an `=` that starts nothing stays.
pub(super) fn quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr(b'=', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let [high, low, after @ ..] = rest
            && let Some(byte) = hex_pair(*high, *low)
        {
            out.push(byte);
            rest = after;
            continue;
        }
        let blanks = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        match &rest[blanks..] {
            [b'\r', b'\n', after @ ..] | [b'\n' | b'\r', after @ ..] => rest = after,
            [] => rest = &[],
            _ => out.push(b'='),
        }
    }
    out.extend_from_slice(rest);
    out
}

/// The byte written with two hexadecimal digits.
pub(super) fn hex_pair(high: u8, low: u8) -> Option<u8> {
    let digit = |b: u8| (b as char).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

const SKIP: u8 = 255;
const PAD: u8 = 254;
const BASE64: [u8; 256] = {
    let mut table = [SKIP; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut i = 0;
    while i < 64 {
        table[alphabet[i] as usize] = i as u8;
        i += 1;
    }
    // The alphabet for addresses of RFC 4648 turns up as well.
    table[b'-' as usize] = 62;
    table[b'_' as usize] = 63;
    table[b'=' as usize] = PAD;
    table
};

/// Undoes base64; skips what does not belong to it, needs no padding.
pub(super) fn base64(bytes: &[u8], text: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3 + 3);
    let (mut quantum, mut digits) = (0u32, 0u32);
    // Where a text that follows the padding would have to begin before.
    let foreign = || {
        bytes
            .trim_ascii_end()
            .iter()
            .rposition(|b| BASE64[*b as usize] == SKIP && !matches!(b, b'\r' | b'\n'))
    };
    let mut last_foreign = None;
    let mut i = 0;
    while i < bytes.len() {
        // Whole groups of four are by far the commonest, and many of them in a row.
        if digits == 0
            && let Some(coded) = bytes.get(i..).and_then(<[u8]>::first_chunk)
            && let Some(plain) = eight_groups(coded)
        {
            out.extend_from_slice(&plain);
            i += coded.len();
            continue;
        }
        if digits == 0
            && let Some([a, b, c, d]) = bytes.get(i..i + 4)
        {
            let (a, b) = (BASE64[*a as usize], BASE64[*b as usize]);
            let (c, d) = (BASE64[*c as usize], BASE64[*d as usize]);
            if (a | b | c | d) < 64 {
                out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
                i += 4;
                continue;
            }
        }
        let value = BASE64[bytes[i] as usize];
        i += 1;
        if value < 64 {
            quantum = quantum << 6 | u32::from(value);
            digits += 1;
            if digits == 4 {
                out.extend_from_slice(&quantum.to_be_bytes()[1..]);
                (quantum, digits) = (0, 0);
            }
        } else if value == PAD {
            flush(quantum, digits, &mut out);
            (quantum, digits) = (0, 0);
            if text
                && last_foreign
                    .get_or_insert_with(foreign)
                    .is_some_and(|last| last >= i)
            {
                let rest = bytes[i..].trim_ascii();
                let rest = rest.strip_prefix(b"=").unwrap_or(rest).trim_ascii_start();
                out.push(b'\n');
                out.extend_from_slice(rest);
                return out;
            }
        }
    }
    flush(quantum, digits, &mut out);
    out
}

/// Undoes eight groups of four at once, if nothing else is among them.
#[inline]
fn eight_groups(coded: &[u8; 32]) -> Option<[u8; 24]> {
    let mut plain = [0; 24];
    let mut all = 0;
    for (four, three) in coded.chunks_exact(4).zip(plain.chunks_exact_mut(3)) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|n| BASE64[four[n] as usize]);
        all |= a | b | c | d;
        three.copy_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    (all < 64).then_some(plain)
}

/// Whether bytes called base64 are something else: more than half of what begins them stands on
/// lines that base64 would not have.
pub(super) fn is_not_base64(bytes: &[u8]) -> bool {
    let start = bytes.get(..4096).unwrap_or(bytes);
    let (mut fits, mut foreign) = (0, 0);
    for line in start
        .split(|b| matches!(b, b'\r' | b'\n'))
        .map(<[u8]>::trim_ascii)
    {
        let strange = line.iter().filter(|b| BASE64[**b as usize] == SKIP).count();
        *(if strange * 10 <= line.len() {
            &mut fits
        } else {
            &mut foreign
        }) += line.len();
    }
    foreign > fits
}

/// Writes the whole bytes of an unfinished group.
fn flush(quantum: u32, digits: u32, out: &mut Vec<u8>) {
    match digits {
        2 => out.push((quantum >> 4) as u8),
        3 => out.extend_from_slice(&[(quantum >> 10) as u8, (quantum >> 2) as u8]),
        _ => {}
    }
}
