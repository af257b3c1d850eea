//! Lists one behind the other: who has which key, or which keys somebody has.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

/// Of where a list ends, so many bits are written down for each: there are many lists, and most are short.
const BITS: u32 = if cfg!(test) { 8 } else { 32 };

/// Allocators give back what is larger than this as soon as it is not needed, and keep what is smaller for later.
const GIVEN_BACK: usize = 33 << 20;

/// Room for so many items. If that is much, it is no memory of anybody else's once it is not needed: beyond what is used it is a promise only.
pub fn room_for<T>(items: usize) -> Vec<T> {
    let large = GIVEN_BACK / size_of::<T>().max(1);
    let much = items > large / 16;
    Vec::with_capacity(if much { items.max(large) } else { items })
}

/// Lists of numbers, each known by its place, one behind the other. None of them is longer than 2³² − 1.
#[derive(Clone, Debug)]
pub struct Rows<N = u32> {
    /// Where each list ends: the lower bits.
    ends: Vec<u32>,
    /// For each time that the ends have outgrown those bits, the first list after that.
    turns: Vec<u32>,
    all: Vec<N>,
}

impl<N> Default for Rows<N> {
    fn default() -> Self {
        Self {
            ends: Vec::new(),
            turns: Vec::new(),
            all: Vec::new(),
        }
    }
}

impl<N: Copy> Rows<N> {
    /// Room for so many lists that have so many numbers together.
    pub fn with_room_for(rows: usize, numbers: usize) -> Self {
        Self {
            ends: Vec::with_capacity(rows),
            turns: Vec::new(),
            all: room_for(numbers),
        }
    }

    /// Adds a list.
    pub fn push(&mut self, row: impl IntoIterator<Item = N>) {
        self.all.extend(row);
        self.close(self.all.len());
    }

    /// Ends the next list here.
    fn close(&mut self, end: usize) {
        self.turn(self.ends.len(), end);
        self.ends.push(low_bits(end));
    }

    /// Notes how often the ends have outgrown their bits, if this list ends here.
    fn turn(&mut self, list: usize, end: usize) {
        let turns = end.checked_shr(BITS).unwrap_or(0);
        self.turns.resize(turns, list as u32);
    }

    /// Adds the lists of another one behind these.
    pub fn append(&mut self, other: &Self) {
        let before = self.all.len();
        self.all.extend_from_slice(&other.all);
        self.ends.reserve(other.len());
        let mut end = before;
        for row in other.iter() {
            end += row.len();
            self.close(end);
        }
    }

    /// Gives room back that is not needed.
    pub fn shrink_to_fit(&mut self) {
        self.ends.shrink_to_fit();
        self.all.shrink_to_fit();
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many numbers all lists have together.
    pub fn numbers(&self) -> usize {
        self.all.len()
    }

    /// The list at a place; nothing if there is none.
    #[inline]
    pub fn row(&self, place: u32) -> &[N] {
        let Some(end) = self.end(place) else {
            return &[];
        };
        let before = place.checked_sub(1).and_then(|before| self.end(before));
        &self.all[before.unwrap_or(0)..end]
    }

    #[inline]
    fn end(&self, place: u32) -> Option<usize> {
        let low = *self.ends.get(place as usize)? as usize;
        Some(match self.turns.is_empty() {
            true => low,
            false => {
                let turns = self.turns.partition_point(|&first| first <= place);
                turns.checked_shl(BITS).unwrap_or(0) | low
            }
        })
    }

    /// All lists, in the order of their places.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[N]> + Clone {
        (0..self.len() as u32).map(|place| self.row(place))
    }

    /// Keeps of each list what is `wanted`, no more than the first `most`. It is asked with the list as it was.
    pub fn narrow(&mut self, most: usize, wanted: impl Fn(Standing<N>) -> bool) {
        self.turns.clear();
        // What is kept moves up to what was kept before it: no second room is needed.
        let (mut start, mut kept) = (0, 0);
        for list in 0..self.ends.len() {
            let length = self.ends[list].wrapping_sub(low_bits(start)) & low_bits(usize::MAX);
            let from = kept;
            for place in 0..length {
                let number = self.all[start + place as usize];
                let standing = Standing {
                    list: list as u32,
                    length,
                    place,
                    number,
                };
                if kept - from < most && wanted(standing) {
                    self.all[kept] = number;
                    kept += 1;
                }
            }
            start += length as usize;
            self.turn(list, kept);
            self.ends[list] = low_bits(kept);
        }
        self.all.truncate(kept);
    }
}

/// A number in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing<N> {
    /// The place of the list.
    pub list: u32,
    /// How many numbers it has.
    pub length: u32,
    /// How many of them stand before this one.
    pub place: u32,
    /// The number.
    pub number: N,
}

impl Rows {
    /// For each number below `count` the places of the lists that have it, in order. Other numbers are passed over.
    #[must_use]
    pub fn turned(&self, count: usize) -> Self {
        let parts = self.parts();
        // How often each part has each number.
        let counted = parts.par_iter().map(|part| {
            let mut counts: Vec<usize> = vec![0; count];
            for &number in part.clone().flat_map(|place| self.row(place)) {
                if let Some(count) = counts.get_mut(number as usize) {
                    *count += 1;
                }
            }
            counts
        });
        let mut counted: Vec<Vec<usize>> = counted.collect();
        let mut turned = Self::with_room_for(count, 0);
        let mut sum = 0;
        for number in 0..count {
            // From here on: where the places stand that the part has for the number.
            for counts in &mut counted {
                sum += std::mem::replace(&mut counts[number], sum);
            }
            turned.close(sum);
        }
        // Every place is written once, whichever thread does it.
        let mut all: Vec<AtomicU32> = room_for(sum);
        all.resize_with(sum, AtomicU32::default);
        let parts = parts.into_par_iter().zip(counted);
        parts.for_each(|(part, mut next)| {
            for place in part {
                for &number in self.row(place) {
                    if let Some(next) = next.get_mut(number as usize) {
                        all[*next].store(place, Ordering::Relaxed);
                        *next += 1;
                    }
                }
            }
        });
        turned.all = all.into_iter().map(AtomicU32::into_inner).collect();
        turned
    }

    /// The places of the lists in parts that take about the same time, one for each thread.
    fn parts(&self) -> Vec<Range<u32>> {
        let threads = match self.all.len() < FOR_ONE {
            true => 1,
            false => rayon::current_num_threads().min(MOST_PARTS),
        };
        let parts = shares(self.iter().map(<[u32]>::len), self.all.len(), threads).into_iter();
        parts
            .map(|part| part.start as u32..part.end as u32)
            .collect()
    }
}

/// Cuts a row of things into no more than so many parts that weigh about the same. There is at least one, if it be empty.
pub fn shares(
    weights: impl ExactSizeIterator<Item = usize>,
    total: usize,
    parts: usize,
) -> Vec<Range<usize>> {
    let (count, share) = (weights.len(), total.div_ceil(parts.max(1)).max(1));
    let mut shares = Vec::with_capacity(parts);
    let (mut first, mut sum) = (0, 0);
    for (end, weight) in (1..).zip(weights) {
        sum += weight;
        if sum >= share {
            shares.push(first..end);
            (first, sum) = (end, 0);
        }
    }
    if first < count || shares.is_empty() {
        shares.push(first..count);
    }
    shares
}

/// So many numbers are the work of one thread.
const FOR_ONE: usize = if cfg!(test) { 100 } else { 1 << 16 };
/// Each takes room for all numbers: more threads than this would take more of it than they save time.
const MOST_PARTS: usize = 4;

/// Lists of numbers in rising order, in as few bytes as they take: numbers near each other take a byte each.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    /// How much higher each number is than the one before it, seven bits in a byte, the lowest first; all but the last byte
    /// of a number are marked.
    steps: Rows<u8>,
}

impl Packed {
    /// The same lists, packed; each is in rising order.
    pub fn of(rows: &Rows) -> Self {
        let parts = rows.parts().into_par_iter().map(|part| {
            let mut steps: Rows<u8> = Rows::default();
            for place in part {
                let mut before = 0;
                for &number in rows.row(place) {
                    let mut step = number.wrapping_sub(before);
                    while step >= 0x80 {
                        steps.all.push(step as u8 | 0x80);
                        step >>= 7;
                    }
                    steps.all.push(step as u8);
                    before = number;
                }
                steps.close(steps.all.len());
            }
            steps
        });
        let both = |mut before: Rows<u8>, behind: Rows<u8>| {
            before.all.reserve_exact(behind.all.len());
            before.append(&behind);
            before
        };
        let mut steps = parts.reduce_with(both).unwrap_or_default();
        steps.shrink_to_fit();
        Self { steps }
    }

    /// The list at a place; nothing if there is none.
    pub fn row(&self, place: u32) -> Vec<u32> {
        let steps = self.steps.row(place);
        let mut numbers = Vec::with_capacity(steps.len());
        let (mut number, mut step, mut shift) = (0_u32, 0_u32, 0);
        for &byte in steps {
            step |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                number = number.wrapping_add(step);
                numbers.push(number);
                (step, shift) = (0, 0);
            }
        }
        numbers
    }
}

/// Of a place among all numbers what is written down.
fn low_bits(place: usize) -> u32 {
    place as u32 & (u32::MAX >> (u32::BITS - BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of different lengths, together longer than the bits of an end can tell, some of them empty.
    fn lists() -> Vec<Vec<u32>> {
        let length = |n: u32| match n % 7 {
            0 => 0,
            1 => 200,
            rest => rest * 3,
        };
        (0..60)
            .map(|n| (0..length(n)).map(|m| (n * 31 + m) % 97).collect())
            .collect()
    }

    fn rows(lists: &[Vec<u32>]) -> Rows {
        let mut rows = Rows::default();
        lists
            .iter()
            .for_each(|list| rows.push(list.iter().copied()));
        rows
    }

    #[test]
    fn each_list_is_found_however_many_stand_before_it() {
        let lists = lists();
        let rows = rows(&lists);
        assert!(rows.turns.len() > 2, "{:?}", rows.turns);
        assert_eq!(rows.len(), lists.len());
        assert!(rows.iter().eq(lists.iter().map(Vec::as_slice)));
        assert_eq!(rows.row(lists.len() as u32), &[]);
    }

    #[test]
    fn lists_of_another_one_stand_behind_its_own() {
        let lists = lists();
        for cut in [0, 1, 30, lists.len()] {
            let mut both = rows(&lists[..cut]);
            both.append(&rows(&lists[cut..]));
            assert!(both.iter().eq(lists.iter().map(Vec::as_slice)));
            assert_eq!(both.turns, rows(&lists).turns);
        }
    }

    #[test]
    fn turned_twice_is_what_it_was() {
        let mut lists = lists();
        for list in &mut lists {
            list.sort_unstable();
        }
        let rows = rows(&lists);
        let turned = rows.turned(97);
        for number in 0..97 {
            let has = (0..).zip(&lists).flat_map(|(place, list)| {
                let times = list.iter().filter(|&&n| n == number).count();
                std::iter::repeat_n(place, times)
            });
            assert!(turned.row(number).iter().copied().eq(has));
        }
        assert!(turned.turned(lists.len()).iter().eq(rows.iter()));
    }

    #[test]
    fn what_is_packed_is_found_again() {
        let mut lists = lists();
        lists.push(vec![0, 0, 127, 128, 255, 16_383, 16_384, 1 << 28, u32::MAX]);
        for list in &mut lists {
            list.sort_unstable();
        }
        let packed = Packed::of(&rows(&lists));
        for (place, list) in (0..).zip(&lists) {
            assert_eq!(&packed.row(place), list);
        }
        assert_eq!(packed.row(lists.len() as u32), []);
    }

    #[test]
    fn narrowed_lists_keep_their_places() {
        let lists = lists();
        for most in [0, 3, usize::MAX] {
            let mut rows = rows(&lists);
            rows.narrow(most, |standing| {
                let list = &lists[standing.list as usize];
                assert_eq!(list.len(), standing.length as usize);
                assert_eq!(list[standing.place as usize], standing.number);
                standing.number % 3 > 0
            });
            let kept = lists.iter().map(|list| -> Vec<u32> {
                let wanted = list.iter().copied().filter(|n| n % 3 > 0);
                wanted.take(most).collect()
            });
            assert!(rows.iter().eq(kept.collect::<Vec<_>>().iter()));
        }
    }
}
