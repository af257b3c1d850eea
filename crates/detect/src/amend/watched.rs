//! What those have that came, and who else has it?

use std::collections::HashSet;

use foldhash::fast::FixedState;

/// How many bits tell most numbers that are not watched for from those that are: few enough to stay at hand.
const MARKS: usize = 1 << 16;

/// Word pairs, facts and sentences that are looked for in all messages.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Of a number only these bits count.
    mask: u32,
    marks: Box<[u64]>,
    numbers: HashSet<u32, FixedState>,
    sentences: HashSet<u64, FixedState>,
}

impl Watched {
    /// Nothing yet. Word pairs and facts that share a slot, of so many, count as the same.
    pub(crate) fn new(slots: u64) -> Self {
        Self {
            mask: u32::try_from(slots - 1).unwrap_or(u32::MAX),
            marks: vec![0; MARKS / 64].into(),
            numbers: HashSet::default(),
            sentences: HashSet::default(),
        }
    }

    /// Looks for a word pair or a fact.
    pub(crate) fn add_number(&mut self, number: u32) {
        let number = number & self.mask;
        let mark = number as usize % MARKS;
        self.marks[mark / 64] |= 1 << (mark % 64);
        self.numbers.insert(number);
    }

    /// Looks for a sentence.
    pub(crate) fn add_sentence(&mut self, hash: u64) {
        self.sentences.insert(hash);
    }

    /// Whether a word pair or a fact is looked for.
    #[inline]
    pub(crate) fn has_number(&self, number: u32) -> bool {
        let number = number & self.mask;
        let mark = number as usize % MARKS;
        self.marks[mark / 64] >> (mark % 64) & 1 == 1 && self.numbers.contains(&number)
    }

    /// Whether a sentence is looked for.
    #[inline]
    pub(crate) fn has_sentence(&self, hash: u64) -> bool {
        self.sentences.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_watched_for_is_seen() {
        let mut watched = Watched::new(1 << 20);
        let number = |n: u32| n.wrapping_mul(0x9e37_79b9);
        (0..500).for_each(|n| watched.add_number(number(n)));
        watched.add_sentence(7);
        assert!((0..500).all(|n| watched.has_number(number(n))));
        assert!(
            (0..500).all(|n| watched.has_number(number(n) ^ 1 << 30)),
            "the same slot"
        );
        assert!(
            (500..20_000)
                .filter(|&n| watched.has_number(number(n)))
                .count()
                < 50
        );
        assert!(watched.has_sentence(7) && !watched.has_sentence(8));
    }
}
