//! Exact search within a Hamming distance, without looking at everything.
//!
//! Fingerprints are cut into m blocks, and each block has a table from its value to the fingerprints
//! that have it. Let `k = m·r + a` with `a < m`. If two fingerprints differ in at most k bits, then one
//! of the first `a + 1` blocks differs in at most r bits, or one of the others in at most `r − 1`:
//! otherwise they would differ in `(a + 1)(r + 1) + (m − a − 1)·r = k + 1` bits or more. So it is enough
//! to look up the values that near in each block (*multi-index hashing*), and to count the bits of what
//! is found. With m = 4: 4 look-ups for k = 3, 36 for k = 5, 188 for k = 8, whatever the size.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::bits::{BITS, block_bits, block_value, distance};

/// A fingerprint found near another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// In how many bits it differs.
    pub distance: u32,
    /// Whose it is.
    pub id: u32,
}

/// Fingerprints that can be searched by Hamming distance, added and removed at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HammingIndex {
    /// Who has a fingerprint; ids ascending. Equal fingerprints, however many, are one entry of the tables.
    owners: HashMap<u64, Vec<u32>, FixedState>,
    /// For each block, the fingerprints that have a value there.
    tables: Vec<Table>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    bits: Range<u32>,
    holders: HashMap<u64, Vec<u64>, FixedState>,
}

impl Default for HammingIndex {
    /// Four blocks of 16 bits: right for up to some ten million fingerprints.
    fn default() -> Self {
        Self::with_blocks(4)
    }
}

impl HammingIndex {
    /// An empty index with so many blocks, 1 to 64: fewer and longer ones for larger collections.
    pub fn with_blocks(blocks: u32) -> Self {
        let blocks = blocks.clamp(1, BITS);
        let tables = (0..blocks)
            .map(|block| Table {
                bits: block_bits(block, blocks),
                holders: HashMap::default(),
            })
            .collect();
        Self {
            owners: HashMap::default(),
            tables,
        }
    }

    /// Adds a fingerprint under an id. Says whether it is new there.
    pub fn insert(&mut self, id: u32, fingerprint: u64) -> bool {
        let owners = self.owners.entry(fingerprint).or_default();
        let Err(at) = owners.binary_search(&id) else {
            return false;
        };
        owners.insert(at, id);
        if owners.len() == 1 {
            for table in &mut self.tables {
                let value = block_value(fingerprint, &table.bits);
                table.holders.entry(value).or_default().push(fingerprint);
            }
        }
        true
    }

    /// Takes a fingerprint of an id out again. Says whether it was there.
    pub fn remove(&mut self, id: u32, fingerprint: u64) -> bool {
        let Some(owners) = self.owners.get_mut(&fingerprint) else {
            return false;
        };
        let Ok(at) = owners.binary_search(&id) else {
            return false;
        };
        owners.remove(at);
        if owners.is_empty() {
            self.owners.remove(&fingerprint);
            for table in &mut self.tables {
                let value = block_value(fingerprint, &table.bits);
                if let Some(holders) = table.holders.get_mut(&value) {
                    holders.retain(|&held| held != fingerprint);
                    if holders.is_empty() {
                        table.holders.remove(&value);
                    }
                }
            }
        }
        true
    }

    /// How many different fingerprints it holds.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// Everyone whose fingerprint differs in at most `k` bits: nearest first, then by id.
    pub fn within(&self, fingerprint: u64, k: u32) -> Vec<Found> {
        let mut near = self.near(fingerprint, k);
        near.sort_unstable();
        near.dedup();
        let mut found: Vec<Found> = near
            .iter()
            .flat_map(|&near| {
                let distance = distance(near, fingerprint);
                let owners = self.owners.get(&near).into_iter().flatten();
                owners.map(move |&id| Found { distance, id })
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// The fingerprints within `k` bits, some of them several times.
    fn near(&self, fingerprint: u64, k: u32) -> Vec<u64> {
        if self.costs_more_than_a_walk(k) {
            let all = self.owners.keys().copied();
            return all
                .filter(|&held| distance(held, fingerprint) <= k)
                .collect();
        }
        let mut near = Vec::new();
        for (table, radius) in self.tables.iter().zip(self.radii(k)) {
            let Some(radius) = radius else { continue };
            let value = block_value(fingerprint, &table.bits);
            let length = table.bits.end - table.bits.start;
            each_near_value(value, length, radius, &mut |value| {
                let holders = table.holders.get(&value).into_iter().flatten();
                near.extend(holders.filter(|&&held| distance(held, fingerprint) <= k));
            });
        }
        near
    }

    /// How many bits each block may differ in; `None` where it need not be looked at.
    fn radii(&self, k: u32) -> impl Iterator<Item = Option<u32>> {
        let blocks = self.tables.len() as u32;
        let (radius, left) = (k / blocks, k % blocks);
        (0..blocks).map(move |block| {
            if block <= left {
                Some(radius)
            } else {
                radius.checked_sub(1)
            }
        })
    }

    /// Whether there are more values to look up than fingerprints to look at.
    fn costs_more_than_a_walk(&self, k: u32) -> bool {
        let limit = self.owners.len() as u64 + 64;
        let mut look_ups = 0_u64;
        for (table, radius) in self.tables.iter().zip(self.radii(k)) {
            let length = u64::from(table.bits.end - table.bits.start);
            let mut combinations = 1_u64;
            for chosen in 0..=u64::from(radius.unwrap_or(0)).min(length) {
                look_ups = look_ups.saturating_add(combinations);
                if look_ups > limit {
                    return true;
                }
                combinations = combinations.saturating_mul(length - chosen) / (chosen + 1);
            }
        }
        false
    }
}

/// Hands over `value` and every value of `length` bits that differs from it in at most `radius` bits, each once.
fn each_near_value(value: u64, length: u32, radius: u32, visit: &mut impl FnMut(u64)) {
    visit(value);
    if radius > 0 {
        // Flipping only bits below the last one flipped makes each combination once.
        for bit in 0..length {
            each_near_value(value ^ 1 << bit, bit, radius - 1, visit);
        }
    }
}
