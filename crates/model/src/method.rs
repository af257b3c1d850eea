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

/// How many numbers two sorted lists without repetitions have in common.
pub fn shared_keys(a: &[u64], b: &[u64]) -> usize {
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
    use super::shared_keys;

    #[test]
    fn counts_what_both_hold() {
        assert_eq!(shared_keys(&[1, 3, 5, 7], &[2, 3, 7, 9]), 2);
        assert_eq!(shared_keys(&[], &[1]), 0);
        assert_eq!(shared_keys(&[4], &[4]), 1);
    }
}
