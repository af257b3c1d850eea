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
    /// For every entry the longest other one that it starts with.
    shorter: Vec<u16>,
    /// Where the entries with this first byte stand in `sorted`.
    buckets: Box<[(u16, u16); 256]>,
    /// Whether some entry may start with three letters that have this key.
    keys: Box<[u64; 1024]>,
    /// For every first letter which ones follow it in entries that do not start with three letters; bit 26 stands for
    /// anything else.
    pairs: [u32; 26],
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
        let mut pairs = [0; 26];
        for (at, (entry, _)) in sorted.iter().enumerate() {
            let [first, rest @ ..] = entry.as_bytes() else {
                continue;
            };
            let bucket = &mut buckets[usize::from(*first)];
            if bucket.1 == 0 {
                bucket.0 = at as u16;
            }
            bucket.1 = at as u16 + 1;
            let three = entry.as_bytes().first_chunk::<3>();
            if let Some(three) = three.filter(|t| t.iter().all(u8::is_ascii_alphabetic)) {
                let key = key(*three);
                keys[usize::from(key) / 64] |= 1 << (key % 64);
            } else if let Some(first) = letter(*first) {
                pairs[first] |= match rest.first() {
                    Some(second) => 1 << letter(*second).unwrap_or(26),
                    // Whatever follows.
                    None => u32::MAX,
                };
            }
        }
        Self {
            sorted,
            shorter,
            buckets,
            keys,
            pairs,
        }
    }

    /// The entries that a folded text starts with, the longest first.
    pub(super) fn starting<'i>(
        &'i self,
        folded: &'i str,
    ) -> impl Iterator<Item = &'static str> + 'i {
        let first = folded.as_bytes().first().copied().unwrap_or_default();
        let (from, to) = self.buckets[usize::from(first)];
        let bucket = &self.sorted[usize::from(from)..usize::from(to)];
        let before = bucket.partition_point(|(entry, _)| *entry <= folded);
        let mut at = match before {
            0 => NONE,
            _ => from + before as u16 - 1,
        };
        std::iter::from_fn(move || {
            while at != NONE {
                let entry = self.sorted[usize::from(at)].0;
                at = self.shorter[usize::from(at)];
                if folded.starts_with(entry) {
                    return Some(entry);
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
        self.starting(folded).filter_map(move |entry| {
            let rest = &folded[entry.len()..];
            (!joins(entry.chars().next_back(), rest.chars().next())).then_some(rest)
        })
    }

    /// Whether a folded text starts with an entry that does not end inside a word.
    pub(super) fn opens(&self, folded: &str) -> bool {
        self.after(folded).next().is_some()
    }

    /// The number in the table of the entry that a folded text is.
    pub(super) fn number(&self, folded: &str) -> Option<usize> {
        let first = folded.as_bytes().first().copied().unwrap_or_default();
        let (from, to) = self.buckets[usize::from(first)];
        let bucket = &self.sorted[usize::from(from)..usize::from(to)];
        let at = bucket
            .binary_search_by(|(entry, _)| (*entry).cmp(folded))
            .ok()?;
        Some(usize::from(bucket[at].1))
    }

    /// Whether a folded text is an entry.
    pub(super) fn holds(&self, folded: &str) -> bool {
        self.number(folded).is_some()
    }

    /// Whether a text that is not folded yet can start with an entry once it is; saves folding most.
    pub(super) fn may_open(&self, raw: &str) -> bool {
        let start = raw.as_bytes();
        if !start.get(..4).unwrap_or(start).is_ascii() {
            return true;
        }
        let Some(first) = start.first().and_then(|byte| letter(*byte)) else {
            return true;
        };
        let second = start.get(1).and_then(|byte| letter(*byte));
        if self.pairs[first] >> second.unwrap_or(26) & 1 == 1 {
            return true;
        }
        let Some(mut three) = start.first_chunk::<3>().copied() else {
            return false;
        };
        three.make_ascii_lowercase();
        let key = key(three);
        self.keys[usize::from(key) / 64] >> (key % 64) & 1 == 1
    }
}

/// The number of an ASCII letter in the alphabet.
fn letter(byte: u8) -> Option<usize> {
    let lower = byte.to_ascii_lowercase();
    lower
        .is_ascii_lowercase()
        .then(|| usize::from(lower - b'a'))
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
pub(super) struct Inside {
    /// Whether some entry may start with three bytes that have this key.
    keys: Box<[u64; 1024]>,
    /// The entries by their key, each with its number in the table.
    sorted: Vec<(u16, &'static str, usize)>,
    /// The entries of less than three bytes, which have no key.
    short: Vec<(&'static str, usize)>,
    /// How many entries the table has.
    size: usize,
}

impl Inside {
    pub(super) fn of(table: &[&'static str]) -> Self {
        let mut sorted: Vec<_> = table
            .iter()
            .enumerate()
            .filter_map(|(number, entry)| {
                let start = entry.as_bytes().first_chunk::<3>()?;
                Some((key(*start), *entry, number))
            })
            .collect();
        sorted.sort_unstable();
        let mut keys = Box::new([0; 1024]);
        for (key, ..) in &sorted {
            keys[usize::from(*key) / 64] |= 1 << (key % 64);
        }
        let numbered = table.iter().copied().zip(0..);
        Self {
            keys,
            sorted,
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
        for (at, three) in bytes.windows(3).enumerate() {
            let key = key([three[0], three[1], three[2]]);
            if self.keys[usize::from(key) / 64] >> (key % 64) & 1 == 0 {
                continue;
            }
            let first = self.sorted.partition_point(|entry| entry.0 < key);
            let alike = self.sorted[first..].iter().take_while(|one| one.0 == key);
            for (_, entry, number) in alike {
                if bytes[at..].starts_with(entry.as_bytes()) && found(*number, entry, at) {
                    return true;
                }
            }
        }
        false
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

fn key(three: [u8; 3]) -> u16 {
    let number = u32::from_le_bytes([three[0], three[1], three[2], 0]);
    (number.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

#[cfg(test)]
mod tests;
