//! The file `related-N`: how the messages of the last scan are related, and how it came to what it decided.
//!
//! A scan after which a few messages have come begins with this instead of counting everything anew. It is written piece by piece while
//! the scan goes on; `known` says where the pieces are.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use twicetold_index::{Key, Rows, Seen, Twice};

use super::bytes::{Reader, Writer};
use super::frames::{Appending, Place, read_back};
use crate::keepset::Outcome;
use crate::proven::{Proven, read_proven_as_it_is, write_proven};
use crate::shared::Lists;

/// What is kept, each in pieces of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Which word pairs were seen, and which again.
    Pairs,
    /// Who has which fingerprint.
    Fingerprints,
    /// Who has which sentence.
    Sentences,
    /// How it was decided.
    Course,
}

/// How many parts there are.
const PARTS: usize = 4;

/// How many keys, blocks or messages are written in one piece.
const PIECE: usize = 1 << 15;

/// Where the pieces of each part are, in the file with this number.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pub(super) number: u64,
    parts: [Vec<Place>; PARTS],
}

impl Pieces {
    pub(super) fn write(&self, out: &mut Writer) {
        out.number(self.number);
        for part in &self.parts {
            out.list(part.iter(), |out, place| place.write(out));
        }
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut pieces = Self {
            number: from.number()?,
            ..Self::default()
        };
        for part in &mut pieces.parts {
            *part = from.list(Place::read)?;
        }
        Some(pieces)
    }
}

/// The file with this number.
pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("related-{number}"))
}

/// How the last scan came to what it decided. Messages are known by their numbers there.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// The messages in the order in which they were asked.
    pub(crate) order: Vec<u32>,
    /// For each message its conversation.
    pub(crate) threads: Vec<u32>,
    /// For each message whether it held what no other had.
    pub(crate) new: Vec<bool>,
    /// What the first walk decided about each, in the order in which they were asked.
    pub(crate) outcomes: Vec<Outcome>,
    /// The messages that what the first walk kept might cover; sorted.
    pub(crate) hopeful: Vec<u32>,
    /// What the first walk had decided about those of which the second one decided otherwise.
    pub(crate) before: BTreeMap<u32, Option<Proven>>,
}

impl Course {
    /// For each message whether it was asked: no other stood for it.
    pub(crate) fn were_asked(&self) -> Vec<bool> {
        let mut asked = vec![false; self.threads.len()];
        for &a in &self.order {
            asked[a as usize] = true;
        }
        asked
    }
}

/// A file being written.
#[derive(Debug)]
pub(crate) struct Keeping {
    path: PathBuf,
    file: Appending,
    pieces: Mutex<Pieces>,
    /// All of it is there: it stays.
    finished: bool,
}

impl Drop for Keeping {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Keeping {
    /// A new file with this number.
    pub(super) fn create(folder: &Path, number: u64) -> Option<Self> {
        let path = path(folder, number);
        // What is there is left over from a scan that was stopped.
        let _ = fs::remove_file(&path);
        let pieces = Pieces {
            number,
            ..Pieces::default()
        };
        Some(Self {
            file: Appending::create(&path).ok()?,
            path,
            pieces: Mutex::new(pieces),
            finished: false,
        })
    }

    fn add(&self, part: Part, piece: &Writer) {
        // What cannot be written is told at the end.
        if let Some(place) = self.file.add(&piece.bytes) {
            let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
            pieces.parts[part as usize].push(place);
        }
    }

    /// Keeps which word pairs were seen; they can still be counted.
    pub(crate) fn pairs(&self, pairs: &Twice) {
        self.slots(pairs.slots());
        let blocks = Seen::blocks_for(pairs.slots());
        let threads = rayon::current_num_threads();
        let mut start = 0;
        while start < blocks {
            let end = blocks.min(start + threads * PIECE / 8);
            let starts: Vec<usize> = (start..end).step_by(PIECE / 8).collect();
            let packed: Vec<Rows<u8>> = starts
                .par_iter()
                .map(|&start| Seen::pack(pairs, start..end.min(start + PIECE / 8)))
                .collect();
            packed.iter().for_each(|rows| self.blocks(rows));
            start = end;
        }
    }

    /// The same where a few were added to what had been seen before.
    pub(crate) fn seen(&self, pairs: Seen) {
        self.slots(pairs.slots());
        self.blocks(&pairs.blocks());
    }

    fn slots(&self, slots: u64) {
        let mut out = Writer::default();
        out.hash(slots);
        self.add(Part::Pairs, &out);
    }

    fn blocks(&self, rows: &Rows<u8>) {
        let mut lists = rows.iter().peekable();
        while lists.peek().is_some() {
            let mut out = Writer::default();
            let some: Vec<&[u8]> = lists.by_ref().take(PIECE / 8).collect();
            out.list(some.iter(), |out, list| out.number(list.len() as u64));
            some.iter().for_each(|list| out.raw(list));
            self.add(Part::Pairs, &out);
        }
    }

    /// Keeps who has which key.
    pub(crate) fn lists<K: Key>(&self, part: Part, lists: &Lists<K>) {
        let bytes = K::BITS as usize / 8;
        let mut room = Writer::default();
        room.number(lists.keys.len() as u64);
        room.number(lists.holders.numbers() as u64);
        self.add(part, &room);
        let mut holders = lists.holders.iter();
        for keys in lists.keys.chunks(PIECE) {
            let mut out = Writer::default();
            out.number(keys.len() as u64);
            for &key in keys {
                let number: u64 = key.into();
                out.raw(&number.to_le_bytes()[..bytes]);
            }
            for holders in holders.by_ref().take(keys.len()) {
                rising(&mut out, holders);
            }
            self.add(part, &out);
        }
    }

    /// Keeps how it was decided.
    pub(crate) fn course(&self, course: &Course) {
        let mut out = Writer::default();
        out.list(course.order.iter(), |out, &a| out.number(u64::from(a)));
        out.list(course.threads.iter(), |out, &a| out.number(u64::from(a)));
        out.list(course.new.iter(), |out, &new| out.flags([new]));
        out.list(course.outcomes.iter(), |out, outcome| {
            out.number(u64::from(outcome.0));
        });
        rising(&mut out, &course.hopeful);
        out.list(course.before.iter(), |out, (&message, proven)| {
            out.number(u64::from(message));
            write_proven(out, proven, |witness| witness as usize);
        });
        // A piece may be no longer than its length can tell.
        for piece in out.bytes.chunks(1 << 20) {
            let mut out = Writer::default();
            out.raw(piece);
            self.add(Part::Course, &out);
        }
    }

    /// Where everything is, if it could be written; otherwise nothing is left behind.
    pub(super) fn finish(mut self) -> Option<Pieces> {
        self.finished = self.file.finish().is_ok();
        let pieces = self
            .pieces
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        self.finished.then(|| std::mem::take(pieces))
    }
}

/// Numbers in rising order: each by how far it is from the one before it.
fn rising(out: &mut Writer, numbers: &[u32]) {
    let mut before = 0;
    out.list(numbers.iter(), |out, &number| {
        out.number(u64::from(number.wrapping_sub(before)));
        before = number;
    });
}

fn read_rising(from: &mut Reader<'_>) -> Option<Vec<u32>> {
    let mut before = 0_u32;
    from.list(|from| {
        before = before.checked_add(from.small()?)?;
        Some(before)
    })
}

/// The file that the last scan left.
#[derive(Debug)]
pub(crate) struct Related {
    file: File,
    pieces: Pieces,
}

impl Related {
    pub(super) fn open(folder: &Path, pieces: &Pieces) -> Option<Self> {
        Some(Self {
            file: File::open(path(folder, pieces.number)).ok()?,
            pieces: pieces.clone(),
        })
    }

    fn part(&self, part: Part) -> impl Iterator<Item = Option<Vec<u8>>> {
        let places = self.pieces.parts[part as usize].iter();
        places.map(|place| read_back(&self.file, *place))
    }

    /// Which word pairs had been seen.
    pub(crate) fn pairs(&self) -> Option<Seen> {
        let mut pieces = self.part(Part::Pairs);
        let slots = Reader::new(&pieces.next()??).hash()?;
        let mut rows = Rows::default();
        for piece in pieces {
            let piece = piece?;
            let mut from = Reader::new(&piece);
            for length in from.list(Reader::small)? {
                rows.push(from.raw(length as usize)?.iter().copied());
            }
        }
        Seen::of(slots, rows)
    }

    /// Who had which key: keys in rising order, each with those that had it.
    pub(crate) fn lists<K: Key>(&self, part: Part) -> Option<Lists<K>> {
        let places = &self.pieces.parts[part as usize];
        let (room, places) = places.split_first()?;
        let room = read_back(&self.file, *room)?;
        let mut from = Reader::new(&room);
        let [keys, numbers] = [from.small()? as usize, from.number()? as usize];
        // More than there are bytes is not believed.
        let bytes = usize::try_from(self.file.metadata().ok()?.len()).ok()?;
        let mut lists = Lists {
            keys: Vec::with_capacity(keys.min(bytes)),
            holders: Rows::with_room_for(keys.min(bytes), numbers.min(bytes)),
        };
        for some in places.chunks(2 * rayon::current_num_threads()) {
            let read = |place: &Place| {
                let piece = read_back(&self.file, *place)?;
                read_lists::<K>(&mut Reader::new(&piece))
            };
            let pieces: Vec<Option<Lists<K>>> = some.par_iter().map(read).collect();
            for piece in pieces {
                let piece = piece?;
                lists.keys.extend_from_slice(&piece.keys);
                lists.holders.append(&piece.holders);
            }
        }
        let all_there = lists.keys.len() == keys && lists.holders.numbers() == numbers;
        let rising = lists.keys.is_sorted_by(|a, b| a < b);
        (all_there && rising).then_some(lists)
    }

    /// How it was decided.
    pub(crate) fn course(&self) -> Option<Course> {
        let pieces: Vec<Vec<u8>> = self.part(Part::Course).collect::<Option<_>>()?;
        let bytes = pieces.concat();
        drop(pieces);
        let mut from = Reader::new(&bytes);
        let course = Course {
            order: from.list(Reader::small)?,
            threads: from.list(Reader::small)?,
            new: from.list(|from| from.flags().map(|[new]| new))?,
            outcomes: from.list(|from| from.small().map(Outcome))?,
            hopeful: read_rising(&mut from)?,
            before: from
                .list(|from| Some((from.small()?, read_proven_as_it_is(from)?)))?
                .into_iter()
                .collect(),
        };
        from.is_done().then_some(course)
    }
}

fn read_lists<K: Key>(from: &mut Reader<'_>) -> Option<Lists<K>> {
    let count: usize = from.number()?.try_into().ok()?;
    let bytes = K::BITS as usize / 8;
    let raw = from.raw(count.checked_mul(bytes)?)?;
    let key = |raw: &[u8]| {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(raw);
        K::of_number(u64::from_le_bytes(number))
    };
    let keys: Vec<K> = raw.chunks_exact(bytes).map(key).collect();
    let mut holders = Rows::with_room_for(count, 4 * count);
    for _ in 0..count {
        let mut number = 0_u32;
        let length = from.small()?;
        let mut whole = true;
        holders.push((0..length).map_while(|_| {
            let next = from.small().and_then(|step| number.checked_add(step));
            whole = next.is_some();
            number = next.unwrap_or(number);
            next
        }));
        if !whole {
            return None;
        }
    }
    from.is_done().then_some(Lists { keys, holders })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let keeping = Keeping::create(folder.path(), 3).unwrap();
        let twice = Twice::with_room_for(100_000);
        let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        twice.insert_each((0..3000).chain(0..1000).map(key));
        keeping.pairs(&twice);
        let mut lists: Lists<u64> = Lists::default();
        for n in 0..100_000_u32 {
            lists.keys.push(u64::from(n) << 40);
            lists.holders.push((0..2 + n % 5).map(|m| n + m * m * 100));
        }
        keeping.lists(Part::Sentences, &lists);
        let course = Course {
            order: (0..70_000).rev().collect(),
            threads: vec![7; 300],
            new: vec![true, false, true],
            outcomes: vec![Outcome(0), Outcome(5)],
            hopeful: vec![3, 9, 80_000],
            before: BTreeMap::from([(4, None)]),
        };
        keeping.course(&course);
        let pieces = keeping.finish().unwrap();
        let mut out = Writer::default();
        pieces.write(&mut out);
        let pieces = Pieces::read(&mut Reader::new(&out.bytes)).unwrap();
        let related = Related::open(folder.path(), &pieces).unwrap();
        let seen = related.pairs().unwrap();
        for n in 0..5000 {
            assert_eq!(seen.contains(key(n)), twice.contains(key(n)), "{n}");
        }
        let back: Lists<u64> = related.lists(Part::Sentences).unwrap();
        assert_eq!(back.keys, lists.keys);
        assert!(back.holders.iter().eq(lists.holders.iter()));
        assert!(
            related.lists::<u32>(Part::Fingerprints).is_none(),
            "never kept"
        );
        assert_eq!(
            format!("{:?}", related.course().unwrap()),
            format!("{course:?}")
        );
    }
}
