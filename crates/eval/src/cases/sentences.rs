//! The sentences that cases are made of.

use std::collections::HashSet;

use twicetold_model::{Document, SegmentKind};
use xxhash_rust::xxh3::xxh3_64;

use crate::Dice;

/// The fewest and the most words of a sentence that is used.
const WORDS: std::ops::RangeInclusive<usize> = 5..=40;
/// The fewest sentences of a message that is used.
const LEAST: usize = 4;
/// The most sentences that are taken of a message.
const MOST: usize = 60;

/// The sentences a person wrote in a message, each on one line with its end mark.
pub(super) fn of(document: &Document) -> Vec<String> {
    let own = |segment: u32| {
        let found = document.segments.get(segment as usize);
        found.is_some_and(|segment| segment.kind == SegmentKind::Own)
    };
    let sentences = document
        .sentences
        .iter()
        .filter(|sentence| own(sentence.segment));
    sentences
        .filter_map(|sentence| {
            let words = document.sentence_words(sentence);
            let (first, last) = (words.first()?, words.last()?);
            let text = document.text.get(first.start as usize..last.end as usize)?;
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let plain = !text.contains(['>', '|', '=', '*', '_', '\u{fffd}']) && text.len() < 400;
            (WORDS.contains(&words.len()) && plain).then(|| format!("{text}."))
        })
        .take(MOST)
        .collect()
}

/// What a sentence says: equal for the same words, whatever stands between them.
pub(super) fn unit(sentence: &str) -> String {
    let words = sentence
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase);
    format!(
        "s:{:012x}",
        xxh3_64(words.collect::<Vec<_>>().join(" ").as_bytes()) >> 16
    )
}

/// Texts that have no sentence in common, each used once.
pub(super) struct Stock(Vec<Vec<String>>);

impl Stock {
    /// Takes the texts in a random order; one that has a sentence of an earlier one, or repeats one, is left out.
    pub(super) fn new(texts: Vec<Vec<String>>, dice: &mut Dice) -> Self {
        let mut texts: Vec<Vec<String>> = texts
            .into_iter()
            .filter(|text| text.len() >= LEAST)
            .collect();
        dice.shuffle(&mut texts);
        let mut known = HashSet::new();
        texts.retain(|text| {
            let units: HashSet<String> = text.iter().map(|sentence| unit(sentence)).collect();
            let new = units.len() == text.len() && units.is_disjoint(&known);
            known.extend(units);
            new
        });
        Self(texts)
    }

    /// How many texts are left.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// A text with at least so many sentences.
    pub(super) fn take(&mut self, least: usize) -> Option<Vec<String>> {
        let at = self.0.iter().rposition(|text| text.len() >= least)?;
        Some(self.0.swap_remove(at))
    }

    /// Gives a text back that could not be used.
    pub(super) fn give_back(&mut self, text: Vec<String>) {
        self.0.push(text);
    }
}

#[cfg(test)]
mod tests {
    use twicetold_model::Form;

    use super::*;

    #[test]
    fn only_what_the_sender_wrote_is_taken() {
        let mail = b"Subject: x\n\nThe harbour opens again on the first of May.\n\nOn Monday, Anna wrote:\n> The harbour will be closed for the whole of next week.\n";
        let found = of(&twicetold_mail::read(Form::Mail, mail));
        assert_eq!(found, ["The harbour opens again on the first of May."]);
        assert_eq!(
            unit(&found[0]),
            unit("the harbour -- opens again; on the first of MAY")
        );
        assert_ne!(unit("a b"), unit("b a"));
    }

    #[test]
    fn texts_in_stock_have_nothing_in_common() {
        let text = |n: usize| {
            (0..5)
                .map(|k| format!("Sentence {k} of text {n} has words."))
                .collect::<Vec<_>>()
        };
        let mut other = text(2);
        other[3] = text(1)[0].clone();
        let stock = Stock::new(
            vec![text(1), other, text(3), vec!["Too short a text.".into()]],
            &mut Dice::new(1),
        );
        assert_eq!(stock.len(), 2);
    }
}
