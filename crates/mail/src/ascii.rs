//! The plainest of texts, told from the others many bytes at a time.

/// Whether a text is ASCII without control characters, starts with no blank and has no two blanks in a row.
pub(crate) fn is_tidy(bytes: &[u8]) -> bool {
    let [first, rest @ ..] = bytes else {
        return false;
    };
    // No early end, so that the compiler can look at many bytes at once.
    let odd = bytes.iter().zip(rest).fold(false, |odd, (&one, &next)| {
        odd | !is_printable(next) | ((one == b' ') & (next == b' '))
    });
    !odd && *first != b' ' && is_printable(*first)
}

fn is_printable(byte: u8) -> bool {
    byte.wrapping_sub(b' ') < 0x5f
}

/// Whether all bytes are printable ASCII, line ends (LF) or tabs.
#[inline]
pub(crate) fn is_plain(bytes: &[u8; 32]) -> bool {
    !bytes.iter().fold(false, |odd, &byte| {
        odd | !(is_printable(byte) | (byte == b'\n') | (byte == b'\t'))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_plain, is_tidy};

    #[test]
    fn tidy_texts() {
        for tidy in ["a", "a b", "Anna <anna@example.org>", "a ", "~", "a\\b"] {
            assert!(is_tidy(tidy.as_bytes()), "{tidy:?}");
        }
        for untidy in [
            "", " ", " a", "a  b", "a\tb", "a\nb", "ä", "aä", "a\u{7f}", "\u{7f}",
        ] {
            assert!(!is_tidy(untidy.as_bytes()), "{untidy:?}");
        }
    }

    #[test]
    fn plain_bytes() {
        for byte in 0..=u8::MAX {
            for at in [0, 13, 31] {
                let mut bytes = [b'x'; 32];
                bytes[at] = byte;
                let plain = matches!(byte, b' '..=b'~' | b'\n' | b'\t');
                assert_eq!(is_plain(&bytes), plain, "{byte}");
            }
        }
    }
}
