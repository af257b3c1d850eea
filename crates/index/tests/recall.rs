//! Recall 1.0 against brute force, for random collections.

use proptest::prelude::*;
use twicetold_index::{Candidate, Key, Limits, MemoryIndex, Numbers, Rows, Share, Twice};
use twicetold_model::shared_keys;

/// A collection in which keys are shared often: small numbers, some far commoner than others.
fn collections() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let key = prop_oneof![3 => 0..8_u64, 2 => 8..60_u64, 1 => 60..1000_u64];
    let message =
        prop::collection::btree_set(key, 0..25).prop_map(|keys| keys.into_iter().collect());
    prop::collection::vec(message, 0..40)
}

fn index_of(collection: &[Vec<u64>]) -> MemoryIndex {
    let mut index = MemoryIndex::new();
    for (n, keys) in collection.iter().enumerate() {
        index.insert(n as u32, keys.iter().copied());
    }
    index
}

fn sorted(mut candidates: Vec<Candidate>) -> Vec<(u32, u32)> {
    candidates.sort_by_key(|c| c.message);
    candidates
        .into_iter()
        .map(|c| (c.message, c.shared))
        .collect()
}

proptest! {
    #[test]
    fn nothing_above_the_share_is_missed(collection in collections(), percent in 1..=100_u32) {
        let share = Share::percent(percent);
        let index = index_of(&collection);
        for keys in &collection {
            let found = index.containing(keys, share, |n| collection[n as usize].as_slice());
            let expected: Vec<(u32, u32)> = collection
                .iter()
                .enumerate()
                .map(|(n, other)| (n as u32, shared_keys(keys, other) as u32))
                .filter(|&(_, shared)| shared > 0 && u64::from(shared) * 100 >= u64::from(percent) * keys.len() as u64)
                .collect();
            prop_assert_eq!(sorted(found), expected);
        }
    }

    #[test]
    fn a_removed_message_leaves_no_trace(collection in collections(), which in any::<prop::sample::Index>()) {
        prop_assume!(!collection.is_empty());
        let gone = which.index(collection.len());
        let mut index = index_of(&collection);
        index.remove(gone as u32, collection[gone].iter().copied());
        for keys in &collection {
            let found = index.containing(keys, Share::percent(1), |n| collection[n as usize].as_slice());
            prop_assert!(found.iter().all(|c| c.message != gone as u32));
        }
    }
}

#[test]
fn a_limited_look_up_starts_with_the_rarest_keys() {
    let mut collection: Vec<Vec<u64>> = (0..1000).map(|n| vec![1, 2, 3, 100 + n]).collect();
    collection.push(vec![1, 2, 3, 100]);
    let index = index_of(&collection);
    let limits = Limits {
        entries: 10,
        messages: 2,
    };
    let found = index.sharing(&collection[1000], 4, limits, |n| {
        collection[n as usize].as_slice()
    });
    assert_eq!(sorted(found), [(0, 4), (1000, 4)]);
}

proptest! {
    #[test]
    fn what_stands_twice_is_never_called_single(keys in prop::collection::vec(0..500_u64, 0..600)) {
        let twice = Twice::with_room_for(keys.len());
        keys.iter().for_each(|&key| twice.insert(key));
        for key in &keys {
            if keys.iter().filter(|k| *k == key).count() > 1 {
                prop_assert!(twice.contains(*key));
            }
        }
    }
}

#[test]
fn most_singles_are_known_as_such() {
    let twice = Twice::with_room_for(10_000);
    let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
    (0..10_000).for_each(|n| twice.insert(key(n)));
    let wrong = (0..10_000).filter(|&n| twice.contains(key(n))).count();
    assert!(wrong < 1_000, "{wrong} of 10,000 singles taken for shared");
}

proptest! {
    /// Numbered keys lead to the same messages as the keys themselves.
    #[test]
    fn numbers_change_nothing(
        collection in prop::collection::vec(prop::collection::btree_set(0..40_u64, 0..12), 1..30),
    ) {
        let mix = |key: u64| key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let collection: Vec<Vec<u64>> = collection.into_iter().map(|keys| {
            let mut keys: Vec<u64> = keys.into_iter().map(mix).collect();
            keys.sort_unstable();
            keys
        }).collect();
        let mut all: Vec<u64> = collection.concat();
        all.sort_unstable();
        all.dedup();
        let numbers = Numbers::of(all.clone());
        prop_assert_eq!(numbers.len(), all.len());
        for (n, &key) in all.iter().enumerate() {
            prop_assert_eq!(numbers.get(key), Some(n as u32));
            prop_assert_eq!(numbers.get(key ^ 1), all.binary_search(&(key ^ 1)).ok().map(|n| n as u32));
        }
        let numbered: Vec<Vec<u32>> = collection.iter()
            .map(|keys| keys.iter().filter_map(|&key| numbers.get(key)).collect())
            .collect();
        let plain = index_of(&collection);
        let mut keys = Rows::with_room_for(0, 0);
        numbered.iter().for_each(|own| keys.push(own.iter().copied()));
        let holders = keys.turned(all.len());
        prop_assert_eq!((holders.len(), holders.numbers()), (all.len(), keys.numbers()));
        for (n, &key) in all.iter().enumerate() {
            prop_assert_eq!(holders.row(n as u32), plain.holders(key));
            prop_assert_eq!(u64::of_held(key.held_by(n as u32)), (key, n as u32));
            prop_assert_eq!(u32::of_held((key as u32).held_by(n as u32)), (key as u32, n as u32));
        }
        let back = holders.turned(numbered.len());
        prop_assert!(back.iter().eq(numbered.iter().map(Vec::as_slice)));
        prop_assert!(holders.row(all.len() as u32).is_empty());
    }
}

#[test]
fn no_keys_have_no_numbers_and_high_numbers_are_fine() {
    let none = Numbers::<u64>::of(Vec::new());
    assert!(none.is_empty());
    assert_eq!(none.get(7), None);
    let mut index = MemoryIndex::new();
    index.insert(u32::MAX, [1, 2]);
    index.insert(u32::MAX - 1, [2]);
    let found = index.sharing(&[1, 2], 2, Limits::NONE, |n| match n {
        u32::MAX => &[1, 2],
        _ => &[2],
    });
    let found: Vec<(u32, u32)> = found.iter().map(|c| (c.message, c.shared)).collect();
    assert_eq!(found, [(u32::MAX, 2), (u32::MAX - 1, 1)]);
}
