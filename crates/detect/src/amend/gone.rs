//! Which word pairs occur less often, now that some messages are gone?

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use rayon::prelude::*;
use twicetold_index::{Seen, Times};
use twicetold_model::Location;

use super::came::Came;
use super::watched::Watched;
use super::{LOADED, LOADING};
use crate::cache::{Opened, Place};
use crate::record::Record;

/// A message that is there no longer.
pub(super) struct Gone {
    pub(super) record: Record,
    /// All its word pairs.
    pairs: Vec<u32>,
}

impl Gone {
    /// The messages of the last scan with these checksums; `None` if one is not as it was written.
    pub(super) fn of(prints: &[u128], cache: &Opened) -> Option<Vec<Self>> {
        let nowhere = Location {
            path: "".into(),
            offset: None,
        };
        let gone = prints.iter().map(|&print| {
            let (record, pairs, _) = cache.find(print, &nowhere)?;
            Some(Self { record, pairs })
        });
        gone.collect()
    }
}

/// How often the word pairs of those that are gone occur in those that are there.
struct Recount {
    /// By their slots; more than once is all that matters.
    counts: HashMap<u32, u8, FixedState>,
    /// As what those count that were counted: copies are not.
    met: HashSet<u128, FixedState>,
    mask: u32,
}

/// So often is often enough.
const OFTEN: u8 = 2;
/// If there are more pairs than this to be counted, it takes less time to count all.
const PAIRS: usize = 1 << 18;

impl Recount {
    /// Counts some pairs of a message that counts as this.
    fn count(&mut self, counts_as: Option<u128>, pairs: &[u32]) {
        if counts_as.is_some_and(|counted| !self.met.insert(counted)) {
            return;
        }
        for pair in pairs {
            if let Some(count) = self.counts.get_mut(&(pair & self.mask)) {
                *count = (*count + 1).min(OFTEN);
            }
        }
    }

    /// Those of which it is not known yet that they occur often enough; `None` if there are none.
    fn open(&self, slots: u64) -> Option<Watched> {
        let mut watched = Watched::new(slots);
        let mut open = self.counts.iter().filter(|(_, count)| **count < OFTEN);
        let (&first, _) = open.next()?;
        watched.add_number(first);
        open.for_each(|(&slot, _)| watched.add_number(slot));
        Some(watched)
    }
}

/// Counts the word pairs of those that are gone anew, in those that stay and in those that moved. Returns those that occurred more than once and do no longer:
/// whoever has one of them may be alone with it now. `None` if there is too much to count, or if something cannot be read.
pub(super) fn recounted(
    gone: &[Gone],
    stay: &[(Location, u128, Place)],
    came: &[Came],
    cache: &Opened,
    seen: &mut Seen,
) -> Option<Vec<u32>> {
    let mask = u32::try_from(seen.slots() - 1).unwrap_or(u32::MAX);
    let all = gone.iter().flat_map(|gone| &gone.pairs);
    let mut recount = Recount {
        counts: all.map(|pair| (pair & mask, 0)).collect(),
        met: HashSet::default(),
        mask,
    };
    for one in came.iter().filter(|one| one.moved) {
        recount.count(one.record.counts_as(&one.pairs), &one.pairs);
    }
    if recount.counts.len() > PAIRS {
        return None;
    }
    // Most pairs are met again soon: there is less and less to look for.
    let (mut rest, mut together) = (stay, LOADED / 4);
    while !rest.is_empty()
        && let Some(watched) = recount.open(seen.slots())
    {
        let some = rest.split_off(..together.min(rest.len()))?;
        together = (together * 4).min(LOADED * LOADING);
        let found: Vec<_> = some
            .par_chunks(LOADED / 16)
            .map(|some| cache.having(some, &watched))
            .collect();
        for one in found.into_iter().flatten() {
            if let Some((counts_as, pairs)) = one? {
                recount.count(counts_as, &pairs);
            }
        }
    }
    let mut fallen = Vec::new();
    for (slot, count) in recount.counts {
        let times = match count {
            0 => Times::Never,
            1 => Times::Once,
            _ => Times::More,
        };
        let key = u64::from(slot);
        let before = seen.times(key);
        if before != times {
            seen.recount(key, times);
            if before == Times::More {
                fallen.push(slot);
            }
        }
    }
    Some(fallen)
}
