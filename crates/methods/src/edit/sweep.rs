//! Keys of a text in one sweep, for whoever checks thousands of texts a second and keeps nothing but keys.
//!
//! [`Edit`](super::Edit) draws random numbers of its own for each of its hashes, and so walks through a window of the text
//! for each of them. Here all hashes share [`LANES`] random functions. One walk through the text adds up all of
//! them; the product of a window is the difference of two sums on the way, so a hash costs a subtraction. What
//! is shared is little: the hashes of one vector have functions and windows of their own, and hashes of
//! different trees with the same function have different windows.
//!
//! Numbers are drawn by rows: a q-gram, hashed, names a row of [`ROWS`], in which its number for every function
//! stands. Another q-gram has the same row once in [`ROWS`] times, which is less than the hashes notice. Cauchy numbers are
//! rounded to quarters and sums taken modulo 2¹⁶, so that a row fills two lines of the cache and eight sums are made at once:
//! only equality counts, and a product so far out is rare.

use twicetold_model::Document;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::contents;
use super::fold::fold_each;
use super::parameters::{Rung, Shape, TABLE};
use super::stable::tangent;
use crate::winnow::mix;

/// Random functions.
const LANES: usize = 64;
/// Rows of random numbers; a power of two.
const ROWS: usize = 1 << 11;
/// Cauchy numbers are kept in quarters.
const QUARTERS: u64 = 4;
/// Characters in a q-gram.
const GRAM: usize = 3;
/// Bits behind the point of a step's reciprocal.
const POINT: u32 = 32;

/// How texts are swept: the functions, and which windows each hash has.
#[derive(Clone, Debug)]
pub struct Sweep {
    rows: Vec<[i16; LANES]>,
    rungs: Vec<Swept>,
    trees: usize,
    depth: usize,
    longest: usize,
}

#[cfg(test)]
mod tests;

/// What is drawn for one length of the ladder.
#[derive(Clone, Debug)]
struct Swept {
    rung: Rung,
    /// Where windows begin and end, in order.
    marks: Vec<Mark>,
    /// What is added to each product before it is cut into steps.
    shifts: Vec<i32>,
    /// One over the width of a step.
    reciprocal: i64,
}

/// A window of a hash begins or ends before this q-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    place: u32,
    hash: u16,
    lane: u8,
}

impl Sweep {
    /// Draws everything from a seed. Windows and steps are those of [`Shape::Short`] with q-grams of three characters;
    /// `trees` vectors of `depth` hashes are made at each length up to `longest`.
    pub fn new(
        trees: u16,
        depth: usize,
        widen: usize,
        step: usize,
        longest: usize,
        seed: u64,
    ) -> Self {
        let (trees, depth) = (usize::from(trees.clamp(1, 1 << 8)), depth.clamp(1, LANES));
        let shape = Shape::Short {
            q: GRAM,
            widen,
            step: step.clamp(1, 64),
            depth,
        };
        let rows = (0..ROWS as u64).map(|row| drawn(mix(seed) ^ mix(row + 1)));
        let rungs = TABLE.iter().filter(|row| row.n <= longest);
        Self {
            rows: rows.collect(),
            rungs: rungs
                .map(|row| Swept::new(shape.rung(row), trees, seed))
                .collect(),
            trees,
            depth,
            longest,
        }
    }

    /// The keys of what a person wrote or quoted in a message, look-alikes folded: one for every tree at the largest
    /// length that it fills and at the next smaller one, sorted, each once; none for texts shorter than all.
    pub fn keys(&self, document: &Document) -> Vec<u64> {
        let mut grams = Grams::new(document.text.len(), self.longest);
        for part in contents(document) {
            fold_each(part, |letter| grams.add(letter));
            if grams.letters >= self.longest {
                break;
            }
        }
        let filled = self
            .rungs
            .partition_point(|one| one.rung.n <= grams.letters);
        let used = self.rungs.get(filled.saturating_sub(2)..filled);
        let used = used.unwrap_or_default();
        let mut keys = Vec::with_capacity(2 * self.trees);
        if let Some(largest) = used.last() {
            let rows = grams.rows.get(..=largest.rung.n - GRAM);
            let products = self.products(used, rows.unwrap_or_default());
            for (swept, products) in used.iter().zip(products) {
                swept.keys(&products, self.depth, &mut keys);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The products of all windows at one or two lengths.
    fn products(&self, used: &[Swept], rows: &[u16]) -> [Vec<i16>; 2] {
        let hashes = self.trees * self.depth;
        let mut products = [vec![0_i16; hashes], vec![0_i16; hashes]];
        let mut marks: [&[Mark]; 2] = [&[]; 2];
        for (marks, swept) in marks.iter_mut().zip(used) {
            *marks = &swept.marks;
        }
        let mut sums = [0_i16; LANES];
        let rows = rows.iter().map(|row| self.rows.get(usize::from(*row)));
        for (place, row) in (0_u32..).zip(rows.chain([None])) {
            for (marks, products) in marks.iter_mut().zip(&mut products) {
                while let Some((mark, rest)) = marks.split_first()
                    && mark.place == place
                {
                    *marks = rest;
                    let sum = sums[usize::from(mark.lane) % LANES];
                    if let Some(product) = products.get_mut(usize::from(mark.hash)) {
                        // First where the window begins, then where it ends.
                        *product = sum.wrapping_sub(*product);
                    }
                }
            }
            if let Some(row) = row {
                for (sum, number) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*number);
                }
            }
        }
        products
    }
}

/// The rows of a text's q-grams, in order.
struct Grams {
    rows: Vec<u16>,
    letters: usize,
    longest: usize,
    last: u64,
}

impl Grams {
    fn new(room: usize, longest: usize) -> Self {
        Self {
            rows: Vec::with_capacity(room.min(longest)),
            letters: 0,
            longest,
            last: 0,
        }
    }

    fn add(&mut self, letter: char) {
        if self.letters >= self.longest {
            return;
        }
        // Characters have 21 bits, and three of them fit.
        const ALL: u64 = (1 << (21 * GRAM)) - 1;
        self.last = (self.last << 21 | u64::from(u32::from(letter))) & ALL;
        self.letters += 1;
        if self.letters >= GRAM {
            let row = mix(self.last) >> (64 - ROWS.ilog2());
            self.rows.push(row as u16);
        }
    }
}

impl Swept {
    fn new(rung: Rung, trees: usize, seed: u64) -> Self {
        let hashes = trees * rung.depth;
        let grams = (rung.windows.width + 1 - GRAM) as u32;
        let starts = (rung.n + 1 - rung.windows.width) as u64;
        let step = rung.step as u64 * QUARTERS;
        let family = mix(seed ^ mix(rung.n as u64));
        let (mut marks, mut shifts) = (Vec::with_capacity(2 * hashes), Vec::with_capacity(hashes));
        for hash in 0..hashes {
            let key = mix(family.wrapping_add(hash as u64));
            let below = |bound: u64, of: u64| (u128::from(mix(key ^ of)) * u128::from(bound)) >> 64;
            let start = below(starts, 0x77) as u32;
            shifts.push(below(step, 0x5bd1_e995) as i32);
            marks.extend([start, start + grams].map(|place| Mark {
                place,
                hash: hash as u16,
                lane: (hash % LANES) as u8,
            }));
        }
        marks.sort_unstable();
        Self {
            rung,
            marks,
            shifts,
            reciprocal: ((1_u64 << POINT) / step) as i64,
        }
    }

    /// Cuts products into steps and makes a key of every vector.
    fn keys(&self, products: &[i16], depth: usize, keys: &mut Vec<u64>) {
        let n = self.rung.n as u64;
        let mut bytes = [0_u8; 2 * LANES];
        let vectors = products
            .chunks_exact(depth)
            .zip(self.shifts.chunks_exact(depth));
        for (tree, (products, shifts)) in (0_u64..).zip(vectors) {
            let slots = bytes.as_chunks_mut::<2>().0;
            for ((slot, product), shift) in slots.iter_mut().zip(products).zip(shifts) {
                let moved = i64::from(*product) + i64::from(*shift);
                // A product with the reciprocal instead of a division: steps are as wide on every machine.
                let value = moved.wrapping_mul(self.reciprocal) >> POINT;
                *slot = (value as u16).to_le_bytes();
            }
            let vector = bytes.get(..2 * depth).unwrap_or(&bytes);
            keys.push(xxh3_64_with_seed(vector, n << 16 | tree));
        }
    }
}

/// A row of Cauchy numbers.
fn drawn(key: u64) -> [i16; LANES] {
    const FINENESS: u64 = 1 << 12;
    std::array::from_fn(|lane| {
        let draw = mix(key.wrapping_add(mix(lane as u64))) % FINENESS;
        let angle = std::f64::consts::PI * ((draw as f64 + 0.5) / FINENESS as f64 - 0.5);
        (tangent(angle) * QUARTERS as f64).round() as i16
    })
}
