//! Where a message lies on a server, and how a plan names that.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use twicetold_model::Location;
use twicetold_source::{Named, path_of};

use crate::fault::Fault;
use crate::local::flags::{Key, parse};
use crate::local::names::short_hash;
use crate::local::{fetched_states, state::State};

/// Where a message lies on a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The account.
    pub account: String,
    /// The folder, as people read its name.
    pub folder: String,
    /// What the folder's UIDs are valid for.
    pub uid_validity: u32,
    /// The message's UID.
    pub uid: u32,
}

impl Address {
    /// Where a message of a plan lies, if it lies on a server.
    pub fn of(named: &Named) -> Option<Self> {
        let (account, folder) = named
            .location
            .path
            .strip_prefix("account:")?
            .split_once('/')?;
        Some(Self {
            account: account.to_owned(),
            folder: folder.to_owned(),
            uid_validity: named.uid_validity?,
            uid: u32::try_from(named.location.offset?).ok()?,
        })
    }

    /// The place as plans and reports name it: the folder, and the UID.
    pub fn location(&self) -> Location {
        Location {
            path: self.path().into(),
            offset: Some(u64::from(self.uid)),
        }
    }

    /// The folder as a path.
    pub fn path(&self) -> String {
        format!("account:{}/{}", self.account, self.folder)
    }

    pub(super) fn with_uid(&self, uid: u32) -> Self {
        Self {
            uid,
            ..self.clone()
        }
    }
}

/// What was fetched from an account: which file is which message on the server.
#[derive(Debug)]
pub struct Fetched {
    account: String,
    root: PathBuf,
    folders: HashMap<PathBuf, State>,
}

impl Fetched {
    /// Looks at the folders of an account's local mail.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn open(account: &str, root: &Path) -> Result<Self, Fault> {
        Ok(Self {
            account: account.to_owned(),
            root: root.to_owned(),
            folders: fetched_states(root)?.into_iter().collect(),
        })
    }

    /// The Maildirs of folders that the server calls trash or junk.
    pub fn discarded(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self
            .folders
            .iter()
            .filter(|(_, state)| state.purpose.is_some())
            .map(|(path, _)| path.clone())
            .collect();
        folders.sort();
        folders
    }

    /// Where the messages lie here that `account:NAME/FOLDER` or `account:NAME` means.
    pub fn place(&self, name: &str) -> Option<PathBuf> {
        let rest = name.strip_prefix("account:")?.strip_prefix(&self.account)?;
        let Some(wanted) = rest.strip_prefix('/') else {
            return rest.is_empty().then(|| self.root.clone());
        };
        let (path, _) = self
            .folders
            .iter()
            .find(|(_, state)| state.folder == wanted)?;
        // The inbox is the root, and holds the others.
        Some(if *path == self.root {
            path.join("cur")
        } else {
            path.clone()
        })
    }

    /// The folder on the server whose Maildir this is, as a path.
    pub fn folder(&self, maildir: &Path) -> Option<String> {
        let state = self.folders.get(maildir)?;
        Some(format!("account:{}/{}", self.account, state.folder))
    }

    /// Whether a place is part of the account's local mail.
    pub fn holds(&self, location: &Location) -> bool {
        path_of(location).starts_with(&self.root)
    }

    /// Where the message in this file lies on the server, if it was fetched from there by IMAP and has not been moved here since.
    pub fn address(&self, file: &Path) -> Option<Address> {
        let state = self.folders.get(file.parent()?.parent()?)?;
        let named = parse(file.file_name()?.to_str()?)?;
        match named.key {
            Key::Imap(uid_validity, uid)
                if uid_validity == state.uid_validity
                    && named.home == short_hash(&state.folder) =>
            {
                Some(Address {
                    account: self.account.clone(),
                    folder: state.folder.clone(),
                    uid_validity,
                    uid,
                })
            }
            _ => None,
        }
    }
}
