//! Which words does it use, and which sentences do they make?
//!
//! Text goes through three steps: `split` finds the words of every line and gives each its stable
//! hash; `common` says which are too common to tell anything and which deny; `sentences` groups
//! them. ASCII takes a short cut; languages written without spaces go to a dictionary segmenter.

mod address;
mod ascii;
mod common;
mod letters;
mod normal;
mod sentences;
mod short;
mod split;
mod strange;
mod token;

pub use normal::{hash_of, normalise};

use twicetold_model::{Document, WordFlags};

/// Fills in the words of a document whose text and segments are known, without language and sentences.
pub(crate) fn split_words(document: &mut Document) {
    document.words = split::split(&document.text, &document.segments);
    let table = common::Table::get();
    table.each_common(&mut document.words, |_, word, known| {
        word.flags.set(known.flags);
    });
}

/// Fills in the words, the language and the sentences of a document whose text and segments are known.
pub fn read_words(document: &mut Document) {
    document.words = split::split(&document.text, &document.segments);
    let table = common::Table::get();
    let mut ballot = common::Ballot::default();
    // Words that are free in some language, and in which.
    let mut free = Vec::with_capacity(document.words.len() / 8);
    table.each_common(&mut document.words, |n, word, known| {
        word.flags.set(known.flags);
        ballot.count(&known.languages);
        if known.free != 0 {
            free.push((n, known.free));
        }
    });
    if let Some((row, language)) = ballot.winner(document.words.len()) {
        document.language = language;
        for (n, languages) in free {
            let word = &mut document.words[n];
            if languages >> row & 1 == 1 && !word.flags.has(WordFlags::NEGATION) {
                word.flags.set(WordFlags::FREE);
            }
        }
    }
    document.sentences =
        sentences::sentences(&document.text, &document.segments, &mut document.words);
}

#[cfg(test)]
mod tests;
