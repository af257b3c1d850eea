//! What is put aside when there is no room for it in memory.
//!
//! The sentences and word pairs of a message are asked for when that message is asked about, and hardly ever otherwise.
//! Beyond the memory that a user allows they go to a file that nobody else sees, and come back one by one.

use std::borrow::Cow;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use twicetold_methods::winnow::Winnow;

use crate::cache::{Appending, Place, Reader, Writer, read_back, read_told, told};
use crate::record::Told;

/// What finding candidates needs to know of the message that is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Its sentences, packaging included, in the order of the text.
    pub(crate) told: Box<[Told]>,
    /// The word pairs and facts of its content, sentence by sentence in the order of the text: half of the number of each.
    pub(crate) numbers: Box<[u32]>,
    /// Its fingerprints, if they are not made of those pairs but of numbers by first appearance.
    pub(crate) numbered: Option<Box<[u32]>>,
}

/// A sentence with what is remembered of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentence<'d> {
    pub(crate) told: Told,
    /// Its word pairs, as far as they take part in fingerprints.
    pub(crate) pairs: &'d [u32],
    /// Its facts: each stands wherever the sentence does.
    pub(crate) facts: &'d [u32],
}

impl Detail {
    /// Each sentence with its pairs and facts.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = Sentence<'_>> {
        let mut rest: &[u32] = &self.numbers;
        let mut next = move |count: usize| rest.split_off(..count).unwrap_or_default();
        self.told.iter().map(move |&told| Sentence {
            told,
            pairs: next(told.pairs as usize),
            facts: next(told.facts()),
        })
    }

    /// How many fingerprints the pairs have.
    pub(crate) fn count_fingerprints(&self, winnow: Winnow) -> u32 {
        let counts = self
            .sentences()
            .map(|sentence| winnow.count(sentence.pairs));
        counts.sum::<usize>() as u32
    }

    /// The fingerprints of its content, in the order of the text.
    pub(crate) fn fingerprints(&self, winnow: Winnow) -> Vec<u32> {
        if let Some(numbered) = &self.numbered {
            return numbered.to_vec();
        }
        let mut fingerprints = Vec::with_capacity(self.numbers.len());
        for sentence in self.sentences() {
            winnow.append(sentence.pairs, &mut fingerprints);
        }
        fingerprints
    }
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
    file: OnceLock<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    /// `None` once everything has been written.
    writing: Mutex<Option<Appending>>,
    /// Whether everything could be written, once somebody wants to read.
    written: OnceLock<bool>,
    reading: File,
    path: PathBuf,
}

impl Open {
    fn writing(&self) -> MutexGuard<'_, Option<Appending>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, place: Place) -> Option<Vec<u8>> {
        let finish = || match self.writing().take() {
            Some(writing) => writing.finish().is_ok(),
            None => false,
        };
        self.written
            .get_or_init(finish)
            .then(|| read_back(&self.reading, place))?
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

    /// Puts a detail where there is room for it.
    pub(crate) fn put(&self, detail: Detail) -> Stored {
        let size = size_of_val(&*detail.told) + size_of_val(&*detail.numbers);
        let used = self.used.fetch_add(size as u64, Ordering::Relaxed);
        if used < self.room {
            return Stored::Here(detail);
        }
        let mut out = Writer::default();
        told(&mut out, &detail.told);
        out.halves(&detail.numbers);
        let added = self
            .open()
            .and_then(|open| open.writing().as_mut()?.add(&out.bytes));
        // No room on the disk either: then memory it is.
        added.map_or(Stored::Here(detail), Stored::Aside)
    }

    /// The detail of a message; `None` if it cannot be read back.
    pub(crate) fn get<'s>(&self, stored: &'s Stored) -> Option<Cow<'s, Detail>> {
        let place = match stored {
            Stored::Here(detail) => return Some(Cow::Borrowed(detail)),
            Stored::Aside(place) => *place,
        };
        let frame = self.file.get()?.as_ref()?.read(place)?;
        let mut from = Reader::new(&frame);
        Some(Cow::Owned(Detail {
            told: read_told(&mut from)?.into(),
            numbers: from.halves()?.into(),
            numbered: None,
        }))
    }

    fn open(&self) -> Option<&Open> {
        let make = || {
            let name = format!("twicetold-{}-{:p}", std::process::id(), self);
            let path = std::env::temp_dir().join(name);
            let writing = Appending::create(&path).ok()?;
            let reading = File::open(&path).ok()?;
            // Where that is possible the file has no name from here on, and is gone with the process.
            if cfg!(unix) {
                let _ = fs::remove_file(&path);
            }
            Some(Open {
                writing: Mutex::new(Some(writing)),
                written: OnceLock::new(),
                reading,
                path,
            })
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
                    .map(|m| Told::new(n ^ m, m as usize, 1, 1).marked(m % 2 == 0, m % 3 == 0))
                    .collect(),
                numbers: (0..n as u32 * 2).collect(),
                numbered: None,
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
