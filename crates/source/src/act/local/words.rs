//! Lists of keywords and labels in a header, which Gmail's export writes as encoded words (RFC 2047) if one of them is not ASCII.

use std::collections::BTreeSet;

/// The longest encoded word with its frame is 75 characters long.
const PAYLOAD: usize = 75 - "=?UTF-8?Q??=".len();

/// The list in a header's value as text; `None` if it is written in a way that only mail readers understand.
///
/// Only labels, which commas separate, are looked for inside encoded words.
fn decoded(value: &[u8], between: char) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?.replace(['\r', '\n'], " ");
    if !text.contains("=?") {
        return Some(text);
    }
    if between != ',' {
        return None;
    }
    let mut bytes = Vec::new();
    let mut after_word = false;
    for part in text.split_ascii_whitespace() {
        let word = part
            .strip_prefix("=?")
            .and_then(|rest| rest.strip_suffix("?="));
        match word {
            Some(word) => bytes.extend(payload(word)?),
            // A word that is encoded in part is nobody's way of writing a list.
            None if part.contains("=?") => return None,
            None => {
                // Blanks count, except between two encoded words.
                if !bytes.is_empty() && !after_word {
                    bytes.push(b' ');
                }
                bytes.extend_from_slice(part.as_bytes());
            }
        }
        after_word = word.is_some();
    }
    String::from_utf8(bytes).ok()
}

/// The bytes of an encoded word without its frame: charset, encoding, text. Gmail writes UTF-8.
fn payload(word: &str) -> Option<Vec<u8>> {
    let mut parts = word.split('?');
    let (charset, encoding, text) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    match encoding {
        "Q" | "q" => from_q(text.as_bytes()),
        "B" | "b" => from_base64(text.as_bytes()),
        _ => None,
    }
}

fn from_q(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, others @ ..] = rest {
        rest = others;
        bytes.push(match first {
            b'_' => b' ',
            b'=' => {
                let digits = std::str::from_utf8(others.get(..2)?).ok()?;
                rest = &others[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            other => *other,
        });
    }
    Some(bytes)
}

fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = ((bits << 6) & 0xFFFF) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The words of a list; `None` if it is written in a way that only mail readers understand.
pub(super) fn words(value: &[u8], between: char) -> Option<BTreeSet<String>> {
    let text = decoded(value, between)?;
    Some(
        text.split(between)
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// The value of a header with more words in its list; what stands there stays as it is written, where that is possible.
pub(super) fn with_words(
    value: &[u8],
    more: &BTreeSet<String>,
    between: char,
    line_end: &str,
) -> Option<String> {
    let before = words(value, between)?;
    let old = decoded(value, between)?;
    let mut all: Vec<&str> = Vec::new();
    if !old.trim().is_empty() {
        all.push(old.trim());
    }
    let new: Vec<&str> = more.difference(&before).map(String::as_str).collect();
    let plain = new.iter().all(|word| word.is_ascii());
    all.extend(new);
    let list = all.join(&between.to_string());
    let was_plain = !value.windows(2).any(|pair| pair == b"=?");
    if between != ',' || plain && was_plain {
        Some(list)
    } else {
        Some(encoded(&list, line_end))
    }
}

/// A text as encoded words, one a line.
fn encoded(text: &str, line_end: &str) -> String {
    let mut words = vec![String::new()];
    for c in text.chars() {
        let mut written = String::new();
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            match byte {
                b' ' => written.push('_'),
                byte if byte.is_ascii_alphanumeric() || b",-./\\[]:".contains(&byte) => {
                    written.push(char::from(byte));
                }
                byte => written.push_str(&format!("={byte:02X}")),
            }
        }
        match words.last_mut() {
            Some(word) if word.len() + written.len() <= PAYLOAD => word.push_str(&written),
            _ => words.push(written),
        }
    }
    let framed: Vec<String> = words
        .iter()
        .map(|word| format!("=?UTF-8?Q?{word}?="))
        .collect();
    framed.join(&format!("{line_end} "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn labels_of_gmail_in_encoded_words() {
        let value = b" =?UTF-8?Q?Bo=C3=AEte_de_r=C3=A9ception,Impor?=\r\n =?utf-8?q?tant?=\r\n";
        assert_eq!(
            words(value, ','),
            Some(set(&["Bo\u{ee}te de r\u{e9}ception", "Important"]))
        );
        assert_eq!(
            words(b"=?UTF-8?B?w6QsYiBj?=", ','),
            Some(set(&["\u{e4}", "b c"]))
        );
        assert_eq!(words(b"a, b c", ','), Some(set(&["a", "b c"])));
        for strange in [
            "=?latin1?Q?a?=",
            "=?UTF-8?Q?=4?=",
            "=?UTF-8?X?a?=",
            "=?UTF-8?Q?=FF?=",
            "x=?UTF-8?Q?a?=",
        ] {
            assert_eq!(words(strange.as_bytes(), ','), None, "{strange}");
        }
        assert_eq!(words(b"=?UTF-8?Q?a?=", ' '), None);
    }

    proptest! {
        #[test]
        fn added_labels_come_back(
            old in proptest::collection::btree_set("[a-z\u{e4}日=?_ ]{1,20}[a-z]", 0..5),
            new in proptest::collection::btree_set("[a-z\u{e4}日=?_ ]{1,40}[a-z]", 1..9),
        ) {
            let tidy = |set: &BTreeSet<String>| -> BTreeSet<String> {
                set.iter().map(|word| word.trim().to_owned()).collect()
            };
            let (old, new) = (tidy(&old), tidy(&new));
            let first = encoded(&old.iter().cloned().collect::<Vec<_>>().join(","), "\r\n");
            let value = with_words(first.as_bytes(), &new, ',', "\r\n").unwrap();
            prop_assert!(value.lines().all(|line| line.len() <= 76));
            prop_assert_eq!(words(value.as_bytes(), ',').unwrap(), old.union(&new).cloned().collect());
        }
    }
}
