//! What was fetched from a folder: a small note beside its messages.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::uids::UidSet;

/// The name of the note in a Maildir; hidden, so that nobody takes it for mail.
pub(crate) const FILE: &str = ".twicetold-fetch.json";

/// The version of the format.
const FORMAT: u32 = 1;

/// What was fetched from a folder.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct State {
    /// The version of the format.
    format: u32,
    /// The folder on the server.
    pub(crate) folder: String,
    /// What the UIDs are valid for; 0 before anything was fetched.
    #[serde(default)]
    pub(crate) uid_validity: u32,
    /// The UIDs that were fetched, whether or not their messages are still here.
    #[serde(default)]
    pub(crate) have: UidSet,
    /// Of these, the ones that the server does not have any more.
    #[serde(default)]
    pub(crate) gone: UidSet,
    /// Every message with a UID below this was fetched, or was gone before; 0 if that is not known.
    #[serde(default)]
    pub(crate) complete_to: u32,
    /// Up to here, the changes of flags are known.
    #[serde(default)]
    pub(crate) modseq: Option<u64>,
    /// What the server says the folder is for, where that matters for a scan: `trash` or `junk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) purpose: Option<String>,
    /// POP3: hashes of the unique ids that were fetched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unique_ids: Vec<String>,
}

impl State {
    /// Nothing was fetched yet.
    pub(crate) fn new(folder: &str) -> Self {
        Self {
            format: FORMAT,
            folder: folder.to_owned(),
            uid_validity: 0,
            have: UidSet::default(),
            gone: UidSet::default(),
            complete_to: 0,
            modseq: None,
            purpose: None,
            unique_ids: Vec::new(),
        }
    }

    /// Reads the note in a Maildir, if there is one.
    pub(crate) fn read(maildir: &Path) -> Result<Option<Self>, Fault> {
        let path = maildir.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Fault::local("read", &path, error)),
        };
        let wrong = |what: String| {
            Fault::Wish {
            what: format!("{} cannot be understood: {what}", path.display()),
            hint: "move it away; messages that are here already are then fetched once more and recognised".into(),
        }
        };
        let state: Self =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if state.format != FORMAT {
            return Err(wrong(format!(
                "it has format {}, not {FORMAT}",
                state.format
            )));
        }
        Ok(Some(state))
    }

    /// Replaces the note, so that after a crash there is the old one or the new one.
    pub(crate) fn write(&self, maildir: &Path) -> Result<(), Fault> {
        let path = maildir.join(FILE);
        let draft = maildir.join(format!("{FILE}.part"));
        let write = || -> io::Result<()> {
            let bytes = serde_json::to_vec(self)?;
            let mut file = super::create_private_file(&draft)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        };
        write().map_err(|error| Fault::local("write", &path, error))
    }
}
