//! Reads one message again.
//!
//! Nobody's place in a file matters to others, so any number of threads may read at once.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use twicetold_model::{Location, RawMessage};

use crate::Collection;
use crate::at::{append_at, fill_at};
use crate::container::Splitter;
use crate::judge::HEAD;
use crate::listing::{Container, Entry, Listing};
use crate::mbox::Step;
use crate::stream::{Limits, peek};
use crate::task::{Contained, contained, content, read_file};

/// What is read first: most messages are shorter.
const FIRST: usize = 32 * 1024;
/// What is read besides a message of which it is known how long it is: the line before it, what tells where it ends, and marks that protect its
/// lines.
const AROUND: usize = 1024;

/// Reads many messages again while nobody changes their files: the file that was used last stays open.
#[derive(Debug)]
pub struct Again<'c> {
    collection: &'c Collection,
    last: Mutex<Option<(Arc<str>, Arc<File>)>>,
}

impl<'c> Again<'c> {
    /// Messages of this collection.
    pub fn of(collection: &'c Collection) -> Self {
        Self {
            collection,
            last: Mutex::default(),
        }
    }

    /// Reads one message again, from any thread. It had so many bytes.
    ///
    /// # Errors
    /// If the message cannot be read, or is shorter or longer now.
    pub fn read(&self, location: &Location, bytes: u64) -> io::Result<RawMessage<'static>> {
        let first = usize::try_from(bytes)
            .unwrap_or(FIRST)
            .saturating_add(AROUND);
        let message = match self.collection.held.read(location) {
            Some(message) => message,
            None => reread(&self.collection.listing, location, first, |entry| {
                self.open(&self.collection.listing, entry, location)
            }),
        }?;
        match message.bytes.len() as u64 == bytes {
            true => Ok(message),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn open(&self, listing: &Listing, entry: &Entry, location: &Location) -> io::Result<Arc<File>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((path, file)) = &*last()
            && *path == location.path
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(File::open(listing.path(entry))?);
        *last() = Some((Arc::clone(&location.path), Arc::clone(&file)));
        Ok(file)
    }
}

/// Reads the message at a location that was handed out.
pub(crate) fn read_again(
    listing: &Listing,
    location: &Location,
) -> io::Result<RawMessage<'static>> {
    reread(listing, location, FIRST, |entry| {
        File::open(listing.path(entry)).map(Arc::new)
    })
}

/// The same with `first` bytes read first, of a file of many messages that somebody opens.
fn reread(
    listing: &Listing,
    location: &Location,
    first: usize,
    open: impl FnOnce(&Entry) -> io::Result<Arc<File>>,
) -> io::Result<RawMessage<'static>> {
    let entry = listing.find(&location.path).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "not among the files that were listed",
        )
    })?;
    let (form, bytes) = match location.offset {
        None => {
            let mut file = Vec::new();
            read_file(&listing.path(entry), entry.stamp.size, &mut file)?;
            let Contained::One(form, range) = contained(entry, &file) else {
                return Err(changed());
            };
            file.truncate(range.end);
            file.drain(..range.start);
            (form, file)
        }
        Some(offset) => {
            let file = open(entry)?;
            let container = container(entry, &file)?;
            let message = message_from(&file, offset, container, first)?;
            (container.form(), message)
        }
    };
    Ok(RawMessage {
        location: location.clone(),
        form,
        bytes: Cow::Owned(bytes),
    })
}

fn container(entry: &Entry, file: &File) -> io::Result<Container> {
    if let Some(container) = entry.container {
        return Ok(container);
    }
    let mut head = Vec::new();
    append_at(file, &mut head, 0, HEAD)?;
    match contained(entry, &head) {
        Contained::Many(container) => Ok(container),
        Contained::One(..) | Contained::Nothing => Err(changed()),
    }
}

/// Reads on from `offset` until the message that starts there is complete.
pub(crate) fn message_at(file: &File, offset: u64, container: Container) -> io::Result<Vec<u8>> {
    message_from(file, offset, container, FIRST)
}

/// The same with `first` bytes read first.
fn message_from(
    file: &File,
    offset: u64,
    container: Container,
    first: usize,
) -> io::Result<Vec<u8>> {
    let mut room = ROOM.take();
    let message = message_in(&mut room, file, offset, container, first);
    if room.len() <= MOST_KEPT {
        ROOM.set(room);
    }
    message
}

/// No more room than this is kept for the next message.
const MOST_KEPT: usize = 1 << 20;

thread_local! {
    /// Room to read into. What stood there before is written over, so it need not be wiped each time.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The same, read into some room, which is made larger where it is too small.
fn message_in(
    room: &mut Vec<u8>,
    file: &File,
    offset: u64,
    container: Container,
    first: usize,
) -> io::Result<Vec<u8>> {
    let mut splitter = Splitter::at(container, 0);
    let (mut target, mut filled) = (first, 0);
    loop {
        if room.len() < target {
            room.resize(target, 0);
        }
        let from = offset.saturating_add(filled as u64);
        filled += fill_at(file, &mut room[filled..target], from)?;
        let mut peek =
            |distance: u64, length: usize| peek(file, offset.checked_add(distance)?, length);
        let buffer = &room[..filled];
        match splitter.step(buffer, filled < target, &mut peek) {
            // Empty lines are passed over in front of a file only, not where a message was.
            Step::Message(span) if span.start == 0 => {
                return Ok(content(buffer, &span).into_owned());
            }
            Step::More if target.max(splitter.wanted()) <= Limits::USUAL.message => {
                target = splitter.wanted().max(target * 2);
            }
            _ => return Err(changed()),
        }
    }
}

fn changed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the file has changed since it was scanned; scan again",
    )
}
