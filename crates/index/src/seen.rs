//! What a [`Twice`] has seen, in little room: kept from one count to the next, where a few keys are added and asked for.

use std::collections::BTreeMap;

use crate::rows::Rows;
use crate::twice::Twice;

/// How many slots stand in one list. A key is looked for in one of them.
const BLOCK: u64 = 4096;

/// Which keys were seen, and which of them again: what a [`Twice`] knows, in about a byte and a half for each key.
#[derive(Clone, Debug)]
pub struct Seen {
    slots: u64,
    /// For each [`BLOCK`] of slots those that are used: how far each is from the one before it, and whether it was seen again,
    /// as one number of seven bits a byte, the lowest first; all but the last byte of a number are marked.
    blocks: Rows<u8>,
    /// What was noted since: the slot, and how often it was seen in all.
    noted: BTreeMap<u64, Times>,
}

/// How often the keys of a slot were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Never.
    Never,
    /// Once.
    Once,
    /// More often.
    More,
}

impl Seen {
    /// In how many lists that many slots stand.
    pub fn blocks_for(slots: u64) -> usize {
        slots.div_ceil(BLOCK) as usize
    }

    /// The lists of some blocks of a filter to which keys can still be added.
    pub fn pack(twice: &Twice, blocks: std::ops::Range<usize>) -> Rows<u8> {
        let mut rows = Rows::default();
        let mut row = Vec::new();
        for block in blocks {
            row.clear();
            let mut packing = Packing::new(&mut row);
            let words = BLOCK / 64;
            for word in block as u64 * words..(block as u64 + 1) * words {
                let (mut once, more) = twice.word(word as usize);
                while once != 0 {
                    let bit = once.trailing_zeros();
                    once &= once - 1;
                    let slot = word * 64 + u64::from(bit);
                    packing.add(slot % BLOCK, more >> bit & 1 == 1);
                }
            }
            rows.push(row.iter().copied());
        }
        rows
    }

    /// What the lists of all blocks of a filter with so many slots say. `None` if they cannot be those.
    pub fn of(slots: u64, blocks: Rows<u8>) -> Option<Self> {
        let all = slots.is_power_of_two() && blocks.len() == Self::blocks_for(slots);
        all.then_some(Self {
            slots,
            blocks,
            noted: BTreeMap::new(),
        })
    }

    /// How many slots there are.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// The slot of a key: keys of one slot are one key to it.
    pub fn slot(&self, key: u64) -> u64 {
        key & (self.slots - 1)
    }

    /// How often a key was seen. It may be taken for another one that was.
    pub fn times(&self, key: u64) -> Times {
        let slot = self.slot(key);
        match self.noted.get(&slot) {
            Some(&times) => times,
            None => {
                let found = unpacked(self.blocks.row((slot / BLOCK) as u32))
                    .take_while(|(at, _)| *at <= slot % BLOCK)
                    .last();
                match found {
                    Some((at, more)) if at == slot % BLOCK => match more {
                        true => Times::More,
                        false => Times::Once,
                    },
                    _ => Times::Never,
                }
            }
        }
    }

    /// Whether a key may have been seen more than once.
    pub fn contains(&self, key: u64) -> bool {
        self.times(key) == Times::More
    }

    /// Notes that a key was seen.
    pub fn note(&mut self, key: u64) {
        let again = match self.times(key) {
            Times::More => return,
            Times::Once => Times::More,
            Times::Never => Times::Once,
        };
        self.noted.insert(self.slot(key), again);
    }

    /// Notes that the keys of a key's slot were seen so often, whatever was noted before.
    pub fn recount(&mut self, key: u64, times: Times) {
        self.noted.insert(self.slot(key), times);
    }

    /// The lists of all blocks, with what was noted since.
    pub fn blocks(self) -> Rows<u8> {
        let mut rows = Rows::with_room_for(self.blocks.len(), self.blocks.numbers());
        let mut noted = self.noted.into_iter().peekable();
        for (block, row) in (0..).zip(self.blocks.iter()) {
            let mut own = BTreeMap::new();
            while let Some((slot, times)) = noted.next_if(|(slot, _)| slot / BLOCK == block) {
                own.insert(slot % BLOCK, times);
            }
            if own.is_empty() {
                rows.push(row.iter().copied());
                continue;
            }
            for (at, more) in unpacked(row) {
                let times = if more { Times::More } else { Times::Once };
                own.entry(at).or_insert(times);
            }
            let mut packed = Vec::new();
            let mut packing = Packing::new(&mut packed);
            let used = own.into_iter().filter(|(_, times)| *times != Times::Never);
            used.for_each(|(at, times)| packing.add(at, times == Times::More));
            rows.push(packed);
        }
        rows
    }
}

/// A list being packed.
struct Packing<'l> {
    list: &'l mut Vec<u8>,
    next: u64,
}

impl<'l> Packing<'l> {
    fn new(list: &'l mut Vec<u8>) -> Self {
        Self { list, next: 0 }
    }

    /// Adds a slot behind those that are there.
    fn add(&mut self, at: u64, more: bool) {
        let mut number = (at - self.next) << 1 | u64::from(more);
        self.next = at + 1;
        while number >= 0x80 {
            self.list.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.list.push(number as u8);
    }
}

/// The slots of a list, and whether each was seen again.
fn unpacked(list: &[u8]) -> impl Iterator<Item = (u64, bool)> {
    let mut bytes = list.iter();
    let mut next = 0;
    std::iter::from_fn(move || {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = *bytes.next()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        // Whatever the bytes are: no slot stands behind the last one.
        let at = (number >> 1).checked_add(next).filter(|&at| at < BLOCK)?;
        next = at + 1;
        Some((at, number & 1 == 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> u64 {
        (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    fn packed(twice: &Twice) -> Seen {
        let blocks = Seen::blocks_for(twice.slots());
        let mut rows = Seen::pack(twice, 0..blocks / 2);
        rows.append(&Seen::pack(twice, blocks / 2..blocks));
        Seen::of(twice.slots(), rows).unwrap()
    }

    #[test]
    fn what_is_noted_later_is_as_if_it_had_been_there() {
        for room in [1, 100, 5000] {
            let (twice, all) = (Twice::with_room_for(room), Twice::with_room_for(room));
            let keys =
                |from: u64, to: u64| (from..to).flat_map(|n| (0..=n % 3).map(move |_| key(n)));
            twice.insert_each(keys(0, 1000));
            all.insert_each(keys(0, 1000));
            let mut seen = packed(&twice);
            for key in keys(900, 1300) {
                seen.note(key);
                all.insert(key);
            }
            let again = Seen::of(seen.slots(), seen.clone().blocks()).unwrap();
            let whole = packed(&all);
            for n in 0..2000 {
                let key = key(n);
                assert_eq!(seen.contains(key), all.contains(key), "{n}");
                assert_eq!(seen.times(key), whole.times(key), "{n}");
                assert_eq!(again.times(key), whole.times(key), "{n}");
            }
            assert!(again.blocks.iter().eq(whole.blocks.iter()));
        }
    }

    #[test]
    fn what_is_counted_anew_is_as_if_it_had_never_been_otherwise() {
        let (twice, less) = (Twice::with_room_for(5000), Twice::with_room_for(5000));
        twice.insert_each((0..3000).map(key));
        twice.insert_each((0..2000).map(key));
        less.insert_each((0..2500).map(key));
        less.insert_each((0..1000).map(key));
        let (mut seen, whole) = (packed(&twice), packed(&less));
        for n in 1000..3000 {
            seen.recount(key(n), whole.times(key(n)));
        }
        let again = Seen::of(seen.slots(), seen.clone().blocks()).unwrap();
        for n in 0..4000 {
            assert_eq!(seen.times(key(n)), whole.times(key(n)), "{n}");
            assert_eq!(again.times(key(n)), whole.times(key(n)), "{n}");
        }
        assert!(again.blocks.iter().eq(whole.blocks.iter()));
    }

    #[test]
    fn what_is_no_list_of_slots_is_refused_or_read_without_harm() {
        assert!(Seen::of(512, Rows::default()).is_none());
        assert!(Seen::of(500, Rows::default()).is_none());
        let mut rows = Rows::default();
        rows.push([0xff; 40]);
        let seen = Seen::of(512, rows).unwrap();
        assert_eq!(seen.times(7), Times::Never);
    }
}
