//! From words to sentences.

use std::sync::LazyLock;

use twicetold_model::{Segment, SegmentKind, Sentence, Word, WordFlags, WordKind};

use super::set::WordSet;
use crate::segment::quote_marks;

/// Words that end in a full stop without ending a sentence, in lower case.
const ABBREVIATIONS: &[&str] = &[
    "abs", "al", "approx", "apr", "art", "aug", "bzw", "ca", "cf", "co", "corp", "dec", "dept",
    "dott", "dr", "e.g", "eg", "est", "etc", "ext", "fax", "feb", "fig", "hr", "i.e", "ie", "inc",
    "ing", "jan", "jr", "jul", "jun", "ltd", "mar", "mlle", "mme", "mr", "mrs", "ms", "no", "nov",
    "nr", "oct", "prof", "sep", "sept", "sig", "sr", "sra", "srta", "st", "str", "tel", "vol",
    "vs", "z.b", "г", "т.д", "т.е", "ул",
];

/// What stands between two words, as far as sentences care.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gap {
    asked: bool,
    ended: bool,
    /// A line ends.
    line: bool,
    paragraph: bool,
}

impl Gap {
    /// Whether no sentence can end here.
    fn is_quiet(self) -> bool {
        !(self.asked | self.ended | self.line | self.paragraph)
    }
}

/// Groups words into sentences and marks the last word of each.
pub(super) fn sentences(text: &str, segments: &[Segment], words: &mut [Word]) -> Vec<Sentence> {
    let mut sentences = Vec::with_capacity(words.len() / 12 + segments.len());
    let mut telling = Vec::new();
    let mut at = 0;
    for (n, segment) in segments.iter().enumerate() {
        let from = at + words[at..].partition_point(|w| w.start < segment.start);
        let to = from + words[from..].partition_point(|w| w.start < segment.end);
        let mut first = from;
        gaps(&words[from..to], &mut telling);
        for i in telling.iter().map(|n| from + *n as usize) {
            if i + 1 < to && is_mere_comma(text.as_bytes(), &words[i], &words[i + 1]) {
                continue;
            }
            let until = if i + 1 < to {
                words[i + 1].start
            } else {
                segment.end
            };
            let between = text
                .get(words[i].end as usize..until as usize)
                .unwrap_or_default();
            let gap = read_gap(between, i + 1 == to);
            if gap.is_quiet() && i + 1 < to {
                continue;
            }
            // "approx. five" goes on; "is done. that was quick" does not.
            let next_lower = || {
                i + 1 < to
                    && (words[i].end - words[i].start < 4
                        || between.starts_with("..")
                        || between.starts_with('…'))
                    && starts_lower(text, &words[i + 1])
            };
            let list_item = gap.line && i + 1 < to && starts_item(between, &words[i + 1]);
            // "2." in front of a sentence numbers it, wherever wrapping has put it.
            let numbers = i == first
                && words[i].kind == WordKind::Number
                && words[i].end - words[i].start <= 2;
            let stop =
                gap.ended && !next_lower() && !numbers && !abbreviates(text, &words[i], between);
            let last = i + 1 == to || gap.paragraph || gap.asked || stop || list_item;
            if gap.asked {
                words[i].flags.set(WordFlags::ASKED);
            }
            if last && segment.kind != SegmentKind::Attribution || i + 1 == to {
                words[i].flags.set(WordFlags::END);
                sentences.push(Sentence {
                    words: first as u32..(i + 1) as u32,
                    segment: n as u32,
                });
                first = i + 1;
            }
        }
        at = to;
    }
    sentences
}

/// Collects the numbers of the words behind which a sentence may end: the last one, and those with more than one byte
/// between them and the next word. A single byte, of any sort, ends a sentence only before the number of a list.
fn gaps(words: &[Word], telling: &mut Vec<u32>) {
    telling.clear();
    telling.resize(words.len(), 0);
    let mut count = 0;
    for (n, (word, next)) in words.iter().zip(words.iter().skip(1)).enumerate() {
        // Written always and counted if it holds: which gaps tell something cannot be foreseen.
        telling[count] = n as u32;
        let wide = next.start.wrapping_sub(word.end) > 1;
        count += usize::from(wide | next.flags.has(WordFlags::ENUMERATOR));
    }
    if let Some(last) = words.len().checked_sub(1) {
        telling[count] = last as u32;
        telling.truncate(count + 1);
    }
}

/// Whether two bytes stand between words, and tell nothing: most gaps that are looked at are a comma and a blank.
#[inline]
fn is_mere_comma(text: &[u8], word: &Word, next: &Word) -> bool {
    let between = text.get(word.end as usize..next.start as usize);
    !next.flags.has(WordFlags::ENUMERATOR)
        && matches!(between, Some(&[a, b]) if !two_tell(SAYS[usize::from(a)], SAYS[usize::from(b)]))
}

/// Whether two bytes that say this may end a sentence: not a comma and a blank, nor a line end and a blank, before anything but the number of a list.
#[inline]
fn two_tell(first: u8, second: u8) -> bool {
    ((first | second) & (ASKS | ENDS | WIDE) != 0) | (first & second & LINE_END != 0)
}

/// What a byte between two words may say.
const BLANK: u8 = 1;
const LINE_END: u8 = 2;
const ASKS: u8 = 4;
const ENDS: u8 = 8;
const WIDE: u8 = 16;

const SAYS: [u8; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        table[n] = match n as u8 {
            b' ' | b'\t' => BLANK,
            b'\n' => LINE_END,
            b'?' => ASKS,
            b'.' | b'!' => ENDS,
            0x80.. => WIDE,
            _ => 0,
        };
        n += 1;
    }
    table
};

/// Looks at the characters between two words.
#[inline]
fn read_gap(between: &str, at_end: bool) -> Gap {
    // Most gaps that are looked at are a mark and a blank.
    if let [first, second] = between.as_bytes() {
        let (first, second) = (SAYS[usize::from(*first)], SAYS[usize::from(*second)]);
        if second & (BLANK | LINE_END) != 0 {
            return Gap {
                asked: first == ASKS,
                ended: first == ENDS,
                line: (first | second) & LINE_END != 0,
                paragraph: first & second == LINE_END,
            };
        }
    }
    read_long_gap(between, at_end)
}

/// Gaps of more bytes than this are looked at many bytes at a time.
const SHORT: usize = 8;

/// The same for what is not just a mark and a blank.
fn read_long_gap(between: &str, at_end: bool) -> Gap {
    let said = match between.len() > SHORT {
        true => Said::by_many(between.as_bytes()),
        false => Said::by_one(between.as_bytes()),
    };
    if said.wide {
        return read_wide_gap(between, at_end);
    }
    // "www.a.b" has no sentence end inside: a mark must be followed by white space.
    let counts = at_end || said.spaced;
    Gap {
        asked: counts && said.touching & ASKS != 0,
        ended: counts && said.touching & ENDS != 0,
        line: said.lines > 0,
        paragraph: said.paragraph || said.lines > 1 && parts_paragraphs(between),
    }
}

/// What the bytes between two words say.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    /// What touches the word: closing brackets and quotes, then the mark itself.
    touching: u8,
    /// There is white space.
    spaced: bool,
    /// Something is not ASCII; then the rest means nothing.
    wide: bool,
    /// How many lines end.
    lines: u32,
    /// One of them is empty.
    paragraph: bool,
}

impl Said {
    /// Looks at one byte after the other.
    fn by_one(between: &[u8]) -> Self {
        let (mut seen, mut touching, mut lines, mut before) = (0, 0, 0, 0);
        let mut paragraph = false;
        for byte in between {
            let says = SAYS[usize::from(*byte)];
            if seen & (BLANK | LINE_END) == 0 {
                touching |= says;
            }
            seen |= says;
            lines += u32::from(says == LINE_END);
            paragraph |= (says & before) == LINE_END;
            before = says;
        }
        Self {
            touching,
            spaced: seen & (BLANK | LINE_END) != 0,
            wide: seen & WIDE != 0,
            lines,
            paragraph,
        }
    }

    /// Looks for blanks first, then for line ends.
    fn by_many(between: &[u8]) -> Self {
        let says = |byte: &u8| SAYS[usize::from(*byte)];
        let white = |byte: &u8| says(byte) & (BLANK | LINE_END) != 0;
        let word = between.iter().position(white);
        let (touching, rest) = between.split_at(word.unwrap_or(between.len()));
        let (mut lines, mut paragraph, mut before) = (0, false, usize::MAX);
        for end in memchr::memchr_iter(b'\n', rest) {
            lines += 1;
            paragraph |= end.wrapping_sub(1) == before && end > 0;
            before = end;
        }
        let touching = touching.iter().chain(rest.first());
        Self {
            touching: touching.map(says).fold(0, |all, one| all | one),
            spaced: word.is_some(),
            wide: !between.is_ascii(),
            lines,
            paragraph,
        }
    }
}

/// The same where marks of other scripts may stand, some of which need no blank behind them.
fn read_wide_gap(between: &str, at_end: bool) -> Gap {
    let mut gap = Gap::default();
    let touching = between.split([' ', '\t', '\n']).next().unwrap_or_default();
    for c in touching.chars() {
        match c {
            '?' | '？' | '؟' | '՞' => gap.asked = true,
            '.' | '!' | '。' | '！' | '…' | '۔' | '।' | '．' | '｡' => gap.ended = true,
            _ => {}
        }
    }
    let spaced = at_end || touching.len() < between.len() || between.ends_with(['。', '！', '？']);
    if !spaced && !touching.contains(['。', '！', '？', '।']) {
        gap = Gap::default();
    }
    let mut ends = memchr::memchr_iter(b'\n', between.as_bytes());
    gap.line = ends.next().is_some();
    gap.paragraph = ends.next().is_some() && parts_paragraphs(between);
    gap
}

/// Whether one of several line ends between two words is a blank line, or a line of dashes or stars.
fn parts_paragraphs(between: &str) -> bool {
    let mut lines = between.split('\n');
    lines.next();
    lines.next_back();
    lines.any(|line| line.trim().is_empty() || quote_marks(line).1 >= line.len())
        || between
            .split('\n')
            .any(|line| line.trim().len() >= 3 && is_rule(line.trim()))
}

fn is_rule(line: &str) -> bool {
    line.bytes()
        .all(|b| matches!(b, b'-' | b'=' | b'*' | b'_' | b'#' | b'~' | b' '))
}

fn starts_lower(text: &str, word: &Word) -> bool {
    text.get(word.range())
        .and_then(|w| w.chars().next())
        .is_some_and(char::is_lowercase)
}

/// Whether the next word starts an item of a list: a bullet or number at the start of its line.
fn starts_item(between: &str, next: &Word) -> bool {
    let Some(line) = memchr::memrchr(b'\n', between.as_bytes()).map(|n| &between[n + 1..]) else {
        return false;
    };
    if next.flags.has(WordFlags::ENUMERATOR) || line.is_empty() {
        return next.flags.has(WordFlags::ENUMERATOR);
    }
    let lead = line
        .get(quote_marks(line).1..)
        .unwrap_or_default()
        .trim_start();
    let mut chars = lead.chars();
    let bullet = chars
        .next()
        .is_some_and(|c| matches!(c, '-' | '*' | '•' | '·' | '?' | '–' | '—' | '▪' | '◦' | '+'));
    bullet && chars.next().is_some_and(char::is_whitespace) && next.kind != WordKind::Symbol
}

/// Whether a full stop behind this word belongs to an abbreviation.
fn abbreviates(text: &str, word: &Word, between: &str) -> bool {
    if !between.starts_with('.') || word.kind != WordKind::Plain {
        return false;
    }
    let written = text.get(word.range()).unwrap_or_default();
    let mut letters = written.chars();
    let initial = letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_none()
        && written != "I";
    initial || (written.len() <= 6 && is_abbreviation(word.hash))
}

fn is_abbreviation(hash: u64) -> bool {
    static ALL: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(ABBREVIATIONS.iter().copied()));
    ALL.has(hash)
}

#[cfg(test)]
mod tests {
    use super::super::normal::hash_of;
    use super::*;

    #[test]
    fn two_bytes_are_read_like_many() {
        for first in '\0'..='\x7f' {
            for second in '\0'..='\x7f' {
                let between = format!("{first}{second}");
                for at_end in [false, true] {
                    let (quick, slow) =
                        (read_gap(&between, at_end), read_long_gap(&between, at_end));
                    assert_eq!(quick, slow, "{between:?}");
                    let [one, two] = [first, second].map(|mark| SAYS[mark as usize]);
                    // A line end alone ends a sentence only before an item of a list, for which there is no room.
                    let ends = slow.asked || slow.ended || slow.paragraph;
                    assert!(!ends || two_tell(one, two), "{between:?}");
                }
            }
        }
    }

    #[test]
    fn many_bytes_are_read_like_one_after_the_other() {
        let pieces = [
            "", " ", "\n", "\n\n", "?", ".)", "\t", "-----", "> ", "      ", "x",
        ];
        for one in pieces {
            for two in pieces {
                for three in pieces {
                    let between = format!("{one}{two}{three}{one}");
                    let (slow, quick) = (
                        Said::by_one(between.as_bytes()),
                        Said::by_many(between.as_bytes()),
                    );
                    assert_eq!(quick, slow, "{between:?}");
                }
            }
        }
        assert!(Said::by_many("\u{a0}".as_bytes()).wide);
    }

    #[test]
    fn abbreviations_are_found_and_no_other_words() {
        for known in ABBREVIATIONS {
            assert!(is_abbreviation(hash_of(known)), "{known}");
        }
        for other in ["sun", "", "улы", "the", "will"] {
            assert!(!is_abbreviation(hash_of(other)), "{other}");
        }
    }
}
