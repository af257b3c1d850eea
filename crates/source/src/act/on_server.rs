//! What is done to messages of a folder on a server, told so completely that it can be finished, taken back or undone.
//!
//! A message on a server is known by its folder, the folder's UIDVALIDITY and its UID: as long as the first two stay the same, a UID means the
//! same bytes. Where a message went is known when it has gone; see [`Place`].

use serde::{Deserialize, Serialize};

use super::disk::{Kept, Whole};
use super::step::Touched;

/// Changes of messages that lie in one folder on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnServer {
    /// The account.
    pub account: String,
    /// The folder, as people read its name.
    pub folder: String,
    /// What its UIDs are valid for.
    pub uid_validity: u32,
    /// The UID that the next message in it was going to get: what comes back has that one or a later one.
    pub uid_next: Option<u32>,
    /// What happens to the messages.
    pub deed: Deed,
    /// The messages.
    pub changes: Vec<ServerChange>,
}

/// What happens to messages on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// They go to another folder.
    Move {
        /// The folder.
        to: String,
        /// It was not there, and is made for this.
        made: bool,
        /// What its UIDs were valid for, if it was there.
        uid_validity: Option<u32>,
        /// The UID that the next message in it was going to get.
        uid_next: Option<u32>,
    },
    /// They leave the server; their bytes are kept beside the journal.
    Remove,
    /// They stay, and get this flag or keyword.
    Flag(String),
    /// They stay, and get this label of Gmail.
    Label(String),
}

/// What happens to one message on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerChange {
    /// The message.
    pub message: Touched,
    /// Its UID.
    pub uid: u32,
    /// All its bytes.
    pub whole: Whole,
    /// Its `Message-ID`, by which a server can look for it.
    pub message_id: Option<String>,
    /// Its flags and keywords before.
    pub flags: Vec<String>,
    /// Its labels before, on Gmail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// When the server took it in, in seconds since 1970.
    pub date: Option<i64>,
    /// Where its bytes are kept on this machine.
    pub copy: Option<StoredCopy>,
    /// What the message that stays gets.
    pub carry: Option<Carry>,
}

/// The bytes of a message, kept beside the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCopy {
    /// The file.
    pub path: Kept,
    /// Where the message begins in it.
    pub start: u64,
}

/// Flags that go over to a message that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carry {
    /// The folder in which it stays.
    pub folder: String,
    /// What the folder's UIDs are valid for.
    pub uid_validity: u32,
    /// Its UID.
    pub uid: u32,
    /// The flags and keywords it does not have.
    pub flags: Vec<String>,
}

/// Where a message of a step is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The number of the message in its step.
    pub message: usize,
    /// The UIDVALIDITY of the folder it went to.
    pub uid_validity: u32,
    /// Its UID there.
    pub uid: u32,
}
