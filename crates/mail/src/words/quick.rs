//! The short cut for texts that are not mail: runs of ASCII letters, which nearly all words of most texts are.
//!
//! It finds the same words as `split`, which it leaves everything to that is not plain: numbers, addresses, apostrophes,
//! other scripts. Only the flag for capitals is all it sets.

use std::ops::Range;

use twicetold_model::{Segment, SegmentKind, Word, WordFlags, WordKind};
use xxhash_rust::xxh3::xxh3_64;

use super::split::{content_lines, read_line};
use super::token::Tokens;

/// Longer words take the long way.
const LONGEST: usize = 32;

/// What a byte means for the short cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Space,
    /// Punctuation that ends a word and is no part of a number or an address.
    Mark,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut at = 0;
    while at < 128 {
        let b = at as u8;
        table[at] = match b {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c => Class::Space,
            b'.' | b',' | b';' | b'!' | b'?' | b'"' | b')' | b']' => Class::Mark,
            _ => Class::Other,
        };
        at += 1;
    }
    table
};

/// Finds every word of a text that is one segment of own text.
pub(super) fn split(text: &str) -> Vec<Word> {
    let segment = Segment {
        kind: SegmentKind::Own,
        depth: 0,
        start: 0,
        end: u32::try_from(text.len()).unwrap_or(u32::MAX),
    };
    let mut tokens = Tokens::new(text, text.len() / 6);
    let mut lines = Vec::new();
    content_lines(text, &segment, &mut lines);
    let mut taken = 0;
    for (n, line) in lines.iter().enumerate() {
        let mut at = line.start.max(taken);
        tokens.line_start = at == line.start;
        while at < line.end {
            let stopped = plain_words(&mut tokens, at..line.end);
            if stopped >= line.end {
                break;
            }
            // What is not plain goes the long way, up to the next blank; a script without blanks may run on.
            let bytes = text.as_bytes();
            let length = bytes[stopped..line.end]
                .iter()
                .position(u8::is_ascii_whitespace);
            let end = length.map_or(line.end, |length| stopped + length);
            let rest = if end == line.end {
                lines.get(n + 1..).unwrap_or_default()
            } else {
                &[]
            };
            let first = tokens.line_start;
            if let Some(on) = read_line(&mut tokens, stopped..end, first, rest) {
                taken = on;
                break;
            }
            at = end;
        }
    }
    tokens.finish()
}

/// Takes plain words as long as there are any; returns where something else begins, always behind a blank.
fn plain_words(tokens: &mut Tokens<'_>, range: Range<usize>) -> usize {
    let bytes = tokens.text.as_bytes();
    let mut at = range.start;
    loop {
        while at < range.end && CLASSES[bytes[at] as usize] == Class::Space {
            at += 1;
        }
        let start = at;
        let mut word = [0; LONGEST];
        while at < range.end && CLASSES[bytes[at] as usize] == Class::Letter {
            if let Some(letter) = word.get_mut(at - start) {
                *letter = bytes[at] | 0x20;
            }
            at += 1;
        }
        let end = at;
        while at < range.end && CLASSES[bytes[at] as usize] == Class::Mark {
            at += 1;
        }
        let ended = at >= range.end || CLASSES[bytes[at] as usize] == Class::Space;
        let Some(word) = word.get(..end - start).filter(|word| ended && plain(word)) else {
            return start;
        };
        let mut flags = WordFlags::default();
        if bytes[start].is_ascii_uppercase() {
            flags.set(WordFlags::CAPITAL);
        }
        tokens.push_found(Word {
            hash: xxh3_64(word),
            start: start as u32,
            end: end as u32,
            kind: WordKind::Plain,
            flags,
        });
    }
}

/// Whether a run of small letters is a word as it stands: not the start of an address, not two words in one.
fn plain(word: &[u8]) -> bool {
    !word.is_empty() && !word.starts_with(b"www") && word != b"cannot"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(text: &str) {
        let segment = Segment {
            kind: SegmentKind::Own,
            depth: 0,
            start: 0,
            end: text.len() as u32,
        };
        let long_way = super::super::split::split(text, &[segment]);
        let found = split(text);
        assert_eq!(found.len(), long_way.len(), "{text:?}");
        for (quick, slow) in found.iter().zip(&long_way) {
            assert_eq!(quick, slow, "{text:?}");
        }
    }

    #[test]
    fn the_short_cut_finds_the_same_words() {
        for text in [
            "",
            " \n\n ",
            "Dear all,\nthe hall is booked. \"Really?\" (yes!)",
            "> quoted\n>> twice\n- item one\n2. item two\n3) three\nIn 4. place",
            "cannot don't they 'll we've it's www.a.example wwwhat www....... a@b.example http://x.example/?q",
            "mail a@b.example <mailto:a@b.example> again",
            "naïve Größe 東京\n東京 ends here\nand goes on",
            "5 < 6 & 7 $5 -3 +4 50% x2 2x a.b a,b e.g. U.S.A.",
            "Antidisestablishmentarianismwithmorethanthirtytwoletters ok",
            "word\u{a0}word a\u{2019}b",
        ] {
            same(text);
        }
    }

    proptest! {
        #[test]
        fn on_any_text(text in "([a-zA-Z]{0,6}[ ,.\n'@>:/0-9w&\\-é東)]{1,2}){0,40}") {
            same(&text);
        }
    }
}
