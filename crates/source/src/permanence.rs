//! Will a message still be there tomorrow?
//!
//! Only a message that stays can be the reason to let another one go. Mail that is marked deleted,
//! a draft, and whatever lies in the trash or in the junk folder may be gone by then. Told by the
//! place of a message and the name of its file, and by what mail programs write into its headers.

use memchr::memchr;
use twicetold_model::{Form, Location, Permanence, RawMessage};

use crate::discarded::{is_transient_folder, is_transient_label};
use crate::encoding::header_text;
use crate::folder_name::folder_names;
use crate::headers::header_name;

/// How sure it is that a message stays.
pub fn permanence(raw: &RawMessage<'_>) -> Permanence {
    match is_marked_transient(raw.form, &raw.bytes) {
        true => Permanence::Transient,
        false => permanence_of_place(&raw.location, raw.form),
    }
}

/// The same by where it stands alone: its folders as the user would write them, and the flags in
/// the name of its file.
pub fn permanence_of_place(location: &Location, form: Form) -> Permanence {
    if !matches!(form, Form::Mail | Form::Text) {
        return Permanence::Lasting;
    }
    let names = folder_names(location);
    if is_transient_folder(&names) || location.offset.is_none() && has_transient_name(location) {
        Permanence::Transient
    } else if names.iter().any(|name| name == "imapmail") {
        // Thunderbird keeps there what it has seen on servers.
        Permanence::Cached
    } else {
        Permanence::Lasting
    }
}

/// Whether the name of a file says that its message is deleted or a draft.
fn has_transient_name(location: &Location) -> bool {
    let mut parts = location.path.rsplit('/');
    let (name, folder) = (parts.next().unwrap_or(""), parts.next());
    if matches!(folder, Some("cur" | "new")) {
        // Not every file system takes a colon.
        let flags = [":2,", ";2,", "!2,"].iter().find_map(|info| {
            let (_, flags) = name.rsplit_once(info)?;
            Some(flags)
        });
        return flags.is_some_and(|flags| flags.contains(['T', 'D']));
    }
    // MH puts a comma before the number of a message that is removed; old programs a hash.
    let number = name.strip_prefix([',', '#']).unwrap_or("");
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the headers of a message say that it is deleted, a draft, trash or junk.
pub fn is_marked_transient(form: Form, bytes: &[u8]) -> bool {
    form == Form::Mail && fields(bytes).any(|(name, value)| says_transient(name, value))
}

/// The headers that mail programs keep for themselves: their names, and their values with all the
/// lines they run over.
fn fields(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let name = header_name(rest);
            let start = rest;
            let mut length = 0;
            // A line that begins with a blank belongs to the one before it.
            loop {
                let line = memchr(b'\n', &start[length..]).map_or(start.len(), |n| length + n + 1);
                let is_end = line == length || start[length..line].trim_ascii().is_empty();
                if is_end && length == 0 {
                    return None;
                }
                length = if is_end { length } else { line };
                if is_end
                    || !start[length..].starts_with(b" ") && !start[length..].starts_with(b"\t")
                {
                    break;
                }
            }
            rest = &start[length..];
            let first = start[0].to_ascii_lowercase();
            if let Some(name) = name
                && matches!(first, b's' | b'x')
            {
                let colon = memchr(b':', start).map_or(length, |colon| colon + 1);
                return Some((name, &start[colon.min(length)..length]));
            }
        }
    })
}

fn says_transient(name: &[u8], value: &[u8]) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let value = value.trim_ascii();
    if is("Status") {
        letters(value).contains(&b'D')
    } else if is("X-Status") {
        letters(value)
            .iter()
            .any(|flag| matches!(flag, b'D' | b'T'))
    } else if is("X-Mozilla-Status") {
        has_bits(value, 0x0008)
    } else if is("X-Mozilla-Status2") {
        has_bits(value, 0x0020_0000)
    } else if is("X-Evolution") {
        let flags = value.split(|&byte| byte == b'-').nth(1).unwrap_or(b"");
        has_bits(flags, 0x0086)
    } else if is("X-Gmail-Labels") {
        let text = header_text(value);
        text.split(',').any(is_transient_label)
    } else if is("X-Keywords") || is("X-Mozilla-Keys") {
        let text = header_text(value);
        text.split([' ', ',', '\r', '\n', '\t'])
            .any(is_transient_keyword)
    } else if is("X-Unsent") {
        value == b"1"
    } else if is("X-Uniform-Type-Identifier") {
        value.eq_ignore_ascii_case(b"com.apple.mail-draft")
    } else {
        is("X-Mozilla-Draft-Info")
    }
}

/// The flags of a header that holds nothing else; trouble tickets have a `Status`, too.
fn letters(value: &[u8]) -> &[u8] {
    let flags = value.len() <= 8 && value.iter().all(|byte| b"ADFNOPRTU".contains(byte));
    if flags { value } else { b"" }
}

/// Whether a hexadecimal number has one of these bits.
fn has_bits(value: &[u8], bits: u32) -> bool {
    let text = std::str::from_utf8(value).unwrap_or("");
    u32::from_str_radix(text, 16).is_ok_and(|number| number & bits != 0)
}

fn is_transient_keyword(word: &str) -> bool {
    [
        "junk",
        "$junk",
        "$deleted",
        "\\deleted",
        "$draft",
        "\\draft",
    ]
    .iter()
    .any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn of(path: &str, offset: Option<u64>, head: &str) -> Permanence {
        permanence(&RawMessage {
            location: Location {
                path: path.into(),
                offset,
            },
            form: Form::Mail,
            bytes: Cow::Owned(format!("Subject: x\n{head}\n\nStatus: D\n").into_bytes()),
        })
    }

    #[test]
    fn places() {
        use Permanence::{Cached, Lasting, Transient};
        for (path, offset, expected) in [
            ("Mail/cur/1.host:2,S", None, Lasting),
            ("Mail/cur/1.host:2,ST", None, Transient),
            ("Mail/cur/1.host;2,T", None, Transient),
            ("Mail/cur/1.host!2,D", None, Transient),
            ("Mail/cur/1.host:2,Sabcdt", None, Lasting),
            ("Mail/cur/T.host", None, Lasting),
            ("Mail/other/1:2,T", None, Lasting),
            ("inbox/,12", None, Transient),
            ("inbox/#12", None, Transient),
            ("inbox/12", None, Lasting),
            ("inbox/,12a", None, Lasting),
            ("Mail/.Trash/cur/1", None, Transient),
            ("Mail/.INBOX.Drafts/cur/1", None, Transient),
            ("Mail/.Entw&APw-rfe/cur/1", None, Transient),
            ("Mail/.[Gmail].Bin/cur/1", None, Transient),
            ("bin/Mail/cur/1", None, Lasting),
            ("Trash.sbd/Old", Some(0), Transient),
            ("Drafts", Some(0), Transient),
            ("Deleted Messages.mbox/Messages/1.emlx", None, Transient),
            ("allen-p/deleted_items/1.", None, Transient),
            ("a/trash.eml", None, Lasting),
            ("ImapMail/imap.example.org/INBOX", Some(0), Cached),
            ("ImapMail/imap.example.org/Trash", Some(0), Transient),
            (".Twicetold-Trash/a/1.eml", None, Transient),
        ] {
            assert_eq!(of(path, offset, "To: y"), expected, "{path}");
        }
        let place = |form| {
            let location = Location {
                path: "corpus/spam.jsonl".into(),
                offset: Some(0),
            };
            permanence_of_place(&location, form)
        };
        assert_eq!(place(Form::Json), Lasting);
    }

    #[test]
    fn headers() {
        for head in [
            "Status: ROD",
            "X-Status: D",
            "x-status:  AT\r",
            "X-Mozilla-Status: 0009",
            "X-Mozilla-Status2: 00200000",
            "X-Evolution: 0000002a-0012",
            "X-Gmail-Labels: Inbox,Trash",
            "X-Gmail-Labels: Inbox,\n =?UTF-8?Q?Entw=C3=BCrfe?=",
            "X-Gmail-Labels: \"Spam\"",
            "X-Keywords: NonJunk $Junk",
            "X-Mozilla-Keys: junk                   ",
            "X-Mozilla-Draft-Info: internal/draft; vcard=0",
            "X-Unsent: 1",
            "X-Uniform-Type-Identifier: com.apple.mail-draft",
            "To: a\n b\nX-Status: D\nTo: c",
        ] {
            assert_eq!(of("a.eml", None, head), Permanence::Transient, "{head}");
        }
        for head in [
            "Status: RO",
            "Status: Done",
            "Status: DELIVERED TO DORIS",
            "X-Status: AF",
            "X-Mozilla-Status: 0001",
            "X-Mozilla-Status: 1008z",
            "X-Evolution: 0000002a-0010",
            "X-Gmail-Labels: Inbox,Trash can ideas",
            "X-Mozilla-Keys: nonjunk",
            "X-Keywords: junkyard",
            "Subject: a\n X-Status: D",
            "X-Unsent: 0",
            "broken line",
        ] {
            assert_eq!(of("a.eml", None, head), Permanence::Lasting, "{head}");
        }
    }
}
