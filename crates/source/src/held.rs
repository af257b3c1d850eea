//! Messages that somebody hands over, as a collection.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

use twicetold_model::{Form, Location, RawMessage};

use crate::at::read_exact_at;
use crate::task::Task;
use crate::trouble::Trouble;

/// Messages in one task at the most.
const MESSAGES: usize = 128;

/// Messages that are handed over one by one, to be a [`Collection`](crate::Collection). Those for which there is no room in memory
/// wait in a file that nobody else sees.
///
/// ```
/// use twicetold_model::{Form, Location, RawMessage};
/// use twicetold_source::{Collection, Pile};
///
/// let mut pile = Pile::with_room_for(20);
/// for path in ["a", "b"] {
///     let location = Location { path: path.into(), offset: None };
///     let bytes = b"Subject: Lunch\n\nAt noon?\n".as_slice();
///     pile.push(RawMessage { location, form: Form::Mail, bytes: bytes.into() });
/// }
/// assert_eq!(Collection::of_pile(pile).total_bytes(), 50);
/// ```
#[derive(Debug)]
pub struct Pile {
    messages: Vec<Lying>,
    /// How many bytes may stay in memory, and how many do.
    room: u64,
    here: u64,
    aside: Option<Aside>,
}

/// A file without a name, and how much of it is written.
#[derive(Debug)]
struct Aside {
    file: File,
    end: u64,
}

/// A message that waits.
#[derive(Debug)]
struct Lying {
    location: Location,
    form: Form,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Here(Cow<'static, [u8]>),
    Aside(Range<u64>),
}

impl Pile {
    /// An empty one, that keeps so many bytes in memory.
    pub fn with_room_for(bytes: u64) -> Self {
        Self {
            messages: Vec::new(),
            room: bytes,
            here: 0,
            aside: None,
        }
    }

    /// Puts a message on it.
    pub fn push(&mut self, message: RawMessage<'static>) {
        let length = message.bytes.len() as u64;
        let aside = match self.here + length > self.room {
            true => self.put_aside(&message.bytes).ok(),
            false => None,
        };
        // No room on the disk either: then memory it is.
        let bytes = aside.map_or_else(|| Bytes::Here(message.bytes), Bytes::Aside);
        self.here += match bytes {
            Bytes::Here(_) => length,
            Bytes::Aside(_) => 0,
        };
        self.messages.push(Lying {
            location: message.location,
            form: message.form,
            bytes,
        });
    }

    fn put_aside(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        let aside = match &mut self.aside {
            Some(aside) => aside,
            none => none.insert(Aside {
                file: tempfile::tempfile()?,
                end: 0,
            }),
        };
        let start = aside.end;
        // Not where the last one ended: of one that failed nobody knows how much was written.
        aside.file.seek(SeekFrom::Start(start))?;
        aside.file.write_all(bytes)?;
        aside.end += bytes.len() as u64;
        Ok(start..aside.end)
    }
}

/// Messages that were handed over, sorted by location, each location once.
#[derive(Debug, Default)]
pub(crate) struct Held {
    messages: Vec<Lying>,
    aside: Option<File>,
}

impl Held {
    pub(crate) fn new(pile: Pile) -> Self {
        let mut messages = pile.messages;
        messages.sort_by(|a, b| a.location.cmp(&b.location));
        messages.dedup_by(|later, first| later.location == first.location);
        Self {
            messages,
            aside: pile.aside.map(|aside| aside.file),
        }
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        let bytes = self.messages.iter().map(|message| match &message.bytes {
            Bytes::Here(bytes) => bytes.len() as u64,
            Bytes::Aside(range) => range.end - range.start,
        });
        bytes.sum()
    }

    /// The message at a location, if it is among these.
    pub(crate) fn read(&self, location: &Location) -> Option<io::Result<RawMessage<'static>>> {
        let place = |message: &Lying| message.location.cmp(location);
        let found = self.messages.binary_search_by(place).ok()?;
        let message = self.messages.get(found)?;
        let bytes = self.bytes(message).map(Cow::into_owned);
        Some(bytes.map(|bytes| RawMessage {
            location: location.clone(),
            form: message.form,
            bytes: Cow::Owned(bytes),
        }))
    }

    fn bytes<'h>(&'h self, message: &'h Lying) -> io::Result<Cow<'h, [u8]>> {
        let range = match &message.bytes {
            Bytes::Here(bytes) => return Ok(Cow::Borrowed(bytes)),
            Bytes::Aside(range) => range,
        };
        let file = self.aside.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        read_exact_at(file, &mut bytes, range.start)?;
        Ok(Cow::Owned(bytes))
    }

    /// The work of handing them out.
    pub(crate) fn tasks(held: &Arc<Self>) -> impl Iterator<Item = Task> + Send + use<> {
        let held = Arc::clone(held);
        let count = held.messages.len();
        (0..count).step_by(MESSAGES).map(move |start| {
            let some = start..count.min(start + MESSAGES);
            Task::held(Arc::clone(&held), some)
        })
    }

    pub(crate) fn hand_out(
        &self,
        some: Range<usize>,
        each: &mut dyn FnMut(RawMessage<'_>),
        trouble: &mut dyn FnMut(Trouble),
    ) {
        for message in self.messages.get(some).unwrap_or_default() {
            match self.bytes(message) {
                Ok(bytes) => each(RawMessage {
                    location: message.location.clone(),
                    form: message.form,
                    bytes,
                }),
                Err(error) => trouble(Trouble::reading(&message.location.path, &error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &str, bytes: &'static [u8]) -> RawMessage<'static> {
        RawMessage {
            location: Location {
                path: path.into(),
                offset: None,
            },
            form: Form::Text,
            bytes: Cow::Borrowed(bytes),
        }
    }

    #[test]
    fn each_location_is_handed_out_once_in_order_from_memory_and_from_a_file() {
        for room in [u64::MAX, 100, 0] {
            let mut pile = Pile::with_room_for(room);
            for n in (0..300).rev() {
                pile.push(message(&format!("{n:03}"), b"text"));
            }
            pile.push(message("007", b"a later one"));
            pile.push(message("empty", b""));
            assert_eq!(pile.aside.is_some(), room < u64::MAX);
            let held = Arc::new(Held::new(pile));
            let mut paths = Vec::new();
            for task in Held::tasks(&held) {
                task.run(
                    &mut |raw| {
                        let empty = *raw.location.path == *"empty";
                        assert_eq!(&*raw.bytes, if empty { &b""[..] } else { b"text" });
                        paths.push(raw.location.path.to_string());
                    },
                    &mut |trouble| panic!("{trouble:?}"),
                );
            }
            let mut expected: Vec<String> = (0..300).map(|n| format!("{n:03}")).collect();
            expected.push("empty".to_owned());
            assert_eq!(paths, expected);
            assert_eq!(held.total_bytes(), 1200);
            let found = held.read(&message("007", b"").location).unwrap().unwrap();
            assert_eq!(&*found.bytes, b"text");
            assert!(held.read(&message("7", b"").location).is_none());
        }
    }
}
