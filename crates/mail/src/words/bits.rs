//! Where letters stand, and what needs a closer look: sixty-four bytes at a time.

use wide::u8x16;

/// How many bytes have a bit in a block.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// A bit for each of sixty-four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// It is a letter of ASCII.
    letters: u64,
    /// It may begin something, or go on with it, that is not letters alone: a digit, an apostrophe, an ampersand, a currency sign, a sign before a number.
    odd: u64,
}

/// What every byte of a text is.
#[derive(Debug)]
pub(super) struct Bits {
    /// One more than the text has, so that each has one behind it.
    blocks: Vec<Block>,
}

/// Something that begins in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// So many letters at a place, which are all there is of a word.
    Letters(usize, usize),
    /// Something else, or letters and something else, at a place.
    Odd(usize),
}

/// What begins in a block, from some place on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    /// Where the block begins.
    base: usize,
    /// Where something begins,
    starts: u64,
    /// and behind the last letter of each run that begins there.
    ends: u64,
    odd: u64,
    next: Block,
}

impl Starts {
    /// What begins next, before the block ends.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Begins> {
        if self.starts == 0 {
            return None;
        }
        let bit = self.starts.trailing_zeros();
        let place = self.base + bit as usize;
        if self.odd >> bit & 1 == 1 {
            return Some(Begins::Odd(place));
        }
        let end = self.ends.trailing_zeros();
        let (odd, length) = match self.odd.checked_shr(end) {
            Some(odd) => (odd, end - bit),
            // The letters may go on in the next block.
            None => {
                let more = self.next.letters.trailing_ones();
                (self.next.odd.unbounded_shr(more), end - bit + more)
            }
        };
        if odd & 1 == 1 {
            return Some(Begins::Odd(place));
        }
        self.starts &= self.starts - 1;
        self.ends &= self.ends.wrapping_sub(1);
        Some(Begins::Letters(place, length as usize))
    }

    /// Passes over everything before a place.
    #[inline]
    pub(super) fn go_on_from(&mut self, place: usize) {
        let from = u64::MAX.unbounded_shl(place.saturating_sub(self.base) as u32);
        self.starts &= from;
        self.ends &= from << 1;
    }

    /// Where the next block begins.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.base + BLOCK
    }
}

impl Bits {
    /// Looks at every byte of a text.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut blocks = Vec::with_capacity(bytes.len() / BLOCK + 2);
        let (whole, rest) = bytes.as_chunks::<BLOCK>();
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let mut looked = whole.iter().chain([&last]).map(Looked::at);
        let mut this = looked.next().unwrap_or_default();
        for next in looked {
            blocks.push(this.before(&next));
            this = next;
        }
        blocks.push(this.before(&Looked::default()));
        blocks.push(Block::default());
        Self { blocks }
    }

    /// The places from `at` on, in the block it is in, at which letters or something odd begins; letters begin at `at` if they stand there.
    #[inline]
    pub(super) fn starts(&self, at: usize) -> Option<Starts> {
        let number = at / BLOCK;
        let [this, next] = *self.blocks.get(number..)?.first_chunk()?;
        let from = u64::MAX << (at % BLOCK);
        let letters = this.letters & from;
        let begins = letters & !(letters << 1);
        Some(Starts {
            base: number * BLOCK,
            starts: begins | this.odd & from,
            // Added to the first letter of a run, its letters carry to the place behind them.
            ends: begins.wrapping_add(letters) & !letters,
            odd: this.odd,
            next,
        })
    }
}

/// What sixty-four bytes are.
#[derive(Default)]
struct Looked {
    letters: u64,
    odd: u64,
    signs: u64,
    /// Digits and dollars: a sign belongs to what they begin.
    counted: u64,
}

impl Looked {
    #[inline]
    fn at(bytes: &[u8; BLOCK]) -> Self {
        let mut looked = Self::default();
        let each = u8x16::splat;
        for (n, sixteen) in bytes.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::from(*sixteen);
            let put = |of: u8x16| u64::from(of.to_bitmask()) << (16 * n);
            let letters = ((bytes | each(0x20)) - each(b'a')).simd_le(each(b'z' - b'a'));
            let digits = (bytes - each(b'0')).simd_le(each(9));
            // An ampersand and an apostrophe are neighbours.
            let quotes = (bytes - each(b'&')).simd_le(each(1));
            let dollars = bytes.simd_eq(each(b'$'));
            let signs = bytes.simd_eq(each(b'-')) | bytes.simd_eq(each(b'+'));
            looked.letters |= put(letters);
            looked.odd |= put(digits | quotes | dollars);
            looked.signs |= put(signs);
            looked.counted |= put(digits | dollars);
        }
        looked
    }

    /// The bits of these bytes, if those come next: only they tell whether a sign at the end is that of a number.
    #[inline]
    fn before(&self, next: &Self) -> Block {
        let followed = self.counted >> 1 | next.counted << (BLOCK - 1);
        Block {
            letters: self.letters,
            odd: self.odd | self.signs & followed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places at which something begins, byte by byte.
    fn slowly(bytes: &[u8], from: usize) -> Vec<usize> {
        let is = |n: usize, what: fn(&u8) -> bool| bytes.get(n).is_some_and(what);
        let counted = |byte: &u8| byte.is_ascii_digit() || *byte == b'$';
        let begins = |&n: &usize| {
            let letter = is(n, u8::is_ascii_alphabetic)
                && (n == from || !is(n - 1, u8::is_ascii_alphabetic));
            let sign = is(n, |byte| b"+-".contains(byte)) && is(n + 1, counted);
            letter || sign || is(n, counted) || is(n, |byte| b"&'".contains(byte))
        };
        (from..bytes.len()).filter(begins).collect()
    }

    /// The same, many at a time, and how many letters stand alone at each.
    fn quickly(bytes: &[u8], from: usize) -> Vec<(usize, Option<usize>)> {
        let bits = Bits::of(bytes);
        let (mut at, mut found) = (from, Vec::new());
        while let Some(mut starts) = bits.starts(at) {
            at = starts.end();
            while let Some(begins) = starts.next() {
                let (place, length) = match begins {
                    Begins::Letters(place, length) => (place, Some(length)),
                    Begins::Odd(place) => (place, None),
                };
                found.push((place, length));
                let letters = bytes[place..]
                    .iter()
                    .take_while(|b| b.is_ascii_alphabetic());
                let end = place + letters.count().max(1);
                // What goes on in the next block does not begin there.
                starts.go_on_from(end);
                at = at.max(end);
            }
        }
        found
    }

    #[test]
    fn every_beginning_is_found_wherever_it_stands() {
        let some = b"ab C'd 12 -3 +$4 $5 x-y -- & \xc3\xa4z@[`{/:,. e5 f- g-6 h$";
        for shift in 0..130 {
            let mut bytes = b". Q".repeat(shift / 3);
            bytes.resize(shift, b'-');
            bytes.extend_from_slice(some);
            for from in [0, shift, shift + 1] {
                let found = quickly(&bytes, from);
                let places: Vec<usize> = found.iter().map(|one| one.0).collect();
                assert_eq!(places, slowly(&bytes, from), "{shift} {from}");
                for (place, alone) in found {
                    let letters = bytes[place..]
                        .iter()
                        .take_while(|b| b.is_ascii_alphabetic());
                    let end = place + letters.count();
                    let odd = slowly(&bytes, end).first() == Some(&end);
                    let expected = (end > place && !odd).then_some(end - place);
                    assert_eq!(alone, expected, "{shift} {place}");
                }
            }
        }
    }
}
