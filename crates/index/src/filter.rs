//! Which keys does one message have, in a byte each?

/// A small set of keys of one message. It may take a key for one of them, one time in sixteen; it never misses one.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    bits: Box<[u64]>,
}

impl Filter {
    /// The filter of these keys. Keys are hashes: every bit is as good as another.
    pub fn of(keys: &[u64]) -> Self {
        Self::of_each(keys.iter().copied())
    }

    /// The filter of keys of which only the lower halves are known: it is the same.
    pub fn of_halves(halves: &[u32]) -> Self {
        Self::of_each(halves.iter().map(|&half| u64::from(half)))
    }

    fn of_each(keys: impl ExactSizeIterator<Item = u64>) -> Self {
        if keys.len() == 0 {
            return Self::default();
        }
        let mut filter = Self {
            bits: vec![0; keys.len().div_ceil(8)].into(),
        };
        for key in keys {
            let (word, bits) = filter.slot(key);
            filter.bits[word] |= bits;
        }
        filter
    }

    /// Whether a key may be one of them.
    pub fn may_contain(&self, key: u64) -> bool {
        let (word, bits) = self.slot(key);
        self.bits.get(word).is_some_and(|has| has & bits == bits)
    }

    fn slot(&self, key: u64) -> (usize, u64) {
        // The lower half of a key, as a share of all there can be: as many words, and no more than that half can tell apart.
        let word = (u64::from(key as u32) * self.bits.len() as u64) >> 32;
        // Two bits of one word: half as many strangers as by one bit, and no further place in memory.
        (word as usize, 1 << (key % 64) | 1 << ((key >> 6) % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    fn keys(from: u64, count: u64) -> Vec<u64> {
        let mix = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        (from..from + count).map(|n| mix(mix(n) ^ n)).collect()
    }

    #[test]
    fn no_key_is_missed_and_few_are_invented() {
        for count in [1, 2, 63, 64, 65, 1000, 5000] {
            let own = keys(0, count);
            let filter = Filter::of(&own);
            assert!(own.iter().all(|&key| filter.may_contain(key)), "{count}");
            let strange = keys(1_000_000, 10_000);
            let taken = strange
                .iter()
                .filter(|&&key| filter.may_contain(key))
                .count();
            assert!(taken < 1_000, "{count}: {taken}");
        }
    }

    #[test]
    fn the_lower_half_of_a_key_is_enough() {
        for count in [1, 63, 1000] {
            let own = keys(0, count);
            let halves: Vec<u32> = own.iter().map(|&key| key as u32).collect();
            assert_eq!(Filter::of(&own).bits, Filter::of_halves(&halves).bits);
        }
    }

    #[test]
    fn an_empty_filter_has_nothing() {
        assert!(!Filter::of(&[]).may_contain(0));
        assert!(!Filter::default().may_contain(u64::MAX));
    }
}
