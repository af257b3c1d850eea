//! Runs of ASCII letters, eight or sixteen at a time: most of what mail says is nothing else.

const HIGH: u64 = 0x8080_8080_8080_8080;
const fn each(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// The beginning of a run of letters.
pub(super) struct Start {
    /// How many letters stand here; 16 also if there are more.
    pub(super) length: usize,
    /// The letters in lower case; what follows them means nothing.
    pub(super) lower: [u8; 16],
}

/// Looks at sixteen bytes from a place on, if there are as many.
#[inline]
pub(super) fn start(bytes: &[u8], at: usize) -> Option<Start> {
    let sixteen = u128::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    let mut length = leading(sixteen as u64);
    if length == 8 {
        length += leading((sixteen >> 64) as u64);
    }
    // All that counts are letters, and one bit makes them small.
    let lower = (sixteen | u128::from(each(0x20)) << 64 | u128::from(each(0x20))).to_le_bytes();
    Some(Start { length, lower })
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
                        assert_eq!(start.lower[..length], lower, "{bytes:?}");
                    }
                }
            }
        }
    }
}
