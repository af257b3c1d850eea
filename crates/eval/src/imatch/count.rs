//! What queries find, held against the truth.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::texts::Texts;

/// What a legitimate message that is found costs.
const COST: f64 = 100.0;

/// What was counted for one setting.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Quality {
    /// Mean over queries of the share of true duplicates found.
    pub(super) recall: f64,
    /// Mean over queries of the share of what was found that is true; queries that found nothing are left out.
    pub(super) precision: f64,
    /// The share of queries that found something, and nothing wrong.
    pub(super) pure: f64,
    /// Mean over queries of spam found less 100 for each legitimate message.
    pub(super) utility: f64,
    /// Legitimate messages found, over all queries.
    pub(super) ham: usize,
}

/// Counts what queries find by shared keys; `keys` come for spam, then for legitimate mail.
pub(super) fn counted(
    texts: &Texts,
    keys: &[Vec<u64>],
    agree: impl Fn(u32, u32) -> bool,
) -> Quality {
    let mut holders: HashMap<u64, Vec<u32>> = HashMap::new();
    for (n, keys) in (0..).zip(keys) {
        keys.iter()
            .for_each(|&key| holders.entry(key).or_default().push(n));
    }
    let found = |n: u32| -> BTreeSet<u32> {
        let near = keys[n as usize]
            .iter()
            .filter_map(|key| holders.get(key))
            .flatten()
            .copied();
        near.filter(|&m| m != n)
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .filter(|&m| agree(n, m))
            .collect()
    };
    from_relation(texts, found)
}

/// Counts what queries find.
pub(super) fn from_relation(texts: &Texts, found: impl Fn(u32) -> BTreeSet<u32>) -> Quality {
    let spam = texts.spam.len() as u32;
    let (mut recall, mut precision, mut answered, mut pure, mut utility, mut ham) =
        (0.0, 0.0, 0, 0, 0.0, 0);
    let mut queries = 0;
    for (n, truth) in (0..).zip(&texts.truth) {
        if truth.is_empty() {
            continue;
        }
        queries += 1;
        let found = found(n);
        let right = found.intersection(truth).count();
        let alarms = found.iter().filter(|&&m| m >= spam).count();
        recall += right as f64 / truth.len() as f64;
        if !found.is_empty() {
            answered += 1;
            precision += right as f64 / found.len() as f64;
            pure += usize::from(right == found.len());
        }
        utility += (found.len() - alarms) as f64 - COST * alarms as f64;
        ham += alarms;
    }
    let mean = |sum: f64, of: usize| sum / of.max(1) as f64;
    Quality {
        recall: mean(recall, queries),
        precision: mean(precision, answered),
        pure: mean(pure as f64, answered),
        utility: mean(utility, queries),
        ham,
    }
}
