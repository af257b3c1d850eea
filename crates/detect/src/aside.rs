//! What is put aside when there is no room for it in memory.
//!
//! The sentences and fingerprints of a message are asked for when that message is asked about, and hardly ever otherwise.
//! Beyond the memory that a user allows they go to a file that nobody else sees, and come back one by one.

use std::borrow::Cow;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::cache::{Appending, Place, Reader, Writer, read_one, read_told, told};
use crate::record::Told;

/// What finding candidates needs to know of the message that is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Its sentences, packaging included, in the order of the text.
    pub(crate) told: Box<[Told]>,
    /// Fingerprints of its content, sentence by sentence in the order of the text.
    pub(crate) fingerprints: Box<[u64]>,
}

/// Where the detail of a message is.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Here(Detail),
    Aside(Place),
}

/// The file of details for which there was no room.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// How many bytes of details may stay in memory.
    room: u64,
    used: AtomicU64,
    file: OnceLock<Option<Mutex<Open>>>,
}

#[derive(Debug)]
struct Open {
    /// `None` once everything has been written.
    writing: Option<Appending>,
    reading: File,
    path: PathBuf,
}

impl Aside {
    /// Keeps this many bytes in memory.
    pub(crate) fn beyond(room: u64) -> Self {
        Self {
            room,
            ..Self::default()
        }
    }

    /// Puts a detail where there is room for it.
    pub(crate) fn put(&self, detail: Detail) -> Stored {
        let size = size_of_val(&*detail.told) + size_of_val(&*detail.fingerprints);
        let used = self.used.fetch_add(size as u64, Ordering::Relaxed);
        if used < self.room {
            return Stored::Here(detail);
        }
        let mut out = Writer::default();
        told(&mut out, &detail.told);
        out.hashes(&detail.fingerprints);
        let added = self.open().and_then(|open| {
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            open.writing.as_mut()?.add(&out.bytes)
        });
        // No room on the disk either: then memory it is.
        added.map_or(Stored::Here(detail), Stored::Aside)
    }

    /// The detail of a message; `None` if it cannot be read back.
    pub(crate) fn get<'s>(&self, stored: &'s Stored) -> Option<Cow<'s, Detail>> {
        let place = match stored {
            Stored::Here(detail) => return Some(Cow::Borrowed(detail)),
            Stored::Aside(place) => *place,
        };
        let frame = {
            let open = self.file.get()?.as_ref()?;
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(writing) = open.writing.take() {
                writing.finish().ok()?;
            }
            read_one(&mut open.reading, place)?
        };
        let mut from = Reader::new(&frame);
        Some(Cow::Owned(Detail {
            told: read_told(&mut from)?.into(),
            fingerprints: from.hashes()?.into(),
        }))
    }

    fn open(&self) -> Option<&Mutex<Open>> {
        let make = || {
            let name = format!("twicetold-{}-{:p}", std::process::id(), self);
            let path = std::env::temp_dir().join(name);
            let writing = Appending::create(&path).ok()?;
            let reading = File::open(&path).ok()?;
            // Where that is possible the file has no name from here on, and is gone with the process.
            if cfg!(unix) {
                let _ = fs::remove_file(&path);
            }
            Some(Mutex::new(Open {
                writing: Some(writing),
                reading,
                path,
            }))
        };
        self.file.get_or_init(make).as_ref()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_aside_comes_back() {
        let aside = Aside::beyond(100);
        let details: Vec<Detail> = (0..40_u64)
            .map(|n| Detail {
                told: (0..n)
                    .map(|m| Told {
                        hash: n ^ m,
                        len: m as u32,
                        fingerprints: 2,
                        content: m % 2 == 0,
                        answers: m % 3 == 0,
                    })
                    .collect(),
                fingerprints: (0..n * 2).collect(),
            })
            .collect();
        let stored: Vec<Stored> = details.iter().map(|d| aside.put(d.clone())).collect();
        let here = |s: &&Stored| matches!(s, Stored::Here(_));
        assert!(stored.iter().filter(here).count() < 8);
        for (detail, stored) in details.iter().zip(&stored) {
            assert_eq!(aside.get(stored).as_deref(), Some(detail));
        }
        let all = Aside::beyond(u64::MAX);
        assert!(details.into_iter().all(|d| here(&&all.put(d))));
    }
}
