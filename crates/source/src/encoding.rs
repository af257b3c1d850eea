//! Just enough decoding to read names of folders and labels.

/// The bytes that are written so in base64, with another character in the place of `/` where a
/// format has one. Padding may be missing; anything else that is wrong gives nothing.
pub(crate) fn base64(text: &[u8], slash: u8) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|&byte| byte != b'=');
    let digits = &text[..end.map_or(0, |end| end + 1)];
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for &digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            _ if digit == slash => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The bytes that are written so in the Q encoding of headers (RFC 2047).
fn quoted(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        let code = others
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let coded = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, coded) {
            (b'=', Some(byte)) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            (b'_', _) => bytes.push(b' '),
            (byte, _) => bytes.push(*byte),
        }
    }
    bytes
}

/// The value of a header with its encoded words in UTF-8 decoded. What is written in another
/// charset stays as it is: no mail program writes labels so.
pub(crate) fn header_text(value: &[u8]) -> String {
    let value = String::from_utf8_lossy(value);
    let mut text = String::with_capacity(value.len());
    let mut rest = &*value;
    while let Some(start) = rest.find("=?") {
        let Some((bytes, length)) = encoded_word(&rest[start..]) else {
            text.push_str(&rest[..start + 2]);
            rest = &rest[start + 2..];
            continue;
        };
        // Blanks between two encoded words are not part of the text.
        let between = &rest[..start];
        let is_joint = text.ends_with('\u{0}') && between.trim().is_empty();
        text = text.trim_end_matches('\u{0}').to_owned();
        if !is_joint {
            text.push_str(between);
        }
        text.push_str(&String::from_utf8_lossy(&bytes));
        text.push('\u{0}');
        rest = &rest[start + length..];
    }
    text = text.trim_end_matches('\u{0}').to_owned();
    text.push_str(rest);
    text
}

/// The bytes of the encoded word with which a text begins, and its length.
fn encoded_word(text: &str) -> Option<(Vec<u8>, usize)> {
    let mut parts = text.strip_prefix("=?")?.splitn(3, '?');
    let (charset, how, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let end = rest.find("?=")?;
    let coded = &rest[..end];
    if !charset.to_ascii_lowercase().starts_with("utf-8") {
        return None;
    }
    let bytes = match how {
        "Q" | "q" => quoted(coded),
        "B" | "b" => base64(coded.as_bytes(), b'/')?,
        _ => return None,
    };
    let length = 2 + charset.len() + 1 + how.len() + 1 + end + 2;
    Some((bytes, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_decoded() {
        for (value, expected) in [
            ("Trash,Inbox", "Trash,Inbox"),
            ("=?UTF-8?Q?Entw=C3=BCrfe,Neu_1?=", "Entwürfe,Neu 1"),
            ("a, =?utf-8?b?RW50d8O8cmZl?=, b", "a, Entwürfe, b"),
            ("=?UTF-8?Q?Pap?= =?UTF-8?Q?ierkorb?= x", "Papierkorb x"),
            ("=?latin1?Q?a?=", "=?latin1?Q?a?="),
            ("=?UTF-8?B?*?=", "=?UTF-8?B?*?="),
            ("=?", "=?"),
            ("=?UTF-8?Q?=C3", "=?UTF-8?Q?=C3"),
            ("=?UTF-8?Q?==C?=", "==C"),
        ] {
            assert_eq!(header_text(value.as_bytes()), expected, "{value}");
        }
    }
}
