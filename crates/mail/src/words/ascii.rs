//! Words and numbers of ASCII, which is nearly everything that mail says.

use std::ops::Range;

use twicetold_model::{Word, WordFlags, WordKind};

use super::letters::{self, Start};
use super::short;
use super::token::Tokens;

/// What a byte may begin, in an order that tells what it does behind letters: up to [`SIGN`] it ends their word and begins
/// nothing itself, from [`APOSTROPHE`] on it may go on with it.
const SPACE: u8 = 0;
const MARK: u8 = 1;
const AMPERSAND: u8 = 2;
const SIGN: u8 = 3;
const DOLLAR: u8 = 4;
const APOSTROPHE: u8 = 5;
const DIGIT: u8 = 6;
const LETTER: u8 = 7;

const SORT: [u8; 256] = {
    let mut table = [MARK; 256];
    let mut n = 0;
    while n < 256 {
        let byte = n as u8;
        table[n] = match byte {
            b'&' => AMPERSAND,
            b'-' | b'+' => SIGN,
            b'$' => DOLLAR,
            b'\'' => APOSTROPHE,
            _ if byte.is_ascii_whitespace() => SPACE,
            _ if byte.is_ascii_digit() => DIGIT,
            _ if byte.is_ascii_alphabetic() => LETTER,
            _ => MARK,
        };
        n += 1;
    }
    table
};

#[inline]
fn sort(byte: u8) -> u8 {
    SORT[usize::from(byte)]
}

/// Whether a byte parts runs of characters.
#[inline]
pub(super) fn is_space(byte: &u8) -> bool {
    sort(*byte) == SPACE
}

impl Tokens<'_> {
    /// Words and numbers in whole runs of ASCII without addresses, with the spaces between them.
    pub(super) fn ascii_runs(&mut self, stretch: Range<usize>) {
        self.ascii::<true>(stretch);
    }

    /// Words and numbers in what an address leaves of a run.
    pub(super) fn ascii_rest(&mut self, piece: Range<usize>) {
        self.ascii::<false>(piece);
    }

    /// `WHOLE` says that what begins and ends here are whole runs: only then can an ampersand stand alone.
    #[inline]
    fn ascii<const WHOLE: bool>(&mut self, stretch: Range<usize>) {
        let bytes = self.text.as_bytes();
        let mut at = stretch.start;
        while at < stretch.end {
            if let Some(start) = letters::start(bytes, at)
                && start.length > 0
                && at + start.length <= stretch.end
                && sort(start.next[0]) < APOSTROPHE
            {
                self.letters(at, &start);
                at += start.length + quiet_length(start.next);
            } else {
                at = self.other_ascii::<WHOLE>(at, &stretch);
            }
        }
    }

    /// A run of up to sixteen ASCII letters that stands alone.
    // What is known of the letters stays in registers only where this is part of the loop.
    #[inline(always)]
    fn letters(&mut self, at: usize, start: &Start) {
        let end = at + start.length;
        if start.is_cannot() {
            return self.push_word(at..end);
        }
        let mut flags = WordFlags::default();
        if start.capital {
            flags.set(WordFlags::CAPITAL);
        }
        self.line_start = false;
        self.words.push(Word {
            hash: short::hash(start),
            start: at as u32,
            end: end as u32,
            kind: WordKind::Plain,
            flags,
        });
    }

    /// Anything but letters that stand alone: reads it, and returns where to go on.
    fn other_ascii<const WHOLE: bool>(&mut self, at: usize, stretch: &Range<usize>) -> usize {
        let bytes = &self.text.as_bytes()[..stretch.end];
        let b = bytes[at];
        let word = match sort(b) {
            LETTER => true,
            APOSTROPHE => clitic(&bytes[at..]),
            _ => false,
        };
        if word {
            let end = word_end(bytes, at);
            self.push_word(at..end);
            return end;
        }
        let number = match sort(b) {
            DIGIT => true,
            SIGN | DOLLAR => starts_number(bytes, at, stretch.start),
            _ => false,
        };
        if number {
            let end = number_end(bytes, at);
            self.push_number(at..end, stretch.end);
            return end;
        }
        if WHOLE && b == b'&' && begins_run(bytes, at, stretch.start) && ends_run(bytes, at + 1) {
            self.push_as("and", at..at + 1, WordKind::Plain);
        }
        at + 1
            + bytes[at + 1..]
                .iter()
                .take_while(|b| sort(**b) <= MARK)
                .count()
    }
}

/// How many of the two bytes behind a word can be stepped over: nearly always it is one blank, or a mark and a blank.
#[inline]
fn quiet_length(next: [u8; 2]) -> usize {
    let [first, second] = next.map(sort);
    usize::from(first <= SIGN) + usize::from(first <= SIGN && second == SPACE)
}

fn begins_run(bytes: &[u8], at: usize, start: usize) -> bool {
    at == start || is_space(&bytes[at - 1])
}

/// Whether a run ends before this place.
pub(super) fn ends_run(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(is_space)
}

/// Where a run of ASCII letters, digits and inner apostrophes ends.
fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        let b = bytes[at];
        let inner = b == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
        if !b.is_ascii_alphanumeric() && !inner {
            break;
        }
        at += 1;
    }
    at
}

/// Where a number ends: digits and letters, joined by the marks that dates, times, amounts and telephone numbers use.
pub(super) fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        let b = bytes[at];
        let joins = matches!(b, b'.' | b',' | b':' | b'/' | b'-' | b'\'')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !b.is_ascii_alphanumeric() && !joins {
            break;
        }
        at += 1;
    }
    if bytes.get(at) == Some(&b'%') {
        at + 1
    } else {
        at
    }
}

/// Whether a sign or a dollar belongs to a number that follows.
fn starts_number(bytes: &[u8], at: usize, start: usize) -> bool {
    let digit = |n: usize| bytes.get(n).is_some_and(u8::is_ascii_digit);
    if bytes[at] == b'$' {
        return digit(at + 1);
    }
    let free = begins_run(bytes, at, start)
        || matches!(
            bytes[at - 1],
            b'(' | b'[' | b'"' | b':' | b'=' | b'<' | b'>' | b'/'
        );
    free && (digit(at + 1) || bytes.get(at + 1) == Some(&b'$') && digit(at + 2))
}

/// Whether an apostrophe starts an ending that stands alone: "they 'll".
fn clitic(bytes: &[u8]) -> bool {
    ["'ll", "'ve", "'re"].iter().any(|c| {
        bytes.len() >= c.len()
            && bytes[..c.len()].eq_ignore_ascii_case(c.as_bytes())
            && !bytes.get(c.len()).is_some_and(u8::is_ascii_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of marks, letters and digits that hold no address, the same in every run.
    fn texts() -> impl Iterator<Item = String> {
        let marks = b"aaBzZ019''$-+.,:()%\"   \t";
        let mut state = 88_172_645_463_325_252u64;
        (0..20_000).map(move |n| {
            let mut text = String::new();
            for _ in 0..n % 50 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text.push(char::from(marks[state as usize % marks.len()]));
            }
            text
        })
    }

    #[test]
    fn a_stretch_of_runs_is_read_like_each_run_alone() {
        for text in texts() {
            let mut together = Tokens::new(&text, 0);
            together.ascii_runs(0..text.len());
            let mut alone = Tokens::new(&text, 0);
            let mut at = 0;
            for run in text.split([' ', '\t']) {
                alone.ascii_rest(at..at + run.len());
                at += run.len() + 1;
            }
            assert_eq!(together.finish(), alone.finish(), "{text:?}");
        }
    }

    #[test]
    fn letters_are_read_alike_wherever_the_text_ends() {
        for text in texts() {
            let mut short = Tokens::new(&text, 0);
            short.ascii_runs(0..text.len());
            let long = format!("{text} followed by more than sixteen letters");
            let mut within = Tokens::new(&long, 0);
            within.ascii_runs(0..text.len());
            assert_eq!(short.finish(), within.finish(), "{text:?}");
        }
    }
}
