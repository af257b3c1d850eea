//! Which campaigns a key leads to, in memory: one line of the cache for a key, however many campaigns there are.
//!
//! A table of lines of eight slots. A key falls on a line; what does not fit there stands in the next one. A slot has
//! half of the key's bits and the number of a campaign, so a line tells at once that a key leads nowhere, which is so for
//! most keys of most messages, or where it leads. A key that leads to many campaigns has one slot that
//! says how many: whoever wants to know which ones reads the file, and few do, because such a key says little.
//!
//! Two keys with the same half that fall on the same line are taken for one. That happens to one key in some
//! hundred millions; then a campaign is proposed too many, and the comparison refuses it.

use twicetold_methods::winnow::mix;

/// Slots of a line.
const SLOTS: usize = 8;
/// Campaigns of one key that are told by number; of more only the count is kept.
const TOLD: usize = 14;
/// A line is made for so many keys: three quarters of the slots are taken.
const FILLED: usize = 6;
/// Nothing was ever here: the search ends.
const EMPTY: u64 = 0;
/// Something was here: the search goes on.
const GONE: u64 = u32::MAX as u64;
/// The slot holds a count, not the number of a campaign.
const COUNT: u32 = 1 << 31;
/// Larger counts are all the same.
const MOST: u32 = COUNT - 2;

/// Where a key leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To the campaigns that were handed over, if any.
    Told,
    /// To so many.
    Many(u32),
}

/// The table.
#[derive(Debug)]
pub(super) struct Postings {
    lines: Vec<[u64; SLOTS]>,
    /// Slots that are not empty.
    taken: usize,
}

impl Postings {
    /// The bytes that a table for so many keys takes.
    pub(super) fn bytes(keys: u64) -> u64 {
        (keys / FILLED as u64 + 64).saturating_mul(size_of::<[u64; SLOTS]>() as u64)
    }

    /// An empty table with room for so many.
    pub(super) fn new(keys: u64) -> Self {
        let lines = usize::try_from(keys).unwrap_or(usize::MAX) / FILLED + 64;
        Self {
            lines: vec![[EMPTY; SLOTS]; lines],
            taken: 0,
        }
    }

    /// The bytes that it takes.
    pub(super) fn size(&self) -> u64 {
        size_of_val(self.lines.as_slice()) as u64
    }

    /// Whether a larger table would be quicker.
    pub(super) fn is_crowded(&self) -> bool {
        self.taken > self.lines.len() * (FILLED + 1)
    }

    /// How many more can be added.
    pub(super) fn room(&self) -> usize {
        (self.lines.len() * SLOTS).saturating_sub(self.taken)
    }

    /// The line that a key falls on, and the half of it that stands in the slots.
    fn place(&self, key: u64) -> (usize, u64) {
        let mixed = mix(key);
        let line = ((mixed >> 32) * self.lines.len() as u64) >> 32;
        (line as usize, mixed << 32)
    }

    /// Brings the lines of keys near. To be called before many are looked up: the memory works on all of them at once.
    pub(super) fn fetch(&self, keys: &[u64]) -> u64 {
        let first = |&key: &u64| self.lines.get(self.place(key).0).map_or(0, |line| line[0]);
        keys.iter().map(first).fold(0, u64::wrapping_add)
    }

    /// Hands over the slots of a key, as (line, slot, what), until `take` says that it is enough.
    fn walk(&self, key: u64, mut take: impl FnMut(usize, usize, u32) -> bool) {
        let (start, half) = self.place(key);
        let (beginning, rest) = self.lines.split_at(start.min(self.lines.len()));
        for (at, line) in rest.iter().chain(beginning).enumerate() {
            for (slot, &held) in line.iter().enumerate() {
                if held == EMPTY {
                    return;
                }
                if held != GONE && held & !GONE == half && !take(start + at, slot, held as u32) {
                    return;
                }
            }
        }
    }

    /// Where a key leads; hands over the numbers of campaigns, in no order.
    pub(super) fn leads(&self, key: u64, mut take: impl FnMut(u32)) -> Leads {
        let mut many = None;
        self.walk(key, |_, _, what| {
            if what & COUNT == 0 {
                take(what - 1);
                true
            } else {
                many = Some(what & !COUNT);
                false
            }
        });
        many.map_or(Leads::Told, Leads::Many)
    }

    /// Adds a campaign to a key that did not lead to it.
    pub(super) fn add(&mut self, key: u64, number: u32) {
        let half = self.place(key).1;
        let mut held: Vec<(usize, usize)> = Vec::new();
        let mut count = None;
        self.walk(key, |line, slot, what| {
            if what & COUNT == 0 {
                held.push((line, slot));
                return true;
            }
            count = Some((line, slot, what & !COUNT));
            false
        });
        if let Some((line, slot, count)) = count {
            self.set(line, slot, half | u64::from(COUNT | (count + 1).min(MOST)));
        } else if held.len() < TOLD {
            self.put(key, half | u64::from(number + 1));
        } else {
            let count = held.len() as u32 + 1;
            for (at, (line, slot)) in held.into_iter().enumerate() {
                let what = match at {
                    0 => half | u64::from(COUNT | count),
                    _ => GONE,
                };
                self.set(line, slot, what);
            }
        }
    }

    /// Takes a campaign away from a key that led to it.
    pub(super) fn remove(&mut self, key: u64, number: u32) {
        let half = self.place(key).1;
        let mut found = None;
        self.walk(key, |line, slot, what| {
            let is_it = what == number + 1 || what & COUNT != 0;
            if is_it {
                found = Some((line, slot, what));
            }
            !is_it
        });
        let Some((line, slot, what)) = found else {
            return;
        };
        let left = match what & !COUNT {
            // A count that has reached its end is not known any more.
            MOST => MOST,
            count => count - 1,
        };
        let now = if what & COUNT == 0 || left == 0 {
            GONE
        } else {
            half | u64::from(COUNT | left)
        };
        self.set(line, slot, now);
    }

    /// Writes into the first slot that is free.
    fn put(&mut self, key: u64, what: u64) {
        let lines = self.lines.len();
        let start = self.place(key).0;
        for at in 0..lines {
            let at = (start + at) % lines.max(1);
            let Some(line) = self.lines.get_mut(at) else {
                return;
            };
            for slot in line {
                if *slot == EMPTY || *slot == GONE {
                    self.taken += usize::from(*slot == EMPTY);
                    *slot = what;
                    return;
                }
            }
        }
    }

    fn set(&mut self, line: usize, slot: usize, what: u64) {
        let line = line % self.lines.len().max(1);
        if let Some(held) = self.lines.get_mut(line).and_then(|line| line.get_mut(slot)) {
            *held = what;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Small numbers on purpose, as the numbers of pairs that an index holds are the smallest of their messages.
    fn key(n: u64) -> u64 {
        mix(n) >> 3
    }

    fn told(postings: &Postings, key: u64) -> Result<BTreeSet<u32>, u32> {
        let mut found = BTreeSet::new();
        match postings.leads(key, |number| assert!(found.insert(number))) {
            Leads::Told => Ok(found),
            Leads::Many(count) => Err(count),
        }
    }

    #[test]
    fn keys_lead_where_they_were_led() {
        let mut postings = Postings::new(100_000);
        for n in 0..100_000 {
            postings.add(key(n), (n % 777) as u32);
        }
        assert!(!postings.is_crowded());
        let keys: Vec<u64> = (0..100_000).map(key).collect();
        postings.fetch(&keys);
        for n in 0..100_000 {
            assert_eq!(told(&postings, key(n)), Ok([(n % 777) as u32].into()));
            assert_eq!(told(&postings, key(n + 1_000_000)), Ok(BTreeSet::new()));
        }
        for n in (0..100_000).step_by(2) {
            postings.remove(key(n), (n % 777) as u32);
        }
        for n in 0..100_000 {
            let left = told(&postings, key(n)).unwrap();
            assert_eq!(left.len() as u64, n % 2, "{n}");
        }
    }

    #[test]
    fn it_is_a_map_of_sets_that_counts_large_ones() {
        let mut postings = Postings::new(3000);
        let mut expected: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        let mut counted: BTreeSet<u64> = BTreeSet::new();
        let mut seed = 1;
        for _ in 0..200_000 {
            seed = mix(seed);
            let (which, number) = (seed % 97, (seed >> 20) as u32 % 40);
            // Some keys lead to few campaigns, some to many.
            let number = number % (which as u32 % 40 + 1);
            let owners = expected.entry(which).or_default();
            if owners.insert(number) {
                postings.add(key(which), number);
            } else {
                owners.remove(&number);
                postings.remove(key(which), number);
            }
            if owners.len() > TOLD {
                counted.insert(which);
            } else if owners.is_empty() {
                counted.remove(&which);
            }
            match told(&postings, key(which)) {
                Ok(found) => assert_eq!((&found, counted.contains(&which)), (&*owners, false)),
                Err(count) => {
                    assert_eq!(
                        (count as usize, counted.contains(&which)),
                        (owners.len(), true)
                    );
                }
            }
        }
        // What was taken away leaves room.
        assert!(postings.room() > 1000);
    }

    #[test]
    fn a_key_of_everybody_takes_no_room() {
        let mut postings = Postings::new(0);
        for number in 0..100_000 {
            postings.add(7, number);
        }
        assert_eq!(told(&postings, 7), Err(100_000));
        assert!(!postings.is_crowded());
    }

    #[test]
    fn a_full_table_has_all_that_fits() {
        let mut postings = Postings::new(0);
        let mut count = 0;
        while postings.room() > 1 {
            postings.add(key(count), 1);
            count += 1;
        }
        assert!(postings.is_crowded());
        assert!((0..count).all(|n| told(&postings, key(n)) == Ok([1].into())));
    }
}
