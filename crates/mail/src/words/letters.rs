//! Runs of up to sixteen ASCII letters, in registers: most of what mail says is nothing else.

const fn each(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// The one word of letters alone that is written together and is two.
pub(super) const CANNOT: u64 = u64::from_le_bytes(*b"cannot\0\0");

/// A run of letters.
pub(super) struct Letters {
    /// How many there are, 1 to 16.
    pub(super) length: usize,
    /// The first eight letters in lower case, the first one lowest; what follows them means nothing.
    pub(super) low: u64,
    /// The eight letters behind them.
    pub(super) high: u64,
    /// The first letter is a capital one.
    pub(super) capital: bool,
}

impl Letters {
    /// So many letters at a place of a text; `None` if there are none, or too many, or if the text ends too soon behind them.
    #[inline]
    pub(super) fn at(text: &[u8], place: usize, length: usize) -> Option<Self> {
        let sixteen: &[u8; 16] = text.get(place..)?.first_chunk()?;
        let both = u128::from_le_bytes(*sixteen);
        let (low, high) = (both as u64, (both >> 64) as u64);
        // All that counts are letters, and one bit makes them small.
        (length.wrapping_sub(1) < 16).then_some(Self {
            length,
            low: low | each(0x20),
            high: high | each(0x20),
            capital: low & 0x20 == 0,
        })
    }

    /// The letters of up to eight, and nothing besides.
    #[inline]
    pub(super) fn short(&self) -> Option<u64> {
        let empty = 8_usize.checked_sub(self.length)?;
        Some(self.low & u64::MAX >> (8 * empty % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::Letters;

    #[test]
    fn letters_are_small_and_nothing_stands_beside_them() {
        let text = b"QuickBrownFoxesJumpOver";
        for length in 0..20 {
            for place in 0..text.len() {
                let found = Letters::at(text, place, length);
                let fits = (1..=16).contains(&length) && place + 16 <= text.len();
                assert_eq!(found.is_some(), fits, "{length} {place}");
                let Some(letters) = found else { continue };
                let lower = text[place..place + length].to_ascii_lowercase();
                let both = [letters.low.to_le_bytes(), letters.high.to_le_bytes()].concat();
                assert_eq!(both[..length], lower);
                assert_eq!(letters.capital, text[place].is_ascii_uppercase());
                let mut alone = [0; 8];
                if length <= 8 {
                    alone[..length].copy_from_slice(&lower);
                }
                let short = (length <= 8).then_some(u64::from_le_bytes(alone));
                assert_eq!(letters.short(), short);
            }
        }
    }
}
