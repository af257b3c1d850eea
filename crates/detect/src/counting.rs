//! Which word pairs and facts do several messages have? Counted by many machines, each for its share, and brought together.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::part::NotStatistics;

/// Slots are counted and sent in chunks of so many bytes: few enough to be spread over machines, and what nobody uses is not
/// sent.
const CHUNK: usize = 16 << 10;

/// How many bytes at the beginning of [`words`](crate::Outline::words) say as what a message counts.
pub(crate) const NAME: usize = 16;

/// Counts for the slots of a collection, or of a share of it.
#[derive(Debug)]
pub struct Counting {
    mask: u64,
    /// For each chunk which slots are used, and then which of them more than once; `None` if none is.
    chunks: Vec<Option<Box<[u8]>>>,
    /// How many bytes a chunk has for each of the two.
    size: usize,
    seen: HashSet<[u8; NAME], FixedState>,
}

impl Counting {
    /// Nothing counted yet. `None` if there cannot be so many slots: they are a power of two, from 512 to 2³².
    pub fn new(slots: u64) -> Option<Self> {
        if !slots.is_power_of_two() || !(512..=1 << 32).contains(&slots) {
            return None;
        }
        let bytes = (slots / 8) as usize;
        let size = bytes.min(CHUNK);
        Some(Self {
            mask: slots - 1,
            chunks: vec![None; bytes / size],
            size,
            seen: HashSet::default(),
        })
    }

    /// Counts what a message says, unless one that counts as the same was counted.
    ///
    /// # Errors
    /// If these are not the [`words`](crate::Outline::words) of an outline.
    pub fn count(&mut self, words: &[u8]) -> Result<(), NotStatistics> {
        let (name, halves) = words.split_first_chunk::<NAME>().ok_or(NotStatistics)?;
        let (halves, rest) = halves.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(NotStatistics);
        }
        if *name != [0; NAME] && !self.seen.insert(*name) {
            return Ok(());
        }
        for half in halves {
            let slot = u64::from(u32::from_le_bytes(*half)) & self.mask;
            let (byte, bit) = ((slot / 8) as usize, 1_u8 << (slot % 8));
            let (chunk, at) = (byte / self.size, byte % self.size);
            let Some(chunk) = self.chunks.get_mut(chunk) else {
                return Err(NotStatistics);
            };
            let chunk = chunk.get_or_insert_with(|| vec![0; 2 * self.size].into());
            if chunk[at] & bit != 0 {
                chunk[self.size + at] |= bit;
            }
            chunk[at] |= bit;
        }
        Ok(())
    }

    /// Adds what another machine has counted in a chunk.
    ///
    /// # Errors
    /// If it is not a chunk of so many slots.
    pub fn merge(&mut self, number: usize, bits: &[u8]) -> Result<(), NotStatistics> {
        let chunk = self.chunks.get_mut(number).ok_or(NotStatistics)?;
        if bits.len() != 2 * self.size {
            return Err(NotStatistics);
        }
        let Some(chunk) = chunk else {
            *chunk = Some(bits.into());
            return Ok(());
        };
        let (once, more) = chunk.split_at_mut(self.size);
        let (once_there, more_there) = bits.split_at(self.size);
        for (n, (once, more)) in once.iter_mut().zip(more).enumerate() {
            // What both have used is used more than once.
            *more |= more_there[n] | (*once & once_there[n]);
            *once |= once_there[n];
        }
        Ok(())
    }

    /// The chunks in which something was counted, with their numbers.
    pub fn chunks(self) -> impl Iterator<Item = (usize, Box<[u8]>)> {
        let chunks = self.chunks.into_iter().enumerate();
        chunks.filter_map(|(number, chunk)| Some((number, chunk?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: u8, halves: &[u32]) -> Vec<u8> {
        let mut words = vec![name; NAME];
        words.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
        words
    }

    fn more(counting: Counting) -> Vec<usize> {
        let mut more = Vec::new();
        for (number, bits) in counting.chunks() {
            let size = bits.len() / 2;
            for bit in 0..size * 8 {
                if bits[size + bit / 8] >> (bit % 8) & 1 == 1 {
                    more.push(number * size * 8 + bit);
                }
            }
        }
        more
    }

    #[test]
    fn what_is_counted_in_shares_is_what_is_counted_at_once() {
        for slots in [512, 1 << 18] {
            let messages: Vec<Vec<u8>> = (0..50_u32)
                .map(|n| words((n % 40) as u8, &[n, n * 7, n * n, 0xFFFF_0000 | n]))
                .collect();
            let mut whole = Counting::new(slots).unwrap();
            messages.iter().for_each(|m| whole.count(m).unwrap());
            let mut merged = Counting::new(slots).unwrap();
            // Those that count as the same go to the same share.
            for share in 0..3 {
                let mut part = Counting::new(slots).unwrap();
                let own = messages.iter().filter(|m| m[0] % 3 == share || m[0] == 0);
                let own = own.filter(|m| m[0] != 0 || share == 0);
                own.for_each(|m| part.count(m).unwrap());
                for (number, bits) in part.chunks() {
                    merged.merge(number, &bits).unwrap();
                }
            }
            let whole = more(whole);
            assert!(!whole.is_empty());
            assert_eq!(more(merged), whole);
        }
    }

    #[test]
    fn copies_count_once_and_the_nameless_each() {
        let mut counting = Counting::new(512).unwrap();
        for _ in 0..2 {
            counting.count(&words(1, &[5])).unwrap();
            counting.count(&words(0, &[9])).unwrap();
        }
        assert_eq!(more(counting), [9]);
    }

    #[test]
    fn what_is_no_count_is_refused() {
        assert!(Counting::new(0).is_none() && Counting::new(1000).is_none());
        assert!(Counting::new(1 << 33).is_none());
        let mut counting = Counting::new(512).unwrap();
        for wrong in [&[][..], &[0; 15], &[0; 17]] {
            assert_eq!(counting.count(wrong), Err(NotStatistics));
        }
        assert_eq!(counting.merge(0, &[0; 3]), Err(NotStatistics));
        assert_eq!(counting.merge(1, &[0; 128]), Err(NotStatistics));
        assert_eq!(counting.merge(0, &[0; 128]), Ok(()));
    }
}
