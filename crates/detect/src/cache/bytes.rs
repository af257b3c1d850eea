//! Numbers, texts and lists as bytes, and back. Whatever the bytes are, reading them fails or gives a value; it never
//! panics, and never asks for more memory than there are bytes.

use std::ops::Range;

/// Bytes being written.
#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    /// A writer that has room for so many bytes already.
    pub(crate) fn with_room_for(bytes: usize) -> Self {
        let bytes = Vec::with_capacity(bytes);
        Self { bytes }
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Several yes or no in a byte.
    pub(crate) fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        let bits = flags.iter().enumerate();
        self.byte(bits.fold(0, |byte, (n, &flag)| byte | u8::from(flag) << n));
    }

    /// A number that is small as a rule.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A number that is a hash.
    pub(crate) fn hash(&mut self, hash: u64) {
        self.bytes.extend_from_slice(&hash.to_le_bytes());
    }

    pub(crate) fn wide(&mut self, hash: u128) {
        self.bytes.extend_from_slice(&hash.to_le_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.raw(text.as_bytes());
    }

    pub(crate) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    pub(crate) fn hashes(&mut self, hashes: &[u64]) {
        self.list(hashes.iter(), |out, &hash| out.hash(hash));
    }

    pub(crate) fn halves(&mut self, halves: &[u32]) {
        self.list(halves.iter(), |out, half| out.raw(&half.to_le_bytes()));
    }

    pub(crate) fn range(&mut self, range: &Range<u32>) {
        self.number(u64::from(range.start));
        self.number(u64::from(range.end.saturating_sub(range.start)));
    }
}

/// How many items of a list are written in one piece.
const PIECE: usize = 4096;

/// A list as [`Writer::list`] writes it, piece by piece: all of it may be too much to hold.
pub(super) fn pieces<T>(
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    mut write: impl FnMut(&mut Writer, T),
) -> impl Iterator<Item = Writer> {
    let mut items = items.into_iter();
    let mut count = Some(items.len());
    std::iter::from_fn(move || {
        let mut out = Writer::default();
        if let Some(count) = count.take() {
            out.number(count as u64);
        }
        let some = items.by_ref().take(PIECE);
        some.for_each(|item| write(&mut out, item));
        (!out.bytes.is_empty()).then_some(out)
    })
}

/// Bytes being read.
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything has been read.
    pub(crate) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn raw(&mut self, count: usize) -> Option<&'b [u8]> {
        let (raw, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(raw)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn flags<const N: usize>(&mut self) -> Option<[bool; N]> {
        let byte = self.byte()?;
        Some(std::array::from_fn(|n| byte >> n & 1 == 1))
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub(crate) fn hash(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn wide(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    pub(crate) fn digest(&mut self) -> Option<[u8; 32]> {
        self.array()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        self.str().map(str::to_owned)
    }

    pub(crate) fn str(&mut self) -> Option<&'b str> {
        let count = self.number()?.try_into().ok()?;
        std::str::from_utf8(self.raw(count)?).ok()
    }

    pub(crate) fn maybe<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => read(self).map(Some),
            _ => None,
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count: usize = self.number()?.try_into().ok()?;
        // An item has at least a byte: a wrong count cannot ask for much.
        let mut items = Vec::with_capacity(count.min(self.rest.len()).min(1 << 16));
        for _ in 0..count {
            items.push(read(self)?);
        }
        Some(items)
    }

    pub(crate) fn hashes(&mut self) -> Option<Vec<u64>> {
        let count: usize = self.number()?.try_into().ok()?;
        let raw = self.raw(count.checked_mul(8)?)?;
        let (chunks, _) = raw.as_chunks::<8>();
        Some(chunks.iter().map(|&c| u64::from_le_bytes(c)).collect())
    }

    pub(crate) fn halves(&mut self) -> Option<Vec<u32>> {
        self.each_half().map(Iterator::collect)
    }

    /// The numbers that [`Writer::halves`] has written, one by one.
    pub(crate) fn each_half(&mut self) -> Option<impl Iterator<Item = u32> + Clone + use<'b>> {
        let count: usize = self.number()?.try_into().ok()?;
        let raw = self.raw(count.checked_mul(4)?)?;
        let (chunks, _) = raw.as_chunks::<4>();
        Some(chunks.iter().map(|&c| u32::from_le_bytes(c)))
    }

    pub(crate) fn range(&mut self) -> Option<Range<u32>> {
        let start = self.small()?;
        Some(start..start.checked_add(self.small()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(number: u64, hash: u64, wide: u128, text: String, flag: bool,
                                    hashes: Vec<u64>, halves: Vec<u32>, maybe: Option<u64>) {
            let mut out = Writer::default();
            out.number(number);
            out.hash(hash);
            out.wide(wide);
            out.text(&text);
            out.flags([flag, !flag]);
            out.hashes(&hashes);
            out.halves(&halves);
            out.maybe(maybe, Writer::number);
            out.range(&(7..9));
            let mut back = Reader::new(&out.bytes);
            prop_assert_eq!(back.number(), Some(number));
            prop_assert_eq!(back.hash(), Some(hash));
            prop_assert_eq!(back.wide(), Some(wide));
            prop_assert_eq!(back.text(), Some(text));
            prop_assert_eq!(back.flags(), Some([flag, !flag]));
            prop_assert_eq!(back.hashes(), Some(hashes));
            prop_assert_eq!(back.halves(), Some(halves));
            prop_assert_eq!(back.maybe(Reader::number), Some(maybe));
            prop_assert_eq!(back.range(), Some(7..9));
            prop_assert!(back.is_done());
        }

        #[test]
        fn a_list_in_pieces_is_the_list(count in 0_usize..3 * PIECE) {
            let mut out = Writer::default();
            out.list(0..count, |out, n| out.number(n as u64));
            let pieces = pieces(0..count, |out: &mut Writer, n| out.number(n as u64));
            let pieces: Vec<u8> = pieces.flat_map(|piece| piece.bytes).collect();
            prop_assert_eq!(pieces, out.bytes);
        }

        #[test]
        fn any_bytes_are_safe(bytes: Vec<u8>) {
            let mut back = Reader::new(&bytes);
            let _ = back.list(|b| b.list(Reader::text));
            let mut back = Reader::new(&bytes);
            let _ = back.hashes();
            let _ = back.maybe(Reader::halves);
        }
    }
}
