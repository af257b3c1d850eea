//! Real mail, where it is at hand: `../shared/data/redundancy-dev.tar.xz` beside the checkout.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use twicetold_detect::{Options, Quiet, scan};
use twicetold_model::Standing;
use twicetold_source::Collection;

struct Message {
    case: String,
    units: Vec<String>,
}

fn truth(path: &Path) -> BTreeMap<String, Message> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|line| {
            let units = line["units"]
                .as_array()
                .unwrap()
                .iter()
                .map(|u| u.as_str().unwrap().to_owned())
                .collect();
            let case = format!("{} {}", line["category"], line["case"]);
            (
                line["file"].as_str().unwrap().to_owned(),
                Message { case, units },
            )
        })
        .collect()
}

/// The most that may go: greedily, fewest units first, whatever the rest still holds.
fn removable(truth: &BTreeMap<String, Message>) -> BTreeSet<&str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    truth
        .values()
        .flat_map(|m| &m.units)
        .for_each(|u| *left.entry(u).or_default() += 1);
    let mut order: Vec<_> = truth.iter().collect();
    order.sort_by_key(|(file, m)| (m.units.len(), *file));
    let mut gone = BTreeSet::new();
    for (file, message) in order {
        if !message.units.is_empty() && message.units.iter().all(|u| left[u.as_str()] > 1) {
            gone.insert(file.as_str());
            message
                .units
                .iter()
                .for_each(|u| *left.get_mut(u.as_str()).unwrap() -= 1);
        }
    }
    gone
}

#[test]
fn labelled_mail_loses_nothing_and_most_of_what_may_go_is_found() {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/redundancy-dev.tar.xz");
    if !archive.exists() {
        println!("skipped: there is no redundancy-dev.tar.xz beside the checkout");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar")
        .arg("-xJf")
        .arg(&archive)
        .arg("-C")
        .arg(folder.path())
        .status();
    assert!(
        unpacked.is_ok_and(|status| status.success()),
        "tar and xz unpack the corpus"
    );
    let root = folder.path().join("redundancy-dev");
    let truth = truth(&root.join("truth.jsonl"));
    let result = scan(
        &Collection::open(&[root.join("mail")]),
        &Options::default(),
        &Quiet,
    );
    let removed: BTreeSet<&str> = result
        .messages
        .iter()
        .filter(|m| matches!(m.verdict.standing, Standing::Redundant(_)))
        .filter_map(|m| m.location.path.rsplit('/').next())
        .collect();
    let held: BTreeSet<&str> = truth
        .iter()
        .filter(|(file, _)| !removed.contains(file.as_str()))
        .flat_map(|(_, m)| m.units.iter().map(String::as_str))
        .collect();
    let lost: Vec<_> = removed
        .iter()
        .filter(|&&file| truth[file].units.iter().any(|u| !held.contains(u.as_str())))
        .collect();
    assert!(lost.is_empty(), "lost content: {lost:?}");

    // Which of several equal messages goes is a matter of policy, so what was found is counted by case.
    let wanted = removable(&truth);
    let per_case = |files: &BTreeSet<&str>| {
        let mut count: HashMap<&str, usize> = HashMap::new();
        files
            .iter()
            .for_each(|&file| *count.entry(truth[file].case.as_str()).or_default() += 1);
        count
    };
    let found = per_case(&removed);
    let hit: usize = per_case(&wanted)
        .iter()
        .map(|(case, n)| found.get(case).copied().unwrap_or(0).min(*n))
        .sum();
    let recall = hit as f64 / wanted.len() as f64;
    assert!(recall >= 0.97, "recall {recall:.4}");
}
