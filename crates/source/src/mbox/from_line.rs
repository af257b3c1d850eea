//! Is this line the beginning of a message in an mbox?

use memchr::memchr;

use crate::headers::starts_with_header;

/// How many bytes behind the start of a line must be known to judge it.
pub(crate) const LOOKAHEAD: usize = LONGEST_LINE + 256;

/// Lines longer than this are text, not the envelope of a message.
const LONGEST_LINE: usize = 1024;

const DAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// What speaks for a line being a `From ` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signs {
    dated: bool,
    header_follows: bool,
}

/// Whether a message begins here, given whether the line before is empty (or there is none).
///
/// `bytes` starts at the line and reaches [`LOOKAHEAD`] bytes or to the end of the file.
pub(crate) fn begins_message(bytes: &[u8], after_blank_line: bool) -> bool {
    match signs(bytes) {
        None => false,
        Some(signs) if after_blank_line => signs.dated || signs.header_follows,
        Some(signs) => signs.dated && signs.header_follows,
    }
}

fn signs(bytes: &[u8]) -> Option<Signs> {
    if !bytes.starts_with(b"From ") {
        return None;
    }
    let seen = &bytes[..bytes.len().min(LONGEST_LINE)];
    let (line, next) = match memchr(b'\n', seen) {
        Some(end) => (&seen[..end], &bytes[end + 1..]),
        None if bytes.len() < LONGEST_LINE => (seen, &[][..]),
        None => return None,
    };
    Some(Signs {
        dated: is_dated(&line[5..]),
        header_follows: starts_with_header(next) || next.starts_with(b">From "),
    })
}

/// Whether the line holds `Day Mon dd hh:mm[:ss] … yyyy`; senders may hold blanks, and time zones
/// come and go.
fn is_dated(line: &[u8]) -> bool {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let is_day = |word: &[u8]| DAYS.iter().any(|day| day.eq_ignore_ascii_case(word));
    let is_month = |word: &[u8]| MONTHS.iter().any(|month| month.eq_ignore_ascii_case(word));
    while let Some(word) = words.next() {
        let mut behind = words.clone();
        if is_day(word)
            && behind.next().is_some_and(is_month)
            && behind.next().is_some_and(|word| is_number(word, 1..=2))
            && behind.next().is_some_and(is_time)
            && behind.take(3).any(|word| is_number(word, 4..=4))
        {
            return true;
        }
    }
    false
}

fn is_number(word: &[u8], digits: std::ops::RangeInclusive<usize>) -> bool {
    digits.contains(&word.len()) && word.iter().all(u8::is_ascii_digit)
}

fn is_time(word: &[u8]) -> bool {
    let mut parts = word.split(|&byte| byte == b':');
    (2..=3).contains(&parts.clone().count()) && parts.all(|part| is_number(part, 1..=2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, after_blank_line: bool, expected: bool) {
        assert_eq!(
            begins_message(line.as_bytes(), after_blank_line),
            expected,
            "{line:?}"
        );
    }

    #[test]
    fn lines_with_a_date_begin_a_message_after_an_empty_line() {
        for line in [
            "From a@b Thu Jan  1 00:00:00 1970\n\nbody",
            "From - Sat Jan 01 00:00:00 2000\r\n\r\nbody",
            "From \"A B\" <a@b> Thu Jan  1 00:00:00 +0100 1970\n\n",
            "From ???@??? Mon Mar 31 09:15 MET DST 1997\n",
            "From a@b Thu Jan  1 00:00:00 1970 remote from somewhere\nno header",
            "From a@b thu jan  1 00:00:00 1970",
        ] {
            check(line, true, true);
        }
    }

    #[test]
    fn lines_without_a_date_need_a_header_below() {
        check("From a@b\nSubject: x\n", true, true);
        check("From a@b\r\nX-Y: x\r\n", true, true);
        check("From a@b\n>From c@d Thu\n", true, true);
        check("From now on we meet on Monday\nat ten\n", true, false);
        check("From our page\nhttps://example.org\n", true, false);
        check("From me at 10:30 on Mon Jan 3\nregards\n", true, false);
        check("From\n", true, false);
        check("Frommage\nSubject: x\n", true, false);
        check("", true, false);
    }

    #[test]
    fn without_an_empty_line_before_both_signs_are_needed() {
        check(
            "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n",
            false,
            true,
        );
        check(
            "From a@b Thu Jan  1 00:00:00 1970\nand so on\n",
            false,
            false,
        );
        check("From a@b\nSubject: x\n", false, false);
    }

    #[test]
    fn endless_lines_are_text() {
        let line = format!(
            "From a@b Thu Jan  1 00:00:00 1970 {}\nSubject: x\n",
            "x".repeat(2000)
        );
        check(&line, true, false);
    }
}
