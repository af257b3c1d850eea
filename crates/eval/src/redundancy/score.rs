//! Counting: by what is lost, and in the paper's report form.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::truth::Label;
use crate::metrics::Found;

/// What became of the messages of one category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How many may go.
    pub removable: usize,
    /// How many of them went.
    pub removed: usize,
    /// How many went and took something with them that no kept message says.
    pub lost: usize,
}

/// A set of removed messages held against the truth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// How many went in all.
    pub removed: usize,
    /// All categories together.
    pub all: Outcome,
    /// By category.
    pub by: BTreeMap<String, Outcome>,
    /// The files that took something with them.
    pub lost: Vec<String>,
}

impl Score {
    /// The share of what may go that went.
    pub fn recall(&self) -> f64 {
        self.all.removed as f64 / self.all.removable.max(1) as f64
    }

    /// The share of what went that took nothing with it.
    pub fn precision(&self) -> f64 {
        1.0 - self.all.lost as f64 / self.removed.max(1) as f64
    }
}

/// Scores a set of removed messages, by their place in the labels: right if every unit of every removed message is still
/// in some kept one. The most that may go is found greedily, fewest units first.
pub fn score(labels: &[Label], removed: &BTreeSet<usize>) -> Score {
    let mut held: HashMap<&str, usize> = HashMap::new();
    let mut left: HashMap<&str, usize> = HashMap::new();
    for (n, label) in labels.iter().enumerate() {
        for unit in &label.units {
            *left.entry(unit).or_default() += 1;
            *held.entry(unit).or_default() += usize::from(!removed.contains(&n));
        }
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&n| (labels[n].units.len(), &labels[n].file));
    let mut cases: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for n in order {
        let label = &labels[n];
        let spare = |unit: &String| left.get(unit.as_str()).is_some_and(|&count| count > 1);
        if !label.units.is_empty() && label.units.iter().all(spare) {
            cases.entry((&label.category, &label.case)).or_default().0 += 1;
            for unit in &label.units {
                if let Some(count) = left.get_mut(unit.as_str()) {
                    *count -= 1;
                }
            }
        }
    }
    let mut score = Score {
        removed: removed.len(),
        ..Score::default()
    };
    for (n, label) in labels.iter().enumerate() {
        let outcome = score.by.entry(label.category.clone()).or_default();
        if !removed.contains(&n) {
            continue;
        }
        let gone = |unit: &String| held.get(unit.as_str()).is_none_or(|&count| count == 0);
        if label.units.iter().any(gone) {
            outcome.lost += 1;
            score.lost.push(label.file.clone());
        } else {
            cases.entry((&label.category, &label.case)).or_default().1 += 1;
        }
    }
    for ((category, _), (may, went)) in cases {
        let outcome = score.by.entry(category.to_owned()).or_default();
        outcome.removable += may;
        // Another choice of as many messages is as good.
        outcome.removed += went.min(may);
    }
    for outcome in score.by.values() {
        score.all.removable += outcome.removable;
        score.all.removed += outcome.removed;
        score.all.lost += outcome.lost;
    }
    score
}

/// A relation held against the truth, in the form of the paper's Figure 13.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How many messages are redundant in truth.
    pub truth: u64,
    /// How many were found.
    pub found: u64,
    /// Redundant, and not found.
    pub missing: Vec<usize>,
    /// Found, and not redundant.
    pub extra: Vec<usize>,
    /// Found rightly, but with more or fewer witnesses: found, true.
    pub witnesses: Vec<(usize, usize, usize)>,
}

impl Report {
    /// Compares who was found to make whom redundant with the truth.
    pub fn of(truth: &[BTreeSet<usize>], found: &[BTreeSet<usize>]) -> Self {
        let mut report = Self::default();
        for (n, (truth, found)) in truth.iter().zip(found).enumerate() {
            report.truth += u64::from(!truth.is_empty());
            report.found += u64::from(!found.is_empty());
            match (truth.is_empty(), found.is_empty()) {
                (false, true) => report.missing.push(n),
                (true, false) => report.extra.push(n),
                (false, false) if truth.len() != found.len() => {
                    report.witnesses.push((n, found.len(), truth.len()));
                }
                _ => {}
            }
        }
        report
    }

    /// By message: found if it has any witness.
    pub fn messages(&self) -> Found {
        Found {
            right: self.found - self.extra.len() as u64,
            wrong: self.extra.len() as u64,
            missed: self.missing.len() as u64,
        }
    }

    /// As the paper counts: right only with the right number of witnesses.
    pub fn strict(&self) -> Found {
        let uneven = self.witnesses.len() as u64;
        let messages = self.messages();
        Found {
            right: messages.right - uneven,
            wrong: messages.wrong + uneven,
            missed: messages.missed + uneven,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Vec<Label> {
        let label = |file: &str, category: &str, units: &[&str]| Label {
            file: file.into(),
            category: category.into(),
            units: units.iter().map(|&unit| unit.into()).collect(),
            ..Label::default()
        };
        vec![
            label("a", "quoted", &["1", "2"]),
            label("b", "quoted", &["1", "2", "3"]),
            label("c", "neg-long", &["4"]),
        ]
    }

    #[test]
    fn what_is_lost_is_counted() {
        let right = score(&labels(), &BTreeSet::from([0]));
        assert_eq!((right.recall(), right.precision()), (1.0, 1.0));
        let both = score(&labels(), &BTreeSet::from([0, 1]));
        assert_eq!(
            both.all,
            Outcome {
                removable: 1,
                removed: 0,
                lost: 2
            }
        );
        let wrong = score(&labels(), &BTreeSet::from([0, 2]));
        assert_eq!((wrong.recall(), wrong.precision()), (1.0, 0.5));
        assert_eq!(wrong.lost, ["c"]);
        assert_eq!(wrong.by["neg-long"].lost, 1);
        assert_eq!(score(&labels(), &BTreeSet::new()).recall(), 0.0);
    }

    #[test]
    fn the_papers_report() {
        let set = |of: &[usize]| of.iter().copied().collect::<BTreeSet<_>>();
        let truth = [set(&[1]), set(&[0, 2]), set(&[]), set(&[1])];
        let found = [set(&[1]), set(&[0]), set(&[1]), set(&[])];
        let report = Report::of(&truth, &found);
        assert_eq!((report.truth, report.found), (3, 3));
        assert_eq!(report.missing, [3]);
        assert_eq!(report.extra, [2]);
        assert_eq!(report.witnesses, [(1, 1, 2)]);
        assert_eq!(
            report.messages(),
            Found {
                right: 2,
                wrong: 1,
                missed: 1
            }
        );
        assert_eq!(
            report.strict(),
            Found {
                right: 1,
                wrong: 2,
                missed: 2
            }
        );
    }
}
