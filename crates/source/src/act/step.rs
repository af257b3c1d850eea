//! What is done, told so completely that it can be finished, taken back or undone by somebody who knows nothing else.

use serde::{Deserialize, Serialize};
use twicetold_model::Location;

use super::disk::{Kept, Moment, Whole};
use super::on_server::OnServer;
use crate::checksum::Checksum;

/// A change that is begun and ended together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Files that each hold one message; each of them is moved by itself.
    Files(Files),
    /// A file of many messages, replaced as a whole.
    Rewrite(Box<Rewrite>),
    /// Messages of a folder on a server.
    Server(Box<OnServer>),
}

/// A message that a step removes or marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// Where the plan says it is.
    pub location: Location,
    /// How many bytes it has.
    pub bytes: u64,
    /// The checksum by which it is recognised.
    pub checksum: Checksum,
    /// It stays, and only got the flags of one that goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
}

/// Changes of files that hold one message each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Files and folders that are made for it, in this order.
    pub made: Vec<Made>,
    /// One entry per message.
    pub changes: Vec<Change>,
}

/// What happens to one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The message.
    pub message: Touched,
    /// First what happens to the message that stays, then to this one.
    pub moves: Vec<Move>,
}

/// A single change of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    /// The file gets another name, in another folder perhaps.
    Rename {
        /// Its name before.
        from: Kept,
        /// Its name after.
        to: Kept,
        /// What it holds.
        whole: Whole,
        /// The name of an unfinished copy, where the new name lies on another file system.
        draft: Option<Kept>,
    },
    /// The file becomes another name of a file that holds the same.
    Link {
        /// The file.
        path: Kept,
        /// The file it becomes.
        survivor: Kept,
        /// The name the link has until it takes the place of the file.
        draft: Kept,
        /// What both hold.
        whole: Whole,
        /// When the file was written.
        modified: Moment,
        /// Its rights.
        mode: u32,
    },
}

/// A file or folder that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Its path.
    pub path: Kept,
    /// Whether it is a folder.
    pub folder: bool,
}

/// A file of many messages that is replaced by another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    /// The file.
    pub mailbox: Kept,
    /// The messages that leave it or are marked in it.
    pub messages: Vec<Touched>,
    /// The file before.
    pub before: Whole,
    /// When it was written.
    pub modified: Moment,
    /// The file after.
    pub after: Whole,
    /// The name of the new file until it takes the place of the old one.
    pub draft: Kept,
    /// Where what is removed goes.
    pub bin: Option<Bin>,
    /// What changes, in the order of the file.
    pub edits: Vec<Edit>,
}

/// A file to which removed messages are appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// The file.
    pub path: Kept,
    /// How many bytes it has before, `None` if it is not there.
    pub before: Option<u64>,
    /// Folders that are made for it.
    pub made: Vec<Made>,
}

/// A stretch of a file that is replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where the stretch begins in the file as it was.
    pub start: u64,
    /// How long it is.
    pub bytes: u64,
    /// What stands there afterwards; nothing for a removal.
    pub becomes: Text,
    /// Where the stretch itself can be found.
    pub was: Was,
    /// The checksum of the message before it, by which its place is found in a mailbox that changed since.
    pub after: Option<Checksum>,
}

/// Where a stretch that was replaced can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Was {
    /// Here.
    Here(Text),
    /// In the bin.
    Bin {
        /// Where it begins there.
        start: u64,
        /// Its checksum.
        checksum: Checksum,
    },
}

/// Some bytes of a header, readable where they are text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub Vec<u8>);

impl Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Every byte is the character of that number: nothing is lost, and ASCII stays readable.
        let text: String = self.0.iter().map(|&byte| char::from(byte)).collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = text.chars().map(u8::try_from).collect::<Result<_, _>>();
        bytes.map(Self).map_err(serde::de::Error::custom)
    }
}

impl Step {
    /// The messages that the step removes or marks; steps name them by their number here.
    pub fn messages(&self) -> Vec<&Touched> {
        match self {
            Self::Files(files) => files.changes.iter().map(|c| &c.message).collect(),
            Self::Rewrite(rewrite) => rewrite.messages.iter().collect(),
            Self::Server(server) => server.changes.iter().map(|c| &c.message).collect(),
        }
    }
}
