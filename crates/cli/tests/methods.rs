//! `twicetold methods` as users run it.

#![allow(clippy::unwrap_used)]

mod common;

use common::{text, twicetold};

const NAMES: [&str; 6] = ["winnow", "imatch", "blocks", "simhash", "layout", "edit"];

#[test]
fn every_method_is_told() {
    let run = twicetold(["methods"]);
    assert_eq!(run.status.code(), Some(0));
    let told = text(&run.stdout);
    for name in NAMES {
        assert!(told.lines().any(|line| line.starts_with(name)), "{name}");
    }
    for part in [
        "good at",
        "bad at",
        "cost",
        "threshold",
        "--set simhash.distance=3",
    ] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
}

#[test]
fn programs_get_one_object_a_method() {
    let run = twicetold(["methods", "--format", "jsonl"]);
    let rows: Vec<serde_json::Value> = text(&run.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, NAMES);
    assert!(
        rows.iter()
            .all(|row| row["microseconds"].as_f64().unwrap() > 0.0)
    );
}

#[test]
fn one_method_can_be_asked_for() {
    let run = twicetold(["methods", "edit"]);
    assert!(text(&run.stdout).starts_with("edit  "));
    let run = twicetold(["methods", "edited"]);
    assert_eq!(run.status.code(), Some(2));
    let told = text(&run.stderr);
    assert!(
        told.contains("there is no method edited\nhint: there are winnow"),
        "{told}"
    );
}

#[test]
fn the_page_of_the_documentation_can_be_made() {
    let run = twicetold(["methods", "--format", "markdown"]);
    assert_eq!(text(&run.stdout), include_str!("../../../docs/methods.md"));
}
