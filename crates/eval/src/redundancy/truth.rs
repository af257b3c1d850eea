//! What a labelled mailbox says is true.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::EvalError;

/// What is true of one message: a line of `truth.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Its file name, without folders.
    pub file: String,
    /// Its Message-ID.
    #[serde(default)]
    pub id: String,
    /// Which case it belongs to; messages of other cases have nothing to do with it.
    pub case: String,
    /// What the case tests; traps, in which nothing may go, begin with `neg-`.
    pub category: String,
    /// What it says: a name for each sentence, fact and attachment. Equal names say the same.
    pub units: Vec<String>,
}

/// Reads a file of labels, one JSON object a line.
///
/// # Errors
/// If it cannot be read, or a line is no label; the error names the line.
pub fn read_labels(path: &Path) -> Result<Vec<Label>, EvalError> {
    let text = std::fs::read_to_string(path).map_err(EvalError::reading(path))?;
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(n, line)| {
            serde_json::from_str(line).map_err(|error| EvalError::Line {
                path: path.to_owned(),
                line: n + 1,
                what: format!("it is no label: {error}"),
            })
        })
        .collect()
}

/// Who makes whom redundant, by Message-ID: a line names a redundant message, then every message that alone holds all it
/// says. Lines that begin with `#` are comments.
///
/// # Errors
/// If it cannot be read, or a line names a message twice or no message.
pub fn read_classification(path: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, EvalError> {
    let text = std::fs::read_to_string(path).map_err(EvalError::reading(path))?;
    let mut found = BTreeMap::new();
    for (n, line) in text.lines().enumerate() {
        let mut ids = line.split_whitespace().map(str::to_owned);
        let Some(id) = ids.next().filter(|id| !id.starts_with('#')) else {
            continue;
        };
        let wrong = |what: &str| EvalError::Line {
            path: path.to_owned(),
            line: n + 1,
            what: what.to_owned(),
        };
        if !id.starts_with('<') {
            return Err(wrong(
                "it does not begin with a Message-ID in angle brackets",
            ));
        }
        if found.insert(id, ids.collect()).is_some() {
            return Err(wrong("its message was named before"));
        }
    }
    Ok(found)
}

/// For each message, every other one that alone holds all its units.
pub fn holders(labels: &[Label]) -> Vec<BTreeSet<usize>> {
    let mut by_unit: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    for (n, label) in labels.iter().enumerate() {
        for unit in &label.units {
            by_unit.entry(unit).or_default().insert(n);
        }
    }
    labels
        .iter()
        .enumerate()
        .map(|(n, label)| {
            let mut lists: Vec<&BTreeSet<usize>> = label
                .units
                .iter()
                .filter_map(|unit| by_unit.get(unit.as_str()))
                .collect();
            lists.sort_by_key(|list| list.len());
            let Some((first, rest)) = lists.split_first() else {
                return BTreeSet::new();
            };
            let all = |other: &&usize| **other != n && rest.iter().all(|list| list.contains(other));
            first.iter().filter(all).copied().collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(file: &str, units: &[&str]) -> Label {
        Label {
            file: file.into(),
            units: units.iter().map(|&unit| unit.into()).collect(),
            ..Label::default()
        }
    }

    #[test]
    fn who_holds_whom() {
        let labels = [
            label("a", &["1", "2"]),
            label("b", &["1", "2", "3"]),
            label("c", &["2", "1"]),
            label("d", &["3", "4"]),
            label("e", &[]),
        ];
        let found = holders(&labels);
        assert_eq!(found[0], BTreeSet::from([1, 2]));
        assert_eq!(found[1], BTreeSet::new());
        assert_eq!(found[2], BTreeSet::from([0, 1]));
        assert_eq!(found[3], BTreeSet::new());
        assert_eq!(
            found[4],
            BTreeSet::new(),
            "who says nothing is held by nobody"
        );
    }
}
