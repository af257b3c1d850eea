//! Changing a mailbox on the server, so that nothing is ever lost between two commands.
//!
//! Nothing here sends a bare EXPUNGE: it would remove what other programs have marked. A message is
//! moved by one command (MOVE), or copied, marked and expunged by its UID (UIDPLUS). A server
//! that can do neither is left alone.

use std::io::Read;

use crate::fault::Fault;
use crate::uids::UidSet;

use super::date;
use super::folders::Folder;
use super::names;
use super::response::{Code, Kind, Response};
use super::session::{Session, Tag, is_quotable, quoted};

/// Where messages went: each with its UID before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The UIDVALIDITY of the folder they went to, if the server told.
    pub uid_validity: Option<u32>,
    /// UID before, UID after. Empty if the server did not tell.
    pub uids: Vec<(u32, u32)>,
}

/// What to do with flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagChange {
    /// Set these, keep the others.
    Add,
    /// Take these away, keep the others.
    Remove,
    /// Have exactly these.
    Replace,
}

/// Where a message was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The UIDVALIDITY of the folder.
    pub uid_validity: u32,
    /// The UID it got there.
    pub uid: u32,
}

impl Session {
    /// Whether messages can be moved so that nothing else is touched and nothing can be lost.
    pub fn can_move(&self) -> bool {
        self.has("MOVE") || self.has("IMAP4REV2") || self.has("UIDPLUS")
    }

    /// Moves messages of the selected folder into another one.
    ///
    /// Messages that are gone already are no error: they are not among the UIDs returned.
    ///
    /// # Errors
    ///
    /// If the server refuses, if the target is not there, or if it can neither move nor expunge by
    /// UID. Without MOVE, a fault between copying and expunging leaves both copies, never none.
    pub fn move_messages(&mut self, uids: &UidSet, to: &Folder) -> Result<Moved, Fault> {
        let mut moved = Moved::default();
        for part in uids.parts(u32::MAX) {
            let one = if self.has("MOVE") || self.has("IMAP4REV2") {
                self.transfer("MOVE", &part, to)?
            } else if self.has("UIDPLUS") {
                let copied = self.transfer("COPY", &part, to)?;
                self.remove_messages(&copied.sources(&part))?;
                copied
            } else {
                return Err(Fault::Lacks {
                    extension: "MOVE and UIDPLUS",
                    purpose: "move messages without touching others",
                });
            };
            moved.uid_validity = one.uid_validity.or(moved.uid_validity);
            moved.uids.extend(one.uids);
        }
        Ok(moved)
    }

    /// Copies messages of the selected folder into another one.
    ///
    /// # Errors
    ///
    /// If the server refuses, or the target is not there.
    pub fn copy_messages(&mut self, uids: &UidSet, to: &Folder) -> Result<Moved, Fault> {
        let mut copied = Moved::default();
        for part in uids.parts(u32::MAX) {
            let one = self.transfer("COPY", &part, to)?;
            copied.uid_validity = one.uid_validity.or(copied.uid_validity);
            copied.uids.extend(one.uids);
        }
        Ok(copied)
    }

    /// Whether messages can be removed so that nothing else is touched.
    pub fn can_remove(&self) -> bool {
        self.has("UIDPLUS") || self.has("IMAP4REV2")
    }

    /// Removes messages of the selected folder for good, and no others.
    ///
    /// # Errors
    ///
    /// If the server cannot expunge by UID, or refuses.
    pub fn remove_messages(&mut self, uids: &UidSet) -> Result<(), Fault> {
        // Nothing is marked that cannot be removed.
        self.needs_uidplus()?;
        self.store_flags(uids, FlagChange::Add, &["\\Deleted"])?;
        self.expunge(uids)
    }

    /// Removes those of these messages that are marked as deleted, and no others.
    ///
    /// # Errors
    ///
    /// If the server cannot expunge by UID, or refuses.
    pub fn expunge(&mut self, uids: &UidSet) -> Result<(), Fault> {
        self.needs_uidplus()?;
        for part in uids.parts(u32::MAX) {
            self.run(&format!("UID EXPUNGE {part}"), "remove messages")?;
        }
        Ok(())
    }

    fn needs_uidplus(&self) -> Result<(), Fault> {
        if self.can_remove() {
            return Ok(());
        }
        Err(Fault::Lacks {
            extension: "UIDPLUS",
            purpose: "remove messages without touching others",
        })
    }

    /// Changes flags and keywords of messages of the selected folder.
    ///
    /// # Errors
    ///
    /// If a flag is not one, or the server refuses.
    pub fn store_flags(
        &mut self,
        uids: &UidSet,
        change: FlagChange,
        flags: &[&str],
    ) -> Result<(), Fault> {
        let flags = flag_list(flags)?;
        let verb = match change {
            FlagChange::Add => "+FLAGS.SILENT",
            FlagChange::Remove => "-FLAGS.SILENT",
            FlagChange::Replace => "FLAGS.SILENT",
        };
        for part in uids.parts(u32::MAX) {
            self.run(&format!("UID STORE {part} {verb} {flags}"), "change flags")?;
        }
        Ok(())
    }

    /// Gives messages of the selected folder labels of Gmail, or takes them away.
    ///
    /// # Errors
    ///
    /// If the server is not Gmail's, a label is not one, or the server refuses.
    pub fn store_labels(
        &mut self,
        uids: &UidSet,
        change: FlagChange,
        labels: &[&str],
    ) -> Result<(), Fault> {
        if !self.has("X-GM-EXT-1") {
            return Err(Fault::Lacks {
                extension: "X-GM-EXT-1",
                purpose: "change labels",
            });
        }
        let mut written = Vec::new();
        for label in labels {
            // Labels that Gmail has of itself begin with a backslash and stand without quotation marks.
            let own = label.strip_prefix('\\').is_some_and(|name| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic())
            });
            let wire = if self.is_utf8() {
                (*label).to_owned()
            } else {
                names::encode(label)
            };
            if own {
                written.push((*label).to_owned());
            } else if !label.is_empty() && is_quotable(&wire, self.is_utf8()) {
                written.push(quoted(&wire));
            } else {
                return Err(Fault::Wish {
                    what: format!("{label:?} is no label"),
                    hint: "labels are words without line breaks".into(),
                });
            }
        }
        let verb = match change {
            FlagChange::Add => "+X-GM-LABELS.SILENT",
            FlagChange::Remove => "-X-GM-LABELS.SILENT",
            FlagChange::Replace => "X-GM-LABELS.SILENT",
        };
        let labels = written.join(" ");
        for part in uids.parts(u32::MAX) {
            let command = format!("UID STORE {part} {verb} ({labels})");
            self.run(&command, "change labels")?;
        }
        Ok(())
    }

    /// Makes a folder; one that is there already is no error.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub fn create_folder(&mut self, folder: &Folder) -> Result<(), Fault> {
        let name = self.argument(folder)?;
        let tag = self.send(&format!("CREATE {name}"))?;
        let status = self.finish(&tag, &mut |_| Ok(()))?;
        let there = matches!(&status.code, Some(Code::Other(code)) if code == "ALREADYEXISTS");
        if status.kind == Kind::Ok {
            // Many mail programs show only what is subscribed; that it fails is no harm.
            let tag = self.send(&format!("SUBSCRIBE {name}"))?;
            self.finish(&tag, &mut |_| Ok(()))?;
            return Ok(());
        }
        if there || self.count(folder).is_ok() {
            return Ok(());
        }
        Err(Fault::Refused {
            asked: format!("make the folder {}", folder.name),
            said: status.text,
        })
    }

    /// Puts a message of `size` bytes into a folder, with flags and the date it had.
    ///
    /// Tells where it is, if the server does (UIDPLUS).
    ///
    /// # Errors
    ///
    /// If the server refuses (no such folder, no room), or `message` cannot be read to its end. In
    /// that case nothing was added.
    pub fn append(
        &mut self,
        folder: &Folder,
        flags: &[&str],
        date: Option<i64>,
        size: u64,
        message: &mut dyn Read,
    ) -> Result<Option<Appended>, Fault> {
        let mut command = format!("APPEND {} {}", self.argument(folder)?, flag_list(flags)?);
        if let Some(date) = date {
            command.push_str(&format!(" \"{}\"", date::format(date)));
        }
        let asked = format!("take a message into {}", folder.name);
        let tag = self
            .begin_literal(&command, size)
            .map_err(|fault| match fault {
                Fault::Refused { said, .. } => Fault::Refused {
                    asked: asked.clone(),
                    said,
                },
                other => other,
            })?;
        self.stream(message, size)?;
        let status = self.complete(&tag, &asked, &mut |_| Ok(()), None)?;
        Ok(match status.code {
            Some(Code::AppendUid(uid_validity, uid)) => Some(Appended { uid_validity, uid }),
            _ => None,
        })
    }

    fn stream(&mut self, message: &mut dyn Read, size: u64) -> Result<(), Fault> {
        let mut block = vec![0; 64 * 1024];
        let mut left = size;
        while left > 0 {
            let most = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let got = message.read(&mut block[..most]).unwrap_or(0);
            if got == 0 {
                // The server waits for the rest: only ending the connection tells it to forget.
                return Err(Fault::Cut {
                    said: "the message could not be read to its end".into(),
                });
            }
            self.raw(&block[..got])?;
            left -= got as u64;
        }
        self.raw(b"\r\n")
    }

    fn transfer(&mut self, verb: &str, uids: &UidSet, to: &Folder) -> Result<Moved, Fault> {
        let command = format!("UID {verb} {uids} {}", self.argument(to)?);
        let asked = format!("{} messages to {}", verb.to_ascii_lowercase(), to.name);
        let tag: Tag = self.send(&command)?;
        let mut codes = Vec::new();
        let status = self.complete(
            &tag,
            &asked,
            &mut |response| {
                // MOVE tells it before its end, COPY at its end.
                if let Response::Status(status) = response {
                    codes.extend(status.code);
                }
                Ok(())
            },
            None,
        )?;
        codes.extend(status.code);
        let mut moved = Moved::default();
        for code in codes {
            if let Code::CopyUid(validity, from, to) = code {
                moved.uid_validity = Some(validity);
                moved.uids.extend(pairs(&from, &to)?);
            }
        }
        Ok(moved)
    }
}

impl Moved {
    /// Which messages were copied, if the server told, else all that were asked for.
    fn sources(&self, asked: &UidSet) -> UidSet {
        match self.uid_validity {
            Some(_) => self
                .uids
                .iter()
                .map(|&(from, _)| from)
                .collect::<UidSet>()
                .common(asked),
            None => asked.clone(),
        }
    }
}

/// Two lists of ranges as pairs of UIDs, in the order in which they stand.
fn pairs(from: &[(u32, u32)], to: &[(u32, u32)]) -> Result<Vec<(u32, u32)>, Fault> {
    let count = |ranges: &[(u32, u32)]| -> u64 {
        ranges
            .iter()
            .map(|&(first, last)| u64::from(first.abs_diff(last)) + 1)
            .sum()
    };
    if count(from) != count(to) || count(from) > 1 << 22 {
        return Err(Fault::garbage(
            "COPYUID names more messages on one side than on the other",
        ));
    }
    let each = |ranges: &[(u32, u32)]| -> Vec<u32> {
        ranges
            .iter()
            .flat_map(|&(first, last)| first.min(last)..=first.max(last))
            .collect()
    };
    Ok(each(from).into_iter().zip(each(to)).collect())
}

fn flag_list(flags: &[&str]) -> Result<String, Fault> {
    let is_flag = |flag: &str| {
        let name = flag.strip_prefix('\\').unwrap_or(flag);
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !b"(){%*\"\\]".contains(&byte))
    };
    match flags.iter().find(|flag| !is_flag(flag)) {
        Some(flag) => Err(Fault::Wish {
            what: format!("{flag:?} is no flag"),
            hint: "flags are words such as \\Seen or $Junk".into(),
        }),
        None => Ok(format!("({})", flags.join(" "))),
    }
}
