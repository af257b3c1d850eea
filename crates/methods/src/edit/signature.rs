//! What is kept of a text: hash vectors for the forest, and the folded text to verify with.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Changes whenever the bytes change their meaning.
const VERSION: u8 = 1;
/// Texts shorter than this are also compared directly; a little above the lowest rung, so that texts
/// on both sides of it still meet.
pub(super) const SHORT: usize = 120;
/// q-grams of short texts whose hashes serve as keys, and how many of them.
const KEY_GRAM: usize = 5;
const KEYS: usize = 8;

/// The hash vectors of a text at one rung of the ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// How many characters were read.
    pub n: u32,
    /// Hashes per tree.
    pub depth: u16,
    /// The vectors of all trees, one after the other. Hashes are cut to 16 bits.
    pub values: Vec<u16>,
}

/// What is kept of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Characters of the folded text.
    pub(super) length: u32,
    /// Checksum of the folded text.
    pub(super) checksum: u64,
    /// The folded text, cut to the longest rung; empty if it is not to be kept.
    pub(super) text: Vec<char>,
    /// Its hashes, longest rung first; none for short texts.
    pub(super) hashes: Vec<Hashes>,
}

impl Signature {
    /// The folded text, as far as it is kept.
    pub fn text(&self) -> &[char] {
        &self.text
    }

    /// Every hash vector with its place: the number of characters and of the tree.
    pub fn vectors(&self) -> impl Iterator<Item = ((u32, u16), &[u16])> {
        self.hashes.iter().flat_map(|hashes| {
            let vectors = hashes.values.chunks_exact(usize::from(hashes.depth.max(1)));
            (0_u16..)
                .zip(vectors)
                .map(|(tree, vector)| ((hashes.n, tree), vector))
        })
    }

    /// The hashes of one length alone, cut into at most `trees` vectors of `depth` hashes. All hashes of a length are
    /// drawn independently, so any cut is as good as another: for measuring what L and K do.
    #[must_use]
    pub fn cut(&self, n: u32, trees: usize, depth: u16) -> Self {
        let hashes = self.hashes.iter().filter(|hashes| hashes.n == n);
        let cut = hashes.map(|hashes| {
            let most = trees.saturating_mul(usize::from(depth));
            Hashes {
                n,
                depth,
                values: hashes.values.iter().copied().take(most).collect(),
            }
        });
        Self {
            hashes: cut.collect(),
            ..self.clone()
        }
    }

    /// The text, if it is short enough to be compared directly.
    pub fn short_text(&self) -> Option<&[char]> {
        let kept = self.text.len() == self.length as usize && !self.text.is_empty();
        (kept && self.text.len() < SHORT).then_some(&self.text)
    }

    /// What an index can look up: a number for every whole hash vector; for short texts, the smallest
    /// hashes of their q-grams. Sorted, each once.
    pub(super) fn keys(&self, text: &[char]) -> Vec<u64> {
        let mut keys: Vec<u64> = self
            .vectors()
            .map(|((n, tree), vector)| {
                let mut hash = Xxh3::with_seed(u64::from(n) << 16 | u64::from(tree));
                vector
                    .iter()
                    .for_each(|value| hash.update(&value.to_le_bytes()));
                hash.digest()
            })
            .collect();
        if text.len() < SHORT {
            let mut grams: Vec<u64> = text
                .windows(KEY_GRAM.min(text.len()).max(1))
                .map(checksum)
                .collect();
            grams.sort_unstable();
            grams.dedup();
            keys.extend(grams.iter().take(KEYS));
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// As bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let text: String = self.text.iter().collect();
        let values: usize = self
            .hashes
            .iter()
            .map(|one| one.values.len() * 2 + 10)
            .sum();
        let mut out = Vec::with_capacity(18 + text.len() + values);
        out.push(VERSION);
        out.extend(self.length.to_le_bytes());
        out.extend(self.checksum.to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.as_bytes());
        for hashes in &self.hashes {
            out.extend(hashes.n.to_le_bytes());
            out.extend(hashes.depth.to_le_bytes());
            out.extend((hashes.values.len() as u32).to_le_bytes());
            hashes
                .values
                .iter()
                .for_each(|value| out.extend(value.to_le_bytes()));
        }
        out
    }

    /// From bytes; `None` if they are none of ours.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        if take(&mut rest, 1)? != [VERSION] {
            return None;
        }
        let length = number(&mut rest)?;
        let checksum = u64::from_le_bytes(take(&mut rest, 8)?.try_into().ok()?);
        let size = number(&mut rest)? as usize;
        let text = std::str::from_utf8(take(&mut rest, size)?)
            .ok()?
            .chars()
            .collect();
        let mut hashes = Vec::new();
        while !rest.is_empty() {
            let n = number(&mut rest)?;
            let depth = u16::from_le_bytes(take(&mut rest, 2)?.try_into().ok()?);
            let count = number(&mut rest)? as usize;
            let values = take(&mut rest, count.checked_mul(2)?)?
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            hashes.push(Hashes { n, depth, values });
        }
        Some(Self {
            length,
            checksum,
            text,
            hashes,
        })
    }
}

/// The text of an encoded signature, if each of its letters is one byte and there are any.
pub(super) fn plain_text(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    // The version, the length and the checksum come first.
    take(&mut rest, 1 + 4 + 8)?;
    let size = number(&mut rest)? as usize;
    take(&mut rest, size).filter(|text| !text.is_empty() && text.is_ascii())
}

/// A stable number for a text.
pub(super) fn checksum(text: &[char]) -> u64 {
    let mut bytes = String::with_capacity(text.len());
    bytes.extend(text);
    xxh3_64(bytes.as_bytes())
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}
