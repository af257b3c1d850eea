//! The words of a message as a reader sees them through disguises.
//!
//! `V1@gra` and `Viagra`, `сash` with a Cyrillic first letter and `cash` are one word here: a word is
//! what its letters look like (the folding of the edit method). Words that a disguise cut into pieces
//! (`c@$h`) are put together again.

use std::ops::Range;

use twicetold_methods::edit::fold_each;
use twicetold_model::{Document, Segment, Word, WordFlags, WordKind};
use xxhash_rust::xxh3::xxh3_64;

/// A word, folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// A stable hash of its letters.
    pub(super) hash: u64,
    /// How many letters it has, folded.
    pub(super) letters: usize,
    /// Whether it stands in a greeting, a signature, a footer: in what is packaging, not content.
    pub(super) packaging: bool,
    /// Whether it stands in text that somebody else wrote.
    pub(super) quoted: bool,
}

/// Writes the letters of a word, folded, and counts them.
fn fold_into(folded: &mut String, word: &str) -> usize {
    folded.clear();
    let mut letters = 0;
    fold_each(word, |letter| {
        folded.push(letter);
        letters += 1;
    });
    letters
}

/// The number of a word.
pub(super) fn number(word: &str) -> u64 {
    let mut folded = String::new();
    fold_into(&mut folded, word);
    xxh3_64(folded.as_bytes())
}

/// The words of a document that are not among the commonest of the language, in order.
pub(super) fn tokens(document: &Document) -> Vec<Token> {
    let text = document.text.as_str();
    let mut out = Vec::with_capacity(document.words.len());
    let mut segments = Segments::of(document);
    let mut words = document.words.as_slice();
    let mut folded = String::new();
    while let Some((first, rest)) = words.split_first() {
        let mut taken = 1;
        let mut end = first.end;
        for next in rest {
            if !is_disguise(text, end, next) || spelt_apart(first) || spelt_apart(next) {
                break;
            }
            end = next.end;
            taken += 1;
        }
        words = words.get(taken..).unwrap_or_default();
        if taken == 1
            && (first.flags.has(WordFlags::STOP) || first.flags.has(WordFlags::ENUMERATOR))
        {
            continue;
        }
        let span = widened(text, first.start as usize..end as usize);
        let letters = fold_into(&mut folded, text.get(span).unwrap_or_default());
        if letters == 0 {
            continue;
        }
        let (packaging, quoted) = segments.at(first.start);
        out.push(Token {
            hash: xxh3_64(folded.as_bytes()),
            letters,
            packaging,
            quoted,
        });
    }
    out
}

/// Addresses and pictures are words by themselves.
fn spelt_apart(word: &Word) -> bool {
    matches!(
        word.kind,
        WordKind::Url | WordKind::Address | WordKind::Symbol
    )
}

/// Whether nothing but marks that look like letters stand between the end of a word and the next one.
fn is_disguise(text: &str, end: u32, next: &Word) -> bool {
    let between = text
        .get(end as usize..next.start as usize)
        .unwrap_or(" ")
        .as_bytes();
    !between.is_empty() && between.len() <= 3 && between.iter().all(|b| b"@$!|+(".contains(b))
}

/// A word with the marks that look like letters at its ends.
fn widened(text: &str, span: Range<usize>) -> Range<usize> {
    let mark = |at: usize| matches!(text.as_bytes().get(at), Some(b'@' | b'$'));
    let (mut start, mut end) = (span.start, span.end);
    while start > 0 && mark(start - 1) {
        start -= 1;
    }
    while mark(end) {
        end += 1;
    }
    start..end
}

/// Walks along the segments of a document.
struct Segments<'d> {
    rest: &'d [Segment],
}

impl<'d> Segments<'d> {
    fn of(document: &'d Document) -> Self {
        Self {
            rest: &document.segments,
        }
    }

    /// Whether the text at this place is packaging, and whether it is quoted. Places must not go back.
    fn at(&mut self, place: u32) -> (bool, bool) {
        while let Some((first, rest)) = self.rest.split_first() {
            if place < first.end {
                return (!first.kind.is_content(), first.depth > 0);
            }
            self.rest = rest;
        }
        (false, false)
    }
}
