//! What was found out about the words met lately: most of what mail says are a few thousand words, again and again.

use std::cell::Cell;

use twicetold_model::WordFlags;

use super::common::Table;
use super::letters::{CANNOT, Letters};
use super::short;

/// How many words are remembered at a time.
const PLACES: usize = 4096;

/// A word of up to eight letters.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Its letters in lower case, the first one lowest; no word has none.
    letters: u64,
    found: Found,
}

impl Entry {
    // Not part of the loop over words, which seldom comes here.
    #[cold]
    #[inline(never)]
    fn of(short: u64, length: usize) -> Self {
        Self {
            letters: short,
            found: Found::of(short::hash_of_eight(short, length)),
        }
    }
}

/// What is known of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) hash: u64,
    /// Its place in the table of common words, or [`NONE`](super::common::NONE).
    pub(super) common: u16,
    /// The flags it has wherever it stands.
    pub(super) flags: WordFlags,
}

impl Found {
    /// What the table knows of the word with this hash.
    #[inline]
    pub(super) fn of(hash: u64) -> Self {
        let table = Table::get();
        let common = table.place(hash);
        Self {
            hash,
            common,
            flags: table.at(common).flags,
        }
    }
}

/// Words met lately, each at a place that its letters tell; whoever comes later takes the place.
#[derive(Debug)]
pub(super) struct Known {
    entries: Box<[Entry; PLACES]>,
}

thread_local! {
    /// What a thread has met so far, while nobody uses it.
    static MET: Cell<Option<Known>> = const { Cell::new(None) };
}

impl Known {
    /// What this thread knows; [`Known::leave`] gives it back.
    pub(super) fn take() -> Self {
        MET.take().unwrap_or_else(|| Self {
            entries: Box::new([Entry::default(); PLACES]),
        })
    }

    /// Leaves what is known to whoever comes next.
    pub(super) fn leave(self) {
        MET.set(Some(self));
    }

    /// What is known of a word of up to eight letters, which are `short`, and is found out if it was not met lately. `None` of the one that is two words.
    #[inline(always)]
    pub(super) fn find(&mut self, short: u64, letters: &Letters) -> Option<Found> {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let place = short.wrapping_mul(SPREAD) >> (u64::BITS - PLACES.ilog2());
        let entry = &mut self.entries[place as usize % PLACES];
        if entry.letters != short {
            // It is never remembered, so nobody who is looks for it.
            if short == CANNOT {
                return None;
            }
            *entry = Entry::of(short, letters.length);
        }
        Some(entry.found)
    }
}
