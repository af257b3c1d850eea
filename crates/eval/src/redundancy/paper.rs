//! The paper's method on a mailbox: fingerprints to the letter, containment, a threshold.

use std::collections::BTreeSet;

use rayon::prelude::*;
use twicetold_index::{Limits, MemoryIndex};
use twicetold_methods::winnow::paper::{
    Dictionary, Multiplier, Order, containment, fingerprints, words,
};

/// Below this, containment is of no interest.
const LEAST: f64 = 0.5;

/// Who contains how much of whom, by the paper's fingerprints.
#[derive(Clone, Debug, Default)]
pub struct Contained {
    /// How many fingerprints each message has.
    pub sizes: Vec<usize>,
    /// For each message the others that contain at least half of it, and how much.
    pub by: Vec<Vec<(usize, f64)>>,
}

impl Contained {
    /// Fingerprints texts with a window and compares all of them.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>, window: usize, order: Order) -> Self {
        let mut dictionary = Dictionary::default();
        let numbers: Vec<Vec<u64>> = texts
            .map(|text| words(text).map(|word| dictionary.number(&word)).collect())
            .collect();
        let a = dictionary.multiplier(Multiplier::Paper);
        let lists: Vec<Vec<u64>> = numbers
            .par_iter()
            .map(|numbers| fingerprints(numbers, a, window, order))
            .collect();
        let sets: Vec<Vec<u64>> = lists
            .iter()
            .map(|list| {
                let mut set = list.clone();
                set.dedup();
                set
            })
            .collect();
        let mut index = MemoryIndex::new();
        for (n, set) in (0..).zip(&sets) {
            index.insert(n, set.iter().copied());
        }
        let by = (0..lists.len())
            .into_par_iter()
            .map(|n| {
                let keys = |m: u32| sets.get(m as usize).map_or(&[][..], Vec::as_slice);
                let near = index.sharing(&sets[n], usize::MAX, Limits::NONE, keys);
                let others = near.iter().map(|candidate| candidate.message as usize);
                let mut by: Vec<(usize, f64)> = others
                    .filter(|&other| other != n)
                    .map(|other| (other, containment(&lists[n], &lists[other])))
                    .filter(|(_, share)| *share >= LEAST)
                    .collect();
                by.sort_by_key(|(other, _)| *other);
                by
            })
            .collect();
        Self {
            sizes: lists.iter().map(Vec::len).collect(),
            by,
        }
    }

    /// How many fingerprints a message has on average.
    pub fn average(&self) -> f64 {
        self.sizes.iter().sum::<usize>() as f64 / self.sizes.len().max(1) as f64
    }

    /// Who makes whom redundant: containment of at least what `threshold` asks of a pair.
    pub fn relation(&self, threshold: impl Fn(usize, usize) -> f64) -> Vec<BTreeSet<usize>> {
        let lists = self.by.iter().enumerate();
        lists
            .map(|(n, by)| {
                // A hair less, so that 19 of 20 is 95 %.
                let enough = |(other, share): &&(usize, f64)| *share >= threshold(n, *other) - 1e-9;
                by.iter().filter(enough).map(|(other, _)| *other).collect()
            })
            .collect()
    }

    /// What would be removed: longest first, whoever is contained in one that is kept goes.
    pub fn removed(&self, relation: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by_key(|&n| (std::cmp::Reverse(self.sizes[n]), n));
        let (mut kept, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for n in order {
            if relation[n].iter().any(|other| kept.contains(other)) {
                gone.insert(n);
            } else {
                kept.insert(n);
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quoted_goes_and_one_of_two_copies_stays() {
        let texts = [
            "alpha bravo charlie delta echo foxtrot golf hotel india juliet",
            "> alpha bravo charlie delta echo foxtrot golf hotel india juliet\nkilo lima mike november oscar papa",
            "quebec romeo sierra tango uniform victor whiskey",
            "quebec romeo sierra tango uniform victor whiskey",
        ];
        let contained = Contained::of(texts.into_iter(), 3, Order::Paper);
        let relation = contained.relation(|_, _| 0.95);
        assert_eq!(relation[0], BTreeSet::from([1]));
        assert_eq!(relation[1], BTreeSet::new());
        assert_eq!(relation[2], BTreeSet::from([3]));
        assert_eq!(relation[3], BTreeSet::from([2]));
        assert_eq!(contained.removed(&relation), BTreeSet::from([0, 3]));
        assert!(contained.average() > 2.0);
    }
}
