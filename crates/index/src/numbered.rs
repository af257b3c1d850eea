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

    /// The key that is this number, as far as it has bits.
    fn of_number(number: u64) -> Self;
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

    fn of_number(number: u64) -> Self {
        number as u32
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

    fn of_number(number: u64) -> Self {
        number
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
