//! The folders of an IMAP account, and what is in them.

use crate::fault::Fault;
use crate::uids::UidSet;

use super::names;
use super::response::{Code, Counts, Kind, Response};
use super::session::{Delivery, Session, Tag, is_quotable, quoted};

/// A folder on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its name as people read it, with the server's separator in it.
    pub name: String,
    /// What separates the names of folders within folders, if there are any.
    pub delimiter: Option<char>,
    /// What it is for, if the server says so.
    pub purpose: Option<Purpose>,
    /// Whether there can be messages in it.
    pub holds_messages: bool,
    /// What the server counted in it, if it was asked.
    pub counts: FolderCounts,
    pub(crate) wire: String,
}

/// What a server counted in a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderCounts {
    /// Its messages.
    pub messages: Option<u32>,
    /// The UID that the next message will get.
    pub uid_next: Option<u32>,
    /// UIDs mean the same messages as long as this stays the same.
    pub uid_validity: Option<u32>,
    /// Grows with every change.
    pub highest_modseq: Option<u64>,
}

/// What a folder is for (RFC 6154).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Shows every message of the account, wherever it is.
    All,
    /// Shows the messages that were marked as important, wherever they are.
    Flagged,
    /// Messages put away.
    Archive,
    /// Messages not sent yet.
    Drafts,
    /// Unwanted messages.
    Junk,
    /// Messages sent.
    Sent,
    /// Messages to be removed.
    Trash,
}

impl Purpose {
    /// Whether the folder only shows what lies elsewhere.
    pub fn is_view(self) -> bool {
        matches!(self, Self::All | Self::Flagged)
    }

    fn of(attributes: &[String]) -> Option<Self> {
        let table = [
            ("\\All", Self::All),
            ("\\Flagged", Self::Flagged),
            ("\\Important", Self::Flagged),
            ("\\Archive", Self::Archive),
            ("\\Drafts", Self::Drafts),
            ("\\Junk", Self::Junk),
            ("\\Sent", Self::Sent),
            ("\\Trash", Self::Trash),
        ];
        table
            .into_iter()
            .find(|(name, _)| has(attributes, name))
            .map(|(_, purpose)| purpose)
    }
}

fn has(attributes: &[String], name: &str) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.eq_ignore_ascii_case(name))
}

/// A folder that was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// How many messages are in it.
    pub messages: u32,
    /// UIDs mean the same messages as long as this stays the same.
    pub uid_validity: u32,
    /// The UID that the next message will get, if the server tells.
    pub uid_next: Option<u32>,
    /// Grows with every change, if the server counts changes.
    pub highest_modseq: Option<u64>,
}

/// Is told the UID and the flags of a message.
type EachFlags<'a> = &'a mut dyn FnMut(u32, &[String]) -> Result<(), Fault>;

impl Session {
    /// All folders. Names that are not text are left out; how many there were is the second value.
    ///
    /// # Errors
    ///
    /// If the server fails to list them.
    pub fn folders(&mut self) -> Result<(Vec<Folder>, usize), Fault> {
        let special = self.has("SPECIAL-USE") && self.has("LIST-EXTENDED");
        let with_status = self.has("LIST-STATUS");
        let mut wanted = Vec::new();
        if special {
            wanted.push("SPECIAL-USE".to_owned());
        }
        if with_status {
            wanted.push(format!("STATUS ({})", self.status_items()));
        }
        let command = if wanted.is_empty() {
            "LIST \"\" \"*\"".to_owned()
        } else {
            format!("LIST \"\" \"*\" RETURN ({})", wanted.join(" "))
        };
        let utf8 = self.is_utf8();
        let mut folders: Vec<Folder> = Vec::new();
        let mut counted: Vec<Counts> = Vec::new();
        let mut unnamed = 0;
        let tag = self.send(&command)?;
        self.complete(
            &tag,
            "list the folders",
            &mut |response| {
                match response {
                    Response::List(listed) => match String::from_utf8(listed.name) {
                        Ok(wire) => folders.push(Folder {
                            name: readable(&wire, utf8),
                            delimiter: listed.delimiter,
                            purpose: Purpose::of(&listed.attributes),
                            holds_messages: !has(&listed.attributes, "\\Noselect")
                                && !has(&listed.attributes, "\\NonExistent"),
                            counts: FolderCounts::default(),
                            wire,
                        }),
                        Err(_) => unnamed += 1,
                    },
                    Response::Counts(counts) => counted.push(counts),
                    _ => {}
                }
                Ok(())
            },
            None,
        )?;
        for counts in counted {
            let same = |folder: &&mut Folder| folder.wire.as_bytes() == counts.name;
            if let Some(folder) = folders.iter_mut().find(same) {
                folder.counts = counts.into();
            }
        }
        folders.sort_by(|a, b| (!is_inbox(&a.name), &a.name).cmp(&(!is_inbox(&b.name), &b.name)));
        folders.dedup_by(|a, b| a.wire == b.wire);
        Ok((folders, unnamed))
    }

    fn status_items(&self) -> &'static str {
        if self.has("CONDSTORE") || self.has("QRESYNC") {
            "MESSAGES UIDNEXT UIDVALIDITY HIGHESTMODSEQ"
        } else {
            "MESSAGES UIDNEXT UIDVALIDITY"
        }
    }

    /// Counts a folder without opening it.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub fn count(&mut self, folder: &Folder) -> Result<FolderCounts, Fault> {
        let name = self.argument(folder)?;
        let mut counts = FolderCounts::default();
        let tag = self.send(&format!("STATUS {name} ({})", self.status_items()))?;
        self.complete(
            &tag,
            &format!("count the folder {}", folder.name),
            &mut |response| {
                if let Response::Counts(found) = response {
                    counts = found.into();
                }
                Ok(())
            },
            None,
        )?;
        Ok(counts)
    }

    /// A folder by the name people read; whether it is there shows when it is used.
    pub fn folder_named(&self, name: &str) -> Folder {
        Folder {
            name: name.to_owned(),
            delimiter: None,
            purpose: None,
            holds_messages: true,
            counts: FolderCounts::default(),
            wire: if self.is_utf8() {
                name.to_owned()
            } else {
                names::encode(name)
            },
        }
    }

    /// The folder's name as an argument of a command.
    pub(crate) fn argument(&self, folder: &Folder) -> Result<String, Fault> {
        // Servers repeat names in their answers: one with a line break would tear those apart.
        if is_quotable(&folder.wire, true) && !folder.name.contains(char::is_control) {
            Ok(quoted(&folder.wire))
        } else {
            Err(Fault::Wish {
                what: format!(
                    "the name of the folder {:?} cannot be sent to the server",
                    folder.name
                ),
                hint: "rename it with a mail program".into(),
            })
        }
    }

    /// Opens a folder for reading only: no flag changes by it.
    ///
    /// # Errors
    ///
    /// If there is no such folder, or the server refuses.
    pub fn examine(&mut self, folder: &Folder) -> Result<Opened, Fault> {
        self.open("EXAMINE", folder)
    }

    /// Opens a folder for changes.
    ///
    /// # Errors
    ///
    /// If there is no such folder, if it may not be changed, or if the server refuses.
    pub fn select(&mut self, folder: &Folder) -> Result<Opened, Fault> {
        self.open("SELECT", folder)
    }

    fn open(&mut self, verb: &str, folder: &Folder) -> Result<Opened, Fault> {
        let name = self.argument(folder)?;
        let condstore = if self.is_enabled("QRESYNC") || !self.has("CONDSTORE") {
            ""
        } else {
            " (CONDSTORE)"
        };
        let asked = format!("open the folder {}", folder.name);
        let tag = self.send(&format!("{verb} {name}{condstore}"))?;
        let mut opened = Opened::default();
        let status = self.complete(
            &tag,
            &asked,
            &mut |response| {
                match response {
                    Response::Exists(count) => opened.messages = count,
                    Response::Status(status) if status.kind == Kind::Ok => match status.code {
                        Some(Code::UidValidity(validity)) => opened.uid_validity = validity,
                        Some(Code::UidNext(next)) => opened.uid_next = Some(next),
                        Some(Code::HighestModSeq(modseq)) => opened.highest_modseq = Some(modseq),
                        _ => {}
                    },
                    _ => {}
                }
                Ok(())
            },
            None,
        )?;
        if opened.uid_validity == 0 {
            return Err(Fault::garbage(format!(
                "the folder {} has no UIDVALIDITY",
                folder.name
            )));
        }
        if verb == "SELECT" && status.code == Some(Code::ReadOnly) {
            return Err(Fault::Refused {
                asked,
                said: "it may only be read".into(),
            });
        }
        Ok(opened)
    }

    /// The UIDs in the open folder, from `first` on.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub fn uids_from(&mut self, first: u32) -> Result<UidSet, Fault> {
        let found = self.find(&format!("UID {first}:*"))?;
        // "first:*" always names the last message, even if its UID is lower.
        Ok(match first.checked_sub(1) {
            Some(before @ 1..) => found.without(&UidSet::range(1, before)),
            _ => found,
        })
    }

    /// Which of these UIDs are in the open folder.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub fn uids_among(&mut self, uids: &UidSet) -> Result<UidSet, Fault> {
        let mut found = UidSet::default();
        for part in uids.parts(u32::MAX) {
            found.extend(&self.find(&format!("UID {part}"))?);
        }
        Ok(found.common(uids))
    }

    pub(crate) fn find(&mut self, what: &str) -> Result<UidSet, Fault> {
        let form = if self.has("ESEARCH") || self.has("IMAP4REV2") {
            "RETURN (ALL) "
        } else {
            ""
        };
        let tag = self.send(&format!("UID SEARCH {form}{what}"))?;
        let mut found = UidSet::default();
        self.complete(
            &tag,
            "list the messages",
            &mut |response| {
                if let Response::Search(uids) = response {
                    found.extend(&uids);
                }
                Ok(())
            },
            None,
        )?;
        Ok(found)
    }

    /// Tells the flags of messages up to `last`, all of them or those changed since; returns the
    /// UIDs that are gone, if the server tells that.
    pub(crate) fn flags(
        &mut self,
        last: u32,
        since: Option<u64>,
        each: EachFlags<'_>,
    ) -> Result<UidSet, Fault> {
        let since = match since {
            Some(since) if self.is_enabled("QRESYNC") => {
                format!(" (CHANGEDSINCE {since} VANISHED)")
            }
            Some(since) => format!(" (CHANGEDSINCE {since})"),
            None => String::new(),
        };
        let mut gone = UidSet::default();
        let tag = self.send(&format!("UID FETCH 1:{last} (UID FLAGS){since}"))?;
        self.complete(
            &tag,
            "tell the flags",
            &mut |response| {
                match response {
                    Response::Fetch(message) => {
                        if let (Some(uid), Some(flags)) = (message.uid, message.flags) {
                            each(uid, &flags)?;
                        }
                    }
                    Response::Vanished(uids) => gone.extend(&uids),
                    _ => {}
                }
                Ok(())
            },
            None,
        )?;
        Ok(gone)
    }

    /// Tells the numbers under which Gmail knows messages, one for each message of the account.
    pub(crate) fn gmail_ids(
        &mut self,
        uids: &UidSet,
        each: &mut dyn FnMut(u32, u64),
    ) -> Result<(), Fault> {
        for part in uids.parts(u32::MAX) {
            let tag = self.send(&format!("UID FETCH {part} (UID X-GM-MSGID)"))?;
            self.complete(
                &tag,
                "tell the ids of messages",
                &mut |response| {
                    if let Response::Fetch(message) = response
                        && let (Some(uid), Some(id)) = (message.uid, message.gmail_id)
                    {
                        each(uid, id);
                    }
                    Ok(())
                },
                None,
            )?;
        }
        Ok(())
    }

    /// Asks for whole messages, without waiting for them.
    pub(crate) fn ask_messages(&mut self, uids: &UidSet) -> Result<Tag, Fault> {
        let gmail = if self.has("X-GM-EXT-1") {
            " X-GM-MSGID X-GM-LABELS"
        } else {
            ""
        };
        self.send(&format!(
            "UID FETCH {uids} (UID FLAGS INTERNALDATE{gmail} BODY.PEEK[])"
        ))
    }

    /// Takes in messages asked for. Whether the server was content is the value: messages that are
    /// gone meanwhile may make it complain.
    pub(crate) fn take_messages(
        &mut self,
        tag: &Tag,
        delivery: &mut dyn Delivery,
    ) -> Result<bool, Fault> {
        let status = self.until_tagged(tag, &mut |_| Ok(()), Some(delivery))?;
        match status.kind {
            Kind::Ok => Ok(true),
            Kind::No => Ok(false),
            _ => Err(Fault::Refused {
                asked: "hand out messages".into(),
                said: status.text,
            }),
        }
    }
}

impl From<Counts> for FolderCounts {
    fn from(counts: Counts) -> Self {
        Self {
            messages: counts.messages,
            uid_next: counts.uid_next,
            uid_validity: counts.uid_validity,
            highest_modseq: counts.highest_modseq,
        }
    }
}

pub(crate) fn is_inbox(name: &str) -> bool {
    name.eq_ignore_ascii_case("INBOX")
}

fn readable(wire: &str, utf8: bool) -> String {
    if utf8 {
        wire.to_owned()
    } else {
        names::decode(wire)
    }
}
