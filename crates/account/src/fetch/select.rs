//! Which folders are fetched.

use crate::imap::folders::{Folder, Purpose};

/// Why a folder of the server is not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It shows messages that lie in other folders.
    View,
    /// A label of Gmail: its messages come with "All Mail".
    Label,
    /// The user left it out.
    Excluded,
    /// Trash or junk, which is not asked for.
    Discarded,
}

/// What kind of choice it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kind {
    /// The server shows its labels as folders.
    pub(crate) gmail: bool,
    /// Trash and junk are not asked for.
    pub(crate) without_discarded: bool,
}

/// What was chosen.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) chosen: Vec<Folder>,
    pub(crate) skipped: Vec<(String, Skipped)>,
    /// Patterns that no folder fits.
    pub(crate) idle: Vec<String>,
}

/// Chooses among the folders of a server. With patterns, those that fit one; without, all but views.
pub(crate) fn select(
    folders: Vec<Folder>,
    patterns: &[String],
    exclude: &[String],
    kind: Kind,
) -> Selection {
    let mut selection = Selection::default();
    let labels = kind.gmail && has(&folders, Purpose::All);
    let fits_any = |list: &[String], name: &str| list.iter().any(|pattern| fits(pattern, name));
    for pattern in patterns.iter().chain(exclude) {
        if !folders.iter().any(|folder| fits(pattern, &folder.name)) {
            selection.idle.push(pattern.clone());
        }
    }
    for folder in folders {
        if !folder.holds_messages {
            continue;
        }
        let named = !patterns.is_empty();
        if named && !fits_any(patterns, &folder.name) {
            continue;
        }
        let why = if fits_any(exclude, &folder.name) {
            Some(Skipped::Excluded)
        } else if kind.without_discarded && is_discarded(&folder) {
            Some(Skipped::Discarded)
        } else if named {
            None
        } else if labels {
            let whole = [Purpose::All, Purpose::Junk, Purpose::Trash].map(Some);
            (!whole.contains(&folder.purpose)).then_some(Skipped::Label)
        } else {
            let view = folder.purpose.is_some_and(Purpose::is_view);
            view.then_some(Skipped::View)
        };
        match why {
            // What is empty is not missed.
            Some(Skipped::Discarded) if folder.counts.messages == Some(0) => {}
            Some(why) => selection.skipped.push((folder.name, why)),
            None => selection.chosen.push(folder),
        }
    }
    selection
}

fn is_discarded(folder: &Folder) -> bool {
    matches!(folder.purpose, Some(Purpose::Trash | Purpose::Junk))
}

fn has(folders: &[Folder], purpose: Purpose) -> bool {
    folders
        .iter()
        .any(|folder| folder.purpose == Some(purpose) && folder.holds_messages)
}

/// Whether a name fits a pattern, in which `*` stands for anything and `?` for one character.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    if crate::imap::folders::is_inbox(pattern) {
        return crate::imap::folders::is_inbox(name);
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    // Where the last star was, and how much of the name it stands for so far.
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(&c) if c == '?' || c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    at = place + 1;
                    in_name = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imap::folders::FolderCounts;

    fn folder(name: &str, purpose: Option<Purpose>) -> Folder {
        Folder {
            name: name.into(),
            delimiter: Some('/'),
            purpose,
            holds_messages: name != "[Gmail]",
            counts: FolderCounts::default(),
            wire: name.into(),
        }
    }

    fn chosen(patterns: &[&str], exclude: &[&str], gmail: bool) -> Vec<String> {
        let folders = vec![
            folder("INBOX", None),
            folder("Work/2024", None),
            folder("[Gmail]", None),
            folder("[Gmail]/All Mail", Some(Purpose::All)),
            folder("[Gmail]/Spam", Some(Purpose::Junk)),
            folder("[Gmail]/Starred", Some(Purpose::Flagged)),
            folder("[Gmail]/Trash", Some(Purpose::Trash)),
        ];
        let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        select(
            folders,
            &own(patterns),
            &own(exclude),
            Kind {
                gmail,
                ..Kind::default()
            },
        )
        .chosen
        .into_iter()
        .map(|folder| folder.name)
        .collect()
    }

    #[test]
    fn views_are_left_out_unless_named() {
        assert_eq!(
            chosen(&[], &[], false),
            ["INBOX", "Work/2024", "[Gmail]/Spam", "[Gmail]/Trash"]
        );
        assert_eq!(
            chosen(&[], &["*Spam", "inbox"], false),
            ["Work/2024", "[Gmail]/Trash"]
        );
        assert_eq!(chosen(&["*All*"], &[], false), ["[Gmail]/All Mail"]);
    }

    #[test]
    fn on_gmail_every_message_comes_once() {
        assert_eq!(
            chosen(&[], &[], true),
            ["[Gmail]/All Mail", "[Gmail]/Spam", "[Gmail]/Trash"]
        );
        assert_eq!(chosen(&["INBOX"], &[], true), ["INBOX"]);
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbcd", false),
            ("a?c", "aüc", true),
            ("?", "", false),
            ("Inbox", "INBOX", true),
            ("*/2024", "Work/2024", true),
            ("work", "Work", false),
            ("*a*b*", "xxaxxbxx", true),
            ("a**", "a", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
        let slow = "*a".repeat(50);
        assert!(!fits(&slow, &"a".repeat(49)));
    }
}
