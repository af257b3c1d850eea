//! Sketches as bytes, the same on every machine.
//!
//! A version byte (2), then, numbers little-endian: the identity (8 bytes), flags (1 byte: 1 has a
//! SimHash, 2 has a layout, 4 authenticated bulk mail), the number of all pairs (4), the pairs kept
//! (a count of 2 bytes, then 8 + 1 + 1 bytes each), the I-Match hashes and the edit keys (a count of
//! 2 bytes and 8 bytes each), the SimHash (8) and the layout (checksum 8, near 8, tags 2, then link domains and
//! link targets, each as a count of 2 bytes and 8 bytes each).
//!
//! Version 1 is the same, but its edit keys were drawn in another way: they agree with each other and with none
//! of version 2. What was kept in it is read and compared by everything else.

use super::{Fingerprint, LayoutSketch, MOST_PAIRS, Sketches};

/// Most hashes of one method that are read: more are no sketch of ours.
const MOST_KEYS: usize = 256;

impl Sketches {
    /// The version that [`Sketches::to_bytes`] writes; [`Sketches::from_bytes`] reads those before it as well.
    pub const VERSION: u8 = 2;
    /// The media type of those bytes.
    pub const MEDIA_TYPE: &'static str = "application/x-twicetold-sketch";

    /// The sketches as bytes, the same on every machine; `docs/spam.md` has the table.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 10 * self.pairs.len());
        out.push(Self::VERSION);
        out.extend(self.identity.to_le_bytes());
        out.push(
            u8::from(self.simhash.is_some())
                | u8::from(self.layout.is_some()) << 1
                | u8::from(self.authenticated_bulk) << 2,
        );
        out.extend(self.all_pairs.to_le_bytes());
        out.extend(count(self.pairs.len(), MOST_PAIRS));
        for pair in self.pairs.iter().take(MOST_PAIRS) {
            out.extend(pair.key.to_le_bytes());
            out.extend([pair.weight, pair.place]);
        }
        for keys in [&self.imatch, &self.edit] {
            put_keys(&mut out, keys);
        }
        if let Some(simhash) = self.simhash {
            out.extend(simhash.to_le_bytes());
        }
        if let Some(layout) = &self.layout {
            out.extend(layout.checksum.to_le_bytes());
            out.extend(layout.near.to_le_bytes());
            out.extend(layout.tags.to_le_bytes());
            put_keys(&mut out, &layout.links);
            put_keys(&mut out, &layout.targets);
        }
        out
    }

    /// Reads what [`Sketches::to_bytes`] wrote; `None` for anything else, whatever the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let [version] = rest.take()?;
        if !(1..=Self::VERSION).contains(&version) {
            return None;
        }
        let identity = u64::from_le_bytes(rest.take()?);
        let [flags] = rest.take()?;
        let all_pairs = u32::from_le_bytes(rest.take()?);
        let kept = usize::from(u16::from_le_bytes(rest.take()?));
        if kept > MOST_PAIRS || flags > 7 {
            return None;
        }
        let mut pairs = Vec::with_capacity(kept);
        for _ in 0..kept {
            let key = u64::from_le_bytes(rest.take()?);
            let [weight, place] = rest.take()?;
            pairs.push(Fingerprint { key, weight, place });
        }
        if !pairs.is_sorted_by(|a, b| a.key < b.key) {
            return None;
        }
        let imatch = rest.keys()?;
        let edit = rest.keys()?;
        let simhash = match flags & 1 {
            0 => None,
            _ => Some(u64::from_le_bytes(rest.take()?)),
        };
        let layout = match flags & 2 {
            0 => None,
            _ => Some(LayoutSketch {
                checksum: u64::from_le_bytes(rest.take()?),
                near: u64::from_le_bytes(rest.take()?),
                tags: u16::from_le_bytes(rest.take()?),
                links: rest.keys()?,
                targets: rest.keys()?,
            }),
        };
        rest.0.is_empty().then_some(Self {
            pairs,
            all_pairs,
            imatch,
            simhash,
            edit,
            layout,
            identity,
            authenticated_bulk: flags & 4 != 0,
        })
    }
}

fn count(length: usize, most: usize) -> [u8; 2] {
    (length.min(most) as u16).to_le_bytes()
}

fn put_keys(out: &mut Vec<u8>, keys: &[u64]) {
    out.extend(count(keys.len(), MOST_KEYS));
    for key in keys.iter().take(MOST_KEYS) {
        out.extend(key.to_le_bytes());
    }
}

/// The bytes that have not been read yet.
struct Rest<'b>(&'b [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// Hashes, which are sorted and not too many.
    fn keys(&mut self) -> Option<Vec<u64>> {
        let length = usize::from(u16::from_le_bytes(self.take()?));
        if length > MOST_KEYS {
            return None;
        }
        let mut keys = Vec::with_capacity(length);
        for _ in 0..length {
            keys.push(u64::from_le_bytes(self.take()?));
        }
        keys.is_sorted().then_some(keys)
    }
}
