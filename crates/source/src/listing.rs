//! The files that were found, in the order of their paths.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;

use crate::stamp::Stamp;

/// A place where messages are kept, as it was recognised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mailbox {
    /// The path as the user would write it.
    pub path: String,
    /// What it was recognised as.
    pub kind: MailboxKind,
    /// How many files of it are to be read.
    pub files: usize,
}

/// What a mailbox was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MailboxKind {
    /// A folder with `cur` and `new`, one message per file.
    Maildir,
    /// One file with many messages behind `From ` lines.
    Mbox,
    /// One file with a JSON object per line.
    JsonLines,
    /// One file with many texts in `<REUTERS>` elements.
    Sgml,
    /// A folder of files that are each judged by what they hold.
    Tree,
    /// A file with a single message.
    Message,
    /// A file with a text that is no mail.
    Text,
}

impl fmt::Display for MailboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Maildir => "Maildir",
            Self::Mbox => "mbox",
            Self::JsonLines => "JSON lines",
            Self::Sgml => "Reuters SGML",
            Self::Tree => "folder of files",
            Self::Message => "message",
            Self::Text => "text",
        })
    }
}

/// Where a file stands, which decides what may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In `cur` or `new` of a Maildir: a message, whatever it looks like.
    Maildir,
    /// Beside `cur` and `new`: counts if it looks like mail, as mail programs keep their notes there.
    BesideMaildir,
    /// In some other folder.
    Tree,
    /// Named by the user.
    Named,
}

/// A file that holds many messages and is known to do so before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Mbox,
    JsonLines,
    Sgml,
}

/// A file to be read.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Index into [`Listing::folders`].
    pub(crate) folder: usize,
    pub(crate) name: OsString,
    pub(crate) stamp: Stamp,
    pub(crate) place: Place,
    /// Known for files that the user named and for large ones.
    pub(crate) container: Option<Container>,
}

/// A folder in which files were found.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// What stands before the name of each file in it, with the `/`.
    pub(crate) shown: String,
}

impl Folder {
    /// Stands before the paths that the user wrote.
    pub(crate) fn nowhere() -> Self {
        Self {
            path: PathBuf::new(),
            shown: String::new(),
        }
    }

    pub(crate) fn new(path: PathBuf, shown: &str) -> Self {
        let slash = if shown.is_empty() || shown.ends_with('/') {
            ""
        } else {
            "/"
        };
        Self {
            path,
            shown: format!("{shown}{slash}"),
        }
    }
}

/// Every file, sorted by path as shown.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) folders: Vec<Folder>,
    pub(crate) entries: Vec<Entry>,
    /// Files passed over while reading.
    pub(crate) passed_over: AtomicUsize,
}

impl Listing {
    pub(crate) fn new(folders: Vec<Folder>, mut entries: Vec<Entry>) -> Self {
        entries.sort_by(|a, b| compare(&folders, a, b));
        Self {
            folders,
            entries,
            passed_over: AtomicUsize::new(0),
        }
    }

    pub(crate) fn path(&self, entry: &Entry) -> PathBuf {
        self.folders[entry.folder].path.join(&entry.name)
    }

    pub(crate) fn shown(&self, entry: &Entry) -> String {
        let name = shown(&entry.name);
        let folder = &self.folders[entry.folder].shown;
        let mut path = String::with_capacity(folder.len() + name.len());
        path.push_str(folder);
        path.push_str(&name);
        path
    }

    /// The file that is shown as this path.
    pub(crate) fn find(&self, path: &str) -> Option<&Entry> {
        let found = self.entries.binary_search_by(|entry| {
            let folder = self.folders[entry.folder].shown.as_bytes();
            let (front, back) = path.as_bytes().split_at(folder.len().min(path.len()));
            folder
                .cmp(front)
                .then_with(|| shown(&entry.name).as_bytes().cmp(back))
        });
        found.ok().map(|index| &self.entries[index])
    }
}

fn compare(folders: &[Folder], a: &Entry, b: &Entry) -> Ordering {
    let (a_name, b_name) = (shown(&a.name), shown(&b.name));
    if a.folder == b.folder {
        return a_name.as_bytes().cmp(b_name.as_bytes());
    }
    let a_folder = folders[a.folder].shown.as_bytes();
    let b_folder = folders[b.folder].shown.as_bytes();
    a_folder
        .iter()
        .chain(a_name.as_bytes())
        .cmp(b_folder.iter().chain(b_name.as_bytes()))
}

/// A name as it is shown: itself, or, where it is not UTF-8, with each stray byte as U+FFFD and two
/// hexadecimal digits. Names that hold U+FFFD are treated likewise, so no two names look the same.
pub(crate) fn shown(name: &OsStr) -> Cow<'_, str> {
    if let Some(name) = name.to_str()
        && !name.contains(char::REPLACEMENT_CHARACTER)
    {
        return Cow::Borrowed(name);
    }
    let mut text = String::new();
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(text, "{}{byte:02X}", char::REPLACEMENT_CHARACTER);
        }
    };
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for (number, part) in chunk.valid().split(char::REPLACEMENT_CHARACTER).enumerate() {
            if number > 0 {
                escape(&mut text, "\u{FFFD}".as_bytes());
            }
            text.push_str(part);
        }
        escape(&mut text, chunk.invalid());
    }
    Cow::Owned(text)
}

/// A path as it is shown.
pub fn shown_path(path: &Path) -> String {
    shown(path.as_os_str()).into_owned()
}

/// The path that is shown so.
#[cfg(unix)]
pub(crate) fn real_path(shown: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = rest.find(char::REPLACEMENT_CHARACTER) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + char::REPLACEMENT_CHARACTER.len_utf8()..];
        match rest.get(..2).map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) => {
                bytes.push(byte);
                rest = &rest[2..];
            }
            // Not from `shown`; no such file will be found.
            _ => bytes.extend_from_slice("\u{FFFD}".as_bytes()),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    PathBuf::from(OsString::from_vec(bytes))
}

/// The path that is shown so.
#[cfg(not(unix))]
pub(crate) fn real_path(shown: &str) -> PathBuf {
    PathBuf::from(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn no_two_names_look_the_same() {
        use std::os::unix::ffi::OsStrExt;
        let names: [&[u8]; 6] = [
            b"caf\xE9",
            b"caf\xE8",
            b"caf",
            "caf\u{FFFD}E9".as_bytes(),
            b"\xE9caf",
            "café".as_bytes(),
        ];
        for name in names {
            let name = OsStr::from_bytes(name);
            assert_eq!(real_path(&shown(name)), Path::new(name));
        }
        let mut seen: Vec<_> = names
            .iter()
            .map(|name| shown(OsStr::from_bytes(name)))
            .collect();
        assert_eq!(seen[0], "caf\u{FFFD}E9");
        assert_eq!(seen[5], "café");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), names.len());
    }

    #[test]
    fn what_is_listed_is_found() {
        let folders = ["", "a", "a-b", "a/b"].map(|name| Folder::new(name.into(), name));
        let mut entries = Vec::new();
        for folder in 0..4 {
            for name in ["b", "a", "a.b", "cc"] {
                entries.push(Entry {
                    folder,
                    name: name.into(),
                    stamp: Stamp::default(),
                    place: Place::Tree,
                    container: None,
                });
            }
        }
        let listing = Listing::new(folders.to_vec(), entries);
        let paths: Vec<String> = listing
            .entries
            .iter()
            .map(|entry| listing.shown(entry))
            .collect();
        assert!(paths.is_sorted());
        for path in &paths {
            assert_eq!(
                listing
                    .find(path)
                    .map(|entry| listing.shown(entry))
                    .as_ref(),
                Some(path)
            );
        }
        for path in ["", "a/", "a/bb", "zz", "a-b"] {
            assert!(listing.find(path).is_none(), "{path}");
        }
    }
}
