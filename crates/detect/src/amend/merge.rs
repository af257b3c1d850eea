//! Who has which key, after some have come?

use twicetold_index::{Key, Rows};

use crate::shared::Lists;

/// A list that is not as it was.
#[derive(Debug)]
pub(super) struct Touched {
    /// The number of its key now, if several have it.
    pub(super) number: Option<u32>,
    /// Who had the key: places in the last walk.
    pub(super) before: Vec<u32>,
    /// Who has it: places in this one.
    pub(super) after: Vec<u32>,
}

/// The lists of this scan, and those that are not as they were.
#[derive(Debug)]
pub(super) struct Merged<K> {
    pub(super) lists: Lists<K>,
    pub(super) touched: Vec<Touched>,
}

/// The lists of the last scan with the places of this one, which `now` knows for each place then (`u32::MAX` if there is none), and with what was `added`: a key, and
/// the place of one that has it, in any order. Places keep their order. `None` if these are no lists of that scan.
pub(super) fn merged<K: Key>(
    before: &Lists<K>,
    now: &[u32],
    mut added: Vec<(K, u32)>,
) -> Option<Merged<K>> {
    added.sort_unstable();
    added.dedup();
    let mut added = added.as_slice();
    let mut merged = Merged {
        lists: Lists {
            keys: Vec::with_capacity(before.keys.len() + added.len()),
            holders: Rows::with_room_for(
                before.keys.len() + added.len(),
                before.holders.numbers() + added.len(),
            ),
        },
        touched: Vec::new(),
    };
    let mut row: Vec<u32> = Vec::new();
    for (&key, had) in before.keys.iter().zip(before.holders.iter()) {
        while let Some(&(other, _)) = added.first()
            && other < key
        {
            let own = take(&mut added, other);
            merged.push(other, &[], own.iter().map(|one| one.1).collect());
        }
        row.clear();
        for &place in had {
            row.push(*now.get(place as usize)?);
        }
        let own = take(&mut added, key);
        let is_new = |&(_, place): &(K, u32)| row.binary_search(&place).is_err();
        if !row.contains(&u32::MAX) && !own.iter().any(is_new) {
            merged.lists.keys.push(key);
            merged.lists.holders.push(row.iter().copied());
            continue;
        }
        let mut after: Vec<u32> = row.iter().copied().filter(|&p| p != u32::MAX).collect();
        after.extend(own.iter().map(|one| one.1));
        after.sort_unstable();
        after.dedup();
        merged.push(key, had, after);
    }
    while let Some(&(other, _)) = added.first() {
        let own = take(&mut added, other);
        merged.push(other, &[], own.iter().map(|one| one.1).collect());
    }
    Some(merged)
}

/// Takes what begins with this key.
fn take<'a, K: Key>(added: &mut &'a [(K, u32)], key: K) -> &'a [(K, u32)] {
    let count = added.iter().take_while(|one| one.0 == key).count();
    added.split_off(..count).unwrap_or_default()
}

impl<K: Key> Merged<K> {
    /// Adds a list that is not as it was, if several have its key.
    fn push(&mut self, key: K, before: &[u32], after: Vec<u32>) {
        let shared = after.len() > 1;
        if !shared && before.is_empty() {
            return;
        }
        self.touched.push(Touched {
            number: shared.then_some(self.lists.keys.len() as u32),
            before: before.to_vec(),
            after: after.clone(),
        });
        if shared {
            self.lists.keys.push(key);
            self.lists.holders.push(after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_stands_among_what_was_there() {
        let mut before: Lists<u32> = Lists::default();
        for (key, had) in [(3, &[0, 2][..]), (5, &[0, 1, 2]), (9, &[1, 2])] {
            before.keys.push(key);
            before.holders.push(had.iter().copied());
        }
        // The one in the middle is no longer in the walk; a new one stands first.
        let now = [1, u32::MAX, 2];
        let added = vec![(9, 0), (3, 2), (1, 0), (7, 0), (7, 2), (12, 0), (12, 2)];
        let merged = merged(&before, &now, added).unwrap();
        assert_eq!(merged.lists.keys, [3, 5, 7, 9, 12]);
        let lists: Vec<&[u32]> = merged.lists.holders.iter().collect();
        assert_eq!(lists, [&[1, 2][..], &[1, 2], &[0, 2], &[0, 2], &[0, 2]]);
        let touched = merged
            .touched
            .iter()
            .map(|t| (t.number, t.before.as_slice()));
        let expected = [
            (Some(1), &[0, 1, 2][..]),
            (Some(2), &[]),
            (Some(3), &[1, 2]),
            (Some(4), &[]),
        ];
        assert!(touched.eq(expected));
        assert!(super::merged(&before, &now[..2], Vec::new()).is_none());
    }
}
