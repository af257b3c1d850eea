//! Many small collections, scanned at the same time.
//!
//! A scan of three messages has nothing for several threads to share, so each thread scans collections of its own, from beginning to end. Only a
//! collection that is large gets all threads. The verdicts are those of `scan`, since that is what runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};
use twicetold_source::Collection;

use crate::options::Options;
use crate::part::Whole;
use crate::progress::Quiet;
use crate::scan::{Scan, scan, scan_part};

/// A collection of more bytes than this is scanned on all threads.
const LARGE: u64 = 8 << 20;

/// Threads that each scan on their own.
#[derive(Debug)]
pub struct Crew {
    /// Pools of one thread: a thread that waits for a part of its scan must not begin somebody else's.
    alone: Vec<ThreadPool>,
}

impl Crew {
    /// As many as the threads that a scan would use; fewer if the system does not give so many.
    pub fn new() -> Self {
        let pools = (0..rayon::current_num_threads())
            .map_while(|_| ThreadPoolBuilder::new().num_threads(1).build().ok());
        Self {
            alone: pools.collect(),
        }
    }

    /// Scans each of the collections and gives what `make` makes of the results, in the same order. `wholes` says of which
    /// whole each is a part; it has nothing to say where a collection is the whole.
    pub fn scan_each<T: Send>(
        &self,
        collections: &[Collection],
        wholes: &[Whole<'_>],
        options: &Options,
        make: impl Fn(usize, &Scan) -> T + Sync,
    ) -> Vec<T> {
        let (large, small): (Vec<usize>, Vec<usize>) = (0..collections.len())
            .partition(|&n| self.alone.is_empty() || collections[n].total_bytes() > LARGE);
        let judge = |n: usize| {
            let scan = match wholes.get(n) {
                Some(whole) => scan_part(&collections[n], options, whole, &Quiet),
                None => scan(&collections[n], options, &Quiet),
            };
            (n, make(n, &scan))
        };
        let made: Mutex<Vec<(usize, T)>> = Mutex::default();
        let add = |more: Vec<(usize, T)>| {
            made.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(more);
        };
        let next = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for pool in self.alone.iter().take(small.len()) {
                threads.spawn(|| {
                    add(pool.install(|| {
                        let take = || small.get(next.fetch_add(1, Ordering::Relaxed)).copied();
                        std::iter::from_fn(take).map(&judge).collect()
                    }));
                });
            }
        });
        add(large.into_iter().map(judge).collect());
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_by_key(|&(n, _)| n);
        made.into_iter().map(|(_, made)| made).collect()
    }
}

impl Default for Crew {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use twicetold_model::{Form, Location, RawMessage};

    use super::*;

    fn group(texts: &[&str]) -> Collection {
        let messages = texts.iter().enumerate().map(|(n, text)| RawMessage {
            location: Location {
                path: format!("m{n}").into(),
                offset: None,
            },
            form: Form::Text,
            bytes: text.as_bytes().to_vec().into(),
        });
        Collection::of_messages(messages.collect())
    }

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let story =
            "The harbour was closed on Monday because of the storm. Nobody had expected it.";
        let longer = format!("{story} Three ships waited outside until the wind went down.");
        let mut groups = Vec::new();
        for n in 0..40 {
            groups.push(match n % 4 {
                0 => group(&[story, &longer]),
                1 => group(&[story]),
                2 => group(&[]),
                _ => group(&[
                    &longer,
                    "Lunch at noon, as ever, at the usual place?",
                    &longer,
                ]),
            });
        }
        let options = Options::default();
        let verdicts = |scan: &Scan| {
            let messages = scan.messages.iter();
            messages
                .map(|m| (m.location.clone(), m.verdict.standing))
                .collect::<Vec<_>>()
        };
        let together = Crew::new().scan_each(&groups, &[], &options, |n, scan| (n, verdicts(scan)));
        assert_eq!(together.len(), groups.len());
        for (n, (at, together)) in together.into_iter().enumerate() {
            assert_eq!(n, at);
            assert_eq!(together, verdicts(&scan(&groups[n], &options, &Quiet)));
        }
    }
}
