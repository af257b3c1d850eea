//! "Dear all,".

use std::ops::Range;
use std::sync::LazyLock;

use twicetold_model::SegmentKind;

use super::fold::{asks_or_counts, without_spaces};
use super::index::Openings;
use super::lines::Page;
use super::names::{People, is_name_word, is_uncased};
use super::phrases::{
    ADDRESSED, GREETED, GREETINGS, GREETINGS_WITHOUT_SPACES, HONORIFICS, OPENERS_OF_LETTERS,
};

static STARTS: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[GREETINGS]));
static MET: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[GREETED]));
static OPENERS: LazyLock<Openings> = LazyLock::new(|| Openings::of(&[OPENERS_OF_LETTERS]));

/// A longer line is no greeting.
const LONGEST: usize = 120;
/// How many words may follow the greeting.
const TAIL: usize = 4;

/// Marks the greeting at the start of a part.
pub(super) fn mark(page: &mut Page<'_>, part: Range<usize>, people: &People<'_>) {
    if part.is_empty() || !is_greeting(page, part.start, people) {
        return;
    }
    // "Hello" that is all there is, is what the message says.
    if part.len() == 1 && (page.lines.len() == 1 || !page.words(part.start).ends_with([',', '，']))
    {
        return;
    }
    let mut end = part.start + 1;
    // In Japanese the name and the formula stand on lines of their own.
    while end + 1 < part.end
        && end - part.start < 3
        && page.words(end - 1).chars().any(without_spaces)
        && is_greeting(page, end, people)
    {
        end += 1;
    }
    page.mark(part.start..end, SegmentKind::Greeting);
}

/// Whether a line greets and does nothing else.
fn is_greeting(page: &Page<'_>, at: usize, people: &People<'_>) -> bool {
    let words = page.words(at);
    if words.len() > LONGEST {
        return false;
    }
    // Other lines need a sign at their end to be a greeting.
    let ended = matches!(page.last(at), b',' | b':' | b'-' | b'!' | b';');
    if !ended && !STARTS.may_open(words.trim_start_matches('*')) && words.is_ascii() {
        return false;
    }
    if asks_or_counts(words) {
        return false;
    }
    let folded = page.folded(at);
    let line = folded
        .trim_end_matches([
            ',', '!', ':', ';', '.', '-', ' ', '~', ')', '(', '*', '\'', '、',
        ])
        .trim_start_matches('*');
    if line.is_empty() {
        return false;
    }
    let ended = folded.ends_with([',', ':', '-', '!', ';']);
    if line.chars().any(without_spaces) {
        return greets_without_spaces(line);
    }
    if ended && (ADDRESSED.contains(&line) || addresses_anybody(line)) {
        return true;
    }
    // The longest comes first.
    match STARTS.after(line).next() {
        Some(rest) => tail_is_names(rest, words, ended, people),
        None => ended && only_known_names(line, words, people),
    }
}

/// "Dear gardeners,": words that only ever open a letter may be followed by any name for its readers.
fn addresses_anybody(line: &str) -> bool {
    let plain = |rest: &str| {
        let mut words = rest.split_whitespace();
        words.clone().count() <= 3
            && words.all(|word| {
                word.chars()
                    .all(|letter| letter.is_alphabetic() || letter == '-')
            })
    };
    OPENERS.after(line).any(plain)
}

/// Whether what follows a greeting word is whom it greets.
fn tail_is_names(rest: &str, words: &str, ended: bool, people: &People<'_>) -> bool {
    let rest = rest.trim_start_matches([',', ' ', '!', '-', '.']);
    if rest.contains([':', ';', '"', '!']) || rest.contains(". ") && !titled(rest) {
        return false;
    }
    let tail = rest
        .split([' ', ',', '/', '&'])
        .filter(|word| !word.is_empty());
    let count = tail.clone().count();
    let longest = if rest.contains(" and ") || rest.contains(',') || rest.contains('&') {
        TAIL + 2
    } else {
        TAIL
    };
    if count > longest {
        return false;
    }
    // Case is lost in the folded line: take the same words from the end of the line as written.
    let written: Vec<&str> = words
        .split(|letter: char| {
            letter.is_whitespace() || matches!(letter, ',' | '/' | '&' | '，' | '،')
        })
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .collect();
    tail.enumerate().all(|(at, word)| {
        let plain = word.trim_matches(['.', '!', '*', '(', ')', '\'']);
        let from_end = count - at;
        let raw = written
            .len()
            .checked_sub(from_end)
            .and_then(|at| written.get(at))
            .copied()
            .unwrap_or_default();
        MET.holds(plain)
            || people.knows(plain)
            || is_name_word(raw.trim_matches(['.', '!', '*', '(', ')', ':', ';']))
            || (ended
                && count <= 3
                && plain
                    .chars()
                    .all(|letter| is_uncased(letter) || !letter.is_alphanumeric()))
    })
}

/// "Dr. Who": the full stop belongs to a title or an initial.
fn titled(rest: &str) -> bool {
    rest.match_indices(". ").all(|(at, _)| {
        let word = rest[..at].rsplit(' ').next().unwrap_or_default();
        word.chars().count() <= 4
    })
}

/// "Bill and Ed:", if these are in the headers.
fn only_known_names(line: &str, words: &str, people: &People<'_>) -> bool {
    let starts_large = words
        .trim_start_matches('*')
        .starts_with(char::is_uppercase);
    let names = line
        .split([' ', ',', '/', '&'])
        .filter(|word| !word.is_empty());
    let count = names.clone().count();
    let mut known = 0;
    starts_large
        && (1..=6).contains(&count)
        && names.clone().all(|name| {
            let found = people.knows(name);
            known += usize::from(found);
            found
                || matches!(
                    name,
                    "and" | "und" | "et" | "y" | "e" | "en" | "og" | "och" | "ja" | "i" | "и"
                )
        })
        && known > 0
}

/// "田中様", "您好", "お世話になっております".
fn greets_without_spaces(line: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).count();
    if letters(line) > 24 {
        return false;
    }
    let short = |rest: &str| {
        let rest = rest.trim_matches([',', ' ', ':', '、', '!', '.']);
        letters(rest) <= 8 && !rest.contains([',', '、', '.', '!'])
    };
    let phrase = GREETINGS_WITHOUT_SPACES.iter().any(|greeting| {
        line == *greeting
            || line.strip_prefix(greeting).is_some_and(|rest| {
                let named = rest.trim_matches([',', ' ', '、', '!', '.']);
                short(rest)
                    && (named.is_empty()
                        || GREETINGS_WITHOUT_SPACES.contains(&named)
                        || ends_with_honorific(named))
            })
            || line.strip_suffix(greeting).is_some_and(|rest| {
                let named = rest.trim_end_matches([',', ' ', '、', '!', '.']);
                short(rest) && (rest != named || ends_with_honorific(named))
            })
    });
    phrase
        || (letters(line) <= 10
            && !line.contains([',', '、', '.', ' '])
            && ends_with_honorific(line))
}

fn ends_with_honorific(name: &str) -> bool {
    HONORIFICS
        .iter()
        .any(|honorific| name.len() > honorific.len() && name.ends_with(honorific))
}
