//! A message as a mail server hands it over: header by header, then the body in pieces.

use crate::shared::{Room, Shared};

/// What all our headers begin with. Whoever sends such headers pretends to be us.
pub(crate) const OURS: &str = "x-twicetold-";

/// What has arrived of a message.
#[derive(Debug, Default)]
pub(crate) struct Arriving {
    bytes: Vec<u8>,
    room: Option<Room>,
    /// Headers that pretend to be ours: the name as it was written, and which of that name.
    forged: Vec<(Vec<u8>, u32)>,
    /// The message is longer than what is looked at.
    is_cut: bool,
    /// There was no room for it.
    is_lost: bool,
    /// Somebody who has logged in sends it.
    pub(crate) authenticated: bool,
    /// What the mail server calls it.
    pub(crate) queue_id: Option<String>,
}

impl Arriving {
    /// Takes a header.
    pub(crate) fn header(
        &mut self,
        shared: &Shared,
        most: usize,
        name: &[u8],
        value: &[u8],
        with_space: bool,
        flag: bool,
    ) {
        let trimmed = name.trim_ascii();
        let begins = trimmed
            .get(..OURS.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(OURS.as_bytes()));
        if begins || (flag && trimmed.eq_ignore_ascii_case(b"x-spam-flag")) {
            let same = self
                .forged
                .iter()
                .filter(|(other, _)| other.eq_ignore_ascii_case(name))
                .count();
            self.forged
                .push((name.to_vec(), u32::try_from(same + 1).unwrap_or(u32::MAX)));
            return;
        }
        let space: &[u8] = if with_space { b":" } else { b": " };
        // Mail servers give folded values with bare line feeds.
        self.add(shared, most, &[name, space, value, b"\n"]);
    }

    /// The headers are over.
    pub(crate) fn end_of_headers(&mut self, shared: &Shared, most: usize) {
        self.add(shared, most, &[b"\n"]);
    }

    /// Takes a piece of the body.
    pub(crate) fn body(&mut self, shared: &Shared, most: usize, piece: &[u8]) {
        self.add(shared, most, &[piece]);
    }

    /// Whether more of it would change nothing.
    pub(crate) fn is_enough(&self) -> bool {
        self.is_cut || self.is_lost
    }

    fn add(&mut self, shared: &Shared, most: usize, parts: &[&[u8]]) {
        if self.is_enough() {
            return;
        }
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let needed = self.bytes.len() + length;
        if needed > most {
            // What has come so far is looked at: a reported text is found in it if it stands there.
            self.is_cut = true;
            return;
        }
        let grown = match &mut self.room {
            Some(room) => shared.grow(room, needed),
            None => {
                self.room = shared.room(needed);
                self.room.is_some()
            }
        };
        if !grown {
            self.is_lost = true;
            self.bytes = Vec::new();
            self.room = None;
            return;
        }
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
    }

    /// The message with the room it takes, unless there was none.
    pub(crate) fn take(&mut self) -> Option<(Vec<u8>, Option<Room>)> {
        (!self.is_lost).then(|| (std::mem::take(&mut self.bytes), self.room.take()))
    }

    /// Headers that pretend to be ours, the last of each name first: removing one must not change the
    /// number of another.
    pub(crate) fn forged(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.forged
            .iter()
            .rev()
            .map(|(name, number)| (name.as_slice(), *number))
    }
}
