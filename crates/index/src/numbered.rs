//! The index for keys that are all known beforehand: no hashing, no list of its own for every key.

/// A key: a hash, or half of one.
pub trait Key: Copy + Ord + Into<u64> + Send + Sync {
    /// How many bits it has.
    const BITS: u32;
    /// A key and a message that has it, as one number, which sorts quickly: by the key, then by the message.
    type Held: Copy + Ord + Send + Sync;

    /// The key as a message has it.
    fn held_by(self, message: u32) -> Self::Held;

    /// The key and the message.
    fn of_held(held: Self::Held) -> (Self, u32);
}

impl Key for u32 {
    const BITS: u32 = u32::BITS;
    type Held = u64;

    fn held_by(self, message: u32) -> u64 {
        u64::from(self) << 32 | u64::from(message)
    }

    fn of_held(held: u64) -> (Self, u32) {
        ((held >> 32) as u32, held as u32)
    }
}

impl Key for u64 {
    const BITS: u32 = u64::BITS;
    type Held = u128;

    fn held_by(self, message: u32) -> u128 {
        u128::from(self) << 32 | u128::from(message)
    }

    fn of_held(held: u128) -> (Self, u32) {
        ((held >> 32) as u64, held as u32)
    }
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

/// Lists of numbers, each known by its place, one behind the other: who has which key, or which keys somebody has.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Where each list ends.
    ends: Vec<usize>,
    all: Vec<u32>,
}

impl Rows {
    /// Room for so many lists that have so many numbers together.
    pub fn with_room_for(rows: usize, numbers: usize) -> Self {
        Self {
            ends: Vec::with_capacity(rows),
            all: Vec::with_capacity(numbers),
        }
    }

    /// Adds a list.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.all.extend(row);
        self.ends.push(self.all.len());
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many numbers all lists have together.
    pub fn numbers(&self) -> usize {
        self.all.len()
    }

    /// The list at a place; nothing if there is none.
    #[inline]
    pub fn row(&self, place: u32) -> &[u32] {
        let place = place as usize;
        let Some(&end) = self.ends.get(place) else {
            return &[];
        };
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..end]
    }

    /// All lists, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len() as u32).map(|place| self.row(place))
    }

    /// For each number below `count` the places of the lists that have it, in order. Other numbers are passed over.
    #[must_use]
    pub fn turned(&self, count: usize) -> Self {
        let mut ends = vec![0; count];
        for &number in &self.all {
            if let Some(end) = ends.get_mut(number as usize) {
                *end += 1;
            }
        }
        // Where each list starts, for now; when it is filled, it has become its end.
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut all = vec![0; sum];
        for (place, row) in self.iter().enumerate() {
            for &number in row {
                if let Some(end) = ends.get_mut(number as usize) {
                    all[*end] = place as u32;
                    *end += 1;
                }
            }
        }
        Self { ends, all }
    }
}
