//! Mail that its owner has thrown away, or never wanted: trash and junk.
//!
//! What lies there may be gone tomorrow. So it is no reason to let another message go, and collections that are scanned for removal leave it
//! out, unless it is named itself.

use std::path::PathBuf;

/// Which mailboxes below the paths given are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Folders of a Maildir, and mbox files, whose names say that they are trash or junk.
    pub discarded: bool,
    /// These folders.
    pub folders: Vec<PathBuf>,
    /// Mailboxes that are not here at all, for the same reason: they are told with the others.
    pub elsewhere: Vec<String>,
}

/// What mail programs call such folders, in lower case.
const NAMES: [&str; 44] = [
    "trash",
    "bin",
    "deleted",
    "deleted items",
    "deleted messages",
    "deleted-items",
    "deleted_items",
    "junk",
    "junk mail",
    "junk email",
    "junk e-mail",
    "spam",
    "bulk mail",
    "bulk",
    "papierkorb",
    "gelöschte elemente",
    "gelöschte objekte",
    "gelöscht",
    "junk-e-mail",
    "unerwünscht",
    "corbeille",
    "éléments supprimés",
    "courrier indésirable",
    "indésirables",
    "papelera",
    "elementos eliminados",
    "correo no deseado",
    "cestino",
    "posta eliminata",
    "posta indesiderata",
    "lixeira",
    "itens excluídos",
    "lixo eletrônico",
    "prullenbak",
    "verwijderde items",
    "ongewenste e-mail",
    "papperskorg",
    "skräppost",
    "kosz",
    "koš",
    "корзина",
    "спам",
    "ごみ箱",
    "迷惑メール",
];

/// Whether a folder of this name holds what was thrown away; `.A.B` is the folder B in A.
pub(crate) fn is_discarded(name: &str) -> bool {
    let known = |part: &str| NAMES.contains(&part.to_lowercase().as_str());
    match name.strip_prefix('.') {
        Some(parts) => parts.split('.').any(known),
        None => known(name) || name.strip_suffix(".mbox").is_some_and(known),
    }
}

/// Whether scans leave out a folder of this name that messages are moved to, whatever is in it: beside a Maildir as trash, in any other folder since
/// its name begins with a dot. In another one, what was let go would count as kept.
pub fn can_be_trash(name: &str) -> bool {
    name == crate::TRASH || name.starts_with('.') && is_discarded(name)
}

/// The same of a folder on a server, with the folders that it lies in.
pub fn can_be_trash_on_server(name: &str) -> bool {
    name.split(['/', '.']).any(is_discarded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_let_go_is_left_out() {
        for (name, here, there) in [
            (".Twicetold-Trash", true, false),
            (".Trash", true, true),
            (".INBOX.Trash", true, true),
            ("Trash", false, true),
            ("INBOX/Trash", false, true),
            (".Old", false, false),
            ("Archive", false, false),
            ("", false, false),
        ] {
            let found = (can_be_trash(name), can_be_trash_on_server(name));
            assert_eq!(found, (here, there), "{name}");
        }
    }

    #[test]
    fn names() {
        for name in [
            "Trash",
            ".Trash",
            ".INBOX.Trash",
            ".Trash.2023",
            ".[Gmail].Spam",
            "Junk.mbox",
            "SPAM",
            ".Gelöschte Elemente",
        ] {
            assert!(is_discarded(name), "{name}");
        }
        for name in [
            "Trashed plans",
            ".Archive",
            ".Spam reports",
            "mbox",
            ".",
            "",
        ] {
            assert!(!is_discarded(name), "{name}");
        }
        assert!(NAMES.iter().all(|name| *name == name.to_lowercase()));
    }
}
