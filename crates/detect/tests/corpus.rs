//! Every case of the shipped corpus gets the verdicts it expects.
//!
//! A case is a folder of mails and an `expected.jsonl`; see corpus/README.md for its format.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use twicetold_detect::{Options, Quiet, Scan, scan};
use twicetold_model::Standing;
use twicetold_source::Collection;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What a scan says of each file: verdict, category, kept, and the files of the witnesses.
fn verdicts(scan: &Scan) -> BTreeMap<String, (&'static str, &'static str, bool, Vec<String>)> {
    scan.messages
        .iter()
        .map(|m| {
            let (verdict, category, keep) = match m.verdict.standing {
                Standing::Unique => ("unique", "", true),
                Standing::Redundant(category) => ("redundant", category.name(), false),
                Standing::Version => ("version", "", true),
                Standing::Unreadable => ("unreadable", "", true),
            };
            let witnesses = m
                .verdict
                .witnesses
                .iter()
                .map(|w| file_name(&scan.messages[w.message as usize].location.path).to_owned())
                .collect();
            (
                file_name(&m.location.path).to_owned(),
                (verdict, category, keep, witnesses),
            )
        })
        .collect()
}

/// Compares a case's expectations with what a scan of its folder says; one line per difference.
fn differences(folder: &Path) -> Vec<String> {
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let mails: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "eml"))
        .collect();
    let scan = scan(&Collection::open(&mails), &Options::default(), &Quiet);
    let found = verdicts(&scan);
    let mut differences = Vec::new();
    for line in expected.lines().filter(|line| !line.trim().is_empty()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(file) = line["file"].as_str() else {
            continue;
        };
        let Some((verdict, category, keep, witnesses)) = found.get(file) else {
            differences.push(format!("{file}: not read"));
            continue;
        };
        let wanted = |key: &str| line[key].as_str().unwrap_or("").to_owned();
        let fits = |wanted: &str, found: &str| wanted == "any" || wanted == found;
        if Some(*keep) != line["keep"].as_bool()
            || !fits(&wanted("verdict"), verdict)
            || !keep && !fits(&wanted("category"), category)
        {
            let residue: Vec<_> = scan
                .messages
                .iter()
                .filter(|m| m.location.path.ends_with(file))
                .map(|m| &m.residue)
                .collect();
            differences.push(format!(
                "{file}: expected {} {}, found {verdict} {category} by {witnesses:?}, residue {residue:?}",
                wanted("verdict"),
                wanted("category"),
            ));
        } else if !keep {
            let named: Vec<&str> = line["covered_by"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let all = *category == "combined" || wanted("category") == "any";
            let right = if all {
                witnesses.iter().all(|w| named.contains(&w.as_str()))
            } else {
                witnesses.iter().any(|w| named.contains(&w.as_str()))
            };
            if !named.is_empty() && !right {
                differences.push(format!(
                    "{file}: covered by {witnesses:?}, expected {named:?}"
                ));
            }
        }
    }
    differences
}

#[test]
fn every_case_gets_its_verdicts() {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("corpus/cases"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    assert!(folders.len() > 100, "the corpus is there");
    let mut wrong = Vec::new();
    for folder in &folders {
        for difference in differences(folder) {
            wrong.push(format!(
                "{}/{difference}",
                file_name(&folder.to_string_lossy())
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        folders.len(),
        wrong.join("\n")
    );
}
