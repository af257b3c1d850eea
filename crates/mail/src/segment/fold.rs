//! Bringing a short line into the form the tables are written in.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::ascii::{is_tidy, is_untidy_behind_the_first};

/// Lower-cases, unifies white space, apostrophes, quotation marks and full-width punctuation,
/// and drops characters that cannot be seen.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_onto(&mut folded, text);
    folded
}

/// The same for a text that mostly fits the buffer and mostly is ASCII; then no memory is asked for.
pub(super) fn fold_short<'b>(text: &str, buffer: &'b mut [u8]) -> Cow<'b, str> {
    lowered(text, buffer).map_or_else(|| Cow::Owned(fold(text)), Cow::Borrowed)
}

/// Copies a text in lower case, if this is all that folding does to it.
fn lowered<'b>(text: &str, buffer: &'b mut [u8]) -> Option<&'b str> {
    let lower = buffer.get_mut(..text.len())?;
    if !is_tidy(text.as_bytes()) || text.ends_with(' ') {
        return None;
    }
    lower.copy_from_slice(text.as_bytes());
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).ok()
}

/// Folds a line and appends it, parted by one space from what is there.
pub(super) fn fold_onto(folded: &mut String, text: &str) {
    if !folded.is_empty() {
        folded.push(' ');
    }
    if is_tidy(text.as_bytes()) {
        // All there is to fold is case.
        let start = folded.len();
        folded.push_str(text);
        folded[start..].make_ascii_lowercase();
    } else if text.is_ascii() {
        push_ascii(folded, text);
    } else if text
        .contains(|letter| matches!(letter, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}'))
    {
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
        push_all(folded, &composed);
    } else {
        push_all(folded, text);
    }
    folded.truncate(folded.trim_end().len());
}

/// Appends ASCII: all there is to fold is case and white space.
fn push_ascii(folded: &mut String, text: &str) {
    let start = folded.len();
    let mut spaced = folded.is_empty() || folded.ends_with(' ');
    // What stands between blanks too many is copied at once.
    let mut from = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let blank = matches!(byte, b' ' | b'\t'..=b'\r');
        if blank && (spaced || byte != b' ') {
            folded.push_str(&text[from..at]);
            if !spaced {
                folded.push(' ');
            }
            from = at + 1;
        }
        spaced = blank;
        // Most of an untidy line is tidy. A tab before a blank is not seen by looking at blanks alone.
        while !spaced
            && let Some(seventeen) = bytes[at..].first_chunk()
            && !is_untidy_behind_the_first(seventeen)
        {
            at += 16;
            spaced = bytes[at] == b' ';
        }
        at += 1;
    }
    folded.push_str(&text[from..]);
    folded[start..].make_ascii_lowercase();
}

fn push_all(folded: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            // Soft hyphens, joiners, directional controls, and the dot that İ leaves behind.
            '\u{ad}'
            | '\u{307}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => {}
            '’' | '‘' | 'ʼ' | '`' | '´' | '＇' => push(folded, '\''),
            '“' | '”' | '„' | '«' | '»' | '＂' => push(folded, '"'),
            '–' | '—' | '―' | '‐' | '‑' | '−' => push(folded, '-'),
            '：' | '﹕' | '៖' => push(folded, ':'),
            '，' | '،' => push(folded, ','),
            '！' => push(folded, '!'),
            '。' => push(folded, '.'),
            '＜' | '〈' => push(folded, '<'),
            '＞' | '〉' => push(folded, '>'),
            '（' => push(folded, '('),
            '）' => push(folded, ')'),
            '…' => folded.push_str("..."),
            '\u{660}'..='\u{669}' => push_digit(folded, letter, '\u{660}'),
            '\u{6f0}'..='\u{6f9}' => push_digit(folded, letter, '\u{6f0}'),
            '\u{966}'..='\u{96f}' => push_digit(folded, letter, '\u{966}'),
            '\u{ff10}'..='\u{ff19}' => push_digit(folded, letter, '\u{ff10}'),
            // Chinese, Japanese and Korean know no capitals; looking them up takes long.
            '\u{3041}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => folded.push(letter),
            _ => letter
                .to_lowercase()
                .filter(|&letter| letter != '\u{307}')
                .for_each(|letter| push(folded, letter)),
        }
    }
}

fn push_digit(folded: &mut String, digit: char, zero: char) {
    let value = u32::from(digit) - u32::from(zero);
    folded.extend(char::from_digit(value, 10));
}

fn push(folded: &mut String, letter: char) {
    if !letter.is_whitespace() {
        folded.push(letter);
    } else if !folded.is_empty() && !folded.ends_with(' ') {
        folded.push(' ');
    }
}

/// Whether a folded text starts with a phrase of a table, and not in the middle of a word.
pub(super) fn after_phrase<'t>(folded: &'t str, phrase: &str) -> Option<&'t str> {
    let rest = folded.strip_prefix(phrase)?;
    let whole = !joins(phrase.chars().next_back(), rest.chars().next());
    whole.then_some(rest)
}

/// Whether a folded text ends with a phrase of a table, and not in the middle of a word.
pub(super) fn before_phrase<'t>(folded: &'t str, phrase: &str) -> Option<&'t str> {
    let rest = folded.strip_suffix(phrase)?;
    let whole = !joins(rest.chars().next_back(), phrase.chars().next());
    whole.then_some(rest)
}

/// Whether a folded text holds a phrase of a table as whole words.
#[cfg(test)]
pub(super) fn holds_phrase(folded: &str, phrase: &str) -> bool {
    let mut from = 0;
    while let Some(at) = folded.get(from..).and_then(|rest| rest.find(phrase)) {
        let begin = from + at;
        let end = begin + phrase.len();
        if !joins(folded[..begin].chars().next_back(), phrase.chars().next())
            && !joins(phrase.chars().next_back(), folded[end..].chars().next())
        {
            return true;
        }
        from = end;
    }
    false
}

/// Whether two neighbouring characters belong to one word. Scripts without spaces between words
/// have no inside of a word to respect.
pub(super) fn joins(left: Option<char>, right: Option<char>) -> bool {
    let inside = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() && !without_spaces(letter))
    };
    inside(left) && inside(right)
}

/// Whether a letter belongs to a script that is written without spaces, or glues particles to names.
pub(super) fn without_spaces(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// Whether a line holds a number, a question or an address: greetings and closings do not.
pub(super) fn asks_or_counts(words: &str) -> bool {
    // No early end, so that the compiler can look at many bytes at once.
    let telling = words.bytes().fold(false, |telling, byte| {
        telling | byte.is_ascii_digit() | (byte == b'@') | (byte == b'?')
    });
    telling || (!words.is_ascii() && words.contains(char::is_numeric))
}

/// Signs that a line names a message: when it was sent, and who sent it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// Any digit.
    pub(super) number: bool,
    /// `12:30`, `12h30`.
    pub(super) time: bool,
    /// `2019-03-01`, `1/3/19`, a year, `3月`.
    pub(super) date: bool,
    /// An e-mail address.
    pub(super) address: bool,
    /// An e-mail address in brackets, or at the very start.
    pub(super) bracketed: bool,
}

/// Looks for dates, times and addresses in a folded text.
pub(super) fn evidence(folded: &str) -> Evidence {
    let bytes = folded.as_bytes();
    let ascii = folded.is_ascii();
    let mut found = Evidence::default();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'0'..=b'9' => {
                found.number = true;
                let digits = run(bytes, at);
                let end = at + digits;
                let after = run(bytes, end + 1);
                match bytes.get(end) {
                    Some(b':' | b'h') if digits <= 2 && after == 2 => found.time = true,
                    Some(b'/' | b'.' | b'-')
                        if digits <= 4
                            && (1..=2).contains(&after)
                            && matches!(bytes.get(end + 1 + after), Some(b'/' | b'.' | b'-')) =>
                    {
                        found.date = true;
                    }
                    _ => {}
                }
                if !ascii {
                    let rest = &folded[end..];
                    found.date |= rest.trim_start().starts_with(['年', '月', '년', '월']);
                    found.time |= rest.starts_with(['時', '시']);
                }
                found.date |= digits == 4 && matches!(&bytes[at..at + 2], b"19" | b"20");
                at = end;
            }
            b'@' => {
                let name = at > 0 && !matches!(bytes[at - 1], b' ' | b'<' | b'(');
                let host = bytes
                    .get(at + 1)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
                if name && host {
                    found.address = true;
                    let begin = folded[..at].rfind([' ', '<', '(', '[', ':', '"']);
                    found.bracketed |=
                        begin.is_none_or(|begin| bytes[begin] != b' ' && bytes[begin] != b'"');
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// How many digits stand at a place.
fn run(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_unifies_what_looks_alike() {
        assert_eq!(
            fold("Le\u{a0}3 mai, «\u{202a}X\u{202c}»\u{202f}："),
            "le 3 mai, \"x\" :"
        );
        assert_eq!(fold("Özgün İleti"), "özgün ileti");
        assert_eq!(fold("e\u{301}crit ٢٠١٩"), "écrit 2019");
    }

    #[test]
    fn white_space_of_ascii_is_folded_as_that_of_any_text() {
        let pieces = [
            "",
            " ",
            "  ",
            "\t",
            "\u{b}",
            "\r",
            "A",
            "b C",
            "\u{1c}",
            "\u{7f}",
            "a tidy stretch of some Length ",
        ];
        for one in pieces {
            for two in pieces {
                for three in pieces {
                    let text = format!("{one}{two}X{three}{one}");
                    for before in ["", "before"] {
                        let mut folded = before.to_owned();
                        fold_onto(&mut folded, &text);
                        // A letter of another script keeps the text from being taken for ASCII.
                        let mut slow = before.to_owned();
                        fold_onto(&mut slow, &format!("{text} ö"));
                        assert_eq!(format!("{folded} ö"), slow, "{text:?}");
                        assert_eq!(fold_short(&text, &mut [0; 40]), fold(&text));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_looked_up_has_no_case() {
        for letter in ('\u{3041}'..='\u{9fff}').chain('\u{ac00}'..='\u{d7a3}') {
            assert!(letter.to_lowercase().eq([letter]) && !letter.is_whitespace());
        }
    }

    #[test]
    fn phrases_are_whole_words() {
        assert!(after_phrase("hi there", "hi").is_some());
        assert!(after_phrase("history", "hi").is_none());
        assert!(holds_phrase("anna schrieb am", "schrieb"));
        assert!(!holds_phrase("anna beschrieben", "schrieb"));
        assert!(holds_phrase("张三写道", "写道"));
    }

    #[test]
    fn evidence_is_found() {
        let found = evidence("on 2019-03-01 at 12:30, anna <anna@example.org> wrote");
        assert!(found.number && found.date && found.time && found.address && found.bracketed);
        let found = evidence("ask anna@example.org");
        assert!(found.address && !found.bracketed && !found.number);
        assert!(!evidence("version 1.2 of 30 @ 5").date);
        assert!(evidence("2019年3月1日").date);
    }
}
