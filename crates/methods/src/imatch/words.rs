//! The words of a message, as the paper takes them.

use twicetold_model::Document;
use xxhash_rust::xxh3::xxh3_64;

/// The fewest characters of a word.
const LEAST_CHARACTERS: usize = 4;

/// The most digits in a word.
const MOST_DIGITS: usize = 1;

/// Hands each word of a text to `visit`, in lower case, in order, repetitions included: runs of
/// alphanumerics of at least 4 characters with at most one digit.
///
/// ```
/// let mut words = Vec::new();
/// twicetold_methods::imatch::each_word("Meet at GATE-4b2: 2nd platform4, Größe?", |word| words.push(word.to_owned()));
/// assert_eq!(words, ["meet", "gate", "platform4", "größe"]);
/// ```
pub fn each_word(text: &str, mut visit: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut word = String::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        let run = bytes.get(start..).unwrap_or_default();
        at += run
            .iter()
            .position(|b| !b.is_ascii_alphanumeric())
            .unwrap_or(run.len());
        let run = text.get(start..).unwrap_or_default();
        let found = if bytes.get(at).is_none_or(u8::is_ascii) {
            read_ascii(run.get(..at - start).unwrap_or_default(), &mut word)
        } else {
            let end = run
                .find(|c: char| !c.is_alphanumeric())
                .unwrap_or(run.len());
            // A character that is no part of a word is stepped over.
            at = start + end.max(run.chars().next().map_or(1, char::len_utf8));
            read_any(run.get(..end).unwrap_or_default(), &mut word)
        };
        if found {
            visit(&word);
        }
    }
}

/// Writes a run of ASCII in lower case. Says whether it is a word.
fn read_ascii(run: &str, word: &mut String) -> bool {
    if run.len() < LEAST_CHARACTERS {
        return false;
    }
    word.clear();
    word.push_str(run);
    word.make_ascii_lowercase();
    run.bytes().filter(u8::is_ascii_digit).count() <= MOST_DIGITS
}

/// Writes any run in lower case. Says whether it is a word.
fn read_any(run: &str, word: &mut String) -> bool {
    word.clear();
    word.extend(run.chars().flat_map(char::to_lowercase));
    run.chars().filter(|c| c.is_numeric()).count() <= MOST_DIGITS
        && word.chars().nth(LEAST_CHARACTERS - 1).is_some()
}

/// The number of a word: the same on every machine and in every run.
pub(super) fn number(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

/// The numbers of the different words of a message's subject and body, sorted.
pub fn unique_words(document: &Document) -> Vec<u64> {
    let mut words = Vec::with_capacity(document.text.len() / 6);
    for text in [&document.envelope.subject, &document.text] {
        each_word(text, |word| words.push(number(word)));
    }
    words.sort_unstable();
    words.dedup();
    words
}
