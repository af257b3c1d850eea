//! The messages of a file that holds many: where each begins, and by what it is recognised.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::super::Failure;
use super::super::disk::{Hashing, Stamp, copy_exactly};
use crate::checksum::Checksum;
use crate::judge::{Content, HEAD, judge};
use crate::listing::{Container, shown_path};
use crate::stream::{Limits, Stream};

/// What a file of many messages holds.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) stamp: Stamp,
    pub(super) container: Container,
    /// Where each message begins, and its checksum.
    pub(super) messages: Vec<(u64, Checksum)>,
    /// The numbers of the messages with each checksum.
    by_checksum: HashMap<Checksum, Vec<usize>>,
    /// How many bytes the file has.
    pub(super) end: u64,
}

impl Index {
    /// Reads a file as the kind of mailbox that it is.
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| cannot_read(path, &error);
        let mut head = Vec::new();
        File::open(path)
            .and_then(|file| file.take(HEAD as u64).read_to_end(&mut head))
            .map_err(failed)?;
        let container = match judge(&head, &shown_path(path)) {
            Content::Mbox => Container::Mbox,
            Content::JsonLines => Container::JsonLines,
            Content::Sgml => {
                return Err(Failure::new(
                    format!(
                        "{} is a collection of texts, which is only read",
                        path.display()
                    ),
                    "leave it out when you scan for a plan",
                ));
            }
            _ => {
                return Err(Failure::new(
                    format!("{} no longer holds several messages", path.display()),
                    "scan again for a new plan",
                ));
            }
        };
        Self::as_container(path, container)
    }

    /// Reads a file that is known to be this kind of mailbox.
    pub(super) fn as_container(path: &Path, container: Container) -> Result<Self, Failure> {
        let failed = |error: io::Error| cannot_read(path, &error);
        let metadata = fs::metadata(path).map_err(failed)?;
        let stream = Stream::open(path, "", container, Limits::USUAL).map_err(failed)?;
        let mut messages = Vec::new();
        let mut trouble = None;
        for task in stream {
            task.run(
                &mut |message| {
                    let start = message.location.offset.unwrap_or(0);
                    messages.push((start, Checksum::of_message(&message)));
                },
                &mut |found| trouble = Some(found),
            );
        }
        if let Some(trouble) = trouble {
            return Err(Failure::new(
                format!("{}: {}", path.display(), trouble.problem),
                "the file stays as it is",
            ));
        }
        let mut by_checksum: HashMap<Checksum, Vec<usize>> = HashMap::new();
        for (number, (_, checksum)) in messages.iter().enumerate() {
            by_checksum.entry(*checksum).or_default().push(number);
        }
        Ok(Self {
            stamp: Stamp::of(&metadata),
            container,
            messages,
            by_checksum,
            end: metadata.len(),
        })
    }

    /// The stretch of the file that a message takes, with what the mailbox puts around it.
    pub(super) fn stretch(&self, message: usize) -> (u64, u64) {
        let start = self.messages.get(message).map_or(self.end, |m| m.0);
        let end = self.messages.get(message + 1).map_or(self.end, |m| m.0);
        (start, end.saturating_sub(start))
    }

    /// Which message a plan means: of those with that checksum the one nearest to the place it names. Mailboxes are
    /// rewritten when their messages are read, and then places change.
    pub(super) fn find(&self, offset: u64, checksum: Checksum) -> Option<usize> {
        let same = self.by_checksum.get(&checksum)?;
        let next = same.partition_point(|&n| self.messages[n].0 < offset);
        let near = next.saturating_sub(1)..same.len().min(next + 1);
        same[near]
            .iter()
            .copied()
            .min_by_key(|&n| self.messages[n].0.abs_diff(offset))
    }

    /// The first message with this checksum.
    pub(super) fn first(&self, checksum: Checksum) -> Option<usize> {
        self.by_checksum.get(&checksum)?.first().copied()
    }
}

/// The checksum of a stretch of a file.
pub(super) fn checksum_of(file: &mut File, start: u64, bytes: u64) -> io::Result<Checksum> {
    let mut hasher = Hashing::new(io::sink());
    file.seek(SeekFrom::Start(start))?;
    copy_exactly(file, bytes, &mut hasher)?;
    Ok(hasher.whole().checksum)
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "scan again for a new plan",
        _ => "check its rights",
    };
    Failure::new(format!("{} cannot be read: {error}", path.display()), next)
}
