//! Many lists made on many threads become one.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Adds every list to `all`, in any order. One list grows where it stands; several, brought together at the end, would need
/// room for both.
pub(crate) fn gathered<T: Send>(
    all: Vec<T>,
    lists: impl ParallelIterator<Item = Vec<T>>,
) -> Vec<T> {
    let all = Mutex::new(all);
    lists.for_each(|list| {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(list);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}
