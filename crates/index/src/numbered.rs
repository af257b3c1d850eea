//! The index for keys that are all known beforehand: no hashing, no list of its own for every key.

/// A key: a hash, or half of one.
pub trait Key: Copy + Ord + Into<u64> + Send + Sync {
    /// How many bits it has.
    const BITS: u32;
}

impl Key for u32 {
    const BITS: u32 = u32::BITS;
}

impl Key for u64 {
    const BITS: u32 = u64::BITS;
}

/// Small numbers for keys, in the order of the keys.
#[derive(Clone, Debug, Default)]
pub struct Numbers<K> {
    /// Sorted, each once.
    keys: Vec<K>,
    /// For each beginning of a key, where keys that begin so start.
    starts: Vec<u32>,
    shift: u32,
}

impl<K: Key> Numbers<K> {
    /// Numbers these keys, which are sorted, each once. Keys are hashes: every beginning is as frequent as another.
    pub fn of(keys: Vec<K>) -> Self {
        // About two keys for each beginning.
        let bits = (keys.len() / 2).max(1).ilog2().min(K::BITS);
        let shift = K::BITS - bits;
        let mut starts = vec![0; (1 << bits) + 1];
        for &key in &keys {
            starts[begins(key, shift) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            keys,
            starts,
            shift,
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key that has a number.
    ///
    /// # Panics
    /// If no key has it.
    pub fn key(&self, number: u32) -> K {
        self.keys[number as usize]
    }

    /// The number of a key, if it has one.
    pub fn get(&self, key: K) -> Option<u32> {
        let begin = begins(key, self.shift);
        let (start, end) = (*self.starts.get(begin)?, *self.starts.get(begin + 1)?);
        let near = self.keys.get(start as usize..end as usize)?;
        let at = near.iter().position(|&other| other == key)?;
        Some(start + at as u32)
    }
}

/// How a key begins: what is left without its lowest bits.
fn begins<K: Key>(key: K, without: u32) -> usize {
    let key: u64 = key.into();
    key.checked_shr(without).unwrap_or(0) as usize
}

/// Which messages hold which keys, for numbered keys of which it is known how many messages may hold each.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    /// Where the list of each key is; one more for the end.
    slots: Vec<Slot>,
    lists: Vec<u32>,
}

/// Where the list of a key starts, and how many holders it has by now: side by side, since a look-up in a large mailbox
/// waits for memory more than for anything else.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The lower and the upper half of a number, so that a slot takes twelve bytes.
    start: [u32; 2],
    filled: u32,
}

impl Slot {
    fn start(self) -> usize {
        let [lower, upper] = self.start;
        usize::try_from(u64::from(upper) << 32 | u64::from(lower)).unwrap_or(usize::MAX)
    }
}

impl Holders {
    /// Room for keys of which each is held by at most so many messages.
    pub fn with_room_for(most: &[u32]) -> Self {
        let mut slots = Vec::with_capacity(most.len() + 1);
        let mut sum = 0_u64;
        for &most in most.iter().chain([&0]) {
            slots.push(Slot {
                start: [sum as u32, (sum >> 32) as u32],
                filled: 0,
            });
            sum += u64::from(most);
        }
        Self {
            slots,
            lists: vec![0; usize::try_from(sum).unwrap_or(0)],
        }
    }

    /// Adds a message with its keys, each once. A key whose list is full is passed over.
    pub fn insert(&mut self, message: u32, keys: &[u32]) {
        for &key in keys {
            let key = key as usize;
            let [slot, next] = match self.slots.get_mut(key..key + 2) {
                Some([slot, next]) => [slot, next],
                _ => continue,
            };
            let list = self.lists.get_mut(slot.start()..next.start());
            if let Some(free) = list.and_then(|list| list.get_mut(slot.filled as usize)) {
                *free = message;
                slot.filled += 1;
            }
        }
    }

    /// The messages that hold a key, in the order in which they were added.
    pub fn holders(&self, key: u32) -> &[u32] {
        let slot = self.slots.get(key as usize).copied().unwrap_or_default();
        let from = slot.start();
        let list = self.lists.get(from..from + slot.filled as usize);
        list.unwrap_or_default()
    }
}
