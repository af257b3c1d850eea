//! Takes away the `>` that was put before `From `.

use std::borrow::Cow;

use memchr::memmem;

/// Removes one `>` from every line that consists of one or more `>` and then `From `.
pub(crate) fn unstuff(message: &[u8]) -> Cow<'_, [u8]> {
    let mut plain = Vec::new();
    let mut copied = 0;
    for found in memmem::find_iter(message, b">From ") {
        let marks = message[..found]
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'>')
            .count();
        let line = found - marks;
        if line == 0 || message[line - 1] == b'\n' {
            if plain.is_empty() {
                plain.reserve(message.len());
            }
            plain.extend_from_slice(&message[copied..line]);
            copied = line + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(message);
    }
    plain.extend_from_slice(&message[copied..]);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stuffed: &str, expected: &str) {
        assert_eq!(
            unstuff(stuffed.as_bytes()),
            expected.as_bytes(),
            "{stuffed:?}"
        );
    }

    #[test]
    fn one_mark_goes() {
        check(">From here\n", "From here\n");
        check(
            "a\n>From here\n>>From there\nb",
            "a\nFrom here\n>From there\nb",
        );
        check(">>>From \n", ">>From \n");
        check("a\r\n>From b\r\n", "a\r\nFrom b\r\n");
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "",
            "From x",
            "a >From x",
            "> From x",
            ">Frommage",
            ">from x",
            "a>>From x\n",
            ">From",
        ] {
            check(line, line);
        }
    }

    #[test]
    fn a_message_without_stuffing_is_not_copied() {
        assert!(matches!(
            unstuff(b"Subject: >From me\n\nx >From y\n"),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn many_marks_are_walked_once() {
        let marks = ">".repeat(1 << 20);
        check(&format!("{marks}From x"), &format!("{}From x", &marks[1..]));
    }
}
