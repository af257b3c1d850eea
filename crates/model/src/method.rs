//! The joint where every method meets the engine.

use crate::Document;

/// What a method keeps of a message: keys that an index can look up, and a body that only the
/// method itself understands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// What can be looked up; sorted.
    pub keys: Vec<u64>,
    /// What the method needs besides to compare two sketches.
    pub body: Vec<u8>,
}

impl Sketch {
    /// A sketch that is nothing but its keys, which may come in any order and repeat; `None` without any.
    pub fn of_keys(mut keys: Vec<u64>) -> Option<Self> {
        keys.sort_unstable();
        keys.dedup();
        (!keys.is_empty()).then_some(Self {
            keys,
            body: Vec::new(),
        })
    }

    /// The version that [`Sketch::to_bytes`] writes and [`Sketch::from_bytes`] reads.
    pub const VERSION: u8 = 1;

    /// The sketch as bytes, the same on every machine: the version, the number of keys and of body
    /// bytes (64 bits each), the keys, the body; numbers little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.keys.len() * 8 + self.body.len());
        bytes.push(Self::VERSION);
        bytes.extend_from_slice(&(self.keys.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(self.body.len() as u64).to_le_bytes());
        self.keys
            .iter()
            .for_each(|key| bytes.extend_from_slice(&key.to_le_bytes()));
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Reads what [`Sketch::to_bytes`] wrote. `None` for another version, for a length that does not
    /// fit (nothing is allocated before that is known) and for keys out of order.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&version, rest) = bytes.split_first()?;
        if version != Self::VERSION {
            return None;
        }
        let (keys, rest) = rest.split_first_chunk::<8>()?;
        let (body, rest) = rest.split_first_chunk::<8>()?;
        let key_bytes = usize::try_from(u64::from_le_bytes(*keys))
            .ok()?
            .checked_mul(8)?;
        let body_bytes = usize::try_from(u64::from_le_bytes(*body)).ok()?;
        if key_bytes.checked_add(body_bytes)? != rest.len() {
            return None;
        }
        let (keys, body) = rest.split_at(key_bytes);
        let keys: Vec<u64> = keys
            .chunks_exact(8)
            .filter_map(|chunk| chunk.try_into().ok().map(u64::from_le_bytes))
            .collect();
        keys.is_sorted().then(|| Self {
            keys,
            body: body.to_vec(),
        })
    }
}

/// How many bytes stand before the keys: the version and two lengths.
const HEADER: usize = 1 + 8 + 8;

/// How many numbers two sorted lists without repetitions have in common.
pub fn shared_keys<K: Ord>(a: &[K], b: &[K]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// What a method says of a pair of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// How much of the first message the second one holds, 0 to 1.
    pub containment: f64,
    /// How alike the two are, 0 to 1; 1 for equal texts.
    pub resemblance: f64,
}

/// A way of finding messages that say the same.
///
/// Pure: the same document gives the same sketch on every machine, in every thread, at any time.
pub trait Method: Send + Sync {
    /// The name users type.
    fn name(&self) -> &'static str;

    /// What to keep of a message; `None` if the method has nothing to say about it.
    fn sketch(&self, document: &Document) -> Option<Sketch>;

    /// What two sketches of this method say about their messages.
    fn compare(&self, a: &Sketch, b: &Sketch) -> Evidence;
}

#[cfg(test)]
mod tests {
    use super::{Sketch, shared_keys};

    #[test]
    fn a_sketch_survives_as_bytes() {
        for sketch in [
            Sketch::default(),
            Sketch {
                keys: vec![1, 2, u64::MAX],
                body: vec![7; 5],
            },
            Sketch {
                keys: vec![],
                body: vec![0],
            },
        ] {
            assert_eq!(Sketch::from_bytes(&sketch.to_bytes()), Some(sketch));
        }
    }

    #[test]
    fn hostile_bytes_give_no_sketch() {
        let good = Sketch {
            keys: vec![1, 2],
            body: vec![3],
        }
        .to_bytes();
        for cut in 0..good.len() {
            assert_eq!(Sketch::from_bytes(&good[..cut]), None, "{cut}");
        }
        let changed = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            Sketch::from_bytes(&bytes)
        };
        assert_eq!(changed(0, 2), None, "another version");
        assert_eq!(changed(8, 0xff), None, "more keys than memory");
        assert_eq!(changed(16, 0xff), None, "a body longer than memory");
        assert_eq!(changed(17, 9), None, "keys out of order");
        assert_eq!(
            Sketch::from_bytes(&[good, vec![0]].concat()),
            None,
            "one byte too many"
        );
    }

    #[test]
    fn counts_what_both_hold() {
        assert_eq!(shared_keys(&[1, 3, 5, 7], &[2, 3, 7, 9]), 2);
        assert_eq!(shared_keys(&[], &[1]), 0);
        assert_eq!(shared_keys(&[4], &[4]), 1);
    }
}
