//! Near-equal layouts: a SimHash of tag shingles.
//!
//! Runs of a few tags, and the anchors, vote on 64 bits. A tag more or less changes a few runs of
//! many, and so a few bits.

use super::abstraction::Abstraction;
use crate::winnow::mix;

/// The votes on the bits of a SimHash.
#[derive(Clone, Debug)]
pub struct Votes([i64; 64]);

impl Default for Votes {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Votes {
    /// Lets a feature vote, by the bits of its hash, with a weight.
    pub fn add(&mut self, feature: u64, weight: i64) {
        let hash = mix(feature.wrapping_add(0x9e37_79b9_7f4a_7c15));
        for (bit, votes) in self.0.iter_mut().enumerate() {
            *votes += if hash >> bit & 1 == 1 {
                weight
            } else {
                -weight
            };
        }
    }

    /// The outcome.
    pub fn hash(&self) -> u64 {
        (0..64).fold(0, |hash, bit| hash | u64::from(self.0[bit] > 0) << bit)
    }
}

/// In how many bits two hashes differ.
pub fn apart(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// The SimHash of an abstraction: every run of `run` tags counts, repeated runs ever less, and every
/// anchor counts `weight` times.
pub fn simhash(abstraction: &Abstraction, run: usize, weight: u32) -> u64 {
    let tags = &abstraction.tags;
    let run = run.clamp(1, tags.len().max(1));
    let mut runs: Vec<u64> = tags
        .windows(run)
        .map(|tags| {
            tags.iter().fold(run as u64, |hash, tag| {
                mix(hash).wrapping_add(tag.number() + 1)
            })
        })
        .collect();
    runs.sort_unstable();
    let mut votes = Votes::default();
    for equal in runs.chunk_by(|a, b| a == b) {
        // A long list of equal rows says little more than a short one.
        let weight = 16 * i64::from(1 + equal.len().ilog2());
        votes.add(equal[0], weight);
    }
    for anchor in &abstraction.anchors {
        votes.add(anchor.number(), 16 * i64::from(weight));
    }
    votes.hash()
}

/// Numbers to look a hash up by: one for every two of its eight bytes. Hashes that differ in up to six
/// bits share at least one, for two bytes stay whole; of those that differ in nine, most do.
pub fn keys(hash: u64) -> impl Iterator<Item = u64> {
    let bytes = hash.to_le_bytes();
    (0..8_usize).flat_map(move |first| {
        (first + 1..8).map(move |second| {
            let place = (first << 3 | second) as u64;
            mix(place << 16 | u64::from(bytes[first]) << 8 | u64::from(bytes[second]))
        })
    })
}
