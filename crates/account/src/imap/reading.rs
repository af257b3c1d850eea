//! Messages of a folder on the server, read again or looked for.

use std::collections::BTreeMap;

use crate::fault::Fault;
use crate::uids::UidSet;
use crate::wire::Sink;

use super::date;
use super::response::{Body, Fetched, Response};
use super::session::{Delivery, MOST_MESSAGE, Session, is_quotable, quoted};

/// A message as it is on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// Its UID.
    pub uid: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its flags and keywords, as the server writes them.
    pub flags: Vec<String>,
    /// Its labels, on Gmail.
    pub labels: Vec<String>,
    /// When the server took it in, in seconds since 1970, if it said so.
    pub date: Option<i64>,
}

impl Session {
    /// Reads one message of the open folder; `None` if it is not there any more.
    ///
    /// # Errors
    ///
    /// If the server fails, or the message has more than `most` bytes.
    pub fn read_message(&mut self, uid: u32, most: u64) -> Result<Option<ServerMessage>, Fault> {
        let mut found = None;
        self.read_messages(&UidSet::range(uid, uid), most, &mut |message| {
            found = Some(message);
        })?;
        Ok(found)
    }

    /// Reads messages of the open folder; those that are not there any more are left out.
    ///
    /// # Errors
    ///
    /// If the server fails, or a message has more than `most` bytes.
    pub fn read_messages(
        &mut self,
        uids: &UidSet,
        most: u64,
        each: &mut dyn FnMut(ServerMessage),
    ) -> Result<(), Fault> {
        for part in uids.parts(u32::MAX) {
            let tag = self.ask_messages(&part)?;
            let mut reading = Reading {
                wanted: &part,
                most: most.min(MOST_MESSAGE),
                bytes: Vec::new(),
                each: &mut *each,
            };
            self.take_messages(&tag, &mut reading)?;
        }
        Ok(())
    }

    /// The flags and keywords of messages of the open folder, by UID; those that are gone are left out.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub fn flags_of(&mut self, uids: &UidSet) -> Result<BTreeMap<u32, Vec<String>>, Fault> {
        let mut found = BTreeMap::new();
        for part in uids.parts(u32::MAX) {
            self.each_fetched(&format!("{part} (UID FLAGS)"), &mut |message| {
                if let (Some(uid), Some(flags)) = (message.uid, message.flags)
                    && part.contains(uid)
                {
                    found.insert(uid, flags);
                }
            })?;
        }
        Ok(found)
    }

    /// The labels that Gmail has for messages of the open folder, by UID.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub fn labels_of(&mut self, uids: &UidSet) -> Result<BTreeMap<u32, Vec<String>>, Fault> {
        let mut found = BTreeMap::new();
        for part in uids.parts(u32::MAX) {
            self.each_fetched(&format!("{part} (UID X-GM-LABELS)"), &mut |message| {
                if let (Some(uid), Some(labels)) = (message.uid, message.gmail_labels)
                    && part.contains(uid)
                {
                    found.insert(uid, labels);
                }
            })?;
        }
        Ok(found)
    }

    /// The sizes of the messages of the open folder from a UID on, as the server tells them.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub fn sizes_from(&mut self, first: u32) -> Result<BTreeMap<u32, u64>, Fault> {
        let mut found = BTreeMap::new();
        self.each_fetched(&format!("{first}:* (UID RFC822.SIZE)"), &mut |message| {
            if let (Some(uid), Some(size)) = (message.uid, message.size)
                // "first:*" always names the last message, even if its UID is lower.
                && uid >= first
            {
                found.insert(uid, size);
            }
        })?;
        Ok(found)
    }

    /// The messages of the open folder with this `Message-ID`; none if it cannot be asked for.
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub fn with_message_id(&mut self, id: &str) -> Result<UidSet, Fault> {
        if id.is_empty() || !is_quotable(id, false) {
            return Ok(UidSet::default());
        }
        self.find(&format!("HEADER MESSAGE-ID {}", quoted(id)))
    }

    fn each_fetched(&mut self, what: &str, each: &mut dyn FnMut(Fetched)) -> Result<(), Fault> {
        let tag = self.send(&format!("UID FETCH {what}"))?;
        self.complete(
            &tag,
            "tell about messages",
            &mut |response| {
                if let Response::Fetch(message) = response {
                    each(message);
                }
                Ok(())
            },
            None,
        )?;
        Ok(())
    }
}

/// Takes in messages, in memory.
struct Reading<'a> {
    wanted: &'a UidSet,
    most: u64,
    bytes: Vec<u8>,
    each: &'a mut dyn FnMut(ServerMessage),
}

impl Reading<'_> {
    fn check(&self, size: u64) -> Result<(), Fault> {
        if size > self.most {
            return Err(Fault::TooLarge {
                what: "a message".into(),
                limit: self.most,
            });
        }
        Ok(())
    }
}

impl Sink for Reading<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

impl Delivery for Reading<'_> {
    fn begin(&mut self, size: u64) -> Result<(), Fault> {
        self.bytes.clear();
        self.check(size)
    }

    fn end(&mut self, message: Fetched) -> Result<(), Fault> {
        let bytes = match message.body {
            Some(Body::Streamed(_)) => std::mem::take(&mut self.bytes),
            Some(Body::Inline(bytes)) => bytes,
            Some(Body::Missing) | None => return Ok(()),
        };
        self.check(bytes.len() as u64)?;
        if let Some(uid) = message.uid.filter(|&uid| self.wanted.contains(uid)) {
            (self.each)(ServerMessage {
                uid,
                bytes,
                flags: message.flags.unwrap_or_default(),
                labels: message.gmail_labels.unwrap_or_default(),
                date: message.date.as_deref().and_then(date::parse),
            });
        }
        Ok(())
    }
}
