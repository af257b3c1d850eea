//! Seven-bit encodings that shift between alphabets and that the Encoding Standard leaves out.

use encoding_rs::{EUC_KR, GB18030};

/// UTF-7 (RFC 2152): `+` starts UTF-16 in base64, `-` or anything else ends it.
pub(super) fn utf7(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'+' {
            let next = memchr::memchr(b'+', &bytes[i..]).map_or(bytes.len(), |at| i + at);
            out.push_str(&String::from_utf8_lossy(&bytes[i..next]));
            i = next;
            continue;
        }
        let start = i + 1;
        let length = bytes[start..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
            .count();
        let end = start + length;
        if length == 0 {
            // "+-" is a plus sign; a lone plus sign stays one.
            out.push('+');
        } else {
            let units = super::transfer::base64(&bytes[start..end], false);
            let units = units
                .chunks_exact(2)
                .map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
        i = if bytes.get(end) == Some(&b'-') {
            end + 1
        } else {
            end
        };
    }
    out
}

/// HZ (RFC 1843): `~{` starts GB 2312 in seven bits, `~}` ends it, `~~` is a tilde.
pub(super) fn hz(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut shifted = false;
    let mut i = 0;
    while i < bytes.len() {
        match &bytes[i..] {
            [b'~', b'{', ..] => (shifted, i) = (true, i + 2),
            [b'~', b'}', ..] => (shifted, i) = (false, i + 2),
            [b'~', b'~', ..] if !shifted => {
                plain.push(b'~');
                i += 2;
            }
            [b'~', b'\n', ..] if !shifted => i += 2,
            [b'\n', ..] => {
                // The shift never outlives its line.
                plain.push(b'\n');
                (shifted, i) = (false, i + 1);
            }
            [b, ..] => {
                plain.push(if shifted && b.is_ascii_graphic() {
                    b | 0x80
                } else {
                    *b
                });
                i += 1;
            }
            [] => break,
        }
    }
    GB18030.decode_without_bom_handling(&plain).0.into_owned()
}

/// ISO-2022-KR (RFC 1557): SO starts KS X 1001 in seven bits, SI ends it.
pub(super) fn iso_2022_kr(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut shifted = false;
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = match rest {
            [0x1b, b'$', b')', b'C', after @ ..] => after,
            _ => after,
        };
        match first {
            0x1b => {}
            0x0e => shifted = true,
            0x0f => shifted = false,
            b'\n' => {
                plain.push(b'\n');
                shifted = false;
            }
            b => plain.push(if shifted && b.is_ascii_graphic() {
                b | 0x80
            } else {
                *b
            }),
        }
    }
    EUC_KR.decode_without_bom_handling(&plain).0.into_owned()
}
