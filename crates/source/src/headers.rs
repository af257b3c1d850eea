//! Does this look like the headers of a message?

use memchr::memchr;

/// Longer header names are not seen in mail; they are sentences with a colon in them.
const LONGEST_NAME: usize = 76;

/// Headers that make a block of `Name: value` lines a message rather than a list of settings.
const MAIL_HEADERS: [&str; 30] = [
    "apparently-to",
    "bcc",
    "cc",
    "content-transfer-encoding",
    "content-type",
    "date",
    "delivered-to",
    "delivery-date",
    "envelope-to",
    "from",
    "in-reply-to",
    "lines",
    "list-id",
    "mbox-line",
    "message-id",
    "mime-version",
    "newsgroups",
    "organization",
    "path",
    "precedence",
    "received",
    "references",
    "reply-to",
    "return-path",
    "sender",
    "status",
    "subject",
    "to",
    "x-mailer",
    "x-mozilla-status",
];

/// The name of the header that starts here, if one does: printable characters, then a colon.
pub(crate) fn header_name(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..memchr(b':', &line[..line.len().min(LONGEST_NAME + 2)])?];
    let rest = &line[name.len() + 1..];
    // Old programs put blanks before the colon.
    let name = name.trim_ascii_end();
    let printable = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    (printable && !rest.starts_with(b"//")).then_some(name)
}

/// Whether a header starts here.
pub(crate) fn starts_with_header(bytes: &[u8]) -> bool {
    header_name(bytes).is_some()
}

/// Whether these are the first bytes of a message: headers, at least one of them known from
/// mail, up to an empty line.
///
/// Real headers have broken lines among them: once two known headers were seen, one is forgiven.
pub(crate) fn looks_like_message(bytes: &[u8]) -> bool {
    let mut known = 0;
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if let Some(name) = header_name(line) {
            known += usize::from(is_mail_header(name));
            // Nothing that follows can tell otherwise.
            if known >= 2 {
                return true;
            }
        } else if number == 0 || !line.starts_with(b" ") && !line.starts_with(b"\t") {
            return false;
        }
    }
    known >= 1
}

fn is_mail_header(name: &[u8]) -> bool {
    MAIL_HEADERS
        .iter()
        .any(|header| header.as_bytes().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: bool) {
        assert_eq!(looks_like_message(text.as_bytes()), expected, "{text:?}");
    }

    #[test]
    fn messages() {
        check("Subject: x\n\nbody", true);
        check("Message-ID: <a@b>\r\nDate: today\r\n\r\n", true);
        check("Received: from a\n\tby b\n  for c\nX-Odd: y\n\n", true);
        check("X-First: 1\nfrom: a\n", true);
        check("To: a\nFrom: b\nbroken line\nSubject: c\n\n", true);
        check("Subject : x\n\n", true);
    }

    #[test]
    fn other_texts() {
        check("", false);
        check("\nSubject: x\n", false);
        check("Dear all:\n\nhello", false);
        check("name: twicetold\nversion: 1\n", false);
        check("Subject: a poem\nwritten on Monday\n", false);
        check("Network Working Group\nDate: 1999\n", false);
        check("http://example.org\n", false);
        check("  From: indented\n", false);
    }
}
