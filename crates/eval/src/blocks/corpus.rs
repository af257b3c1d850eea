//! Mails with planted copies.

use std::collections::HashSet;

use rayon::prelude::*;
use twicetold_methods::blocks::sentences;
use twicetold_methods::imatch::unique_words;
use twicetold_model::Document;

use crate::baselines::{exact, near_pairs};
use crate::metrics::Found;
use crate::{Bench, Corpus, Dice, EvalError};

/// The fewest sentences of a mail that is used.
const LEAST: usize = 5;
/// Mails that are more alike than this are copies already.
const ALIKE: f64 = 0.9;

/// The messages, by their place, that are no copies of each other and have some sentences.
pub(super) fn clean(
    texts: &Corpus<Document>,
    bench: &mut Bench<'_>,
) -> Result<Vec<usize>, EvalError> {
    let watch = bench.watch;
    let key = format!("blocks clean {:x}", texts.checksum);
    bench.notebook.measure(&key, || {
        let mut seen = HashSet::new();
        let long = |n: &usize| {
            let document = &texts.items[*n].value;
            seen.insert(exact(document)) && sentences(&document.text).len() >= LEAST
        };
        let kept: Vec<usize> = (0..texts.items.len()).filter(long).collect();
        let words: Vec<Vec<u64>> = kept
            .par_iter()
            .map(|&n| unique_words(&texts.items[n].value))
            .collect();
        let sets: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        let copies: HashSet<u32> = near_pairs(&sets, ALIKE, watch)
            .into_iter()
            .map(|(_, b)| b)
            .collect();
        let places = (0..).zip(kept);
        Ok(places
            .filter(|(at, _)| !copies.contains(at))
            .map(|(_, n)| n)
            .collect())
    })
}

/// Texts, some of which are changed copies of earlier ones.
pub(super) struct Planted<'t> {
    pub(super) texts: Vec<std::borrow::Cow<'t, str>>,
    /// Whether each is a planted copy.
    copies: Vec<bool>,
}

impl Planted<'_> {
    /// Holds what was found against what was planted.
    pub(super) fn score(&self, found: &[Option<usize>]) -> Found {
        let mut score = Found::default();
        for (found, &copy) in found.iter().zip(&self.copies) {
            match (found.is_some(), copy) {
                (true, true) => score.right += 1,
                (true, false) => score.wrong += 1,
                (false, true) => score.missed += 1,
                (false, false) => {}
            }
        }
        score
    }
}

/// Takes `all − copies` messages and plants that many copies behind them, in a random order.
pub(super) fn plant<'t>(
    texts: &'t Corpus<Document>,
    base: &[usize],
    all: usize,
    copies: usize,
    seed: u64,
) -> Planted<'t> {
    let mut dice = Dice::of(seed, (all * 10_000 + copies) as u64);
    let drawn = dice.some(all.saturating_sub(copies), base.len());
    let text = |at: usize| texts.items[base[at]].value.text.as_str();
    let mut planted = Planted {
        texts: drawn.iter().map(|&at| text(at).into()).collect(),
        copies: vec![false; drawn.len()],
    };
    for n in 0..copies {
        let (Some(&of), Some(&other)) = (dice.pick(&drawn), dice.pick(&drawn)) else {
            break;
        };
        planted
            .texts
            .push(changed(text(of), text(other), n, &mut dice).into());
        planted.copies.push(true);
    }
    planted
}

/// A copy of a text, changed in one of six ways.
fn changed(text: &str, other: &str, way: usize, dice: &mut Dice) -> String {
    let mut parts = sentences(text);
    let theirs = sentences(other);
    let new = dice
        .pick(&theirs)
        .cloned()
        .unwrap_or_else(|| "something quite different".to_owned());
    let at = dice.below(parts.len());
    match way % 6 {
        0 => return text.to_owned(),
        1 => return format!("Dear all,\n\n{text}\n\nBest wishes,\nAnna\n"),
        2 => return format!("{text}\n\n--\nSent from a telephone. Please do not print this.\n"),
        3 if !parts.is_empty() => parts[at] = new,
        4 if !parts.is_empty() => drop(parts.remove(at)),
        _ => parts.insert(at, new),
    }
    parts.join(". ") + "."
}
