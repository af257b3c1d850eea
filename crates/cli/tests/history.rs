//! `twicetold history` as users run it.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;
mod mailboxes;

use std::fs;
use std::path::PathBuf;

use common::{Folder, text};
use mailboxes::{fill, must, run};

fn site(name: &str) -> (Folder, PathBuf, PathBuf) {
    let folder = Folder::new(name);
    let (mail, state) = (
        PathBuf::from(folder.at("mail")),
        PathBuf::from(folder.at("state")),
    );
    fs::create_dir_all(&mail).unwrap();
    fill(&mail);
    must(&mail, &state, &["scan", "-q", ".", "--plan", "../p"]);
    (folder, mail, state)
}

#[test]
fn runs_are_listed_with_their_state() {
    let (_folder, mail, state) = site("history-list");
    let said = must(&mail, &state, &["history"]);
    assert!(said.contains("No run of apply is recorded"), "{said}");
    assert!(!state.exists());
    must(&mail, &state, &["apply", "../p", "--yes", "--only", "tree"]);
    must(&mail, &state, &["apply", "../p", "--yes"]);
    must(&mail, &state, &["undo", "--yes"]);
    let said = must(&mail, &state, &["history", "--format", "jsonl"]);
    let rows: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2, "{said}");
    assert_eq!((&rows[0]["run"], &rows[0]["out"]), (&1.into(), &2.into()));
    assert_eq!(rows[0]["state"], "complete");
    assert_eq!(
        (&rows[1]["state"], &rows[1]["out"]),
        (&"undone".into(), &0.into())
    );
    let said = must(&mail, &state, &["history"]);
    assert!(
        said.contains("complete") && said.contains("undone"),
        "{said}"
    );
}

#[test]
fn what_was_deleted_comes_back_until_it_is_forgotten() {
    let (_folder, mail, state) = site("history-forget");
    must(
        &mail,
        &state,
        &["apply", "../p", "--yes", "--action", "delete"],
    );
    assert!(state.join("store/000001").is_dir());
    assert_eq!(
        run(&mail, &state, 0, &["history", "--forget", "1"])
            .status
            .code(),
        Some(2)
    );
    must(&mail, &state, &["history", "--forget", "1", "--dry-run"]);
    assert!(state.join("store/000001").is_dir());
    let said = must(&mail, &state, &["history", "--forget", "1", "--yes"]);
    assert!(said.contains("gone for good"), "{said}");
    assert!(!state.join("store/000001").exists());
    let undo = run(&mail, &state, 0, &["undo", "1", "--yes"]);
    assert_eq!(undo.status.code(), Some(1));
    assert!(
        text(&undo.stderr).contains("was forgotten"),
        "{}",
        text(&undo.stderr)
    );
    for number in ["1", "9"] {
        let again = run(&mail, &state, 0, &["history", "--forget", number, "--yes"]);
        assert_eq!(again.status.code(), Some(1), "{number}");
    }
}

#[test]
fn a_journal_that_was_changed_is_told() {
    let (_folder, mail, state) = site("history-damaged");
    must(&mail, &state, &["apply", "../p", "--yes"]);
    let journal = state.join("runs/000001.journal");
    let lines = fs::read_to_string(&journal).unwrap();
    let without: Vec<&str> = lines
        .split_inclusive('\n')
        .enumerate()
        .filter(|(n, _)| *n != 2)
        .map(|(_, l)| l)
        .collect();
    fs::write(&journal, without.concat()).unwrap();
    let said = must(&mail, &state, &["history"]);
    assert!(said.contains("damaged"), "{said}");
}

#[cfg(debug_assertions)]
#[test]
fn an_interrupted_run_is_recovered_and_told() {
    let (_folder, mail, state) = site("history-killed");
    let killed = run(&mail, &state, 9, &["apply", "../p", "--yes"]);
    assert_eq!(killed.status.code(), None);
    let said = must(&mail, &state, &["history"]);
    assert!(said.contains("recovered: run 1 was interrupted."), "{said}");
    assert!(said.contains("interrupted  "), "{said}");
    let said = must(&mail, &state, &["history"]);
    assert!(!said.contains("recovered"), "{said}");
}
