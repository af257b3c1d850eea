//! Random numbers that are the same in every run.

use twicetold_methods::winnow::mix;

/// A stream of random numbers that follows from its seed alone.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x7477_6963_6574_6f6c))
    }

    /// The stream of this seed for one of many things, independent of those for the others.
    pub fn of(seed: u64, thing: u64) -> Self {
        Self::new(mix(seed).wrapping_add(mix(thing)))
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.roll()) * end as u128) >> 64) as usize
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of these; `None` if there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// `count` different numbers below `end`, ascending; all of them if there are no more.
    pub fn some(&mut self, count: usize, end: usize) -> Vec<usize> {
        // Floyd's way: each set is as likely as any other, and nothing is drawn in vain.
        let mut chosen = std::collections::BTreeSet::new();
        for last in end.saturating_sub(count)..end {
            let at = self.below(last + 1);
            if !chosen.insert(at) {
                chosen.insert(last);
            }
        }
        chosen.into_iter().collect()
    }

    /// Puts things into a random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let rolls = |seed| {
            let mut dice = Dice::new(seed);
            [dice.roll(), dice.roll(), dice.below(10) as u64]
        };
        assert_eq!(rolls(7), rolls(7));
        assert_ne!(rolls(7), rolls(8));
        assert_eq!(Dice::new(1).below(0), 0);
        assert_eq!(Dice::new(1).pick::<u8>(&[]), None);
    }

    #[test]
    fn some_are_different_and_in_range() {
        let mut dice = Dice::new(3);
        for (count, end) in [(0, 5), (3, 5), (5, 5), (9, 5), (2, 1000)] {
            let some = dice.some(count, end);
            assert_eq!(some.len(), count.min(end));
            assert!(some.is_sorted_by(|a, b| a < b));
            assert!(some.iter().all(|&at| at < end));
        }
    }
}
