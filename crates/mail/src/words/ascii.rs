//! Words and numbers of ASCII, which is nearly everything that mail says.

use std::ops::Range;

use twicetold_model::{Word, WordFlags, WordKind};

use super::bits::{BLOCK, Begins};
use super::known::Found;
use super::letters::Letters;
use super::short;
use super::token::Tokens;

/// What a byte may begin.
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
        while at < stretch.end
            && let Some(mut starts) = self.bits.starts(at)
        {
            self.commons.make_room(BLOCK);
            while let Some(begins) = starts.next() {
                let place = match begins {
                    Begins::Letters(place, length) => {
                        let end = place + length;
                        if end <= stretch.end
                            && let Some(letters) = Letters::at(bytes, place, length)
                        {
                            self.letters(place, &letters);
                            at = end;
                            continue;
                        }
                        place
                    }
                    Begins::Odd(place) => place,
                };
                if place >= stretch.end {
                    return;
                }
                at = self.other_ascii::<WHOLE>(place, &stretch);
                starts.go_on_from(at);
            }
            // What was read last may go on in the next block.
            at = at.max(starts.end());
        }
    }

    /// A run of up to sixteen ASCII letters that stands alone.
    // What is known of the letters stays in registers only where this is part of the loop.
    #[inline(always)]
    fn letters(&mut self, at: usize, letters: &Letters) {
        let end = at + letters.length;
        let found = match letters.short() {
            Some(short) => self.known.find(short, letters),
            None => Some(Found::of(short::hash(letters))),
        };
        let Some(found) = found else {
            return self.push_word(at..end);
        };
        let capital = WordFlags::CAPITAL.only_if(letters.capital);
        self.commons.note(self.words.len(), found.common);
        self.words.push(Word {
            hash: found.hash,
            start: at as u32,
            end: end as u32,
            kind: WordKind::Plain,
            flags: found.flags.with(capital),
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
            self.push_ascii_number(at..end, stretch.end);
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
    use super::super::common::VOTERS;
    use super::super::token::Commons;
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
            assert_eq!(together.finish().0, alone.finish().0, "{text:?}");
        }
    }

    #[test]
    fn many_bytes_are_read_like_one_after_the_other() {
        // Longer ones than the others, so that words stand across the ends of blocks.
        let long = texts().collect::<Vec<_>>();
        let long = long.chunks(6).map(|some| some.concat());
        let spelt = ["cannot Cannot can't & a& AT&T o'clock 'll x2y Abcdefghijklmnopqrstuvwxyz "];
        for text in long.chain(spelt.map(|text| text.repeat(9))) {
            let mut quickly = Tokens::new(&text, 0);
            quickly.ascii_runs(0..text.len());
            let mut slowly = Tokens::new(&text, 0);
            let mut at = 0;
            while at < text.len() {
                at = slowly.other_ascii::<true>(at, &(0..text.len()));
            }
            let (quickly, slowly) = (quickly.finish(), slowly.finish());
            assert_eq!(quickly.0, slowly.0, "{text:?}");
            let common = |commons: &Commons| -> Vec<(usize, u16)> {
                commons.chunks(VOTERS).flatten().collect()
            };
            assert_eq!(common(&quickly.1), common(&slowly.1), "{text:?}");
        }
    }

    #[test]
    fn numbers_hash_as_they_are_written() {
        for number in [
            "5",
            "$12",
            "+12",
            "-3.5%",
            "2019-03-01T12:30",
            "1'000",
            "12AM",
            "3rd",
            "7/8",
        ] {
            let text = format!("{number} and more than sixteen letters");
            let mut tokens = Tokens::new(&text, 0);
            tokens.ascii_runs(0..text.len());
            let words = tokens.finish().0;
            let expected = super::super::hash_of(&number.to_lowercase());
            assert_eq!(
                (words[0].hash, words[0].kind),
                (expected, WordKind::Number),
                "{number}"
            );
            assert_eq!(words[0].range(), 0..number.len());
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
            assert_eq!(short.finish().0, within.finish().0, "{text:?}");
        }
    }
}
