//! The sketches of many texts, one after the other in memory.

use std::ops::Range;

use twicetold_methods::winnow::mix;
use twicetold_model::Sketch;

/// The sketches of one method, by the number of the text. A text without a sketch has neither keys nor body.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    keys: Vec<u64>,
    key_ends: Vec<usize>,
    bodies: Vec<u8>,
    body_ends: Vec<usize>,
}

impl Shelf {
    /// Adds the sketch of the next text: its keys, its body, or both.
    pub(super) fn push(&mut self, sketch: Option<Sketch>, keys: bool, body: bool) {
        if let Some(sketch) = sketch {
            if keys {
                self.keys.extend_from_slice(&sketch.keys);
            }
            if body {
                self.bodies.extend_from_slice(&sketch.body);
            }
        }
        self.key_ends.push(self.keys.len());
        self.body_ends.push(self.bodies.len());
    }

    /// Takes away all sketches but the first.
    pub(super) fn keep_first(&mut self) {
        self.key_ends.truncate(1);
        self.body_ends.truncate(1);
        self.keys.truncate(range(&self.key_ends, 0).end);
        self.bodies.truncate(range(&self.body_ends, 0).end);
    }

    /// Puts the sketches of another shelf behind these.
    pub(super) fn append(&mut self, mut other: Self) {
        let (keys, bodies) = (self.keys.len(), self.bodies.len());
        self.keys.append(&mut other.keys);
        self.bodies.append(&mut other.bodies);
        self.key_ends
            .extend(other.key_ends.iter().map(|end| end + keys));
        self.body_ends
            .extend(other.body_ends.iter().map(|end| end + bodies));
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.key_ends.len()
    }

    /// How many texts have a sketch.
    pub(super) fn sketched(&self) -> usize {
        (0..self.len() as u32).filter(|&n| self.has(n)).count()
    }

    /// Whether a text has a sketch.
    pub(super) fn has(&self, text: u32) -> bool {
        !range(&self.key_ends, text).is_empty() || !range(&self.body_ends, text).is_empty()
    }

    /// The keys of a text, sorted.
    pub(super) fn keys(&self, text: u32) -> &[u64] {
        self.keys
            .get(range(&self.key_ends, text))
            .unwrap_or_default()
    }

    /// The body of a text's sketch.
    pub(super) fn body(&self, text: u32) -> &[u8] {
        self.bodies
            .get(range(&self.body_ends, text))
            .unwrap_or_default()
    }

    /// How many keys all texts have.
    pub(super) fn all_keys(&self) -> usize {
        self.keys.len()
    }

    /// A number that is the same for equal sketches, and for others with a probability of 2⁻¹²⁸.
    pub(super) fn identity(&self, text: u32) -> u128 {
        let (mut one, mut two) = (1_u64, 2_u64);
        let mut add = |number: u64| {
            one = mix(one ^ number);
            two = mix(two.wrapping_add(number).rotate_left(31) ^ one);
        };
        self.keys(text).iter().copied().for_each(&mut add);
        for chunk in self.body(text).chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            add(u64::from_le_bytes(bytes));
        }
        add(self.body(text).len() as u64);
        u128::from(one) << 64 | u128::from(two)
    }
}

fn range(ends: &[usize], text: u32) -> Range<usize> {
    let at = text as usize;
    let start = at.checked_sub(1).and_then(|before| ends.get(before));
    start.copied().unwrap_or(0)..ends.get(at).copied().unwrap_or(0)
}
