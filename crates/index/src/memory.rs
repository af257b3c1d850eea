//! The index in memory.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::FixedState;
use twicetold_model::shared_keys;

use crate::Share;

/// A message that shares keys with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The message.
    pub message: u32,
    /// How many keys it shares with the one asked about.
    pub shared: u32,
}

/// Which messages hold which keys, in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryIndex {
    /// Where the list of each key is.
    keys: HashMap<u64, u32, FixedState>,
    /// The messages of each key, in the order in which they were added.
    lists: Vec<Vec<u32>>,
}

impl MemoryIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message with its keys, each once.
    pub fn insert(&mut self, message: u32, keys: impl IntoIterator<Item = u64>) {
        for key in keys {
            let next = self.lists.len() as u32;
            let list = *self.keys.entry(key).or_insert(next);
            match self.lists.get_mut(list as usize) {
                Some(list) => list.push(message),
                None => self.lists.push(vec![message]),
            }
        }
    }

    /// Takes a message out again, with the keys it was added with.
    pub fn remove(&mut self, message: u32, keys: impl IntoIterator<Item = u64>) {
        for key in keys {
            let list = self
                .keys
                .get(&key)
                .and_then(|&list| self.lists.get_mut(list as usize));
            if let Some(list) = list
                && let Some(at) = list.iter().position(|&m| m == message)
            {
                list.remove(at);
            }
        }
    }

    /// The messages that hold a key, in the order in which they were added.
    pub fn holders(&self, key: u64) -> &[u32] {
        let list = self
            .keys
            .get(&key)
            .and_then(|&list| self.lists.get(list as usize));
        list.map_or(&[], Vec::as_slice)
    }

    /// Every message that holds at least the share `share` of `keys` (sorted, each once), with the exact number it
    /// shares: most first, of equal ones the one with the lowest number. `keys_of` gives the keys of a message, sorted.
    pub fn containing<'k>(
        &self,
        keys: &[u64],
        share: Share,
        keys_of: impl Fn(u32) -> &'k [u64],
    ) -> Vec<Candidate> {
        let least = share.least(keys.len()).max(1) as u32;
        let mut found = self.sharing(keys, share.enough(keys.len()), Limits::NONE, keys_of);
        found.retain(|candidate| candidate.shared >= least);
        found
    }

    /// The messages that hold one of the `rarest` rarest of `keys` (sorted, each once), with the exact number of keys
    /// they share: most first, of equal ones the one with the lowest number: who else has a key changes nothing in their order.
    pub fn sharing<'k>(
        &self,
        keys: &[u64],
        rarest: usize,
        limits: Limits,
        keys_of: impl Fn(u32) -> &'k [u64],
    ) -> Vec<Candidate> {
        sharing(keys, |key| self.holders(key), rarest, limits, keys_of)
    }
}

/// Where each message stands among those found, by its number. It is used again, since most look-ups are short: a mark
/// of an earlier look-up leads to a place where another message stands, or none.
#[derive(Default)]
struct Marks {
    near: Vec<u32>,
    /// For numbers so high that a place for each would be wasteful.
    far: HashMap<u32, u32, FixedState>,
}

/// Numbers from here on are high.
const FAR: u32 = 1 << 26;

impl Marks {
    fn place(&mut self, message: u32, found: &[Candidate]) -> Option<usize> {
        let at = match message < FAR {
            true => *self.near.get(message as usize)? as usize,
            false => *self.far.get(&message)? as usize,
        };
        (found.get(at)?.message == message).then_some(at)
    }

    fn mark(&mut self, message: u32, at: usize) {
        if message >= FAR {
            self.far.insert(message, at as u32);
            return;
        }
        let message = message as usize;
        if self.near.len() <= message {
            self.near.resize(message + 1, 0);
        }
        self.near[message] = at as u32;
    }
}

thread_local! {
    static MARKS: RefCell<Marks> = RefCell::default();
}

/// The messages that hold one of the `rarest` rarest of `keys` (sorted, each once), with the exact number of keys they
/// share: most first, of equal ones the one with the lowest number. `holders` gives the messages that hold a key, `keys_of` the
/// keys of a message, sorted.
pub fn sharing<'i, 'k, K: Copy + Ord + 'k>(
    keys: &[K],
    holders: impl Fn(K) -> &'i [u32],
    rarest: usize,
    limits: Limits,
    keys_of: impl Fn(u32) -> &'k [K],
) -> Vec<Candidate> {
    // A key nobody holds is the rarest of all: it uses up its place and finds nothing.
    let mut lists: Vec<&[u32]> = keys.iter().map(|&key| holders(key)).collect();
    lists.sort_by_key(|list| list.len());
    let all: usize = lists.iter().map(|list| list.len()).sum();
    let mut found: Vec<Candidate> = Vec::new();
    let mut walked = 0;
    MARKS.with_borrow_mut(|marks| {
        for list in lists.into_iter().take(rarest) {
            let left = limits.entries.saturating_sub(walked);
            for &message in list.iter().take(left) {
                match marks.place(message, &found) {
                    Some(at) => found[at].shared += 1,
                    None => {
                        marks.mark(message, found.len());
                        found.push(Candidate { message, shared: 1 });
                    }
                }
            }
            walked += list.len().min(left);
        }
        marks.far.clear();
    });
    // Whoever has walked every list to its end has counted already. Else those found by the rarest keys come first: only
    // they are counted exactly.
    if walked < all {
        found.sort_by_key(|candidate| Reverse(candidate.shared));
        found.truncate(limits.messages);
        for candidate in &mut found {
            candidate.shared = shared_keys(keys, keys_of(candidate.message)) as u32;
        }
    }
    found.sort_unstable_by_key(|candidate| (Reverse(candidate.shared), candidate.message));
    found.truncate(limits.messages);
    found
}

/// How much work a look-up may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many list entries are walked, from the rarest keys on.
    pub entries: usize,
    /// How many messages are counted exactly: those met most often.
    pub messages: usize,
}

impl Limits {
    /// As much as it takes.
    pub const NONE: Self = Self {
        entries: usize::MAX,
        messages: usize::MAX,
    };
}
