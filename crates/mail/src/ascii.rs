//! The plainest of texts, told from the others many bytes at a time.

/// Whether a text is ASCII without control characters, starts with no blank and has no two blanks in a row.
pub(crate) fn is_tidy(bytes: &[u8]) -> bool {
    let Some(&first) = bytes.first() else {
        return false;
    };
    if first == b' ' || !is_printable(first) {
        return false;
    }
    let mut rest = bytes;
    while let Some(seventeen) = rest.first_chunk() {
        if is_untidy_behind_the_first(seventeen) {
            return false;
        }
        rest = &rest[16..];
    }
    // What is left is looked at together with what stands before it, or with a filling.
    !match bytes.last_chunk() {
        Some(seventeen) => is_untidy_behind_the_first(seventeen),
        None => {
            let mut filled = [b'x'; 17];
            filled[..bytes.len()].copy_from_slice(bytes);
            is_untidy_behind_the_first(&filled)
        }
    }
}

/// Whether one of sixteen bytes is not printable, or is a blank behind a blank.
#[inline]
pub(crate) fn is_untidy_behind_the_first(bytes: &[u8; 17]) -> bool {
    // No early end, so that the compiler can look at all bytes at once.
    let mut odd = false;
    for at in 0..16 {
        let (one, next) = (bytes[at], bytes[at + 1]);
        odd |= !is_printable(next) | ((one == b' ') & (next == b' '));
    }
    odd
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
    fn one_odd_place_makes_a_text_untidy() {
        for length in 1..60 {
            let tidy = vec![b'x'; length];
            assert!(is_tidy(&tidy));
            for at in 0..length {
                let mut text = tidy.clone();
                text[at] = b'\t';
                assert!(!is_tidy(&text), "{length} {at}");
                text[at] = b' ';
                assert_eq!(is_tidy(&text), at > 0, "{length} {at}");
                if let Some(next) = text.get_mut(at + 1) {
                    *next = b' ';
                    assert!(!is_tidy(&text), "{length} {at}");
                }
            }
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
