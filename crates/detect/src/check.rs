//! Is the proof true? Asked of the text, not of hashes.
//!
//! The engine finds passages by hashes of words. Before a message is called redundant, every passage
//! is compared once more as written: letter by letter but for case and form. It is also what must
//! hold when a plan is carried out later, on messages that are read again.

use twicetold_mail::words::normalise;
use twicetold_model::{Proof, Word, WordFlags};

use crate::alike::alike;
use crate::comparable::Comparable;
use crate::said::attached;

/// Whether every unit of `a` that says something is in the proof, and every passage says in its witness what it says here.
pub(crate) fn holds(a: &Comparable, witnesses: &[&Comparable], proof: &Proof) -> bool {
    let passages = &proof.passages;
    let covered = a
        .units
        .iter()
        .filter(|u| u.content)
        .all(|u| passages.iter().any(|p| p.words == u.words));
    covered
        && passages.iter().all(|p| {
            witnesses.get(p.witness as usize).is_some_and(|b| {
                let here = slice(a, &p.words);
                let there = slice(b, &p.there);
                same_text(a, here, b, there)
            })
        })
}

/// Whether one person wrote both, to the letter: records know senders by a number.
pub(crate) fn same_sender(a: &Comparable, b: &Comparable) -> bool {
    a.document.envelope.from == b.document.envelope.from
}

/// Whether two messages say word for word the same.
pub(crate) fn identical(a: &Comparable, b: &Comparable) -> bool {
    let (mut p, mut q) = (String::new(), String::new());
    a.document.words.len() == b.document.words.len()
        && a.document.links == b.document.links
        && attached(&a.document) == attached(&b.document)
        && a.document
            .words
            .iter()
            .zip(&b.document.words)
            .all(|(x, y)| {
                x.flags.has(WordFlags::ASKED) == y.flags.has(WordFlags::ASKED)
                    && written_alike(a, x, b, y, &mut p, &mut q)
            })
}

fn slice<'c>(c: &'c Comparable, words: &std::ops::Range<u32>) -> &'c [Word] {
    c.document
        .words
        .get(words.start as usize..words.end as usize)
        .unwrap_or_default()
}

/// Walks both passages without free words; list numbers may be missing on one side.
fn same_text(a: &Comparable, here: &[Word], b: &Comparable, there: &[Word]) -> bool {
    let counts = |w: &&Word| !w.flags.has(WordFlags::FREE);
    let (mut here, mut there) = (
        here.iter().filter(counts).peekable(),
        there.iter().filter(counts).peekable(),
    );
    let (mut p, mut q) = (String::new(), String::new());
    loop {
        match (here.peek().copied(), there.peek().copied()) {
            (None, None) => return true,
            (Some(x), Some(y)) if written_alike(a, x, b, y, &mut p, &mut q) => {
                here.next();
                there.next();
            }
            (Some(x), y)
                if x.flags.has(WordFlags::ENUMERATOR)
                    && !y.is_some_and(|y| y.flags.has(WordFlags::ENUMERATOR)) =>
            {
                here.next();
            }
            (x, Some(y))
                if y.flags.has(WordFlags::ENUMERATOR)
                    && !x.is_some_and(|x| x.flags.has(WordFlags::ENUMERATOR)) =>
            {
                there.next();
            }
            (Some(x), Some(y)) => {
                here.next();
                there.next();
                // A compound: one side has it in two words.
                let (first, second) = (
                    a.document.word(x).to_lowercase(),
                    b.document.word(y).to_lowercase(),
                );
                let here_in_two = here
                    .peek()
                    .is_some_and(|z| first.clone() + &a.document.word(z).to_lowercase() == second);
                let there_in_two = there
                    .peek()
                    .is_some_and(|z| second.clone() + &b.document.word(z).to_lowercase() == first);
                if here_in_two {
                    here.next();
                } else if there_in_two {
                    there.next();
                } else {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Whether two words read the same: in normal form, as parts of contractions, as addresses, or alike.
fn written_alike(
    a: &Comparable,
    x: &Word,
    b: &Comparable,
    y: &Word,
    p: &mut String,
    q: &mut String,
) -> bool {
    if x.kind != y.kind {
        return false;
    }
    let (here, there) = (a.document.word(x), b.document.word(y));
    // The normal form of ASCII is its lower case.
    if here.is_ascii() && here.eq_ignore_ascii_case(there) {
        return true;
    }
    normalise(here, p);
    normalise(there, q);
    // "n't" stands for "not" and "&" for "and": there the word behind the letters decides.
    p == q
        || (x.hash == y.hash && is_short_form(p) | is_short_form(q))
        || alike(&a.document, x, &b.document, y)
}

fn is_short_form(word: &str) -> bool {
    word == "&"
        || word.contains('\'')
        || matches!(word, "wo" | "ca" | "sha")
        || word.contains("://")
        || word.starts_with("www.")
}
