//! Campaigns by number: what each is called, and what a glance at it tells.
//!
//! A glance takes whole lines of the cache, one after the other, so that many can be brought near at once. Lines that nobody
//! needs any more are used for the next glance that takes as many.

use std::io;

use super::pages::Pages;

/// Numbers of a glance that a line of the cache holds.
const LINE: usize = 32;
/// Lines that are taken from the system at once: 16 MB.
const CHUNK: usize = 1 << 18;
/// No glance takes more lines.
const LONGEST: usize = 128;

/// Where a glance stands, and how many numbers it has: 0 if none is held.
#[derive(Clone, Copy, Default)]
struct Place {
    line: u32,
    numbers: u32,
}

impl Place {
    fn lines(self) -> usize {
        (self.numbers as usize).div_ceil(LINE)
    }

    fn packed(self) -> u64 {
        u64::from(self.line) << 32 | u64::from(self.numbers)
    }

    fn of(packed: u64) -> Self {
        Self {
            line: (packed >> 32) as u32,
            numbers: packed as u32,
        }
    }
}

/// Campaigns by number.
#[derive(Debug)]
pub(super) struct Shelf {
    /// By number: the name, and the place of the glance.
    campaigns: Pages<[u64; 2]>,
    /// Numbers given so far, and those of them that nobody has any more.
    given: u32,
    free: Vec<u32>,
    chunks: Vec<Pages<[u16; LINE]>>,
    /// Lines taken so far, and by how many there are together those that nobody needs any more.
    taken: usize,
    left: Vec<Vec<u32>>,
    /// Bytes that glances may take.
    most: u64,
}

impl Shelf {
    /// Bytes that names of so many campaigns take.
    pub(super) fn bytes(campaigns: u64) -> u64 {
        campaigns.saturating_mul(size_of::<[u64; 2]>() as u64)
    }

    /// An empty one for at most so many campaigns, whose glances take no more than so many bytes.
    pub(super) fn new(campaigns: u64, most: u64) -> io::Result<Self> {
        Ok(Self {
            campaigns: Pages::new(usize::try_from(campaigns).unwrap_or(usize::MAX))?,
            given: 0,
            free: Vec::new(),
            chunks: Vec::new(),
            taken: 0,
            left: vec![Vec::new(); LONGEST + 1],
            most,
        })
    }

    /// A number for a campaign of this name; `None` if there is no room.
    pub(super) fn give(&mut self, name: u64) -> Option<u32> {
        let number = self.free.pop().unwrap_or(self.given);
        *self.campaigns.all_mut().get_mut(number as usize)? = [name, 0];
        self.given = self.given.max(number + 1);
        Some(number)
    }

    /// Nobody has this number any more.
    pub(super) fn take_back(&mut self, number: u32) {
        self.hold(number, &[]);
        self.free.push(number);
    }

    /// How many more numbers can be given.
    pub(super) fn room(&self) -> usize {
        (self.campaigns.all().len() + self.free.len()).saturating_sub(self.given as usize)
    }

    /// Holds a glance at a campaign in place of the one before, if there is room; an empty one is none.
    pub(super) fn hold(&mut self, number: u32, glance: &[u16]) {
        let Some(&[name, before]) = self.campaigns.all().get(number as usize) else {
            return;
        };
        let before = Place::of(before);
        if let Some(left) = self.left.get_mut(before.lines())
            && before.numbers > 0
        {
            left.push(before.line);
        }
        let place = self.put(glance).unwrap_or_default();
        if let Some(held) = self.campaigns.all_mut().get_mut(number as usize) {
            *held = [name, place.packed()];
        }
    }

    fn put(&mut self, glance: &[u16]) -> Option<Place> {
        let lines = glance.len().div_ceil(LINE);
        let line = match self.left.get_mut(lines)?.pop() {
            Some(line) => line as usize,
            None => {
                // A glance does not go on in another chunk.
                let rest = CHUNK - self.taken % CHUNK;
                let line = self.taken + if rest < lines { rest } else { 0 };
                if lines == 0 || ((line + lines) * size_of::<[u16; LINE]>()) as u64 > self.most {
                    return None;
                }
                if self.chunks.len() <= line / CHUNK {
                    self.chunks.push(Pages::new(CHUNK).ok()?);
                }
                self.taken = line + lines;
                line
            }
        };
        let place = Place {
            line: u32::try_from(line).ok()?,
            numbers: u32::try_from(glance.len()).ok()?,
        };
        let chunk = self.chunks.get_mut(line / CHUNK)?.all_mut();
        let held = chunk.get_mut(line % CHUNK..line % CHUNK + lines)?;
        held.as_flattened_mut()
            .get_mut(..glance.len())?
            .copy_from_slice(glance);
        Some(place)
    }

    fn lines(&self, place: Place) -> Option<&[[u16; LINE]]> {
        let line = place.line as usize;
        let chunk = self.chunks.get(line / CHUNK)?.all();
        chunk.get(line % CHUNK..line % CHUNK + place.lines())
    }

    /// What a campaign is called.
    pub(super) fn name(&self, number: u32) -> Option<u64> {
        Some(self.campaigns.all().get(number as usize)?[0])
    }

    /// What a glance at a campaign tells, if one is held.
    pub(super) fn glance(&self, number: u32) -> Option<&[u16]> {
        let place = Place::of(self.campaigns.all().get(number as usize)?[1]);
        let lines = self.lines(place).filter(|_| place.numbers > 0)?;
        lines.as_flattened().get(..place.numbers as usize)
    }

    /// Brings the glances at campaigns near: the memory works on all of them at once.
    pub(super) fn fetch(&self, numbers: impl Iterator<Item = u32>) -> u64 {
        let campaigns = self.campaigns.all();
        numbers
            .filter_map(|number| campaigns.get(number as usize))
            .filter_map(|held| self.lines(Place::of(held[1])))
            .flatten()
            .map(|line| u64::from(line[0]))
            .fold(0, u64::wrapping_add)
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> u64 {
        self.campaigns.size() + (self.taken * size_of::<[u16; LINE]>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use twicetold_methods::winnow::mix;

    use super::*;

    #[test]
    fn what_was_held_last_is_told() {
        let mut shelf = Shelf::new(500, 1 << 30).unwrap();
        let mut expected: BTreeMap<u32, (u64, Vec<u16>)> = BTreeMap::new();
        let mut seed = 3;
        for step in 0..20_000_u64 {
            seed = mix(seed + step);
            if seed.is_multiple_of(5) && expected.len() > 10 {
                let (&number, _) = expected.iter().nth(seed as usize % 10).unwrap();
                expected.remove(&number);
                shelf.take_back(number);
                continue;
            }
            let glance: Vec<u16> = (0..mix(seed) % 300).map(|n| mix(n + step) as u16).collect();
            let number = if expected.len() < 400 && seed.is_multiple_of(2) {
                let number = shelf.give(step).unwrap();
                assert!(expected.insert(number, (step, Vec::new())).is_none());
                assert_eq!(shelf.glance(number), None);
                number
            } else {
                let Some((&number, _)) = expected.iter().nth(seed as usize % 300) else {
                    continue;
                };
                number
            };
            shelf.hold(number, &glance);
            expected.get_mut(&number).unwrap().1 = glance;
        }
        assert!(expected.len() > 100);
        shelf.fetch(expected.keys().copied());
        for (&number, (name, glance)) in &expected {
            assert_eq!(shelf.name(number), Some(*name));
            assert_eq!(shelf.glance(number).unwrap_or_default(), glance);
        }
        // What was let go of was used again.
        assert!(shelf.taken < 20_000, "{}", shelf.taken);
        assert_eq!(shelf.room() + expected.len(), 500);
    }

    #[test]
    fn what_does_not_fit_is_not_held() {
        let mut shelf = Shelf::new(2, 200).unwrap();
        let numbers = [shelf.give(7).unwrap(), shelf.give(8).unwrap()];
        assert_eq!((shelf.room(), shelf.give(9)), (0, None));
        shelf.hold(numbers[0], &[1; 3 * LINE]);
        shelf.hold(numbers[1], &[2; 3]);
        assert_eq!(shelf.glance(numbers[0]), Some([1; 3 * LINE].as_slice()));
        assert_eq!(shelf.glance(numbers[1]), None);
        shelf.hold(numbers[0], &[3; LINE * (LONGEST + 1)]);
        assert_eq!(shelf.glance(numbers[0]), None);
        assert_eq!(shelf.glance(99), None);
        assert_eq!(shelf.name(1), Some(8));
    }

    #[test]
    fn glances_stand_in_one_chunk_each() {
        let mut shelf = Shelf::new(70_000, 1 << 30).unwrap();
        for name in 0..60_000_u64 {
            let number = shelf.give(name).unwrap();
            shelf.hold(number, &[name as u16; 5 * LINE]);
        }
        assert_eq!(shelf.chunks.len(), 2);
        for number in 0..60_000 {
            let glance = shelf.glance(number).unwrap();
            assert!(glance.len() == 5 * LINE && glance.iter().all(|&n| n == number as u16));
        }
    }
}
