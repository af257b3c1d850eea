//! Names of folders as people know them, whatever a mail program makes of them on the disk.
//!
//! `.INBOX.Archive`, `Archive.sbd/2019`, `Archive.mbox` and `.Entw&APw-rfe` are folders that
//! their owner calls *Archive*, *Archive/2019* and *Entwürfe*.

use twicetold_model::Location;

use crate::encoding::base64;

/// What mail programs put behind the name of a folder or a mailbox file.
const SUFFIXES: [&str; 4] = [".sbd", ".mbox", ".mbx", ".imapmbox"];

/// Folders of a server under which all others stand, so that a dot behind them divides names.
pub(crate) const TOP_FOLDERS: [&str; 3] = ["inbox", "[gmail]", "[google mail]"];

/// The names of the folders in which a message stands, the outermost first, in lower case. The
/// file counts if it holds many messages.
pub fn folder_names(location: &Location) -> Vec<String> {
    let path = match location.offset {
        Some(_) => &*location.path,
        None => location.path.rsplit_once('/').map_or("", |(path, _)| path),
    };
    names_in(path)
}

/// The names of the folders of a path.
pub(crate) fn names_in(path: &str) -> Vec<String> {
    let parts = path.split('/');
    let parts = parts.filter(|part| !matches!(*part, "" | "." | ".." | "cur" | "new"));
    parts.flat_map(names_of).collect()
}

/// What a user may mean by the name of a folder: names that follow each other in a path.
///
/// `Archive/2019`, `Archive.2019`, `INBOX.Archive.2019` and `.Archive.2019` may all be the same.
fn readings(wanted: &str) -> Vec<Vec<String>> {
    let mut readings = vec![names_in(wanted)];
    if wanted.contains('.') && !wanted.contains('/') {
        readings.push(wanted.split('.').flat_map(names_in).collect());
    }
    let below_inbox = readings.iter().filter_map(|names| match names.as_slice() {
        [first, rest @ ..] if first == "inbox" && !rest.is_empty() => Some(rest.to_vec()),
        _ => None,
    });
    let below_inbox: Vec<_> = below_inbox.collect();
    readings.extend(below_inbox);
    readings.retain(|names| !names.is_empty());
    readings
}

/// A folder that a user has named.
#[derive(Debug)]
pub(crate) struct WantedFolder {
    readings: Vec<Vec<String>>,
}

impl WantedFolder {
    pub(crate) fn called(name: &str) -> Self {
        Self {
            readings: readings(name),
        }
    }

    /// Whether it is among these folders, of which the first `outside` do not count alone.
    pub(crate) fn is_among(&self, names: &[String], outside: usize) -> bool {
        self.readings.iter().any(|wanted| {
            let runs = names.windows(wanted.len()).enumerate();
            let mut found = runs.filter(|(_, run)| *run == wanted.as_slice());
            found.any(|(start, _)| start + wanted.len() > outside)
        })
    }

    /// Whether the user means the inbox.
    pub(crate) fn is_inbox(&self) -> bool {
        self.readings.iter().any(|names| *names == ["inbox"])
    }
}

/// Whether a message stands in the folder that a user calls so, or in one below it.
pub fn is_in_folder(location: &Location, wanted: &str) -> bool {
    WantedFolder::called(wanted).is_among(&folder_names(location), 0)
}

/// The names that one part of a path stands for: several in a Maildir++.
fn names_of(part: &str) -> Vec<String> {
    let name = plain_name(part);
    let divided = name.starts_with('.')
        || TOP_FOLDERS.iter().any(|top| {
            let rest = name.strip_prefix(top);
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
    match divided {
        true => {
            let pieces = name.split('.').filter(|piece| !piece.is_empty());
            pieces.map(str::to_owned).collect()
        }
        false => vec![name],
    }
}

/// A name without what mail programs add, decoded, in lower case.
fn plain_name(part: &str) -> String {
    let decoded = decoded(part).unwrap_or_else(|| part.to_owned());
    let mut name = composed(&decoded.to_lowercase());
    while let Some(shorter) = SUFFIXES.iter().find_map(|end| name.strip_suffix(end))
        && !shorter.is_empty()
    {
        name = shorter.to_owned();
    }
    name
}

/// The name that is spelt so in modified UTF-7 (RFC 3501), as Maildir++ folders are on the disk.
fn decoded(spelt: &str) -> Option<String> {
    let mut name = String::with_capacity(spelt.len());
    let mut rest = spelt;
    while let Some((plain, shifted)) = rest.split_once('&') {
        name.push_str(plain);
        let (inside, after) = shifted.split_once('-')?;
        rest = after;
        if inside.is_empty() {
            name.push('&');
            continue;
        }
        let bytes = base64(inside.as_bytes(), b',')?;
        let (pairs, []) = bytes.as_chunks::<2>() else {
            return None;
        };
        let units = pairs.iter().map(|pair| u16::from_be_bytes(*pair));
        for c in char::decode_utf16(units) {
            name.push(c.ok()?);
        }
    }
    name.push_str(rest);
    Some(name)
}

/// Letters with the marks that some file systems write behind them, and what they are together.
const COMPOSED: [(char, &str, &str); 9] = [
    ('\u{300}', "aeiou", "àèìòù"),
    ('\u{301}', "aceinosuyz", "áćéíńóśúýź"),
    ('\u{302}', "aeiou", "âêîôû"),
    ('\u{303}', "ano", "ãñõ"),
    ('\u{306}', "agи", "ăğй"),
    ('\u{308}', "aeiouії", "äëïöüїї"),
    ('\u{30A}', "au", "åů"),
    ('\u{30C}', "cersz", "čěřšž"),
    ('\u{327}', "cs", "çş"),
];

/// The same name with one character for each letter: macOS writes marks behind their letters.
pub(crate) fn composed(name: &str) -> String {
    let mut whole = String::with_capacity(name.len());
    for c in name.chars() {
        let together = COMPOSED.iter().find(|(mark, ..)| *mark == c);
        let together = together.and_then(|(_, letters, composed)| {
            let last = whole.chars().next_back()?;
            let place = letters.chars().position(|letter| letter == last)?;
            composed.chars().nth(place)
        });
        match together {
            Some(letter) => {
                whole.pop();
                whole.push(letter);
            }
            None => whole.push(c),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, offset: Option<u64>, expected: &str) {
        let path = path.into();
        let names = folder_names(&Location { path, offset });
        assert_eq!(names.join(" / "), expected);
    }

    #[test]
    fn folders_are_called_what_people_call_them() {
        check("Mail/cur/1:2,S", None, "mail");
        check(
            "Mail/.Archive.2019/cur/1:2,S",
            None,
            "mail / archive / 2019",
        );
        check("Mail/.INBOX.Archive/new/1", None, "mail / inbox / archive");
        check(
            "Mail/[Gmail].All Mail",
            Some(0),
            "mail / [gmail] / all mail",
        );
        check(
            "Mail/[Gmail]/All Mail.mbox",
            Some(7),
            "mail / [gmail] / all mail",
        );
        check(
            "Local Folders/Archive.sbd/2019",
            Some(0),
            "local folders / archive / 2019",
        );
        check(
            "Deleted Messages.mbox/Messages/1.emlx",
            None,
            "deleted messages / messages",
        );
        check("a/.Entw&APw-rfe/cur/1", None, "a / entwürfe");
        check("a/Gelo\u{308}scht/1.eml", None, "a / gelöscht");
        check("lists.example.org", Some(0), "lists.example.org");
        check("./a//b/1.eml", None, "a / b");
        check("a.&b/R&-D/1.eml", None, "a.&b / r&d");
        check("1.eml", None, "");
        check(".mbox/1.eml", None, "mbox");
    }

    #[test]
    fn folders_are_found_as_users_write_them() {
        let in_folder = |path: &str, offset, wanted: &str| {
            let path = path.into();
            is_in_folder(&Location { path, offset }, wanted)
        };
        for (path, offset, wanted) in [
            ("mail/.Archive.2019/cur/1", None, "Archive/2019"),
            ("mail/.Archive.2019/cur/1", None, "archive.2019"),
            ("mail/.Archive.2019/cur/1", None, ".Archive.2019"),
            ("mail/.Archive.2019/cur/1", None, "INBOX.Archive"),
            ("mail/.INBOX.Archive/cur/1", None, "Archive"),
            ("mail/Archive.sbd/2019", Some(0), "Archive/2019"),
            ("mail/Archive.mbox", Some(0), "archive"),
            ("mail/Archive", Some(0), "mail/Archive/"),
            ("./mail/Archive/1.eml", None, "mail/Archive"),
            ("mail/.[Gmail].All Mail/cur/1", None, "[Gmail]/All Mail"),
            ("mail/.Entw&APw-rfe/cur/1", None, "Entwürfe"),
        ] {
            assert!(in_folder(path, offset, wanted), "{path} {wanted}");
        }
        for (path, offset, wanted) in [
            ("mail/Archive2/1.eml", None, "Archive"),
            ("mail/archive.eml", None, "archive"),
            ("mail/Archive/1.eml", None, "2019/Archive"),
            ("mail/Archive/1.eml", None, "Archive/2019"),
            ("mail/Archive/1.eml", None, "/"),
        ] {
            assert!(!in_folder(path, offset, wanted), "{path} {wanted}");
        }
    }

    #[test]
    fn letters_and_marks_are_as_many() {
        for (mark, letters, composed) in COMPOSED {
            let (letters, composed) = (letters.chars().count(), composed.chars().count());
            assert_eq!(letters, composed, "{mark:?}");
        }
    }
}
