//! Which words does it use, and which sentences do they make?
//!
//! Text goes through three steps: `split` finds the words of every line and gives each its stable
//! hash; `common` says which are too common to tell anything and which deny; `sentences` groups
//! them. ASCII takes a short cut; languages written without spaces go to a dictionary segmenter.

mod address;
mod ascii;
mod bits;
mod common;
mod known;
mod letters;
mod normal;
mod sentences;
mod set;
mod short;
mod split;
mod strange;
mod token;

pub use normal::{hash_of, normalise};
pub use set::WordSet;

use twicetold_model::{Document, WordFlags};

/// Fills in the words of a document whose text and segments are known, without language and sentences.
pub(crate) fn split_words(document: &mut Document) {
    (document.words, _) = split::split(&document.text, &document.segments);
}

/// Fills in the words, the language and the sentences of a document whose text and segments are known.
pub fn read_words(document: &mut Document) {
    let (words, commons) = split::split(&document.text, &document.segments);
    document.words = words;
    let table = common::Table::get();
    let mut ballot = common::Ballot::default();
    // Words that are free in some language, and in which.
    let mut free = Vec::with_capacity(document.words.len() / 8);
    for some in commons.chunks(common::VOTERS) {
        ballot.count(some.clone().map(|(_, place)| table.at(place)));
        free.extend(some.filter_map(|(n, place)| {
            let languages = table.at(place).free;
            (languages != 0).then_some((n, languages))
        }));
    }
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
