//! Texts close in edit distance: misspelt, obfuscated, damaged by optical reading.
//!
//! A. Sokolov, *Исследование ускоренного поиска близких текстовых последовательностей с помощью
//! векторных представлений* (accelerated search for close texts by vector representations). The
//! folder follows the paper: the counts of q-grams in windows ([`Windows`]), hashes that sample them
//! ([`StableHash`]), the numbers of Table 5 ([`TABLE`]), the LSH forest ([`Forest`]), and the edit
//! distance that has the last word ([`distance()`]).
//!
//! | parameter | paper | practical | more | less |
//! |---|---|---|---|---|
//! | `shape` | `Paper` | `Short` | long q-grams: few strangers, one edit spoils many | short q-grams: most survive an edit |
//! | `shape.q` | 2/3 of a window | 3 | fewer strangers | more edits survived |
//! | `shape.widen` | 1 | 2 | inserted words shift less, more time | less time |
//! | `shape.step` | 1 | 4 | more agreement of near and of distant texts | less of both |
//! | `shape.depth` (K) | 7 … 47 | 16 | fewer strangers share a key | more edits survived |
//! | `trees` (L) | 30 | 24 | more found, more time and memory in proportion | fewer found |
//! | `folds` | no | yes | look-alikes count as equal | as written |
//! | `longest` | 8316 | 2000 | long texts are read further | less time and memory for them |
//! | `keeps_text` | yes | yes | edit distance decides | sketches without text: an estimate decides |
//!
//! Texts are never padded. A text is hashed at the largest length of the ladder that it fills and at
//! the next smaller one; only hashes of equal length meet. Texts below 120 characters are compared by
//! edit distance directly; the lowest rung is 100.
//!
//! Measured on 200 spam messages and changed copies of them: with look-alike letters in 15 % of the
//! words a copy shares a key with its original in 1.00 of the cases, with neighbouring letters swapped
//! in 15 % of the words in 1.00 and in 30 % in .79, with 5 % of the words replaced, added or dropped in
//! .95 and with 10 % in .71; honest messages share one with 1 in 10,000 of them, and edit distance
//! then tells every one of these apart. With a depth of 12 that is 1.00, 1.00, .99, .98, .92 and 17 in
//! 10,000. The paper's parameters find .01, .04, .01, .05 and .01 and no stranger; with folding .79 of
//! the first. The practical parameters were chosen among some two dozen on these same messages, so
//! expect a little less elsewhere.
//!
//! The keys of a sketch are one number per tree and rung, equal if all K hashes are. The body holds
//! the hash vectors for the forest and, unless `keeps_text` is off, the folded text up to `longest`.
//!
//! ```
//! use twicetold_methods::edit::{Edit, Forest};
//!
//! let edit = Edit::default();
//! let known = edit.signature("Buy our finest watches today, the lowest price on the whole market! \
//!     Every watch comes in a box with a signed certificate, and is sent to you on the very same day.");
//! let copy = edit.signature("Buy 0ur fin3st wathces today, the l0west pirce on the whole market! \
//!     Every w@tch comes in a box with a singed certificate, and is sent to you on the very smae day.");
//! let mut forest = Forest::default();
//! forest.insert(7, &known);
//! let near = forest.nearest(&copy, 48, 0.8, |_| Some(known.text()));
//! assert_eq!(near.len(), 1);
//! assert!(near[0].1 > 0.9);
//! ```

mod distance;
mod embedding;
mod fold;
mod forest;
mod parameters;
mod signature;
mod stable;
mod sweep;

pub use distance::distance;
pub use embedding::Windows;
pub use fold::{fold, fold_each, plain};
pub use forest::{Filter, Forest, Found};
pub use parameters::{Row, Rung, Shape, TABLE};
pub use signature::{Hashes, Signature};
pub use stable::{Rolling, StableHash, collision};
pub use sweep::Sweep;

use twicetold_model::{Document, Evidence, Method, Sketch};

use crate::winnow::mix;

/// Texts that are less alike than this are not told apart further: the band of the comparison ends.
const LEAST: f64 = 0.5;

/// The method and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which q-grams are counted, and how many hashes make a vector (K).
    pub shape: Shape,
    /// How many trees (L).
    pub trees: u16,
    /// Whether look-alike letters are folded.
    pub folds: bool,
    /// The longest text that is read, in characters; what follows is only checksummed.
    pub longest: usize,
    /// Whether the sketch holds the folded text.
    pub keeps_text: bool,
    /// What all random numbers are drawn from. Sketches with different seeds cannot be compared.
    pub seed: u64,
}

impl Default for Edit {
    fn default() -> Self {
        Self::practical()
    }
}

impl Edit {
    /// The paper's parameters.
    pub fn paper() -> Self {
        Self {
            shape: Shape::Paper,
            trees: 30,
            folds: false,
            longest: 8316,
            keeps_text: true,
            seed: 0,
        }
    }

    /// Parameters chosen by measurement on obfuscated spam.
    pub fn practical() -> Self {
        Self {
            shape: Shape::Short {
                q: 3,
                widen: 2,
                step: 4,
                depth: 16,
            },
            trees: 24,
            folds: true,
            longest: 2000,
            keeps_text: true,
            seed: 0,
        }
    }

    /// What is kept of a text.
    pub fn signature(&self, text: &str) -> Signature {
        self.signature_of(if self.folds { fold(text) } else { plain(text) })
    }

    fn signature_of(&self, mut text: Vec<char>) -> Signature {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let checksum = signature::checksum(&text);
        let rungs = self.shape.rungs(text.len(), self.longest);
        text.truncate(self.longest);
        let read = rungs.first().map_or(0, |rung| rung.n);
        let rolling = Rolling::new(&text[..read]);
        let mut grams = Grams::default();
        let hashes = rungs
            .iter()
            .map(|rung| self.hashes(&rolling, &mut grams, rung))
            .collect();
        Signature {
            length,
            checksum,
            text,
            hashes,
        }
    }

    /// The hash vectors of all trees at one rung.
    fn hashes(&self, text: &Rolling, grams: &mut Grams, rung: &Rung) -> Hashes {
        let windows = rung.windows;
        let grams = grams.of(text, windows);
        let starts = (rung.n + 1 - windows.width) as u64;
        let count = u64::from(self.trees) * rung.depth as u64;
        let family = mix(self.seed ^ mix(rung.n as u64));
        let values = (0..count)
            .map(|number| {
                let key = mix(family.wrapping_add(number));
                let start = ((u128::from(mix(key ^ 0x77)) * u128::from(starts)) >> 64) as usize;
                let hash = StableHash::new(key, rung.step);
                let product = grams.iter().fold(0_i64, |sum, (q, grams)| {
                    let width = windows.width + 1 - q;
                    let window = grams.get(start..start + width).unwrap_or_default();
                    sum.wrapping_add(hash.product(window))
                });
                hash.value(product) as u16
            })
            .collect();
        Hashes {
            n: rung.n as u32,
            depth: rung.depth as u16,
            values,
        }
    }

    /// What a sketch holds; `None` for bytes that are no sketch of this method.
    pub fn read(&self, sketch: &Sketch) -> Option<Signature> {
        Signature::decode(&sketch.body)
    }

    /// How alike two texts seem by their hashes alone: the share of equal hashes gives the distance
    /// of the counts, and that the share of equal q-grams.
    pub fn estimate(&self, a: &Signature, b: &Signature) -> f64 {
        let pair = a
            .hashes
            .iter()
            .find_map(|x| Some((x, b.hashes.iter().find(|y| y.n == x.n)?)));
        let Some((x, y)) =
            pair.filter(|(x, y)| x.values.len() == y.values.len() && !x.values.is_empty())
        else {
            return 0.0;
        };
        let Some(row) = TABLE.iter().find(|row| row.n == x.n as usize) else {
            return 0.0;
        };
        let equal = x
            .values
            .iter()
            .zip(&y.values)
            .filter(|(x, y)| x == y)
            .count();
        if equal == x.values.len() {
            return 1.0;
        }
        let rung = self.shape.rung(row);
        let agree = equal as f64 / x.values.len() as f64;
        let (mut low, mut high) = (0.0_f64, 1e6_f64);
        for _ in 0..60 {
            let middle = low.midpoint(high);
            if collision(middle) < agree {
                low = middle;
            } else {
                high = middle;
            }
        }
        let apart = rung.step as f64 / high;
        let farthest = rung.windows.farthest() * rung.windows.lengths() as f64;
        (1.0 - apart / farthest).clamp(0.0, 1.0)
    }
}

/// How alike two texts are by edit distance; `None` if less than `least`.
pub fn resemblance(a: &[char], b: &[char], least: f64) -> Option<f64> {
    let longer = a.len().max(b.len());
    if longer == 0 {
        return Some(1.0);
    }
    let most = (longer as f64 * (1.0 - least)).floor().max(0.0) as usize;
    distance(a, b, most).map(|edits| 1.0 - edits as f64 / longer as f64)
}

/// What a person wrote or quoted in a message, part by part; all of it if nothing is known of its parts.
fn contents(document: &Document) -> impl Iterator<Item = &str> {
    let whole = document.segments.is_empty().then_some(&*document.text);
    let parts = document
        .segments
        .iter()
        .filter(|segment| segment.kind.is_content())
        .filter_map(|segment| {
            document
                .text
                .get(segment.start as usize..segment.end as usize)
        });
    whole.into_iter().chain(parts)
}

/// The same in one piece.
fn content(document: &Document) -> String {
    contents(document).collect()
}

/// How many edits two texts may take, of which the longer one has so many letters.
fn most_edits(longer: usize, least: f64) -> usize {
    // A hair more, so that a share given in decimals is not lost to rounding.
    (longer as f64 * (1.0 - least) + 1e-6) as usize
}

/// How alike two kept texts are, and the edits between them; `None` if the texts take more edits than `least` allows.
fn likeness(a: &Signature, b: &Signature, least: f64) -> Option<(f64, usize)> {
    let longer = a.text.len().max(b.text.len());
    let most = most_edits(longer, least);
    // Texts may differ behind what was read; they are never called equal for that.
    let edits = distance(&a.text, &b.text, most)?.max(1);
    let unread = f64::from(a.length.min(b.length)) / f64::from(a.length.max(b.length).max(1));
    let read = a.text.len().min(b.text.len()) as f64 / longer as f64;
    let alike = (1.0 - edits as f64 / longer as f64) * (unread / read).min(1.0);
    Some((alike, edits))
}

impl Edit {
    /// As [`Method::sketch`], but the body holds no hash vectors: for whoever looks texts up by keys and not in a
    /// [`Forest`].
    pub fn sketch_of_text(&self, document: &Document) -> Option<Sketch> {
        let mut signature = self.signature(&content(document));
        if signature.text.is_empty() {
            return None;
        }
        let keys = signature.keys(&signature.text);
        signature.hashes.clear();
        Some(Sketch {
            keys,
            body: signature.encode(),
        })
    }

    /// How alike the texts in the bodies of two sketches are, by edit distance; `None` if less than `least`.
    pub fn alike(&self, a: &[u8], b: &[u8], least: f64) -> Option<f64> {
        if let (Some(a), Some(b)) = (signature::plain_text(a), signature::plain_text(b))
            && distance::are_strangers(a, b, most_edits(a.len().max(b.len()), least))
        {
            return None;
        }
        let (a, b) = (Signature::decode(a)?, Signature::decode(b)?);
        if (a.length, a.checksum) == (b.length, b.checksum) {
            return Some(1.0);
        }
        if a.text.is_empty() || b.text.is_empty() {
            return None;
        }
        likeness(&a, &b, least)
            .map(|(alike, _)| alike)
            .filter(|alike| *alike >= least - 1e-9)
    }
}

/// The q-grams of a text, kept for the next rung, which mostly wants the same.
#[derive(Default)]
struct Grams(Vec<(usize, Vec<u64>)>);

impl Grams {
    /// The q-grams that these windows count, by their lengths.
    fn of(&mut self, text: &Rolling, windows: Windows) -> &[(usize, Vec<u64>)] {
        let wanted = windows.shortest..=windows.longest;
        if !self.0.iter().map(|(q, _)| *q).eq(wanted.clone()) {
            self.0 = wanted.map(|q| (q, text.grams(q).collect())).collect();
        }
        &self.0
    }
}

impl Method for Edit {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn sketch(&self, document: &Document) -> Option<Sketch> {
        let mut signature = self.signature(&content(document));
        if signature.text.is_empty() {
            return None;
        }
        let keys = signature.keys(&signature.text);
        if !self.keeps_text {
            signature.text = Vec::new();
        }
        Some(Sketch {
            keys,
            body: signature.encode(),
        })
    }

    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence {
        const NOTHING: Evidence = Evidence {
            containment: 0.0,
            resemblance: 0.0,
        };
        let (Some(a), Some(b)) = (self.read(a), self.read(b)) else {
            return NOTHING;
        };
        if (a.length, a.checksum) == (b.length, b.checksum) {
            return Evidence {
                containment: 1.0,
                resemblance: 1.0,
            };
        }
        if a.text.is_empty() || b.text.is_empty() {
            let alike = self.estimate(&a, &b);
            return Evidence {
                containment: alike,
                resemblance: alike,
            };
        }
        let Some((alike, edits)) = likeness(&a, &b, LEAST) else {
            return NOTHING;
        };
        let added = b.text.len().saturating_sub(a.text.len());
        let lost = edits.saturating_sub(added) as f64 / a.text.len() as f64;
        Evidence {
            containment: (1.0 - lost).clamp(0.0, 1.0).max(alike),
            resemblance: alike,
        }
    }
}

#[cfg(test)]
mod tests;
