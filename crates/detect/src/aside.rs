//! What is put aside when there is no room for it in memory.
//!
//! The sentences and word pairs of a message are asked for when that message is asked about, and hardly ever otherwise; its
//! subject and sender are shown at the end. Beyond the memory that a user allows they go to a file that nobody else sees, and come back one by one.

use std::borrow::Cow;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use twicetold_methods::winnow::Winnow;
use twicetold_model::{Digest, Problem};

use crate::cache::{
    Appending, Place, Reader, Writer, problems, read_back, read_problems, read_told, told,
};
use crate::record::Told;

/// What of a message is seldom asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seldom {
    pub(crate) detail: Detail,
    pub(crate) shown: Shown,
}

/// What a report shows of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) message_id: Option<String>,
    pub(crate) subject: String,
    pub(crate) from: String,
    /// Checksum of its text to the letter, its attachments and links: who has the same one is a copy, proved.
    pub(crate) digest: Digest,
    pub(crate) problems: Vec<Problem>,
}

impl Shown {
    /// Of a message of which this could not be read back.
    pub(crate) fn lost() -> Self {
        let what = "its subject and sender were put aside and could not be read back";
        Self {
            problems: vec![Problem::new(what)],
            ..Self::default()
        }
    }

    fn write(&self, to: &mut Writer) {
        let mut out = Writer::with_room_for(self.size());
        out.maybe(self.message_id.as_deref(), Writer::text);
        out.text(&self.subject);
        out.text(&self.from);
        out.raw(&self.digest);
        problems(&mut out, &self.problems);
        // Whoever wants what stands behind it passes over it.
        to.number(out.bytes.len() as u64);
        to.raw(&out.bytes);
    }

    /// Passes over one.
    fn skip(from: &mut Reader<'_>) -> Option<()> {
        let length = from.number()?.try_into().ok()?;
        from.raw(length).map(drop)
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.number()?;
        Some(Self {
            message_id: from.maybe(Reader::text)?,
            subject: from.text()?,
            from: from.text()?,
            digest: from.digest()?,
            problems: read_problems(from)?,
        })
    }

    /// About how many bytes of memory it takes.
    fn size(&self) -> usize {
        let texts = [
            self.message_id.as_deref().unwrap_or_default(),
            &self.subject,
            &self.from,
        ];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

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

/// Where that is which is seldom asked for.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Here(Box<Seldom>),
    Aside(Place),
}

/// The file of that for which there was no room.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// How many bytes of it may stay in memory.
    room: u64,
    used: AtomicU64,
    file: OnceLock<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    writing: Appending,
    /// Whether everything could be written, once somebody wants to read.
    written: OnceLock<bool>,
    reading: File,
    path: PathBuf,
}

impl Open {
    fn read(&self, place: Place) -> Option<Vec<u8>> {
        let finish = || self.writing.finish().is_ok();
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

    /// Puts it where there is room for it.
    pub(crate) fn put(&self, seldom: Box<Seldom>) -> Stored {
        let Seldom { detail, shown } = &*seldom;
        let size = size_of_val(&*detail.told) + size_of_val(&*detail.numbers) + shown.size();
        let used = self.used.fetch_add(size as u64, Ordering::Relaxed);
        if used < self.room {
            return Stored::Here(seldom);
        }
        let mut out = Writer::with_room_for(size);
        shown.write(&mut out);
        told(&mut out, &detail.told);
        out.halves(&detail.numbers);
        let added = self.open().and_then(|open| open.writing.add(&out.bytes));
        // No room on the disk either: then memory it is.
        added.map_or(Stored::Here(seldom), Stored::Aside)
    }

    /// The detail of a message; `None` if it cannot be read back.
    pub(crate) fn detail<'s>(&self, stored: &'s Stored) -> Option<Cow<'s, Detail>> {
        let place = match stored {
            Stored::Here(seldom) => return Some(Cow::Borrowed(&seldom.detail)),
            Stored::Aside(place) => *place,
        };
        let frame = self.read(place)?;
        let mut from = Reader::new(&frame);
        Shown::skip(&mut from)?;
        Some(Cow::Owned(Detail {
            told: read_told(&mut from)?.into(),
            numbers: from.halves()?.into(),
            numbered: None,
        }))
    }

    /// What a report shows of a message; `None` if it cannot be read back.
    pub(crate) fn shown<'s>(&self, stored: &'s Stored) -> Option<Cow<'s, Shown>> {
        match stored {
            Stored::Here(seldom) => Some(Cow::Borrowed(&seldom.shown)),
            Stored::Aside(place) => {
                let frame = self.read(*place)?;
                Shown::read(&mut Reader::new(&frame)).map(Cow::Owned)
            }
        }
    }

    /// The same, taken out of what is no longer needed.
    pub(crate) fn take_shown(&self, stored: Stored) -> Option<Shown> {
        match stored {
            Stored::Here(seldom) => Some(seldom.shown),
            Stored::Aside(_) => self.shown(&stored).map(Cow::into_owned),
        }
    }

    fn read(&self, place: Place) -> Option<Vec<u8>> {
        self.file.get()?.as_ref()?.read(place)
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
                writing,
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
                })
            })
            .collect();
        let stored: Vec<Stored> = all.iter().map(|s| aside.put(s.clone())).collect();
        let here = |s: &&Stored| matches!(s, Stored::Here(_));
        assert!(stored.iter().filter(here).count() < 8);
        for (seldom, stored) in all.iter().zip(stored) {
            assert_eq!(aside.detail(&stored).as_deref(), Some(&seldom.detail));
            assert_eq!(aside.shown(&stored).as_deref(), Some(&seldom.shown));
            assert_eq!(aside.take_shown(stored).as_ref(), Some(&seldom.shown));
        }
        let roomy = Aside::beyond(u64::MAX);
        assert!(all.into_iter().all(|s| here(&&roomy.put(s))));
    }
}
