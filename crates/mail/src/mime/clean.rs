//! Characters that no reader sees are dropped, lines end with LF, all blanks are one blank.

use std::borrow::Cow;

use crate::ascii;

/// What becomes of a character.
enum Fate {
    Keep,
    Drop,
    Space,
    Line,
}

fn fate(c: char) -> Fate {
    match c {
        '\n' | '\t' => Fate::Keep,
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Fate::Line,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Fate::Drop,
        // Soft hyphen, zero-width space, word joiner, byte order mark. The zero-width joiners stay:
        // Persian and the scripts of India are spelled with them.
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => Fate::Drop,
        // Marks that turn the direction of writing.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Fate::Drop
        }
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{3000}' => Fate::Space,
        _ => Fate::Keep,
    }
}

/// Whether a byte may begin a character that does not stay as it is.
const SUSPECT: [bool; 256] = {
    let mut table = [false; 256];
    let mut i = 0;
    while i < 0x20 {
        table[i] = i as u8 != b'\n' && i as u8 != b'\t';
        i += 1;
    }
    table[0x7f] = true;
    // Lead bytes of the characters named in `fate`.
    table[0xc2] = true;
    table[0xd8] = true;
    table[0xe2] = true;
    table[0xe3] = true;
    table[0xef] = true;
    table
};

/// Where the next suspect stands. Most mail has none but its line ends, so many bytes are looked at together first.
fn suspect(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.first_chunk().is_some_and(ascii::is_plain) {
            at += 32;
            continue;
        }
        let near = &rest[..rest.len().min(32)];
        if let Some(step) = near.iter().position(|b| SUSPECT[*b as usize]) {
            return Some(at + step);
        }
        at += near.len();
    }
    None
}

/// Appends a text without what no reader sees; CR LF and CR become LF.
pub(super) fn append(text: &str, out: &mut String) {
    out.reserve(text.len());
    let bytes = text.as_bytes();
    let (mut start, mut at) = (0, 0);
    while let Some(suspect) = suspect(bytes, at) {
        at = suspect;
        // A lead byte, hence a character boundary.
        let Some(c) = text[at..].chars().next() else {
            break;
        };
        let end = at + c.len_utf8();
        let replacement = match fate(c) {
            Fate::Keep => {
                at = end;
                continue;
            }
            Fate::Drop => "",
            Fate::Space => " ",
            Fate::Line if c == '\r' && bytes.get(end) == Some(&b'\n') => "",
            Fate::Line => "\n",
        };
        out.push_str(&text[start..at]);
        out.push_str(replacement);
        (start, at) = (end, end);
    }
    out.push_str(&text[start..]);
}

/// A text without what no reader sees.
pub(super) fn text(text: &str) -> String {
    let mut out = String::new();
    append(text, &mut out);
    out
}

/// A text on one line, single blanks between its words.
pub(super) fn line(text: &str) -> String {
    on_one_line(text).into_owned()
}

/// The same; most texts are so already.
pub(super) fn on_one_line(text: &str) -> Cow<'_, str> {
    if ascii::is_tidy(text.as_bytes()) {
        return Cow::Borrowed(text.trim_end_matches(' '));
    }
    let mut clean = String::new();
    append(text, &mut clean);
    let mut out = String::with_capacity(clean.len());
    for word in clean.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    Cow::Owned(out)
}

/// The beginning of a foreign name, fit for a message to people.
pub(super) fn short(text: &str) -> String {
    line(text).chars().take(40).collect()
}
