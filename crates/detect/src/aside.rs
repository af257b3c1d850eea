//! What is put aside when there is no room for it in memory.
//!
//! The sentences and word pairs of a message are asked for when that message is asked about, and hardly ever otherwise; its
//! subject and sender are shown at the end. Beyond the memory that a user allows they go to a file that nobody else sees, unless they stand in the cache already, and come back one by one.

use std::borrow::Cow;
use std::env;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Once, OnceLock};

use twicetold_index::Filter;
use twicetold_model::Segment;

use crate::cache::{Appending, Place, Reader, Stretch, Writer, all_pairs_in, read_back};
use crate::seldom::{Detail, Seldom, Shown};

/// Where that is which is seldom asked for.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Here(Box<Seldom>),
    Aside(Place),
    /// At the beginning of its record in the cache.
    Cached(Place),
}

impl Stored {
    /// What a report shows, or where it is.
    pub(crate) fn to_show(&self) -> Self {
        match self {
            Self::Here(seldom) => Self::Here(Box::new(Seldom::showing(seldom.shown.clone()))),
            Self::Aside(place) => Self::Aside(*place),
            Self::Cached(place) => Self::Cached(*place),
        }
    }
}

impl Default for Stored {
    /// Nothing.
    fn default() -> Self {
        Self::Here(Box::default())
    }
}

/// The file of that for which there was no room.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// How many bytes of it may stay in memory.
    room: u64,
    used: AtomicU64,
    /// The file of records of the cache, if there is one.
    cache: Option<File>,
    file: OnceLock<Option<Open>>,
    /// Something could not be read back.
    missed: AtomicBool,
}

#[derive(Debug)]
struct Open {
    writing: Appending,
    /// Once somebody wants to read: everything has been written, as far as it could be.
    written: Once,
    reading: File,
}

impl Open {
    fn read(&self, place: Place) -> Option<Vec<u8>> {
        // What could not be written fails its checksum, and is still at hand.
        read_back(self.written(), place).or_else(|| self.writing.kept(place))
    }

    /// The file with everything in it.
    fn written(&self) -> &File {
        self.written.call_once(|| drop(self.writing.finish()));
        &self.reading
    }
}

impl Aside {
    /// Keeps this many bytes in memory.
    pub(crate) fn beyond(room: u64) -> Self {
        Self {
            room,
            ..Self::default()
        }
    }

    /// The same, in a scan whose cache has records in this file.
    pub(crate) fn beside(self, cache: Option<File>) -> Self {
        Self { cache, ..self }
    }

    /// Puts it where there is room for it, unless the cache has it: there.
    pub(crate) fn put(&self, seldom: Box<Seldom>, cached: Option<Place>) -> Stored {
        let size = seldom.size();
        let used = self.used.fetch_add(size as u64, Ordering::Relaxed);
        if used < self.room {
            return Stored::Here(seldom);
        }
        if let Some(place) = cached.filter(|_| self.cache.is_some()) {
            return Stored::Cached(place);
        }
        let mut out = Writer::with_room_for(size);
        seldom.write(&mut out);
        let added = self.open().and_then(|open| open.writing.add(&out.bytes));
        // No room on the disk either: then memory it is.
        added.map_or(Stored::Here(seldom), Stored::Aside)
    }

    /// The detail of a message; `None` if it cannot be read back.
    pub(crate) fn detail<'s>(&self, stored: &'s Stored) -> Option<Cow<'s, Detail>> {
        match stored {
            Stored::Here(seldom) => Some(Cow::Borrowed(&seldom.detail)),
            _ => self.read(stored, Seldom::read_detail).map(Cow::Owned),
        }
    }

    /// What a report shows of a message; `None` if it cannot be read back.
    pub(crate) fn shown<'s>(&self, stored: &'s Stored) -> Option<Cow<'s, Shown>> {
        match stored {
            Stored::Here(seldom) => Some(Cow::Borrowed(&seldom.shown)),
            _ => self.read(stored, Shown::read).map(Cow::Owned),
        }
    }

    /// All word pairs of a message that stands in the cache; nothing if they cannot be read back.
    pub(crate) fn pairs(&self, stored: &Stored) -> Filter {
        let pairs = match stored {
            Stored::Here(_) => None,
            _ => self.read(stored, all_pairs_in),
        };
        Filter::of_halves(&pairs.unwrap_or_default())
    }

    /// What the lines of a message are for; nothing if that cannot be read back.
    pub(crate) fn segments(&self, stored: &Stored) -> Vec<Segment> {
        match stored {
            Stored::Here(seldom) => seldom.segments.to_vec(),
            _ => {
                let segments = self.read(stored, Seldom::read_segments);
                segments.unwrap_or_default()
            }
        }
    }

    /// For whoever asks for one message after the other, in the order in which they were read.
    pub(crate) fn onward(&self) -> Onward<'_> {
        Onward {
            aside: self,
            own: Stretch::default(),
            cached: Stretch::default(),
        }
    }

    /// Reads back a part of what was written.
    fn read<T>(&self, stored: &Stored, part: fn(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let frame = match stored {
            Stored::Here(_) => None,
            Stored::Aside(place) => self.opened().and_then(|open| open.read(*place)),
            Stored::Cached(place) => self.cache.as_ref().and_then(|file| read_back(file, *place)),
        };
        let found = frame.and_then(|frame| part(&mut Reader::new(&frame)));
        self.missed.fetch_or(found.is_none(), Ordering::Relaxed);
        found
    }

    /// Whether everything that was asked for could be read back.
    pub(crate) fn is_whole(&self) -> bool {
        !self.missed.load(Ordering::Relaxed)
    }

    fn opened(&self) -> Option<&Open> {
        self.file.get().and_then(Option::as_ref)
    }

    fn open(&self) -> Option<&Open> {
        let make = |folder: PathBuf| {
            // It has no name where that is possible, and is gone with the process.
            let reading = tempfile::tempfile_in(folder).ok()?;
            Some(Open {
                writing: Appending::to(reading.try_clone().ok()?),
                written: Once::new(),
                reading,
            })
        };
        let file = || temporary_folders().find_map(make);
        self.file.get_or_init(file).as_ref()
    }
}

/// Reads back what was put aside of one message after the other. What stands together is read at once.
#[derive(Debug)]
pub(crate) struct Onward<'a> {
    aside: &'a Aside,
    /// Where it is in the file, and in that of the cache.
    own: Stretch,
    cached: Stretch,
}

impl Onward<'_> {
    /// The detail of a message; `None` if it cannot be read back.
    pub(crate) fn detail<'s>(&mut self, stored: &'s Stored) -> Option<Cow<'s, Detail>> {
        match stored {
            Stored::Here(seldom) => Some(Cow::Borrowed(&seldom.detail)),
            _ => self.read(stored, Seldom::read_detail).map(Cow::Owned),
        }
    }

    /// What a report shows, taken out of what is no longer needed.
    pub(crate) fn take_shown(&mut self, stored: Stored) -> Option<Shown> {
        match stored {
            Stored::Here(seldom) => Some(seldom.shown),
            _ => self.read(&stored, Shown::read),
        }
    }

    fn read<T>(&mut self, stored: &Stored, part: fn(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let frame = match stored {
            Stored::Here(_) => None,
            Stored::Aside(place) => {
                let file = self.aside.opened().map(Open::written);
                file.and_then(|file| self.own.record(file, *place))
            }
            Stored::Cached(place) => {
                let file = self.aside.cache.as_ref();
                file.and_then(|file| self.cached.record(file, *place))
            }
        };
        let found = frame.and_then(|frame| part(&mut Reader::new(frame)));
        // What is not found this way may be at hand still.
        found.or_else(|| self.aside.read(stored, part))
    }
}

/// Where what there is no room for in memory may stand for a while, the best place first. The usual folder for such files may stand in memory itself, so it is
/// the first one only if the user has named it.
pub fn temporary_folders() -> impl Iterator<Item = PathBuf> {
    let named = env::var_os("TMPDIR").is_some();
    let lasting = (!named).then(|| PathBuf::from("/var/tmp"));
    lasting.into_iter().chain([env::temp_dir()])
}

#[cfg(test)]
mod tests {
    use twicetold_model::{Problem, SegmentKind};

    use super::*;
    use crate::record::Told;

    #[test]
    fn what_is_put_aside_comes_back() {
        let aside = Aside::beyond(100);
        let all: Vec<Box<Seldom>> = (0..40_u64)
            .map(|n| {
                Box::new(Seldom {
                    detail: Detail {
                        told: (0..n)
                            .map(|m| {
                                Told::new(n ^ m, m as usize, 1, 1).marked(m % 2 == 0, m % 3 == 0)
                            })
                            .collect(),
                        numbers: (0..n as u32 * 2).collect(),
                        numbered: None,
                    },
                    shown: Shown {
                        message_id: (n % 4 > 0).then(|| "x".repeat(n as usize)),
                        subject: format!("Letter {n}"),
                        from: "y".repeat((n % 3) as usize),
                        digest: [n as u8; 32],
                        problems: (0..n % 2).map(|_| Problem::new("late")).collect(),
                    },
                    segments: (0..n as u32 % 5)
                        .map(|m| Segment {
                            kind: SegmentKind::Signature,
                            depth: m as u8,
                            start: m * 1000 + n as u32,
                            end: m * 1000 + 900,
                        })
                        .collect(),
                })
            })
            .collect();
        let stored: Vec<Stored> = all.iter().map(|s| aside.put(s.clone(), None)).collect();
        let here = |s: &&Stored| matches!(s, Stored::Here(_));
        assert!(stored.iter().filter(here).count() < 8);
        let mut onward = aside.onward();
        for (seldom, stored) in all.iter().zip(stored) {
            assert_eq!(aside.detail(&stored).as_deref(), Some(&seldom.detail));
            assert_eq!(onward.detail(&stored).as_deref(), Some(&seldom.detail));
            assert_eq!(aside.shown(&stored).as_deref(), Some(&seldom.shown));
            assert_eq!(*aside.segments(&stored), *seldom.segments);
            assert_eq!(onward.take_shown(stored).as_ref(), Some(&seldom.shown));
        }
        let roomy = Aside::beyond(u64::MAX);
        assert!(all.into_iter().all(|s| here(&&roomy.put(s, None))));
    }
}
