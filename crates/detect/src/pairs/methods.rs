//! How the pairs of each method are found.

use twicetold_methods::blocks::{Blocks, Record};
use twicetold_methods::catalogue::{Chosen, Measure};
use twicetold_methods::edit::Edit;
use twicetold_methods::imatch::Imatch;
use twicetold_methods::layout::{self, Cosdes};
use twicetold_model::Share;

use super::Sought;
use super::copies::{Copies, Scored};
use super::hamming;
use super::join::{Rule, join};
use super::shelf::Shelf;
use crate::progress::{Progress, Stage};

/// The pairs of texts at or above the threshold of a method, and how many texts have more partners than are listed.
pub(super) fn find(
    sought: &Sought,
    shelf: Shelf,
    sides: Option<u32>,
    most: Option<usize>,
    progress: &dyn Progress,
) -> (Vec<Scored>, usize) {
    let copies = Copies::of(&shelf, sides);
    progress.begin(Stage::Proving, copies.len() as u64);
    let shelf = &shelf;
    let (pairs, cut) = match by_keys(sought, shelf) {
        Some(rule) => join(shelf, &copies, &*rule, most, progress),
        None => match farthest(sought) {
            None => (Vec::new(), 0),
            Some(distance) => {
                let hashes: Vec<u64> = (0..copies.len() as u32)
                    .map(|class| hash(&sought.method, shelf.body(copies.first(class))))
                    .collect();
                let score = |bits: u32| score_of_bits(&sought.method, bits);
                hamming::within(&hashes, &copies, distance, score, most, progress)
            }
        },
    };
    let (pairs, more) = copies.spell_out(&pairs, most);
    (pairs, cut + more)
}

/// What a method says about shared keys; `None` if it compares bits.
pub(super) fn by_keys<'a>(sought: &'a Sought, shelf: &'a Shelf) -> Option<Box<dyn Rule + 'a>> {
    let share = Share::of(sought.threshold);
    Some(match &sought.method {
        Chosen::Winnow(_, measure) => Box::new(ByWinnow {
            shelf,
            share,
            measure: *measure,
        }),
        Chosen::Imatch(imatch) => Box::new(ByImatch {
            shelf,
            share,
            imatch,
        }),
        Chosen::Blocks(blocks) => Box::new(ByBlocks {
            shelf,
            share,
            blocks: *blocks,
        }),
        Chosen::Edit(edit) => Box::new(ByEdit {
            shelf,
            edit: *edit,
            threshold: sought.threshold,
        }),
        Chosen::SimHash(_) | Chosen::Layout(_) => return None,
    })
}

/// The hash in the body of a sketch, of a method that compares bits.
pub(super) fn hash(method: &Chosen, body: &[u8]) -> u64 {
    match method {
        Chosen::Layout(_) => Cosdes::of_body(body).map_or(0, |(_, near)| near),
        _ => {
            let bytes = body.first_chunk::<8>();
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        }
    }
}

/// The score of two texts with different sketches whose hashes differ in so many bits.
pub(super) fn score_of_bits(method: &Chosen, bits: u32) -> f64 {
    match method {
        // Different layouts are never quite equal, whatever their hashes say.
        Chosen::Layout(_) => layout::alike(bits.max(1)),
        _ => 1.0 - f64::from(bits) / 64.0,
    }
}

/// The largest distance of hashes whose score is not below the threshold; `None` if there is none.
pub(super) fn farthest(sought: &Sought) -> Option<u32> {
    let score = |bits: u32| score_of_bits(&sought.method, bits);
    if matches!(sought.method, Chosen::Layout(_)) && sought.threshold > score(1) {
        return None;
    }
    // A threshold given in decimals means the distance it was made from.
    let near = |&bits: &u32| score(bits) >= sought.threshold - 1e-6;
    Some((0..=64).rev().find(near).unwrap_or(0))
}

struct ByWinnow<'a> {
    shelf: &'a Shelf,
    share: Share,
    measure: Measure,
}

impl Rule for ByWinnow<'_> {
    fn least(&self, text: u32) -> usize {
        // Of two containments that of the text with fewer fingerprints is the larger one, so not below their mean.
        self.share.least(self.shelf.keys(text).len())
    }

    fn score(&self, a: u32, b: u32, shared: usize) -> Option<f64> {
        let (m, n) = (self.shelf.keys(a).len(), self.shelf.keys(b).len());
        let (s, m, n) = (shared as u128, m as u128, n as u128);
        let (part, whole) = match self.measure {
            Measure::Resemblance => (s * (m + n), 2 * m * n),
            Measure::Containment => (s, m.min(n)),
        };
        self.share
            .is_reached_by(part, whole)
            .then(|| part as f64 / whole as f64)
    }
}

struct ByImatch<'a> {
    shelf: &'a Shelf,
    share: Share,
    imatch: &'a Imatch,
}

impl Rule for ByImatch<'_> {
    fn least(&self, text: u32) -> usize {
        let keys = self.shelf.keys(text).len();
        self.share.least(keys).max(self.imatch.votes.min(keys))
    }

    fn score(&self, a: u32, b: u32, shared: usize) -> Option<f64> {
        let (m, n) = (self.shelf.keys(a).len(), self.shelf.keys(b).len());
        let whole = m.max(n) as u128;
        self.share
            .is_reached_by(shared as u128, whole)
            .then(|| shared as f64 / whole as f64)
    }
}

struct ByBlocks<'a> {
    shelf: &'a Shelf,
    share: Share,
    blocks: Blocks,
}

impl Rule for ByBlocks<'_> {
    fn least(&self, text: u32) -> usize {
        let blocks = Record::count(self.shelf.body(text));
        let keys = self.shelf.keys(text).len();
        self.blocks.least_shared(blocks, keys, self.share)
    }

    fn score(&self, a: u32, b: u32, _shared: usize) -> Option<f64> {
        let (x, y) = (self.shelf.body(a), self.shelf.body(b));
        if !self
            .blocks
            .counts_fit(Record::count(x), Record::count(y), self.share)
        {
            return None;
        }
        let (x, y) = (Record::from_bytes(x)?, Record::from_bytes(y)?);
        let similarity = self.blocks.similarity(&x, &y);
        similarity
            .reaches(self.share)
            .then(|| similarity.value().min(1.0))
    }
}

struct ByEdit<'a> {
    shelf: &'a Shelf,
    edit: Edit,
    threshold: f64,
}

impl Rule for ByEdit<'_> {
    fn least(&self, _text: u32) -> usize {
        1
    }

    fn score(&self, a: u32, b: u32, _shared: usize) -> Option<f64> {
        self.edit
            .alike(self.shelf.body(a), self.shelf.body(b), self.threshold)
    }
}
