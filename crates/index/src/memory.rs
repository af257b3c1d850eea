//! The index in memory.

use std::cell::RefCell;
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

/// How often each message was met in a look-up, by its number. It is used again, since most look-ups are short: what
/// an earlier one counted bears the number of an earlier turn.
#[derive(Default)]
struct Tally {
    /// The number of this turn, where it stands in a place.
    turn: u32,
    /// In one number, since a look-up waits for memory more than for anything else: the turn in which a message was met
    /// last, and below it how often it was met then.
    near: Vec<u32>,
    /// For numbers so high that a place for each would be wasteful.
    far: HashMap<u32, u32, FixedState>,
    /// Room for whom a look-up meets.
    met: Vec<u32>,
}

/// Numbers from here on are high.
const FAR: u32 = 1 << 26;
/// The turn stands above as many bits as it takes to count to a million; nobody is counted further.
const TURN: u32 = 1 << 20;

impl Tally {
    fn begin(&mut self) {
        self.far.clear();
        self.turn = self.turn.wrapping_add(TURN);
        if self.turn == 0 {
            self.near.fill(0);
            self.turn = TURN;
        }
    }

    /// Counts a message; how often it has been met in this turn.
    #[inline]
    fn meet(&mut self, message: u32) -> u32 {
        if message as usize >= self.near.len() {
            return self.meet_far(message);
        }
        let place = &mut self.near[message as usize];
        let before = (*place).max(self.turn);
        let now = before + u32::from(before % TURN < TURN - 1);
        *place = now;
        now % TURN
    }

    /// The same for one that has no place yet.
    #[cold]
    fn meet_far(&mut self, message: u32) -> u32 {
        if message >= FAR {
            let times = self.far.entry(message).or_default();
            *times += 1;
            return *times;
        }
        self.near.resize(message as usize + 1, 0);
        self.meet(message)
    }

    /// How often a message that was met in this turn was met.
    fn times(&self, message: u32) -> u32 {
        match message < FAR {
            true => self.near.get(message as usize).map_or(0, |met| met % TURN),
            false => self.far.get(&message).copied().unwrap_or(0),
        }
    }
}

thread_local! {
    static TALLY: RefCell<Tally> = RefCell::default();
}

/// Orders by shared keys, most first, and then by `then`, lowest first: as one number, which compares quickly.
fn most_first(shared: u32, then: u32) -> u64 {
    u64::from(!shared) << 32 | u64::from(then)
}

/// What [`most_first`] was made of.
fn candidate(order: u64) -> Candidate {
    Candidate {
        message: order as u32,
        shared: !((order >> 32) as u32),
    }
}

/// The `limit` lowest, in order.
fn lowest(mut orders: Vec<u64>, limit: usize) -> Vec<u64> {
    if limit < orders.len() {
        if limit > 0 {
            orders.select_nth_unstable(limit - 1);
        }
        orders.truncate(limit);
    }
    orders.sort_unstable();
    orders
}

/// The messages that hold one of the `rarest` rarest of `keys` (sorted, each once), with the exact number of keys they
/// share: most first, of equal ones the one with the lowest number. `holders` gives the messages that hold a key, `keys_of` the
/// keys of a message, sorted.
fn sharing<'i, 'k, K: Copy + Ord + 'k>(
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
    let mut met: Vec<u32> = Vec::new();
    let mut walked = 0;
    let times: Vec<u32> = TALLY.with_borrow_mut(|tally| {
        tally.begin();
        for list in lists.into_iter().take(rarest) {
            let left = limits.entries.saturating_sub(walked);
            met.extend(list.iter().take(left).filter(|&&m| tally.meet(m) == 1));
            walked += list.len().min(left);
        }
        met.iter().map(|&message| tally.times(message)).collect()
    });
    let orders: Vec<u64> = match walked < all {
        // Whoever has walked every list to its end has counted already.
        false => times
            .iter()
            .zip(&met)
            .map(|(&n, &m)| most_first(n, m))
            .collect(),
        // Else those found by the rarest keys come first: only they are counted exactly.
        true => {
            let found = times
                .iter()
                .zip(0..)
                .map(|(&n, at)| most_first(n, at))
                .collect();
            let counted = lowest(found, limits.messages).into_iter().map(|order| {
                let message = met[order as u32 as usize];
                most_first(shared_keys(keys, keys_of(message)) as u32, message)
            });
            counted.collect()
        }
    };
    let found = lowest(orders, limits.messages).into_iter();
    found.map(candidate).collect()
}

/// Who is met often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Those that were wanted, most often first, of equal ones the one with the lowest number.
    pub wanted: Vec<Candidate>,
    /// All of them in the same order, if there are no more than was said.
    pub all: Option<Vec<Candidate>>,
}

/// Who is met `least` times or more in `entries`: of those that are `wanted` no more than `most`, and all of them unless they are more than `few`.
pub fn met_often(
    entries: impl IntoIterator<Item = u32>,
    least: u32,
    wanted: impl Fn(u32) -> bool,
    most: usize,
    few: usize,
) -> Met {
    let (wanted, all) = TALLY.with_borrow_mut(|tally| {
        let mut met = std::mem::take(&mut tally.met);
        met.clear();
        tally.begin();
        let least = least.clamp(1, TURN - 2);
        // Whoever is met often enough is met once when it is just enough: nobody else is looked at again.
        entries.into_iter().for_each(|entry| {
            if tally.meet(entry) == least {
                met.push(entry);
            }
        });
        let order = |&entry: &u32| most_first(tally.times(entry), entry);
        let all = (met.len() <= few).then(|| met.iter().map(order).collect());
        let wanted = met.iter().filter(|&&entry| wanted(entry));
        let wanted = wanted.map(order).collect();
        tally.met = met;
        (wanted, all)
    });
    let candidates = |orders, most| lowest(orders, most).into_iter().map(candidate).collect();
    Met {
        wanted: candidates(wanted, most),
        all: all.map(|all| candidates(all, few)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_earlier_turns_counted_is_forgotten() {
        let mut tally = Tally::default();
        for turn in 0..10_000_u32 {
            tally.begin();
            let message = turn % 7;
            let times = turn % 3 + 1;
            let met = (0..times).map(|_| tally.meet(message)).collect::<Vec<_>>();
            assert_eq!(met, (1..=times).collect::<Vec<_>>(), "{turn}");
            assert_eq!(tally.times(message), times, "{turn}");
            assert_eq!(tally.meet(FAR + message), 1);
            assert_eq!(tally.meet(FAR + message), 2);
            assert_eq!(tally.times(FAR + message), 2);
        }
    }

    #[test]
    fn nobody_is_counted_into_the_next_turn() {
        let mut tally = Tally::default();
        tally.begin();
        for _ in 0..TURN + 5 {
            tally.meet(3);
        }
        assert_eq!(tally.times(3), TURN - 1);
        assert_eq!(tally.meet(3), TURN - 1);
        tally.begin();
        assert_eq!(tally.meet(3), 1);
    }

    #[test]
    fn whoever_is_met_often_comes_first() {
        let entries = [7, 3, 7, 9, 3, 7, 5, 9];
        let shown = |found: Vec<Candidate>| -> Vec<(u32, u32)> {
            let found = found.into_iter();
            found.map(|c| (c.message, c.shared)).collect()
        };
        let met = |least, most| met_often(entries, least, |entry| entry != 5, most, 3);
        let found = |least, most| shown(met(least, most).wanted);
        assert_eq!(found(1, 9), [(7, 3), (3, 2), (9, 2)]);
        assert_eq!(found(2, 2), [(7, 3), (3, 2)]);
        assert_eq!(found(3, 9), [(7, 3)]);
        assert_eq!(found(4, 9), []);
        // All of them, whoever is wanted and however many, unless they are more than three.
        assert_eq!(met(1, 9).all, None);
        let all = met(2, 1).all.map(shown);
        assert_eq!(all, Some(vec![(7, 3), (3, 2), (9, 2)]));
        assert_eq!(met(4, 1).all, Some(Vec::new()));
    }

    #[test]
    fn only_as_many_as_are_asked_for_and_in_order() {
        let orders = vec![5, 1, 4, 2, 3];
        assert_eq!(lowest(orders.clone(), 2), [1, 2]);
        assert_eq!(lowest(orders.clone(), 9), [1, 2, 3, 4, 5]);
        assert!(lowest(orders, 0).is_empty());
    }
}
