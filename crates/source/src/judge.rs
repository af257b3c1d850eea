//! What is in this file?
//!
//! Judged from its first bytes and, where these say nothing, from its name.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::headers::looks_like_message;
use crate::mbox::from_line::begins_message;
use crate::own::is_own;
use crate::sgml::is_sgml;

/// How much of a file is looked at.
pub(crate) const HEAD: usize = 16 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// One Internet message.
    Mail,
    /// Many of them.
    Mbox,
    /// One JSON object per line.
    JsonLines,
    /// Many texts in `<REUTERS>` elements.
    Sgml,
    /// Text without headers.
    Text,
    /// No byte.
    Empty,
    /// A report, a plan or a table that Twicetold has written.
    Own,
    /// No text at all.
    Foreign,
}

/// Judges a file by its first [`HEAD`] bytes and its name.
pub(crate) fn judge(bytes: &[u8], name: &str) -> Content {
    let head = &bytes[..bytes.len().min(HEAD)];
    if head.is_empty() {
        return Content::Empty;
    }
    let named_as_mail = has_extension(name, &["eml", "emlx", "msg", "mail"]);
    if !named_as_mail && is_own(head) {
        return Content::Own;
    }
    let binary = || is_binary(head, has_extension(name, &["txt", "text", "md"]));
    if has_extension(name, &["jsonl", "ndjson"]) && !binary() {
        return Content::JsonLines;
    }
    let text = &head[blank_start(head)..];
    if begins_message(text, true) {
        return if named_as_mail {
            Content::Mail
        } else {
            Content::Mbox
        };
    }
    // Before the question for binary content: 8-bit mail and stray NUL bytes do exist.
    if looks_like_message(text) || emlx_message(head).is_some() {
        return Content::Mail;
    }
    if binary() {
        return Content::Foreign;
    }
    if named_as_mail {
        return Content::Mail;
    }
    if is_json_line(text) {
        Content::JsonLines
    } else if is_sgml(text) {
        Content::Sgml
    } else {
        Content::Text
    }
}

/// The message in a file that holds one: without a `From ` line, without what Apple Mail puts
/// around it, and in a file that was judged (not in a Maildir) without empty lines before it.
pub(crate) fn message_in(file: &[u8], judged: bool) -> Range<usize> {
    if judged && let Some(message) = emlx_message(file) {
        return message;
    }
    let start = if judged { blank_start(file) } else { 0 };
    let text = &file[start..];
    if begins_message(text, true) {
        let line = memchr(b'\n', text).map_or(text.len(), |end| end + 1);
        return start + line..file.len();
    }
    if judged && looks_like_message(&text[..text.len().min(HEAD)]) {
        return start..file.len();
    }
    0..file.len()
}

/// Where a file really begins: behind a byte order mark and empty lines.
pub(crate) fn blank_start(bytes: &[u8]) -> usize {
    let mark = if bytes.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    mark + bytes[mark..]
        .iter()
        .take_while(|&&byte| byte == b'\n' || byte == b'\r')
        .count()
}

/// Apple Mail writes the length of the message in the first line, and settings behind it.
fn emlx_message(file: &[u8]) -> Option<Range<usize>> {
    let line = memchr(b'\n', &file[..file.len().min(24)])?;
    let length: usize = std::str::from_utf8(&file[..line])
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let start = line + 1;
    let end = start.checked_add(length)?;
    let head = &file[start..file.len().min(start + HEAD)];
    looks_like_message(head).then_some(start..end.min(file.len()))
}

fn is_json_line(text: &[u8]) -> bool {
    let line = match memchr(b'\n', text) {
        Some(end) => text[..end].trim_ascii(),
        // Longer than the head: what is missing cannot be asked for.
        None if text.len() >= HEAD / 2 => text,
        None => text.trim_ascii(),
    };
    line.starts_with(b"{")
        && (line.ends_with(b"}") || line.len() >= HEAD / 2)
        && memmem::find(line, b"\"text\"").is_some()
}

/// Whether this is no text. A stray NUL byte is forgiven in a file that is named as text.
fn is_binary(head: &[u8], named_as_text: bool) -> bool {
    if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
        // UTF-16 is text full of NUL bytes.
        return false;
    }
    let control = head
        .iter()
        .filter(|&&byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x08 | 0x1B))
        .count();
    head.starts_with(b"%PDF-")
        || !named_as_text && memchr(0, head).is_some()
        || control * 20 > head.len()
}

/// Endings of files that are never messages, so that a tree need not read them.
const FOREIGN: [&str; 62] = [
    "7z", "aac", "avi", "bin", "bmp", "bz2", "class", "db", "deb", "dll", "dmg", "doc", "docx",
    "exe", "flac", "gif", "gz", "heic", "ico", "img", "iso", "jar", "jpeg", "jpg", "lz4", "m4a",
    "mkv", "mov", "mp3", "mp4", "mpeg", "msf", "odp", "ods", "odt", "ogg", "otf", "pdf", "png",
    "ppt", "pptx", "psd", "pst", "pyc", "rar", "rpm", "so", "sqlite", "tar", "tgz", "tif", "tiff",
    "ttf", "wasm", "wav", "webm", "webp", "woff", "woff2", "xls", "xlsx", "zip",
];

/// Whether a file in a tree is passed over because of its name.
pub(crate) fn is_foreign_name(name: &str) -> bool {
    has_extension(name, &FOREIGN) || has_extension(name, &["xz", "zst"])
}

/// Whether mail programs keep this file for themselves.
pub(crate) fn is_control_name(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "maildirfolder",
        "maildirsize",
        "subscriptions",
        "msgFilterRules.dat",
        "popstate.dat",
    ];
    NAMES.contains(&name) || name.starts_with("dovecot") || name.starts_with("courier")
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, found)| {
        extensions
            .iter()
            .any(|extension| extension.eq_ignore_ascii_case(found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], name: &str, expected: Content) {
        assert_eq!(
            judge(bytes, name),
            expected,
            "{name}: {}",
            bytes.escape_ascii()
        );
    }

    #[test]
    fn by_content() {
        check(b"", "a.eml", Content::Empty);
        check(b"Message-ID: <1@x>\nDate: x\n\nhi", "1.", Content::Mail);
        check(b"\xEF\xBB\xBF\nSubject: x\n\nhi", "1", Content::Mail);
        check(
            b"From a@b Thu Jan  1 00:00:00 1970\nA: b\n\n",
            "Inbox",
            Content::Mbox,
        );
        check(b"\nFrom a@b\nA: b\n\n", "a.txt", Content::Mbox);
        check(
            b"From here to there\nis a long way\n",
            "a.txt",
            Content::Text,
        );
        check(b"Once upon a time\n", "story", Content::Text);
        check(
            b"{\"id\":1,\"text\":\"x\"}\n{}\n",
            "a.json",
            Content::JsonLines,
        );
        check(b"{\"text\":\"x\"}", "a", Content::JsonLines);
        check(b"{\"id\":1}\n", "a.json", Content::Text);
        check(b"<D>\n<REUTERS NEWID=\"1\">\n", "a.sgm", Content::Sgml);
        check(b"<p>REUTERS said\n", "a.sgm", Content::Text);
        check(b"{\n\"text\": 1}\n", "a.json", Content::Text);
        check(b"\x89PNG\r\n\x1a\n\0\0", "a", Content::Foreign);
        check(b"\xFF\xFEh\0i\0", "a.txt", Content::Text);
        check(b"%PDF-1.4\n", "a", Content::Foreign);
        check(
            b"a page that ends with a stray byte\0\n",
            "a.txt",
            Content::Text,
        );
        check(
            b"a page that ends with a stray byte\0\n",
            "a",
            Content::Foreign,
        );
        check("Grüße\n".as_bytes(), "a", Content::Text);
        check(b"Gr\xFC\xDFe\n", "a", Content::Text);
        check(b"Subject: odd\n\nNUL: \0\n", "a", Content::Mail);
    }

    #[test]
    fn by_name() {
        check(b"hello\n", "a.eml", Content::Mail);
        check(
            b"From a@b Thu Jan  1 00:00:00 1970\nA: b\n\n",
            "a.EML",
            Content::Mail,
        );
        check(b"{\"id\":1}\n", "a.jsonl", Content::JsonLines);
        check(b"\xD0\xCF\x11\xE0\0\0", "a.msg", Content::Foreign);
    }

    #[test]
    fn a_long_json_line() {
        let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(HEAD * 2));
        check(line.as_bytes(), "a", Content::JsonLines);
    }

    #[test]
    fn the_message_in_a_file() {
        let check = |file: &[u8], judged, expected: &[u8]| {
            assert_eq!(&file[message_in(file, judged)], expected);
        };
        check(b"Subject: x\n\ny", true, b"Subject: x\n\ny");
        check(b"\n\nSubject: x\n\ny", true, b"Subject: x\n\ny");
        check(b"\n\nSubject: x\n\ny", false, b"\n\nSubject: x\n\ny");
        check(b"From a@b\nSubject: x\n\ny", false, b"Subject: x\n\ny");
        check(b"14 \nSubject: x\n\nyz<plist>", true, b"Subject: x\n\nyz");
        check(b"99\nSubject: x\n\nyz", true, b"Subject: x\n\nyz");
        check(b"", true, b"");
        check(b"\n", true, b"\n");
    }
}
