//! Random hashes that agree the more often, the closer two windows are.
//!
//! `h(x) = ⌊(⟨v(x), φ⟩ + b) / r⌋`, where `v(x)` are the q-gram counts of one window and `φ` holds a
//! standard Cauchy number for every q-gram there could be. The Cauchy distribution is 1-stable: the
//! difference of two products is distributed as the L1 distance times one Cauchy number. `φ` is never
//! written down: each number follows from a keyed hash of its q-gram.
//!
//! Sums are kept in fixed point, so they are the same on every machine and in every order.

use crate::winnow::mix;

/// The field in which rolling hashes are computed: a prime, so that no text can defeat them cheaply.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0d1c_e5b9_7f4a_7c15 % PRIME;
/// Bits behind the point.
const POINT: u32 = 16;
/// How finely the Cauchy distribution is cut: bits of hash per number.
const FINENESS: u32 = 12;
const NUMBERS: usize = 1 << FINENESS;

/// Cauchy numbers of equal probability, in order. They fit into 32 bits, and so into the fastest cache.
static CAUCHY: [i32; NUMBERS] = cauchy();

const fn cauchy() -> [i32; NUMBERS] {
    let mut numbers = [0; NUMBERS];
    let mut at = 0;
    while at < NUMBERS {
        let angle = std::f64::consts::PI * ((at as f64 + 0.5) / NUMBERS as f64 - 0.5);
        numbers[at] = (tangent(angle) * (1_u64 << POINT) as f64) as i32;
        at += 1;
    }
    numbers
}

/// The tangent by its series: only sums and products, which are alike on all machines.
pub(super) const fn tangent(angle: f64) -> f64 {
    let (mut sine, mut cosine, mut term) = (0.0, 0.0, 1.0);
    let mut power = 0;
    while power < 40 {
        match power % 4 {
            0 => cosine += term,
            1 => sine += term,
            2 => cosine -= term,
            _ => sine -= term,
        }
        power += 1;
        term *= angle / power as f64;
    }
    sine / cosine
}

/// Probability that hashes agree at distance `c`, with `u = r / c`.
///
/// ```
/// use twicetold_methods::edit::collision;
/// assert!((collision(1.0) - 0.279).abs() < 0.001);
/// assert!(collision(100.0) > 0.95);
/// ```
pub fn collision(u: f64) -> f64 {
    use std::f64::consts::PI;
    if u <= 0.0 {
        return 0.0;
    }
    2.0 / PI * u.atan() - (1.0 + u * u).ln() / (PI * u)
}

/// A text prepared so that the hash of any of its q-grams is known at once.
#[derive(Clone, Debug)]
pub struct Rolling {
    prefixes: Vec<u64>,
    powers: Vec<u64>,
}

impl Rolling {
    /// Prepares a text.
    pub fn new(text: &[char]) -> Self {
        let mut prefixes = Vec::with_capacity(text.len() + 1);
        let mut powers = Vec::with_capacity(text.len() + 1);
        let (mut hash, mut power) = (0, 1);
        prefixes.push(hash);
        powers.push(power);
        for letter in text {
            hash = add(times(hash, BASE), spread(*letter));
            power = times(power, BASE);
            prefixes.push(hash);
            powers.push(power);
        }
        Self { prefixes, powers }
    }

    /// The hashes of the q-grams of this length, in order.
    pub fn grams(&self, q: usize) -> impl ExactSizeIterator<Item = u64> + '_ {
        let count = self.prefixes.len().saturating_sub(q);
        (0..count).map(move |at| {
            let before = times(self.prefixes[at], self.powers[q]);
            // Lengths must not be confused with each other.
            mix(add(self.prefixes[at + q], PRIME - before) ^ (q as u64) << 61)
        })
    }
}

/// A letter spread over the field, for small differences must not cancel out.
fn spread(letter: char) -> u64 {
    let number = u32::from(letter);
    match LETTERS.get(number as usize) {
        Some(spread) => *spread,
        None => mix(u64::from(number) + 1) % PRIME,
    }
}

/// What most letters are spread to.
static LETTERS: [u64; 128] = {
    let mut letters = [0; 128];
    let mut at = 0;
    while at < 128 {
        letters[at] = mix(at as u64 + 1) % PRIME;
        at += 1;
    }
    letters
};

fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let low = (product & u128::from(PRIME)) as u64;
    add(low, (product >> 61) as u64)
}

/// One hash function: its Cauchy numbers, its shift, and the width of its steps.
#[derive(Clone, Copy, Debug)]
pub struct StableHash {
    key: u64,
    shift: i64,
    step: i64,
}

impl StableHash {
    /// The function that a key stands for, with steps of width `r` (at least 1).
    pub fn new(key: u64, r: usize) -> Self {
        let step = i64::try_from(r.clamp(1, 1 << 40)).unwrap_or(1) << POINT;
        let shift = (mix(key ^ 0x5bd1_e995) % step.unsigned_abs()) as i64;
        Self {
            key: mix(key),
            shift,
            step,
        }
    }

    /// What q-grams add to the product; sums over several lists may be added.
    #[inline]
    pub fn product(&self, grams: &[u64]) -> i64 {
        grams.iter().fold(0_i64, |sum, gram| {
            // The grams are well mixed: one product with the key in it gives an independent number.
            let hash = (gram ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
            sum.wrapping_add(i64::from(CAUCHY[(hash >> (64 - FINENESS)) as usize]))
        })
    }

    /// The hash for a sum of products.
    pub fn value(&self, product: i64) -> i64 {
        product.wrapping_add(self.shift).div_euclid(self.step)
    }
}
