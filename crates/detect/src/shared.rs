//! Which keys do several messages have, and whom does a key lead to?
//!
//! What a few messages have leads to all of them. What many have (a greeting, a footer, a template) leads to a few of them only, so that
//! no look-up grows with the mail. Who can be seen by a key depends on who has the key, and on nothing else: a part of a
//! larger collection can be told, and is judged as it is in the whole.

use rayon::prelude::*;
use twicetold_index::{Key, Numbers, Rows, Twice};

/// How far keys lead. An engine that makes parts of a collection goes by the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// A key that no more messages than this have leads to all of them. Any other is common.
    pub few: u32,
    /// A common key leads to the first so many of the walk, if no more than [`Self::many`] have it,
    pub first: u32,
    /// which would tie too many together,
    pub many: u32,
    /// and to those of the first so many that stay in any case.
    pub shown: u32,
    /// A common fingerprint leads, among the messages made of little else, to the [first](Self::first) and to so many on either side.
    pub beside: u32,
    /// Of those only so many, the first of the walk, can be seen by it and see others.
    pub row: u32,
    /// Who is near a message shares one in so many of its fingerprints that are not common;
    pub of_the_telling: u32,
    /// if most of them are common, one in so many of all.
    pub of_all: u32,
}

impl Reach {
    /// What a scan goes by.
    pub const USUAL: Self = Self {
        few: 32,
        first: 8,
        many: 1_000,
        shown: 64,
        beside: 2,
        row: 1_000_000,
        of_the_telling: 3,
        of_all: 6,
    };

    /// Whether a key that `frequency` messages have leads to one of them: the one at this place of the walk among them.
    pub(crate) fn shows(self, frequency: u32, place: u32, stays: bool) -> bool {
        frequency <= self.few
            || (frequency <= self.many && place < self.first)
            || (stays && place < self.shown)
    }
}

/// The keys of a message as [`Shared::of`] takes them: without those of which `twice`, if given, knows that only one message has them. It lets some of these through.
pub(crate) fn likely<K: Key>(mut keys: Vec<K>, twice: Option<&Twice>) -> Box<[K]> {
    if let Some(twice) = twice {
        twice.keep_shared(&mut keys);
    }
    // A message that repeats itself shares nothing with others by that.
    keys.sort_unstable();
    keys.dedup();
    keys.into()
}

/// The keys that several messages have, numbered, and those of each message. Messages are known by their places in the walk.
#[derive(Debug)]
pub(crate) struct Shared<K> {
    /// The numbers of the keys.
    numbers: Numbers<K>,
    /// For each key the messages that have it, in the order of the walk.
    holders: Rows,
    /// For each message the keys that others have as well, sorted.
    of: Rows,
}

/// In how many parts keys are brought together, so that not all of them are needed at the same time in a form that sorts.
const PARTS: u32 = 4;

/// The keys that several messages have, sorted, and for each of them who has it.
fn brought_together<K: Key>(likely: Vec<Box<[K]>>) -> (Vec<K>, Rows) {
    let total = likely.iter().map(|own| own.len()).sum();
    let mut keys = Vec::new();
    let mut holders = Rows::with_room_for(0, total);
    let mut all: Vec<K::Held> = Vec::with_capacity(total / PARTS as usize);
    let part_of = |key: &K| ((*key).into() >> (K::BITS - PARTS.ilog2())) as u32;
    let key = |held: &K::Held| K::of_held(*held).0;
    for part in 0..PARTS {
        all.clear();
        for (own, rank) in likely.iter().zip(0..) {
            let start = own.partition_point(|key| part_of(key) < part);
            let own = own[start..].iter().take_while(|key| part_of(key) == part);
            all.extend(own.map(|key| key.held_by(rank)));
        }
        all.par_sort_unstable();
        for same in all.chunk_by(|a, b| key(a) == key(b)) {
            if same.len() > 1 {
                keys.push(key(&same[0]));
                holders.push(same.iter().map(|held| K::of_held(*held).1));
            }
        }
    }
    (keys, holders)
}

impl<K: Key> Shared<K> {
    /// Finds the keys that several messages have. `likely` are those of each message, in the order of the walk; each once, sorted, and some that only one
    /// message has may be missing.
    pub(crate) fn of(likely: Vec<Box<[K]>>) -> Self {
        let count = likely.len();
        let (keys, holders) = brought_together(likely);
        Self {
            numbers: Numbers::of(keys),
            of: holders.turned(count),
            holders,
        }
    }

    /// The same with the keys numbered in the order in which the walk meets them, and without the keys themselves, for who asks by
    /// their numbers alone: keys of one message have numbers near each other, and so do those of its near copies. Whoever looks them up waits less for
    /// memory.
    pub(crate) fn by_numbers(likely: Vec<Box<[K]>>) -> Self {
        let count = likely.len();
        let (_, by_key) = brought_together(likely);
        let mut first = Rows::with_room_for(by_key.len(), by_key.len());
        by_key
            .iter()
            .for_each(|row| first.push(row.first().copied()));
        let met = first.turned(count);
        drop(first);
        let mut holders = Rows::with_room_for(by_key.len(), by_key.numbers());
        for &number in met.iter().flatten() {
            holders.push(by_key.row(number).iter().copied());
        }
        drop((by_key, met));
        Self {
            numbers: Numbers::of(Vec::new()),
            of: holders.turned(count),
            holders,
        }
    }

    /// The keys of the message at a place in the walk that others have as well, sorted.
    pub(crate) fn keys(&self, rank: u32) -> &[u32] {
        self.of.row(rank)
    }

    /// How many messages have each key.
    pub(crate) fn frequencies(&self) -> impl Iterator<Item = u32> {
        self.holders.iter().map(|row| row.len() as u32)
    }

    /// Finds out whom each key leads to: those that `leads` says, and the first `most` of them.
    pub(crate) fn leading(self, most: usize, leads: impl Fn(Holding<'_, K>) -> bool) -> Leading<K> {
        let numbers = &self.numbers;
        let mut holders = Rows::with_room_for(self.holders.len(), self.holders.numbers());
        for (row, number) in self.holders.iter().zip(0..) {
            let holding = |place: u32, rank: u32| Holding {
                numbers,
                number,
                rank,
                frequency: row.len() as u32,
                place,
            };
            let places = row.iter().zip(0..);
            let led = places.filter(|&(&rank, place)| leads(holding(place, rank)));
            holders.push(led.map(|(&rank, _)| rank).take(most));
        }
        Leading {
            numbers: self.numbers,
            of: self.of,
            holders,
        }
    }
}

/// A message that has a key, at its turn.
pub(crate) struct Holding<'n, K> {
    numbers: &'n Numbers<K>,
    number: u32,
    /// The place of the message in the walk.
    pub(crate) rank: u32,
    /// How many have the key.
    pub(crate) frequency: u32,
    /// How many before it in the walk have it.
    pub(crate) place: u32,
}

impl<K: Key> Holding<'_, K> {
    /// The key.
    pub(crate) fn key(&self) -> K {
        self.numbers.key(self.number)
    }
}

/// The keys that several messages have, and whom they lead to. Messages are known by their places in the walk.
#[derive(Debug, Default)]
pub(crate) struct Leading<K> {
    numbers: Numbers<K>,
    of: Rows,
    holders: Rows,
}

impl<K: Key> Leading<K> {
    /// The keys of the message at a place in the walk that others have as well, sorted.
    pub(crate) fn keys(&self, rank: u32) -> &[u32] {
        self.of.row(rank)
    }

    /// Whether the message at a place in the walk has a key that others have as well.
    pub(crate) fn has(&self, rank: u32, key: K) -> bool {
        let number = self.numbers.get(key);
        number.is_some_and(|number| self.keys(rank).binary_search(&number).is_ok())
    }

    /// The messages that a numbered key leads to, in the order of the walk.
    #[inline]
    pub(crate) fn numbered(&self, number: u32) -> &[u32] {
        self.holders.row(number)
    }

    /// The messages that a key leads to, in the order of the walk.
    pub(crate) fn holders(&self, key: K) -> &[u32] {
        let number = self.numbers.get(key);
        number.map_or(&[], |number| self.numbered(number))
    }
}
