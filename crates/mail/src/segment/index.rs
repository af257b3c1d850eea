//! Finding the entry of a table without trying them all.
//!
//! The tables are lists for people to read and to add to. These indexes are made from them once, at
//! the first mail that is read, and find just what trying every entry would.

use super::fold::joins;

const NONE: u16 = u16::MAX;

/// A table whose entries are looked for at the start of a text.
pub(super) struct Openings {
    /// The entries in order, each once, with its number in the table.
    sorted: Vec<(&'static str, u16)>,
    /// The first bytes of these entries.
    starts: Vec<u64>,
    /// For every entry the longest other one that it starts with.
    shorter: Vec<u16>,
    /// Where the entries with this first byte stand in `sorted`.
    buckets: Box<[(u16, u16); 256]>,
    /// Whether some entry may have a [`beginning`] with this key.
    keys: Box<[u64; 1024]>,
}

impl Openings {
    /// Indexes tables, taken as one.
    pub(super) fn of(tables: &[&[&'static str]]) -> Self {
        let mut sorted: Vec<(&'static str, u16)> = Vec::new();
        for (number, entry) in tables.iter().copied().flatten().enumerate() {
            sorted.push((entry, u16::try_from(number).unwrap_or(NONE)));
        }
        sorted.sort_unstable();
        sorted.dedup_by_key(|(entry, _)| *entry);
        let mut shorter = vec![NONE; sorted.len()];
        for at in 1..sorted.len() {
            // What this entry starts with is what the one before it starts with, or is that one.
            let mut before = (at - 1) as u16;
            while before != NONE && !sorted[at].0.starts_with(sorted[usize::from(before)].0) {
                before = shorter[usize::from(before)];
            }
            shorter[at] = before;
        }
        let mut buckets = Box::new([(0, 0); 256]);
        let mut keys = Box::new([0; 1024]);
        for (at, (entry, _)) in sorted.iter().enumerate() {
            let Some(first) = entry.as_bytes().first() else {
                continue;
            };
            let bucket = &mut buckets[usize::from(*first)];
            if bucket.1 == 0 {
                bucket.0 = at as u16;
            }
            bucket.1 = at as u16 + 1;
            if let Some(start) = beginning(entry) {
                add(&mut keys, key_of_four(&start));
            }
        }
        Self {
            starts: sorted.iter().map(|(entry, _)| start_of(entry)).collect(),
            sorted,
            shorter,
            buckets,
            keys,
        }
    }

    /// The last entry that does not stand behind a folded text in their order, among those with its first byte.
    fn last_before(&self, folded: &str) -> u16 {
        let first = folded.as_bytes().first().copied().unwrap_or_default();
        let (from, to) = self.buckets[usize::from(first)];
        let start = start_of(folded);
        let starts = &self.starts[usize::from(from)..usize::from(to)];
        let mut end = from + starts.partition_point(|other| *other < start) as u16;
        while end < to
            && self.starts[usize::from(end)] == start
            && self.sorted[usize::from(end)].0 <= folded
        {
            end += 1;
        }
        if end == from { NONE } else { end - 1 }
    }

    /// The entries that a folded text starts with and their numbers in the table, the longest first.
    pub(super) fn starting<'i>(
        &'i self,
        folded: &'i str,
    ) -> impl Iterator<Item = (&'static str, usize)> + 'i {
        let mut at = self.last_before(folded);
        std::iter::from_fn(move || {
            while at != NONE {
                let (entry, number) = self.sorted[usize::from(at)];
                at = self.shorter[usize::from(at)];
                if folded.starts_with(entry) {
                    return Some((entry, usize::from(number)));
                }
            }
            None
        })
    }

    /// Whether a folded text starts with an entry, be it inside a word.
    pub(super) fn starts(&self, folded: &str) -> bool {
        self.starting(folded).next().is_some()
    }

    /// What follows each entry that a folded text starts with, if the entry does not end inside a word.
    pub(super) fn after<'i>(&'i self, folded: &'i str) -> impl Iterator<Item = &'i str> + 'i {
        self.numbered_after(folded).map(|(_, rest)| rest)
    }

    /// The same, each with the number of the entry in the table.
    pub(super) fn numbered_after<'i>(
        &'i self,
        folded: &'i str,
    ) -> impl Iterator<Item = (usize, &'i str)> + 'i {
        self.starting(folded).filter_map(move |(entry, number)| {
            let rest = &folded[entry.len()..];
            (!joins(entry.chars().next_back(), rest.chars().next())).then_some((number, rest))
        })
    }

    /// Whether a folded text starts with an entry that does not end inside a word.
    pub(super) fn opens(&self, folded: &str) -> bool {
        self.after(folded).next().is_some()
    }

    /// The number in the table of the entry that a folded text is.
    pub(super) fn number(&self, folded: &str) -> Option<usize> {
        let (entry, number) = self.sorted.get(usize::from(self.last_before(folded)))?;
        (*entry == folded).then(|| usize::from(*number))
    }

    /// Whether a folded text is an entry.
    pub(super) fn holds(&self, folded: &str) -> bool {
        self.number(folded).is_some()
    }

    /// Whether a text that is not folded yet can start with an entry once it is; saves folding most.
    pub(super) fn may_open(&self, raw: &str) -> bool {
        let Some(mut four) = raw.as_bytes().first_chunk().copied() else {
            return true;
        };
        if !has_only_case_to_fold(&four) {
            return true;
        }
        four.make_ascii_lowercase();
        let [one, two, three, _] = four;
        [four, [one, two, three, 0], [one, two, 0, 0], [one, 0, 0, 0]]
            .iter()
            .any(|start| has(&self.keys, key_of_four(start)))
    }
}

/// The ASCII at the start of an entry, at most four bytes; none if a text that starts with four bytes of ASCII cannot start
/// with the entry. Only the last of these bytes can become another letter in folding.
fn beginning(entry: &str) -> Option<[u8; 4]> {
    let mut start = [0; 4];
    let mut known = 0;
    for (to, byte) in start.iter_mut().zip(entry.bytes().take_while(u8::is_ascii)) {
        *to = byte;
        known += 1;
    }
    (known >= 3 || known == entry.len()).then_some(start)
}

/// Whether folding changes nothing but case in the first bytes of a text. A letter behind them may still change the last one
/// into one that is not ASCII.
fn has_only_case_to_fold(four: &[u8; 4]) -> bool {
    let [one, two, three, last] = four.map(|byte| byte == b' ');
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'`';
    four.iter().all(plain) && !(one | (two & three) | (three & last))
}

/// The first eight bytes of a text as a number. Of two texts with different numbers, that with the larger one stands behind.
fn start_of(text: &str) -> u64 {
    let bytes = text.as_bytes();
    match bytes.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => {
            let mut filled = [0; 8];
            filled[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(filled)
        }
    }
}

/// A table whose entries are looked for at the end of a text.
pub(super) struct Endings {
    /// The entries by their last byte, in the order of the table.
    buckets: Box<[Vec<&'static str>; 256]>,
}

impl Endings {
    pub(super) fn of(table: &[&'static str]) -> Self {
        let mut buckets = Box::new([const { Vec::new() }; 256]);
        for entry in table {
            if let Some(last) = entry.as_bytes().last() {
                buckets[usize::from(*last)].push(*entry);
            }
        }
        Self { buckets }
    }

    /// What stands before each entry that a folded text ends with, if the entry does not begin inside a word.
    pub(super) fn before<'i>(&'i self, folded: &'i str) -> impl Iterator<Item = &'i str> + 'i {
        let last = folded.as_bytes().last().copied().unwrap_or_default();
        self.buckets[usize::from(last)]
            .iter()
            .filter_map(move |entry| {
                let rest = folded.strip_suffix(entry)?;
                (!joins(rest.chars().next_back(), entry.chars().next())).then_some(rest)
            })
    }
}

/// A table whose entries are looked for anywhere in a text.
///
/// Where all entries have five bytes or more, it is enough to look at four bytes in every other place: each entry covers four
/// such bytes, wherever it stands. Otherwise three bytes are looked at in every place.
pub(super) struct Inside {
    /// Whether all entries have at least five bytes.
    long: bool,
    /// Whether some entry may have bytes with this key.
    keys: Box<[u64; 1024]>,
    /// The bytes of the entries that are looked at, by their keys.
    pieces: Vec<Piece>,
    /// The entries of less than three bytes, which have no key.
    short: Vec<(&'static str, usize)>,
    /// How many entries the table has.
    size: usize,
}

/// The three or four bytes of an entry that are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    key: u16,
    entry: &'static str,
    /// Where in the entry they stand.
    place: usize,
    /// The number of the entry in the table.
    number: usize,
}

impl Inside {
    pub(super) fn of(table: &[&'static str]) -> Self {
        let long = table.iter().all(|entry| entry.len() >= 5);
        let mut pieces = Vec::new();
        for (number, entry) in table.iter().enumerate() {
            let bytes = entry.as_bytes();
            let keys = if long {
                [
                    bytes.first_chunk().map(key_of_four),
                    bytes
                        .get(1..)
                        .and_then(<[u8]>::first_chunk)
                        .map(key_of_four),
                ]
            } else {
                [bytes.first_chunk().copied().map(key), None]
            };
            for (place, key) in keys.into_iter().enumerate() {
                pieces.extend(key.map(|key| Piece {
                    key,
                    entry,
                    place,
                    number,
                }));
            }
        }
        pieces.sort_unstable();
        let mut keys = Box::new([0; 1024]);
        for piece in &pieces {
            add(&mut keys, piece.key);
        }
        let numbered = table.iter().copied().zip(0..);
        Self {
            long,
            keys,
            pieces,
            short: numbered.filter(|(entry, _)| entry.len() < 3).collect(),
            size: table.len(),
        }
    }

    /// Calls `found` with the number, the entry and the place of every entry, until it says that this is enough.
    fn each(&self, text: &str, mut found: impl FnMut(usize, &'static str, usize) -> bool) -> bool {
        let bytes = text.as_bytes();
        for (entry, number) in &self.short {
            for at in memchr::memmem::find_iter(bytes, entry) {
                if found(*number, entry, at) {
                    return true;
                }
            }
        }
        if self.long {
            let mut rest = bytes;
            while let Some((four, _)) = rest.split_first_chunk() {
                let key = key_of_four(four);
                if has(&self.keys, key)
                    && self.found_at(bytes, bytes.len() - rest.len(), key, &mut found)
                {
                    return true;
                }
                rest = &rest[2..];
            }
        } else {
            for (at, three) in bytes.windows(3).enumerate() {
                let key = key([three[0], three[1], three[2]]);
                if has(&self.keys, key) && self.found_at(bytes, at, key, &mut found) {
                    return true;
                }
            }
        }
        false
    }

    /// Calls `found` with the entries that have the bytes with this key at this place.
    fn found_at(
        &self,
        bytes: &[u8],
        at: usize,
        key: u16,
        found: &mut impl FnMut(usize, &'static str, usize) -> bool,
    ) -> bool {
        let first = self.pieces.partition_point(|piece| piece.key < key);
        let mut alike = self.pieces[first..].iter().take_while(|one| one.key == key);
        alike.any(|piece| {
            at.checked_sub(piece.place).is_some_and(|begin| {
                bytes[begin..].starts_with(piece.entry.as_bytes())
                    && found(piece.number, piece.entry, begin)
            })
        })
    }

    /// Whether a text holds an entry.
    pub(super) fn any(&self, text: &str) -> bool {
        self.each(text, |_, _, _| true)
    }

    /// Whether a text holds an entry as whole words.
    pub(super) fn any_whole(&self, text: &str) -> bool {
        self.each(text, |_, entry, at| {
            let (before, after) = (&text[..at], &text[at + entry.len()..]);
            !joins(before.chars().next_back(), entry.chars().next())
                && !joins(entry.chars().next_back(), after.chars().next())
        })
    }

    /// How many different entries a text holds.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut seen = vec![false; self.size];
        self.each(text, |number, _, _| {
            seen[number] = true;
            false
        });
        seen.into_iter().filter(|seen| *seen).count()
    }
}

fn add(keys: &mut [u64; 1024], key: u16) {
    keys[usize::from(key) / 64] |= 1 << (key % 64);
}

fn has(keys: &[u64; 1024], key: u16) -> bool {
    keys[usize::from(key) / 64] >> (key % 64) & 1 == 1
}

fn key(three: [u8; 3]) -> u16 {
    key_of_four(&[three[0], three[1], three[2], 0])
}

fn key_of_four(four: &[u8; 4]) -> u16 {
    let number = u32::from_le_bytes(*four);
    (number.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

#[cfg(test)]
mod tests;
