//! Which words does it use, and which sentences do they make?
//!
//! Text goes through three steps: `split` finds the words of every line and gives each its stable
//! hash; `common` says which are too common to tell anything and which deny; `sentences` groups
//! them. ASCII takes a short cut; languages written without spaces go to a dictionary segmenter.

mod address;
mod common;
mod letters;
mod normal;
mod sentences;
mod split;
mod token;

pub use normal::{hash_of, normalise};

use twicetold_model::{Document, WordFlags};

/// Fills in the words, the language and the sentences of a document whose text and segments are known.
pub fn read_words(document: &mut Document) {
    document.words = split::split(&document.text, &document.segments);
    let table = common::Table::get();
    let mut ballot = common::Ballot::default();
    for word in document.words.iter_mut() {
        if let Some(known) = table.find(word.hash) {
            word.flags.set(known.flags);
            ballot.count(known.languages);
        }
    }
    if let Some((row, language)) = ballot.winner(document.words.len()) {
        document.language = language;
        for word in document
            .words
            .iter_mut()
            .filter(|w| w.flags.has(WordFlags::STOP))
        {
            let free = table.find(word.hash).is_some_and(|known| known.free >> row & 1 == 1);
            if free && !word.flags.has(WordFlags::NEGATION) {
                word.flags.set(WordFlags::FREE);
            }
        }
    }
    document.sentences =
        sentences::sentences(&document.text, &document.segments, &mut document.words);
}

#[cfg(test)]
mod tests;
