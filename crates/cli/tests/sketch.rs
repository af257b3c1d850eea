//! `twicetold sketch` as users and engines run it.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use common::{Folder, text, twicetold, twicetold_fed};
use serde_json::{Value, json};

const SAMPLE: [&str; 2] = ["../../sample/mailbox", "../../sample/list.mbox"];

const STORY: &str = "The harbour was closed on Monday because of the storm. Nobody had expected it. Three ships waited \
    outside until the wind went down, and the captains sent word to their owners.";

fn rows(bytes: &[u8]) -> Vec<Value> {
    text(bytes)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The rows of a run that ends well.
fn sketched<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<Value> {
    let run = twicetold(["sketch"].into_iter().chain(args));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    rows(&run.stdout)
}

fn keys(row: &Value) -> BTreeSet<&str> {
    let keys = row["keys"].as_array().unwrap();
    keys.iter().map(|key| key.as_str().unwrap()).collect()
}

#[test]
fn help_teaches() {
    let run = twicetold(["sketch", "--help"]);
    let help = text(&run.stdout);
    for part in [
        "Examples:",
        "--method",
        "--with-message",
        "Exit codes",
        "docs/scale.md",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
}

#[test]
fn every_pair_that_pairs_finds_shares_a_key() {
    for method in ["winnow", "imatch", "blocks", "simhash", "layout", "edit"] {
        let found = sketched(SAMPLE.into_iter().chain(["--method", method]));
        assert_eq!(found.len(), 50, "{method}");
        let by_name: BTreeMap<&str, BTreeSet<&str>> = found
            .iter()
            .map(|row| (row["id"].as_str().unwrap(), keys(row)))
            .collect();
        assert_eq!(by_name.len(), 50);
        let pairs = [
            "pairs", "--format", "jsonl", "--most", "0", "--method", method,
        ];
        let run = twicetold(pairs.into_iter().chain(SAMPLE));
        let pairs = rows(&run.stdout);
        for pair in &pairs {
            let of = |side: &str| &by_name[pair[side].as_str().unwrap()];
            let (a, b) = (of("a"), of("b"));
            let shared = a.intersection(b).count() as f64;
            assert!(shared > 0.0, "{method}: {pair}");
            if method == "winnow" {
                // The score is made of nothing but the keys.
                let score = (shared / a.len() as f64 + shared / b.len() as f64) / 2.0;
                assert!(
                    (score - pair["score"].as_f64().unwrap()).abs() < 1e-3,
                    "{pair}"
                );
            }
        }
        assert!(method != "winnow" || pairs.len() > 5, "{}", pairs.len());
    }
}

#[test]
fn the_rows_are_the_same_whatever_the_threads() {
    let run = |threads| {
        let args = ["sketch", "--with-message", "--threads", threads];
        twicetold(args.into_iter().chain(SAMPLE)).stdout
    };
    let one = run("1");
    assert_eq!(one, run("5"));
    let found = rows(&one);
    let places: Vec<(&str, Option<u64>)> = found
        .iter()
        .map(|row| (row["path"].as_str().unwrap(), row["offset"].as_u64()))
        .collect();
    assert!(places.is_sorted());
    for row in &found {
        assert_eq!(row["schema"], 1);
        assert_eq!(
            (&row["form"], &row["method"]),
            (&"mail".into(), &"winnow".into())
        );
        assert_eq!(row["settings"], json!([]));
        let listed: Vec<&str> = keys(row).into_iter().collect();
        assert!(listed.iter().all(|key| key.len() == 16));
        assert!(row["sketch"].as_str().is_some() || listed.is_empty());
    }
}

#[test]
fn stdin_gives_the_sketches_that_files_give() {
    let folder = Folder::new("sketch-stdin");
    let mail = format!("From: anna@example.org\nSubject: Harbour\n\nDear all,\n\n{STORY}\n");
    fs::write(folder.at("1.eml"), &mail).unwrap();
    let post = json!({"id": "x1", "text": STORY}).to_string();
    fs::write(folder.at("posts.jsonl"), &post).unwrap();
    let with_message = sketched([&*folder.at("1.eml"), "--with-message"]);
    let message = with_message[0]["message"].as_str().unwrap();
    assert_eq!(with_message[0]["bytes"], mail.len());
    let handed = json!({"id": 7, "message": message}).to_string();

    let run = twicetold_fed(["sketch", "-"], &format!("{handed}\n\n{post}\n"));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let found = rows(&run.stdout);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (&found[0]["id"], &found[1]["id"]),
        (&"7".into(), &"x1".into())
    );
    for (here, file) in [(&found[0], "1.eml"), (&found[1], "posts.jsonl")] {
        let there = &sketched([&*folder.at(file)])[0];
        for member in ["keys", "sketch", "form", "bytes", "problems"] {
            assert_eq!(here[member], there[member], "{file} {member}");
        }
        assert!(!keys(here).is_empty());
    }
    assert_eq!(sketched([&*folder.at("posts.jsonl")])[0]["id"], "x1");
}

#[test]
fn a_bad_line_says_so_and_the_rest_goes_on() {
    let good = json!({"id": "good", "text": STORY}).to_string();
    let input = format!(
        "{{\n{good}\n{}\n{}\n[]\n",
        r#"{"id":"b","message":"%%"}"#, r#"{"id":"c"}"#
    );
    let run = twicetold_fed(["sketch", "-", "--method", "simhash"], &input);
    assert_eq!(run.status.code(), Some(3));
    assert!(text(&run.stderr).contains("4 rows could not be read"));
    let found = rows(&run.stdout);
    let ids: Vec<&str> = found
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids[..4], ["-@0", "good", "b", "c"]);
    for (row, told) in found.iter().zip([
        "JSON cannot be understood",
        "",
        "no base64",
        "neither a message nor a text",
        "not a JSON object",
    ]) {
        let problem = row["problems"][0].as_str().unwrap_or_default();
        assert!(problem.contains(told), "{row}");
        assert_eq!(row["sketch"].is_null(), !told.is_empty(), "{row}");
        assert_eq!(
            row["problems"].as_array().unwrap().is_empty(),
            told.is_empty()
        );
    }
}

#[test]
fn paths_that_cannot_be_read_have_a_row() {
    let folder = Folder::new("sketch-paths");
    fs::write(folder.at("a.txt"), STORY).unwrap();
    let run = twicetold(["sketch", &folder.at("a.txt"), &folder.at("gone")]);
    assert_eq!(run.status.code(), Some(3));
    let found = rows(&run.stdout);
    assert_eq!(found.len(), 2);
    let gone = found.iter().find(|row| row["form"].is_null()).unwrap();
    assert!(gone["path"].as_str().unwrap().ends_with("gone"));
    assert!(
        gone["problems"][0]
            .as_str()
            .unwrap()
            .contains("no such file")
    );
    let run = twicetold(["sketch", &folder.at("gone")]);
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn settings_are_told_and_mistakes_refused() {
    let folder = Folder::new("sketch-settings");
    fs::write(folder.at("a.txt"), STORY).unwrap();
    let path = folder.at("a.txt");
    let found = sketched([&*path, "--set", "winnow.window=7"]);
    assert_eq!(found[0]["settings"], json!(["window=7"]));
    assert!(keys(&found[0]).len() < keys(&sketched([&*path])[0]).len());
    for wrong in [
        &["sketch", &path, "--method", "winow"][..],
        &["sketch", &path, "--set", "simhash.distance=3"],
        &["sketch", &path, "-"],
        &["sketch"],
    ] {
        let run = twicetold(wrong.iter().copied());
        assert_eq!(run.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn the_file_appears_and_replaces_no_mail() {
    let folder = Folder::new("sketch-output");
    fs::create_dir(folder.at("mail")).unwrap();
    fs::write(folder.at("mail/a.txt"), STORY).unwrap();
    let (mail, inside, out) = (
        folder.at("mail"),
        folder.at("mail/a.txt"),
        folder.at("rows.jsonl"),
    );
    let run = twicetold(["sketch", &mail, "--output", &inside]);
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&inside).unwrap(), STORY);
    let run = twicetold(["sketch", "--for", "scan", &mail, "--output", &inside]);
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&inside).unwrap(), STORY);
    let run = twicetold(["sketch", &mail, "--output", &out]);
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(rows(&fs::read(out).unwrap()).len(), 1);
}
