//! Are two texts as alike as a method says?
//!
//! Sketches can agree by chance, or because they leave out what differs. Whoever asks gets the texts of every pair read again
//! and compared directly, by a measure that has nothing to do with the sketch.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::edit::{plain, resemblance};
use twicetold_methods::imatch::unique_words;
use twicetold_methods::winnow::all_pairs;
use twicetold_model::{Document, shared_keys};
use twicetold_source::Collection;

use super::Pairs;
use crate::progress::{Progress, Stage};

/// How texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The cosine over their different words: `|A ∩ B| / √(|A|·|B|)`.
    Cosine,
    /// The share of the shorter text's word pairs that the longer one has.
    Containment,
    /// 1 less the edits by the length, over letters and digits. Of longer texts the first 100,000 are compared.
    Edit,
}

impl Check {
    /// The word users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Containment => "containment",
            Self::Edit => "edit",
        }
    }

    /// From which number on a pair counts as verified unless told otherwise: the papers' own for cosine and edit.
    pub fn threshold(self) -> f64 {
        match self {
            Self::Cosine | Self::Containment => 0.9,
            Self::Edit => 0.85,
        }
    }
}

/// A check and from which number on a pair counts as verified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verify {
    /// How texts are compared.
    pub check: Check,
    /// From which number on a pair counts as verified.
    pub threshold: f64,
}

impl Verify {
    /// Whether a pair with this number is verified. One that could not be read again is not.
    pub fn holds(&self, checked: Option<f64>) -> bool {
        checked.is_some_and(|checked| checked >= self.threshold - 1e-9)
    }
}

/// How many letters and digits of a text are compared by edit distance.
const LONGEST: usize = 100_000;
/// How many pairs one thread does at once.
const CHUNK: usize = 256;
/// How many texts it holds meanwhile.
const HELD: usize = 512;

/// What a check compares.
enum Ready {
    /// Numbers, sorted, each once.
    Set(Vec<u64>),
    /// Letters and digits, and how many there are in all.
    Letters(Vec<char>, usize),
}

/// Fills in what the check says of every pair.
pub(super) fn check(
    found: &mut Pairs,
    collections: &[&Collection],
    verify: Verify,
    progress: &dyn Progress,
) {
    progress.begin(Stage::Proving, found.pairs.len() as u64);
    let mut pairs = std::mem::take(&mut found.pairs);
    let read = |text: u32| -> Option<Ready> {
        let side = usize::from(text as usize >= found.first);
        let collection = collections.get(side)?;
        let raw = collection.read(&found.location(text)).ok()?;
        let wants = Wants {
            words: verify.check == Check::Containment,
            ..Wants::default()
        };
        Some(ready(
            verify.check,
            &read_wanted(raw.form, &raw.bytes, wants),
        ))
    };
    // Pairs are sorted by their first text: a chunk needs few texts, some of them often.
    pairs.par_chunks_mut(CHUNK).for_each(|chunk| {
        let mut held: HashMap<u32, Option<Ready>, FixedState> = HashMap::default();
        // A pair that several methods saw is compared once.
        for same in chunk.chunk_by_mut(|x, y| (x.a, x.b) == (y.a, y.b)) {
            if held.len() > HELD {
                held.clear();
            }
            let (a, b) = (same[0].a, same[0].b);
            for text in [a, b] {
                held.entry(text).or_insert_with(|| read(text));
            }
            let checked = match (held.get(&a), held.get(&b)) {
                (Some(Some(x)), Some(Some(y))) => Some(compare(x, y, verify)),
                _ => None,
            };
            same.iter_mut().for_each(|pair| pair.checked = checked);
        }
        progress.advance(chunk.len() as u64, 0);
    });
    found.pairs = pairs;
}

fn ready(check: Check, document: &Document) -> Ready {
    match check {
        Check::Cosine => Ready::Set(unique_words(document)),
        Check::Containment => {
            let mut pairs = all_pairs(document);
            pairs.sort_unstable();
            pairs.dedup();
            Ready::Set(pairs)
        }
        Check::Edit => {
            let mut letters = plain(&document.text);
            let length = letters.len();
            letters.truncate(LONGEST);
            Ready::Letters(letters, length)
        }
    }
}

fn compare(a: &Ready, b: &Ready, verify: Verify) -> f64 {
    match (a, b) {
        (Ready::Set(a), Ready::Set(b)) => {
            let common = shared_keys(a, b) as f64;
            let (m, n) = (a.len() as f64, b.len() as f64);
            let whole = match verify.check {
                Check::Containment => m.min(n),
                Check::Cosine | Check::Edit => (m * n).sqrt(),
            };
            match (a.is_empty(), b.is_empty()) {
                (true, true) => 1.0,
                _ if whole == 0.0 => 0.0,
                _ => common / whole,
            }
        }
        (Ready::Letters(a, m), Ready::Letters(b, n)) => {
            // What was not compared counts as different as far as the lengths are.
            let unread = (*m).min(*n) as f64 / (*m).max(*n).max(1) as f64;
            let read = a.len().min(b.len()) as f64 / a.len().max(b.len()).max(1) as f64;
            let unread = if read > 0.0 {
                (unread / read).min(1.0)
            } else {
                1.0
            };
            // A distance that tells no more than "not alike" need not be found: half the threshold is far below it.
            let least = verify.threshold / 2.0;
            resemblance(a, b, least).map_or(0.0, |alike| alike * unread)
        }
        _ => 0.0,
    }
}
