//! The sample mailbox gets the verdicts its `expected.jsonl` gives.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use twicetold_detect::{Options, Quiet, scan};
use twicetold_model::Standing;
use twicetold_source::Collection;

#[test]
fn the_sample_gets_its_verdicts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample");
    let paths: Vec<PathBuf> = ["mailbox", "list.mbox"]
        .iter()
        .map(|name| folder.join(name))
        .collect();
    let result = scan(&Collection::open(&paths), &Options::default(), &Quiet);
    assert!(result.troubles.is_empty(), "{:?}", result.troubles);
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let mut wrong = Vec::new();
    for line in expected.lines().filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let path = line["path"].as_str().unwrap();
        let found = result.messages.iter().find(|m| {
            m.location.path.ends_with(path)
                && m.message_id.as_deref() == line["message_id"].as_str()
        });
        let Some(found) = found else {
            wrong.push(format!("{line}: not read"));
            continue;
        };
        let (verdict, category) = match found.verdict.standing {
            Standing::Unique => ("unique", None),
            Standing::Redundant(category) => ("redundant", Some(category.name())),
            Standing::Version => ("version", None),
            Standing::Unreadable => ("unreadable", None),
        };
        // Of two equal messages with equal dates either may stay.
        let Some(keep) = line["keep"].as_bool() else {
            continue;
        };
        let fits =
            |wanted: &Value, found: Option<&str>| wanted == "any" || wanted.as_str() == found;
        let kept = verdict != "redundant";
        if keep != kept
            || !fits(&line["verdict"], Some(verdict))
            || !kept && !fits(&line["category"], category)
        {
            wrong.push(format!(
                "{line}: found {verdict} {category:?}, residue {:?}",
                found.residue
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
