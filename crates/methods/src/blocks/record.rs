//! The list of block hashes kept of a message.

use sha1::{Digest, Sha1};

use super::cut::{Kind, each_paragraph, each_sentence};
use crate::winnow::mix;

/// The SHA-1 sum of a sentence or paragraph.
pub type Block = [u8; 20];

/// What is kept of a message: the kind of its blocks and their hashes in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whether the blocks are sentences or paragraphs.
    pub kind: Kind,
    /// Their hashes, in the order of the text.
    pub blocks: Vec<Block>,
}

impl Record {
    /// The record of a text cut into blocks of a kind.
    pub fn of(kind: Kind, text: &str) -> Self {
        let mut blocks = Vec::new();
        let add = |block: &str| blocks.push(Sha1::digest(block.as_bytes()).into());
        match kind {
            Kind::Paragraphs => each_paragraph(text, add),
            Kind::Sentences => each_sentence(text, add),
        }
        Self { kind, blocks }
    }

    /// What an index looks up: each distinct block once, sorted. Blocks of different kinds have different keys.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self
            .blocks
            .iter()
            .map(|block| {
                let [a, b, c, d, e, f, g, h, ..] = *block;
                mix(u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ u64::from(self.kind as u8))
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The record as bytes: the kind, the number of blocks (32 bits, little-endian), the blocks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(5 + self.blocks.len() * 20);
        bytes.push(self.kind as u8);
        // A text of 4 GiB, the most a document holds, has fewer blocks than that.
        bytes.extend_from_slice(&(self.blocks.len() as u32).to_le_bytes());
        self.blocks
            .iter()
            .for_each(|block| bytes.extend_from_slice(block));
        bytes
    }

    /// How many blocks are in the bytes that [`Record::to_bytes`] wrote.
    pub fn count(bytes: &[u8]) -> usize {
        bytes.len().saturating_sub(5) / 20
    }

    /// Reads what [`Record::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let kind = match kind {
            0 => Kind::Paragraphs,
            1 => Kind::Sentences,
            _ => return None,
        };
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        if count.checked_mul(20)? != rest.len() {
            return None;
        }
        let blocks = rest
            .chunks_exact(20)
            .filter_map(|block| block.try_into().ok())
            .collect();
        Some(Self { kind, blocks })
    }
}
