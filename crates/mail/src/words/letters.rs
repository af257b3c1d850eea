//! Runs of ASCII letters, eight or sixteen at a time: most of what mail says is nothing else.

const HIGH: u64 = 0x8080_8080_8080_8080;
const fn each(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// How many ASCII letters stand at a place.
#[inline]
pub(super) fn run(bytes: &[u8], at: usize) -> usize {
    let mut length = 0;
    while let Some(eight) = bytes
        .get(at + length..)
        .and_then(|rest| rest.first_chunk::<8>())
    {
        let eight = u64::from_le_bytes(*eight);
        // Sums of bytes below 0x80 never run over into their neighbours.
        let lower = eight & !HIGH | each(0x20);
        let from_a = lower + each(0x80 - b'a');
        let beyond_z = lower + each(0x80 - (b'z' + 1));
        let letters = from_a & !beyond_z & !eight & HIGH;
        if letters != HIGH {
            return length + (letters ^ HIGH).trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let rest = bytes.get(at + length..).unwrap_or_default();
    length + rest.iter().take_while(|b| b.is_ascii_alphabetic()).count()
}

/// Sixteen bytes from a place on with letters in lower case, if there are as many.
#[inline]
pub(super) fn sixteen_lower(bytes: &[u8], at: usize) -> Option<[u8; 16]> {
    let mut lower = *bytes.get(at..)?.first_chunk::<16>()?;
    lower.make_ascii_lowercase();
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_no_letter() {
        for byte in 0..=u8::MAX {
            for letters in 0..20 {
                for after in [0, 1, 9] {
                    let mut bytes = b"aZmQzAkY".repeat(3);
                    bytes.truncate(letters);
                    bytes.push(byte);
                    bytes.extend(std::iter::repeat_n(byte.wrapping_add(1), after));
                    let slow = bytes.iter().take_while(|b| b.is_ascii_alphabetic()).count();
                    assert_eq!(run(&bytes, 0), slow, "{bytes:?}");
                    if letters > 3 {
                        assert_eq!(run(&bytes, 3), slow - 3, "{bytes:?}");
                    }
                }
            }
        }
    }
}
