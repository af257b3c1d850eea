//! Which keys do several messages have, and whom does a key lead to?
//!
//! What a few messages have leads to all of them. What many have (a greeting, a footer, a template) leads to a few of them only, so that
//! no look-up grows with the mail. Who can be seen by a key depends on who has the key, and on nothing else: a part of a
//! larger collection can be told, and is judged as it is in the whole.

use rayon::prelude::*;
use twicetold_index::{Holders, Key, Numbers, Twice};

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

/// The keys that several messages have, numbered, and those of each message.
#[derive(Debug)]
pub(crate) struct Shared<K> {
    /// The numbers of the keys.
    numbers: Numbers<K>,
    /// For each message the keys that others have as well, sorted, each once.
    of: Vec<Box<[u32]>>,
    /// How many messages have each key.
    frequency: Vec<u32>,
}

impl<K: Key> Shared<K> {
    /// Finds the keys that several of `count` messages have. `likely` are those of each message in `order`, sorted, each once; some that only one
    /// message has may be missing.
    pub(crate) fn of(count: usize, order: &[u32], likely: Vec<Box<[K]>>) -> Self {
        let mut all: Vec<K> = Vec::with_capacity(likely.iter().map(|own| own.len()).sum());
        all.extend(likely.iter().flatten());
        all.par_sort_unstable();
        let several = || all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        let frequency = several().map(|same| same.len() as u32).collect();
        let numbers = Numbers::of(several().map(|same| same[0]).collect());
        drop(all);
        let mut of = vec![Box::default(); count];
        let found: Vec<Box<[u32]>> = likely
            .into_par_iter()
            .map(|own| own.iter().filter_map(|&key| numbers.get(key)).collect())
            .collect();
        for (&a, found) in order.iter().zip(found) {
            of[a as usize] = found;
        }
        Self {
            numbers,
            of,
            frequency,
        }
    }

    /// The same with the keys numbered in the order in which the walk meets them, and without the keys themselves, for who asks by
    /// their numbers alone: keys of one message have numbers near each other, and so do those of its near copies. Whoever looks them up waits less for
    /// memory.
    pub(crate) fn by_numbers(mut self, order: &[u32]) -> Self {
        const OPEN: u32 = u32::MAX;
        let mut renamed = vec![OPEN; self.frequency.len()];
        let mut frequency = Vec::with_capacity(self.frequency.len());
        for &a in order {
            for number in &mut self.of[a as usize] {
                let new = &mut renamed[*number as usize];
                if *new == OPEN {
                    *new = frequency.len() as u32;
                    frequency.push(self.frequency[*number as usize]);
                }
                *number = *new;
            }
        }
        self.of.par_iter_mut().for_each(|own| own.sort_unstable());
        Self {
            numbers: Numbers::of(Vec::new()),
            of: self.of,
            frequency,
        }
    }

    /// The keys of a message that others have as well, sorted.
    pub(crate) fn keys(&self, message: u32) -> &[u32] {
        &self.of[message as usize]
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.frequency.len()
    }

    /// How many messages have a numbered key.
    pub(crate) fn frequency(&self, number: u32) -> u32 {
        self.frequency[number as usize]
    }

    /// Finds out whom each key leads to: those that `leads` says, and the first `most` of them.
    pub(crate) fn leading(
        self,
        order: &[u32],
        most: u32,
        leads: impl Fn(Holding<'_, K>) -> bool,
    ) -> Leading<K> {
        let room: Vec<u32> = self.frequency.iter().map(|&n| n.min(most)).collect();
        let mut holders = Holders::with_room_for(&room);
        drop(room);
        // How many have each, and how many of them had their turn: side by side, since they are needed together.
        let frequency = self.frequency.into_iter();
        let mut counts: Vec<(u32, u32)> = frequency.map(|n| (n, 0)).collect();
        let mut led: Vec<u32> = Vec::new();
        for (&a, rank) in order.iter().zip(0..) {
            led.clear();
            for &number in &self.of[a as usize] {
                let (frequency, place) = &mut counts[number as usize];
                let holding = Holding {
                    numbers: &self.numbers,
                    number,
                    message: a,
                    frequency: *frequency,
                    place: *place,
                };
                led.extend(leads(holding).then_some(number));
                *place += 1;
            }
            holders.insert(rank, &led);
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
    /// The message.
    pub(crate) message: u32,
    /// How many have it.
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

/// The keys that several messages have, and whom they lead to.
#[derive(Debug, Default)]
pub(crate) struct Leading<K> {
    numbers: Numbers<K>,
    of: Vec<Box<[u32]>>,
    holders: Holders,
}

impl<K: Key> Leading<K> {
    /// The keys of a message that others have as well, sorted.
    pub(crate) fn keys(&self, message: u32) -> &[u32] {
        &self.of[message as usize]
    }

    /// Whether a message has a key that others have as well.
    pub(crate) fn has(&self, message: u32, key: K) -> bool {
        let number = self.numbers.get(key);
        number.is_some_and(|number| self.keys(message).binary_search(&number).is_ok())
    }

    /// The messages that a numbered key leads to, each by its place in the walk, in that order.
    pub(crate) fn numbered(&self, number: u32) -> &[u32] {
        self.holders.holders(number)
    }

    /// The messages that a key leads to, each by its place in the walk, in that order.
    pub(crate) fn holders(&self, key: K) -> &[u32] {
        let number = self.numbers.get(key);
        number.map_or(&[], |number| self.numbered(number))
    }
}
