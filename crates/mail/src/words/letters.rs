//! Runs of ASCII letters, eight or sixteen at a time: most of what mail says is nothing else.

const HIGH: u64 = 0x8080_8080_8080_8080;
const fn each(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// The beginning of a run of letters.
pub(super) struct Start {
    /// How many letters stand here; 16 also if there are more.
    pub(super) length: usize,
    /// The first eight letters in lower case, the first one lowest; what follows them means nothing.
    pub(super) low: u64,
    /// The eight letters behind them.
    pub(super) high: u64,
    /// The first letter is a capital one.
    pub(super) capital: bool,
    /// The two bytes behind the letters.
    pub(super) next: [u8; 2],
}

impl Start {
    /// The one word of letters alone that is written together and is two.
    #[inline]
    pub(super) fn is_cannot(&self) -> bool {
        const CANNOT: u64 = u64::from_le_bytes(*b"cannot\0\0");
        self.low << 16 == CANNOT << 16 && self.length == 6
    }
}

/// Looks at a run of up to sixteen letters from a place on, and at two bytes behind it, if the text is long enough.
#[inline]
pub(super) fn start(bytes: &[u8], at: usize) -> Option<Start> {
    let window: &[u8; 18] = bytes.get(at..)?.first_chunk()?;
    let [low, high] = [0, 8].map(|n| {
        let eight = window[n..].first_chunk().copied().unwrap_or_default();
        u64::from_le_bytes(eight)
    });
    let mut length = leading(low);
    if length == 8 {
        length += leading(high);
    }
    // All that counts are letters, and one bit makes them small.
    Some(Start {
        length,
        low: low | each(0x20),
        high: high | each(0x20),
        capital: low & 0x20 == 0,
        next: [window[length], window[length + 1]],
    })
}

/// How many of eight bytes are letters before the first that is none.
#[inline]
fn leading(eight: u64) -> usize {
    // Sums of bytes below 0x80 never run over into their neighbours.
    let lower = eight & !HIGH | each(0x20);
    let from_a = lower + each(0x80 - b'a');
    let beyond_z = lower + each(0x80 - (b'z' + 1));
    let others = (!from_a | beyond_z | eight) & HIGH;
    others.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_no_letter() {
        for byte in 0..=u8::MAX {
            for letters in 0..20 {
                for after in [0, 1, 16] {
                    let mut bytes = b"aZmQzAkY".repeat(3);
                    bytes.truncate(letters);
                    bytes.push(byte);
                    bytes.extend(std::iter::repeat_n(byte.wrapping_add(1), after));
                    let slow = bytes.iter().take_while(|b| b.is_ascii_alphabetic()).count();
                    if let Some(start) = start(&bytes, 0) {
                        let length = slow.min(16);
                        assert_eq!(start.length, length, "{bytes:?}");
                        let lower = bytes[..length].to_ascii_lowercase();
                        let found = [start.low.to_le_bytes(), start.high.to_le_bytes()].concat();
                        assert_eq!(found[..length], lower, "{bytes:?}");
                        assert_eq!(start.next, bytes[length..length + 2], "{bytes:?}");
                        if length > 0 {
                            assert_eq!(start.capital, bytes[0].is_ascii_uppercase());
                        }
                    }
                }
            }
        }
    }
}
