//! Which keys do several messages have, and whom does a key lead to?
//!
//! What a few messages have leads to all of them. What many have (a greeting, a footer, a template) leads to a few of them only, so that
//! no look-up grows with the mail. Who can be seen by a key depends on who has the key, and on nothing else: a part of a
//! larger collection can be told, and is judged as it is in the whole.

use std::ops::Range;

use rayon::prelude::*;
use twicetold_index::{Key, Numbers, Packed, Rows, Standing, Twice, room_for, shares};

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

/// The keys of each message, as far as others may have them: sorted, each once.
#[derive(Debug)]
pub(crate) struct Likely<K> {
    /// The messages of [`PIECE`] numbers each.
    pieces: Vec<Rows<K>>,
}

/// How many messages are looked at in one go. What is known of them is given back as a whole.
pub(crate) const PIECE: usize = 4096;

impl<K: Key> Likely<K> {
    /// Those of all messages, from those of [`PIECE`] messages each.
    pub(crate) fn of(pieces: Vec<Rows<K>>) -> Self {
        Self { pieces }
    }

    /// How many keys there are with each beginning.
    fn by_beginning(&self) -> Vec<usize> {
        let count = |mut counts: Vec<usize>, piece: &Rows<K>| {
            let keys = piece.iter().flatten();
            keys.for_each(|key| counts[beginning(key)] += 1);
            counts
        };
        let add = |mut counts: Vec<usize>, others: Vec<usize>| {
            let both = counts.iter_mut().zip(others);
            both.for_each(|(count, other)| *count += other);
            counts
        };
        let none = || vec![0; 1 << BEGINNING];
        self.pieces.par_iter().fold(none, count).reduce(none, add)
    }

    /// The keys of each message.
    fn iter(&self) -> impl Iterator<Item = &[K]> {
        self.pieces.iter().flat_map(Rows::iter)
    }
}

/// Adds the keys of a message, without those of which `twice`, if given, knows that only one message has them. It lets some of these through.
pub(crate) fn add_likely<K: Key>(rows: &mut Rows<K>, mut keys: Vec<K>, twice: Option<&Twice>) {
    if let Some(twice) = twice {
        twice.keep_shared(&mut keys);
    }
    // A message that repeats itself shares nothing with others by that.
    keys.sort_unstable();
    keys.dedup();
    rows.push(keys);
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
/// Two of them are at work at a time.
const PARTS: usize = 8;

/// By so many bits keys are put together before they are sorted: few have the same ones.
const BEGINNING: u32 = 15;

fn beginning<K: Key>(key: &K) -> usize {
    ((*key).into() >> (K::BITS - BEGINNING)) as usize
}

/// The keys that several messages have, sorted, and for each of them who has it, in the order of the walk. Messages are known by
/// their places there.
#[derive(Debug, Default)]
pub(crate) struct Lists<K> {
    pub(crate) keys: Vec<K>,
    pub(crate) holders: Rows,
}

impl<K: Key> Lists<K> {
    /// Brings the keys of all messages of the walk together. `ranks` has the place there of each; one without a place has no keys.
    pub(crate) fn of(likely: Likely<K>, ranks: &[u32]) -> Self {
        let counts = likely.by_beginning();
        let total = counts.iter().sum();
        let mut keys = Vec::new();
        let mut holders = Rows::with_room_for(0, total);
        // The room of one part serves for the next.
        let mut rooms: [Vec<K::Held>; 2] = [const { Vec::new() }; 2];
        for two in shares(counts.iter().copied(), total, PARTS).chunks(2) {
            let of = |part: &Range<usize>, room: &mut Vec<K::Held>| {
                in_part(&likely, ranks, part, &counts[part.clone()], room)
            };
            let [one, other] = &mut rooms;
            let (low, high) = rayon::join(
                || of(&two[0], one),
                || two.get(1).map(|part| of(part, other)),
            );
            for (own, held) in [Some(low), high].into_iter().flatten() {
                keys.extend(own);
                holders.append(&held);
            }
        }
        Self { keys, holders }
    }
}

/// The same of those keys alone that are in one of the parts, of which it is known how many there are with each beginning.
fn in_part<K: Key>(
    likely: &Likely<K>,
    ranks: &[u32],
    part: &Range<usize>,
    counts: &[usize],
    room: &mut Vec<K::Held>,
) -> (Vec<K>, Rows) {
    let key = |held: &K::Held| K::of_held(*held).0;
    // Where the next key with each beginning goes.
    let mut total = 0;
    let mut next: Vec<usize> = counts
        .iter()
        .map(|count| {
            total += count;
            total - count
        })
        .collect();
    if room.capacity() < total {
        *room = room_for(total);
    }
    room.resize(total, K::of_number(0).held_by(0));
    let all = room.as_mut_slice();
    for (own, &rank) in likely.iter().zip(ranks) {
        let start = own.partition_point(|key| beginning(key) < part.start);
        for key in &own[start..] {
            let Some(next) = next.get_mut(beginning(key) - part.start) else {
                break;
            };
            all[*next] = key.held_by(rank);
            *next += 1;
        }
    }
    all.par_chunk_by_mut(|a, b| beginning(&key(a)) == beginning(&key(b)))
        .for_each(<[K::Held]>::sort_unstable);
    let mut keys = Vec::new();
    let mut holders = Rows::with_room_for(0, all.len());
    for same in all.chunk_by(|a, b| key(a) == key(b)) {
        if same.len() > 1 {
            keys.push(key(&same[0]));
            holders.push(same.iter().map(|held| K::of_held(*held).1));
        }
    }
    (keys, holders)
}

impl<K: Key> Shared<K> {
    /// The keys of so many messages, numbered in their order.
    pub(crate) fn of(lists: Lists<K>, count: usize) -> Self {
        let Lists { keys, holders } = lists;
        Self {
            numbers: Numbers::of(keys),
            of: holders.turned(count),
            holders,
        }
    }

    /// The same for who asks by the numbers of keys alone: for each key who has it, and for each message which keys.
    pub(crate) fn without_keys(holders: Rows, of: Rows) -> Self {
        let numbers = Numbers::of(Vec::new());
        Self {
            numbers,
            holders,
            of,
        }
    }

    /// The same with the keys numbered in the order in which the walk meets them, and without the keys themselves, for who asks by
    /// their numbers alone: keys of one message have numbers near each other, and so do those of its near copies. Whoever looks them up waits less for
    /// memory.
    pub(crate) fn by_numbers(lists: Lists<K>, count: usize) -> Self {
        let Lists {
            keys,
            holders: by_key,
        } = lists;
        drop(keys);
        let met = in_order_of(by_key.iter().map(|row| row[0]), count);
        let gathered = |numbers: &[u32], room: usize| {
            let mut holders = Rows::with_room_for(numbers.len(), room);
            for &number in numbers {
                holders.push(by_key.row(number).iter().copied());
            }
            holders
        };
        // Whoever gathers waits for memory: two wait at the same time.
        let (earlier, later) = met.split_at(met.len() / 2);
        let (mut holders, behind) = rayon::join(
            || gathered(earlier, by_key.numbers()),
            || gathered(later, by_key.numbers() / 2),
        );
        drop((by_key, met));
        holders.append(&behind);
        drop(behind);
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
        let Self {
            numbers,
            mut holders,
            of,
        } = self;
        holders.narrow(most, |standing: Standing<u32>| {
            leads(Holding {
                numbers: &numbers,
                number: standing.list,
                rank: standing.number,
                frequency: standing.length,
                place: standing.place,
            })
        });
        Leading {
            numbers,
            of,
            holders,
        }
    }
}

/// The places of these numbers, which are below `count`, in the order of the numbers.
fn in_order_of(numbers: impl Iterator<Item = u32> + Clone, count: usize) -> Vec<u32> {
    let mut starts = vec![0_u32; count];
    numbers
        .clone()
        .for_each(|number| starts[number as usize] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    let mut places = vec![0; sum as usize];
    for (place, number) in (0..).zip(numbers) {
        let next = &mut starts[number as usize];
        places[*next as usize] = place;
        *next += 1;
    }
    places
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

    /// The number of a key that several messages have.
    pub(crate) fn number(&self, key: K) -> Option<u32> {
        self.numbers.get(key)
    }

    /// Whom each key leads to, and apart from that the keys of each message, packed.
    pub(crate) fn packed(self) -> (Rows, Packed) {
        (self.holders, Packed::of(&self.of))
    }

    /// The messages that a numbered key leads to, in the order of the walk.
    #[inline]
    pub(crate) fn numbered(&self, number: u32) -> &[u32] {
        self.holders.row(number)
    }

    /// The messages that a key leads to, in the order of the walk.
    pub(crate) fn holders(&self, key: K) -> &[u32] {
        let number = self.number(key);
        number.map_or(&[], |number| self.numbered(number))
    }
}
