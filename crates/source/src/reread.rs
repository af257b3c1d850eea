//! Reads one message again.
//!
//! Each call opens the file for itself, so any number of threads may read at once.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use twicetold_model::{Location, RawMessage};

use crate::container::Splitter;
use crate::judge::HEAD;
use crate::listing::{Container, Entry, Listing};
use crate::mbox::Step;
use crate::stream::{Limits, peek};
use crate::task::{Contained, contained, content, read_file};

/// What is read first: most messages are shorter.
const FIRST: usize = 32 * 1024;

/// Reads the message at a location that was handed out.
pub(crate) fn reread(listing: &Listing, location: &Location) -> io::Result<RawMessage<'static>> {
    let entry = listing.find(&location.path).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "not among the files that were listed",
        )
    })?;
    let path = listing.path(entry);
    let (form, bytes) = match location.offset {
        None => {
            let mut file = Vec::new();
            read_file(&path, entry.stamp.size, &mut file)?;
            let Contained::One(form, range) = contained(entry, &file) else {
                return Err(changed());
            };
            file.truncate(range.end);
            file.drain(..range.start);
            (form, file)
        }
        Some(offset) => {
            let mut file = File::open(&path)?;
            let container = container(entry, &mut file)?;
            (container.form(), message_at(&mut file, offset, container)?)
        }
    };
    Ok(RawMessage {
        location: location.clone(),
        form,
        bytes: Cow::Owned(bytes),
    })
}

fn container(entry: &Entry, file: &mut File) -> io::Result<Container> {
    if let Some(container) = entry.container {
        return Ok(container);
    }
    let mut head = Vec::with_capacity(HEAD + 1);
    file.take(HEAD as u64).read_to_end(&mut head)?;
    match contained(entry, &head) {
        Contained::Many(container) => Ok(container),
        Contained::One(..) | Contained::Nothing => Err(changed()),
    }
}

/// Reads on from `offset` until the message that starts there is complete.
pub(crate) fn message_at(
    file: &mut File,
    offset: u64,
    container: Container,
) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let mut splitter = Splitter::at(container, 0);
    let mut target = FIRST;
    loop {
        file.seek(SeekFrom::Start(offset.saturating_add(buffer.len() as u64)))?;
        let missing = target - buffer.len();
        buffer.reserve(missing + 1);
        let read = file.take(missing as u64).read_to_end(&mut buffer)?;
        let mut peek =
            |distance: u64, length: usize| peek(file, offset.checked_add(distance)?, length);
        match splitter.step(&buffer, read < missing, &mut peek) {
            // Empty lines are passed over in front of a file only, not where a message was.
            Step::Message(span) if span.start == 0 => {
                let message = content(&buffer, &span).into_owned();
                return Ok(message);
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
