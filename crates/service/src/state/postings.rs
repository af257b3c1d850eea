//! Which campaigns a key leads to, in memory: one line of the cache for a key, however many campaigns there are.
//!
//! A table of lines of eight slots. A key falls on a line; what does not fit there stands in the next one. A slot has
//! half of the key's bits and the number of a campaign, so a line tells at once that a key leads nowhere, which is so for
//! most keys of most messages, or where it leads. A key that leads to many campaigns has one slot that
//! says how many: whoever wants to know which ones reads the file, and few do, because such a key says little.
//!
//! The lines stand in parts that know nothing of each other, so that several threads can fill the table.
//!
//! Two keys with the same half that fall on the same line are taken for one. That happens to one key in some
//! hundred millions; then a campaign is proposed too many, and the comparison refuses it.

use std::hint::black_box;
use std::io;
use std::sync::{Mutex, PoisonError};

use twicetold_methods::winnow::mix;

use super::pages::Pages;

/// Slots of a line.
const SLOTS: usize = 8;
/// The parts of a table, by the first bits of a mixed key.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 3;
/// Campaigns of one key that are told by number; of more only the count is kept.
const TOLD: usize = 64;
/// A line is made for so many keys: three quarters of the slots are taken.
const FILLED: usize = 6;
/// A table has at least so many lines.
const LEAST: usize = 64;
/// Nothing was ever here: the search ends.
const EMPTY: u64 = 0;
/// Something was here: the search goes on.
const GONE: u64 = u32::MAX as u64;
/// The slot holds a count, not the number of a campaign.
const COUNT: u32 = 1 << 31;
/// Larger counts are all the same.
const MOST: u32 = COUNT - 2;
/// So many keys are brought near before they are looked at.
const NEAR: usize = 32;

/// Halves of keys have this bit, so that they are neither of what stands for no key.
const HALF: u64 = 1 << 32;

type Line = [u64; SLOTS];

/// Where a key leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To the campaigns that were handed over, if any.
    Told,
    /// To so many.
    Many(u32),
}

/// Where a key stands, by part.
#[derive(Clone, Copy)]
struct Place {
    part: usize,
    /// In the part.
    line: usize,
    /// The half of the key that stands in slots.
    half: u64,
}

/// Where a key stands in the whole table.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    line: usize,
    half: u64,
}

/// The table.
#[derive(Debug)]
pub(super) struct Postings {
    lines: Pages<Line>,
    /// Slots of each part that are not empty.
    taken: [usize; PARTS],
}

impl Postings {
    /// The bytes that a table for so many keys takes.
    pub(super) fn bytes(keys: u64) -> u64 {
        (lines(keys) as u64).saturating_mul(size_of::<Line>() as u64)
    }

    /// An empty table with room for so many.
    pub(super) fn new(keys: u64) -> io::Result<Self> {
        Ok(Self {
            lines: Pages::new(lines(keys))?,
            taken: [0; PARTS],
        })
    }

    /// The bytes that it takes.
    pub(super) fn size(&self) -> u64 {
        self.lines.size()
    }

    /// Lines of a part.
    fn each(&self) -> usize {
        self.lines.all().len() / PARTS
    }

    /// Whether a larger table would be quicker.
    pub(super) fn is_crowded(&self) -> bool {
        self.taken.iter().sum::<usize>() > self.lines.all().len() * (FILLED + 1)
    }

    /// How many more can be added for certain.
    pub(super) fn room(&self) -> usize {
        let fullest = self.taken.iter().max().copied().unwrap_or(0);
        (self.each() * SLOTS).saturating_sub(fullest)
    }

    /// Brings the lines of keys near, before they are looked at: the memory works on all of them at once. That is so only if
    /// there is little else to do between them, which is why the places are worked out before.
    pub(super) fn near(&self, keys: &[u64]) -> Vec<Spot> {
        let (lines, each) = (self.lines.all(), self.each());
        let spot = |&key: &u64| {
            let place = place(key, each);
            Spot {
                line: place.part * each + place.line,
                half: place.half,
            }
        };
        let spots: Vec<Spot> = keys.iter().map(spot).collect();
        let first = spots.iter().filter_map(|spot| lines.get(spot.line));
        black_box(first.fold(0, |sum: u64, line| sum.wrapping_add(line[0])));
        spots
    }

    /// Where a key leads; hands over the numbers of campaigns, in no order.
    pub(super) fn leads(&self, spot: Spot, mut take: impl FnMut(u32)) -> Leads {
        let (lines, each) = (self.lines.all(), self.each());
        let Some(line) = lines.get(spot.line) else {
            return Leads::Told;
        };
        // Most keys lead nowhere, and their line has room.
        if let (0, true) = seen(line, spot.half) {
            return Leads::Told;
        }
        let part = lines.chunks_exact(each).nth(spot.line / each);
        let mut many = None;
        let line = spot.line % each;
        walk(part.unwrap_or_default(), line, spot.half, |_, _, what| {
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

    fn parts(&mut self) -> impl Iterator<Item = Part<'_>> {
        let each = self.each();
        let lines = self.lines.all_mut().chunks_exact_mut(each);
        let parts = lines.zip(&mut self.taken);
        parts.map(|(lines, taken)| Part { lines, taken })
    }

    fn part(&mut self, key: u64) -> Option<Part<'_>> {
        let at = place(key, self.each()).part;
        self.parts().nth(at)
    }

    /// Adds a campaign to a key that did not lead to it.
    pub(super) fn add(&mut self, key: u64, number: u32) {
        if let Some(mut part) = self.part(key) {
            part.add(key, number);
        }
    }

    /// Takes a campaign away from a key that led to it.
    pub(super) fn remove(&mut self, key: u64, number: u32) {
        if let Some(mut part) = self.part(key) {
            part.remove(key, number);
        }
    }

    /// To be filled by several threads.
    pub(super) fn filling(&mut self) -> Filling<'_> {
        Filling(self.parts().map(Mutex::new).collect())
    }
}

/// Lines of a table for so many keys, the same number for each part.
fn lines(keys: u64) -> usize {
    let lines = usize::try_from(keys).unwrap_or(usize::MAX) / FILLED + LEAST;
    lines.next_multiple_of(PARTS)
}

/// Where a key stands in a table whose parts have so many lines.
fn place(key: u64, each: usize) -> Place {
    let mixed = mix(key);
    let within = mixed << PART_BITS >> 32;
    Place {
        part: (mixed >> (u64::BITS - PART_BITS)) as usize,
        line: ((within * each as u64) >> 32) as usize,
        half: mixed << 32 | HALF,
    }
}

/// Which slots of a line a key has, a bit for each; and whether the search ends here.
fn seen(line: &Line, half: u64) -> (u32, bool) {
    let (mut slots, mut ends) = (0, false);
    // Without a question between, all eight are looked at at once.
    for (slot, &held) in line.iter().enumerate() {
        slots |= u32::from((held ^ half) >> 32 == 0) << slot;
        ends |= held == EMPTY;
    }
    (slots, ends)
}

/// Hands over the slots of a key, as (line, slot, what), until `take` says that it is enough.
fn walk(part: &[Line], start: usize, half: u64, mut take: impl FnMut(usize, usize, u32) -> bool) {
    let (beginning, rest) = part.split_at(start.min(part.len()));
    for (at, line) in rest.iter().chain(beginning).enumerate() {
        let (mut slots, ends) = seen(line, half);
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            slots &= slots - 1;
            let what = line.get(slot).map_or(0, |&held| held as u32);
            if !take(start + at, slot, what) {
                return;
            }
        }
        if ends {
            return;
        }
    }
}

/// One part of the table, to be changed.
struct Part<'t> {
    lines: &'t mut [Line],
    taken: &'t mut usize,
}

impl Part<'_> {
    fn add(&mut self, key: u64, number: u32) {
        let place = place(key, self.lines.len());
        let (mut held, mut count) = (0, None);
        walk(self.lines, place.line, place.half, |line, slot, what| {
            if what & COUNT == 0 {
                held += 1;
                return true;
            }
            count = Some((line, slot, what & !COUNT));
            false
        });
        if let Some((line, slot, count)) = count {
            let count = COUNT | (count + 1).min(MOST);
            self.set(line, slot, place.half | u64::from(count));
        } else if held < TOLD {
            self.put(place, place.half | u64::from(number + 1));
        } else {
            self.count(place);
        }
    }

    /// A key that leads to as many as are told leads to one more: from now on they are only counted.
    fn count(&mut self, place: Place) {
        let mut held = Vec::with_capacity(TOLD);
        walk(self.lines, place.line, place.half, |line, slot, _| {
            held.push((line, slot));
            true
        });
        let count = held.len() as u32 + 1;
        for (at, (line, slot)) in held.into_iter().enumerate() {
            let what = match at {
                0 => place.half | u64::from(COUNT | count),
                _ => GONE,
            };
            self.set(line, slot, what);
        }
    }

    fn remove(&mut self, key: u64, number: u32) {
        let place = place(key, self.lines.len());
        let mut found = None;
        walk(self.lines, place.line, place.half, |line, slot, what| {
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
            place.half | u64::from(COUNT | left)
        };
        self.set(line, slot, now);
    }

    /// Writes into the first slot that is free.
    fn put(&mut self, place: Place, what: u64) {
        let (beginning, rest) = self.lines.split_at_mut(place.line.min(self.lines.len()));
        for slot in rest.iter_mut().chain(beginning).flatten() {
            if *slot == EMPTY || *slot == GONE {
                *self.taken += usize::from(*slot == EMPTY);
                *slot = what;
                return;
            }
        }
    }

    fn set(&mut self, line: usize, slot: usize, what: u64) {
        let line = line % self.lines.len().max(1);
        if let Some(held) = self.lines.get_mut(line).and_then(|line| line.get_mut(slot)) {
            *held = what;
        }
    }

    /// Adds many, which are brought near before they are looked at.
    fn add_all(&mut self, entries: &[(u64, u32)]) {
        let each = self.lines.len();
        for some in entries.chunks(NEAR) {
            let first = |&(key, _): &(u64, u32)| self.lines.get(place(key, each).line);
            let sum = some.iter().filter_map(first).map(|line| line[0]);
            black_box(sum.fold(0, u64::wrapping_add));
            for &(key, number) in some {
                self.add(key, number);
            }
        }
    }
}

/// A table that several threads fill.
pub(super) struct Filling<'t>(Vec<Mutex<Part<'t>>>);

/// What one thread is about to add, by part.
#[derive(Default)]
pub(super) struct Load([Vec<(u64, u32)>; PARTS]);

/// So many of a part are added at once.
const LOADED: usize = 4096;

impl Filling<'_> {
    /// Adds a campaign to a key that did not lead to it, sooner or later.
    pub(super) fn add(&self, load: &mut Load, key: u64, number: u32) {
        let part = place(key, 1).part;
        if let Some(entries) = load.0.get_mut(part) {
            entries.push((key, number));
            if entries.len() == LOADED {
                self.unload(part, entries);
            }
        }
    }

    /// Adds what was not added yet.
    pub(super) fn finish(&self, load: &mut Load) {
        for (part, entries) in load.0.iter_mut().enumerate() {
            self.unload(part, entries);
        }
    }

    fn unload(&self, part: usize, entries: &mut Vec<(u64, u32)>) {
        if let Some(part) = self.0.get(part) {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            part.add_all(entries);
        }
        entries.clear();
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
        let spot = postings.near(&[key])[0];
        match postings.leads(spot, |number| assert!(found.insert(number))) {
            Leads::Told => Ok(found),
            Leads::Many(count) => Err(count),
        }
    }

    #[test]
    fn keys_lead_where_they_were_led() {
        let mut postings = Postings::new(100_000).unwrap();
        for n in 0..100_000 {
            postings.add(key(n), (n % 777) as u32);
        }
        assert!(!postings.is_crowded());
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
        let mut postings = Postings::new(60_000).unwrap();
        let mut expected: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        let mut counted: BTreeSet<u64> = BTreeSet::new();
        let mut seed = 1;
        for _ in 0..200_000 {
            seed = mix(seed);
            let (which, number) = (seed % 97, (seed >> 20) as u32 % 160);
            // Some keys lead to few campaigns, some to many.
            let number = number % (2 * (which as u32) % 160 + 1);
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
    fn threads_fill_it_as_one_would() {
        let mut postings = Postings::new(50_000).unwrap();
        let filling = postings.filling();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let filling = &filling;
                scope.spawn(move || {
                    let mut load = Load::default();
                    for n in (thread..50_000).step_by(4) {
                        filling.add(&mut load, key(n % 30_000), n as u32);
                    }
                    filling.finish(&mut load);
                });
            }
        });
        drop(filling);
        for n in 0..30_000 {
            let second = (n < 20_000).then_some(n as u32 + 30_000);
            let expected: BTreeSet<u32> = [n as u32].into_iter().chain(second).collect();
            assert_eq!(told(&postings, key(n)), Ok(expected));
        }
        assert_eq!(postings.taken.iter().sum::<usize>(), 50_000);
    }

    #[test]
    fn a_key_of_everybody_takes_no_room() {
        let mut postings = Postings::new(0).unwrap();
        for number in 0..100_000 {
            postings.add(7, number);
        }
        assert_eq!(told(&postings, 7), Err(100_000));
        assert!(!postings.is_crowded());
    }

    #[test]
    fn a_full_table_has_all_that_fits() {
        let mut postings = Postings::new(0).unwrap();
        let mut count = 0;
        while postings.room() > 1 {
            postings.add(key(count), 1);
            count += 1;
        }
        assert!(postings.is_crowded());
        assert!((0..count).all(|n| told(&postings, key(n)) == Ok([1].into())));
    }
}
