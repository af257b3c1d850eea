//! Subjects, paths and texts are written by strangers. Nothing of theirs reaches a terminal, a
//! spreadsheet or the next program's parser before it has passed through here.

use std::fmt::Write as _;
use std::io;

use serde_json::ser::Formatter;

/// How many characters of a subject are shown.
pub const SUBJECT: usize = 80;
/// How many characters of a sender are shown in a list.
pub const SENDER: usize = 60;
/// How many characters of a path, an address or a Message-ID are shown.
pub const PATH: usize = 240;
/// How many characters of a leftover are shown in a list.
pub const RESIDUE: usize = 120;
/// How many characters of a passage are shown in an explanation.
pub const PASSAGE: usize = 1000;
/// How many characters of an error or a problem are shown.
pub const MESSAGE: usize = 500;

/// Whether a character can steer a terminal, hide text or turn its direction.
pub fn is_tricky(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text on one line with every tricky character spelt out, at most `most` characters of it.
pub fn visible(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(most * 4));
    for (count, c) in text.chars().enumerate() {
        if count >= most {
            shown.push('…');
            break;
        }
        spell(c, &mut shown);
    }
    shown
}

/// A path, an address or an id; of a very long one the beginning and the end.
pub fn visible_path(path: &str) -> String {
    let count = path.chars().count();
    if count <= PATH {
        return visible(path, PATH);
    }
    let half = PATH / 2;
    let end: String = path.chars().skip(count - half).collect();
    format!("{}{}", visible(path, half), visible(&end, half))
}

fn spell(c: char, shown: &mut String) {
    if !is_tricky(c) {
        shown.push(c);
        return;
    }
    // Writing to a string cannot fail.
    let _ = match c {
        '\n' => write!(shown, "\\n"),
        '\r' => write!(shown, "\\r"),
        '\t' => write!(shown, "\\t"),
        c if c < '\u{100}' => write!(shown, "\\x{:02x}", u32::from(c)),
        c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
    };
}

/// A cell of a spreadsheet: no control characters, and nothing that starts a formula.
pub fn cell(text: &str) -> String {
    let starts_formula = text
        .trim_start_matches(' ')
        .starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let mut shown = String::with_capacity(text.len() + 1);
    if starts_formula {
        shown.push('\'');
    }
    text.chars().for_each(|c| spell(c, &mut shown));
    shown
}

/// An argument as a shell takes it, or `None` if it cannot be shown as it is.
pub fn shell_word(text: &str) -> Option<String> {
    if text.is_empty() || text.chars().any(is_tricky) || text.chars().count() > PATH {
        return None;
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%^".contains(c);
    if text.chars().all(plain) {
        return Some(text.to_owned());
    }
    Some(format!("'{}'", text.replace('\'', "'\\''")))
}

/// JSON on one line in which every tricky character is a `\u` escape.
#[derive(Clone, Copy, Debug, Default)]
pub struct SafeJson;

impl Formatter for SafeJson {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        // Most of it is printable ASCII. No early end, so that the compiler can look at many bytes at once.
        let printable = |byte: u8| (b' '..=b'~').contains(&byte);
        if fragment
            .bytes()
            .fold(true, |all, byte| all & printable(byte))
        {
            return writer.write_all(fragment.as_bytes());
        }
        let mut done = 0;
        for (at, c) in fragment.char_indices().filter(|&(_, c)| is_tricky(c)) {
            writer.write_all(&fragment.as_bytes()[done..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            done = at + c.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[done..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_ascii_is_not_tricky() {
        assert!((' '..='~').all(|c| !is_tricky(c)));
    }

    #[test]
    fn tricky_characters_are_spelt_out() {
        let cases = [
            ("plain Ünïcödé 日本", "plain Ünïcödé 日本"),
            ("\u{1b}[2J", "\\x1b[2J"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{9b}31m", "\\x9b31m"),
            ("\u{7f}", "\\x7f"),
            ("\u{0}", "\\x00"),
            ("abc\u{202e}txt.exe", "abc\\u{202e}txt.exe"),
            ("\u{2066}\u{200b}\u{feff}", "\\u{2066}\\u{200b}\\u{feff}"),
            ("\u{e0041}", "\\u{e0041}"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text, 100), expected);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(visible("abcdef", 6), "abcdef");
        assert_eq!(visible("abcdef", 5), "abcde…");
        assert_eq!(visible("", 0), "");
        let path = visible_path(&format!("start/{}/end", "x".repeat(1000)));
        assert_eq!(path.chars().count(), PATH + 1);
        assert!(path.starts_with("start/") && path.ends_with("/end"));
    }

    #[test]
    fn cells_cannot_start_a_formula() {
        let cases = [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\\t=1"),
            ("\r=1", "'\\r=1"),
            ("  =1", "'  =1"),
            ("＝1", "'＝1"),
            ("a=1", "a=1"),
            ("", ""),
            ("a\u{1b}b\nc", "a\\x1bb\\nc"),
        ];
        for (text, expected) in cases {
            assert_eq!(cell(text), expected);
        }
    }

    #[test]
    fn shell_words_are_quoted_or_refused() {
        assert_eq!(shell_word("a/b.eml@12").as_deref(), Some("a/b.eml@12"));
        assert_eq!(shell_word("my mail").as_deref(), Some("'my mail'"));
        assert_eq!(shell_word("it's").as_deref(), Some("'it'\\''s'"));
        assert_eq!(shell_word("$(rm x)").as_deref(), Some("'$(rm x)'"));
        assert_eq!(shell_word("a\nb"), None);
        assert_eq!(shell_word(""), None);
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let hostile = "a\u{1b}b\u{2028}c\u{202e}\u{7f}\u{9b}\u{e0041}\"\\ü";
        let mut json = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut json, SafeJson);
        serde::Serialize::serialize(hostile, &mut serializer).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(!json.chars().any(is_tricky), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
