//! Which messages stand for which, and in what order are they asked?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;
use twicetold_methods::winnow::Winnow;

use crate::aside::Aside;
use crate::leads::Told;
use crate::options::Options;
use crate::order::{by_content, by_policy};
use crate::part::Whole;
use crate::record::{Record, Sameness};
use crate::threads::threads;

/// Where messages stand among each other.
pub(crate) struct Placed {
    /// For every message a number that is the same for those of its conversation.
    pub(crate) threads: Vec<u32>,
    /// Messages that say word for word the same, each group under the one that stands for it.
    pub(crate) groups: BTreeMap<u32, Vec<u32>>,
    /// Those that stand for themselves or for a group, in the order in which they are asked.
    pub(crate) order: Vec<u32>,
    /// For each message its place there; `u32::MAX` if another one stands for it.
    pub(crate) ranks: Vec<u32>,
}

impl Placed {
    /// Finds out.
    pub(crate) fn of(records: &[Record], options: &Options, whole: Option<&Whole<'_>>) -> Self {
        let conversations =
            || whole.map_or_else(|| threads(records), |whole| whole.threads(records));
        let (threads, groups) = rayon::join(conversations, || copies(records, options));
        let order = in_order(groups.keys().copied(), records, options);
        let mut ranks = vec![u32::MAX; records.len()];
        for (&a, rank) in order.iter().zip(0..) {
            ranks[a as usize] = rank;
        }
        Self {
            threads,
            groups,
            order,
            ranks,
        }
    }

    /// What is known of messages that stand so before anybody is asked.
    pub(crate) fn told<'t>(
        &'t self,
        records: &'t [Record],
        aside: &'t Aside,
        options: &Options,
    ) -> Told<'t> {
        Told {
            records,
            order: &self.order,
            ranks: &self.ranks,
            threads: &self.threads,
            aside,
            winnow: Winnow {
                window: options.window,
            },
            keeping: None,
            whole: None,
        }
    }
}

/// These messages in the order in which they are asked.
fn in_order(
    messages: impl Iterator<Item = u32>,
    records: &[Record],
    options: &Options,
) -> Vec<u32> {
    let record = |n: u32| &records[n as usize];
    // How much each says is at hand without its record, and decides most of the time.
    let mut sorted: Vec<(Reverse<u32>, u32)> = messages
        .map(|n| (Reverse(record(n).said.says), n))
        .collect();
    sorted.par_sort_by(|a, b| {
        let says = a.0.cmp(&b.0);
        says.then_with(|| by_content(&options.keep, record(a.1), record(b.1)))
    });
    sorted.into_iter().map(|(_, n)| n).collect()
}

/// Messages that say word for word the same, each group under the one that the policy keeps.
fn copies(records: &[Record], options: &Options) -> BTreeMap<u32, Vec<u32>> {
    let numbered = || (0..).zip(records);
    let alone = numbered().filter(|(_, record)| !record.can_be_copied());
    let mut groups: Vec<(u32, Vec<u32>)> = alone.map(|(n, _)| (n, Vec::new())).collect();
    let same = numbered().filter(|(_, record)| record.can_be_copied());
    let mut same: Vec<(Sameness, u32)> = same.map(|(n, r)| (r.sameness(), n)).collect();
    same.par_sort_unstable();
    for same in same.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, alone)] = same {
            groups.push((*alone, Vec::new()));
            continue;
        }
        let mut members: Vec<u32> = same.iter().map(|(_, n)| *n).collect();
        members
            .sort_by(|&a, &b| by_policy(&options.keep, &records[a as usize], &records[b as usize]));
        let rest = members.split_off(1);
        groups.push((members[0], rest));
    }
    groups.into_iter().collect()
}
