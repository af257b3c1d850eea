//! A piece of reading that one thread can do on its own.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use twicetold_model::{Form, Location, RawMessage};

use crate::container::split_whole;
use crate::held::Held;
use crate::judge::{Content, judge, message_in};
use crate::listing::{Container, Entry, Listing, Place, shown};
use crate::mbox::{Span, unstuff};
use crate::stream::Limits;
use crate::trouble::Trouble;

/// A piece of work that one thread can do on its own: a few files, or a stretch of an mbox.
#[derive(Debug)]
pub struct Task {
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// Files that nobody has opened yet.
    Files {
        listing: Arc<Listing>,
        entries: Vec<usize>,
    },
    /// Messages that are in memory already.
    Block {
        block: Arc<Vec<u8>>,
        base: u64,
        path: Arc<str>,
        form: Form,
        spans: Vec<Span>,
    },
    /// Messages that somebody holds.
    Held { held: Arc<Held>, some: Range<usize> },
    /// Nothing to do but to tell.
    Trouble(Trouble),
}

impl Task {
    pub(crate) fn files(listing: Arc<Listing>, entries: Vec<usize>) -> Self {
        Self {
            work: Work::Files { listing, entries },
        }
    }

    pub(crate) fn block(
        block: Arc<Vec<u8>>,
        base: u64,
        path: Arc<str>,
        form: Form,
        spans: Vec<Span>,
    ) -> Self {
        Self {
            work: Work::Block {
                block,
                base,
                path,
                form,
                spans,
            },
        }
    }

    pub(crate) fn held(held: Arc<Held>, some: Range<usize>) -> Self {
        Self {
            work: Work::Held { held, some },
        }
    }

    pub(crate) fn trouble(trouble: Trouble) -> Self {
        Self {
            work: Work::Trouble(trouble),
        }
    }

    /// Where messages of a block begin in their file.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> {
        let (base, spans) = match &self.work {
            Work::Block { base, spans, .. } => (*base, spans.as_slice()),
            _ => (0, &[][..]),
        };
        spans.iter().map(move |span| base + span.start as u64)
    }

    /// Reads the task's messages and hands each to `each`; a file that cannot be read goes to `trouble`.
    pub fn run(self, each: &mut dyn FnMut(RawMessage<'_>), trouble: &mut dyn FnMut(Trouble)) {
        match self.work {
            Work::Files { listing, entries } => {
                let mut buffer = Vec::new();
                for entry in entries.iter().filter_map(|&n| listing.entries.get(n)) {
                    let shown = listing.shown(entry).into();
                    let path = listing.path(entry);
                    file(&listing, entry, shown, &path, &mut buffer, each, trouble);
                }
            }
            Work::Block {
                block,
                base,
                path,
                form,
                spans,
            } => {
                for span in spans {
                    let offset = Some(base + span.start as u64);
                    let location = Location {
                        path: Arc::clone(&path),
                        offset,
                    };
                    each(RawMessage {
                        location,
                        form,
                        bytes: content(&block, &span),
                    });
                }
            }
            Work::Held { held, some } => held.hand_out(some, each, trouble),
            Work::Trouble(what) => trouble(what),
        }
    }
}

/// Reads a file and hands out what is in it.
pub(crate) fn file(
    listing: &Listing,
    entry: &Entry,
    shown: Arc<str>,
    path: &Path,
    buffer: &mut Vec<u8>,
    each: &mut dyn FnMut(RawMessage<'_>),
    trouble: &mut dyn FnMut(Trouble),
) {
    match read_file(path, entry.stamp.size, buffer) {
        Ok(()) => hand_out(listing, entry, shown, buffer, each, trouble),
        Err(error) if is_too_large(&error) => trouble(Trouble::too_large(&shown)),
        Err(error) => trouble(Trouble::reading(&shown, &error)),
    }
}

/// Hands out what is in a file, which may be nothing.
pub(crate) fn hand_out(
    listing: &Listing,
    entry: &Entry,
    shown: Arc<str>,
    file: &[u8],
    each: &mut dyn FnMut(RawMessage<'_>),
    trouble: &mut dyn FnMut(Trouble),
) {
    match contained(entry, file) {
        Contained::One(form, range) => each(RawMessage {
            location: Location {
                path: shown,
                offset: None,
            },
            form,
            bytes: Cow::Borrowed(&file[range]),
        }),
        Contained::Many(container) => split_whole(file, container, &mut |span| {
            let location = Location {
                path: Arc::clone(&shown),
                offset: Some(span.start as u64),
            };
            each(RawMessage {
                location,
                form: container.form(),
                bytes: content(file, &span),
            });
        }),
        Contained::Nothing => {
            listing.passed_over.fetch_add(1, Ordering::Relaxed);
            if entry.place == Place::Named && !file.is_empty() {
                trouble(Trouble::not_messages(&shown));
            }
        }
    }
}

/// What a file holds for us.
#[derive(Debug)]
pub(crate) enum Contained {
    One(Form, Range<usize>),
    Many(Container),
    Nothing,
}

/// Decides what a file holds, from where it stands and what is in it.
pub(crate) fn contained(entry: &Entry, file: &[u8]) -> Contained {
    if entry.place == Place::Maildir {
        return Contained::One(Form::Mail, message_in(file, false));
    }
    match judge(file, &shown(&entry.name)) {
        Content::Mail => Contained::One(Form::Mail, message_in(file, true)),
        Content::Text if entry.place != Place::BesideMaildir => {
            Contained::One(Form::Text, 0..file.len())
        }
        Content::Mbox => Contained::Many(Container::Mbox),
        Content::JsonLines => Contained::Many(Container::JsonLines),
        Content::Sgml => Contained::Many(Container::Sgml),
        Content::Text | Content::Empty | Content::Own | Content::Foreign => Contained::Nothing,
    }
}

/// The bytes of a message as its sender would know them.
pub(crate) fn content<'a>(buffer: &'a [u8], span: &Span) -> Cow<'a, [u8]> {
    let bytes = &buffer[span.content.clone()];
    if span.stuffed {
        unstuff(bytes)
    } else {
        Cow::Borrowed(bytes)
    }
}

/// Reads a whole file into `buffer`, whose memory is used again.
pub(crate) fn read_file(path: &Path, expected: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    let most = Limits::USUAL.message as u64;
    buffer.clear();
    if expected > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // One more, so that the end is noticed without growing the buffer.
    buffer.reserve(usize::try_from(expected).unwrap_or(0) + 1);
    let read = File::open(path)?.take(most + 1).read_to_end(buffer)?;
    if read as u64 > most {
        Err(io::ErrorKind::FileTooLarge.into())
    } else {
        Ok(())
    }
}

fn is_too_large(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}
