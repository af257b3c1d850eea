//! `twicetold pairs` as users run it.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Folder, text, twicetold};
use serde_json::Value;

const STORY: &str = "The harbour was closed on Monday because of the storm. Nobody had expected it. Three ships waited \
    outside until the wind went down, and the captains sent word to their owners.";

/// A mail, a copy with another day, and something else; JSON lines and Reuters stories with the same.
fn collection(folder: &Folder) {
    let mail = |text: &str| format!("From: anna@example.org\nSubject: Harbour\n\n{text}\n");
    let other = STORY.replace("Monday", "Friday");
    fs::create_dir(folder.at("mail")).unwrap();
    fs::write(folder.at("mail/1.eml"), mail(STORY)).unwrap();
    fs::write(folder.at("mail/2.eml"), mail(&other)).unwrap();
    fs::write(
        folder.at("mail/3.eml"),
        mail("Lunch at noon, as ever, at the usual place by the river?"),
    )
    .unwrap();
    let line = |id: &str, text: &str| serde_json::json!({"id": id, "text": text}).to_string();
    let lines = [line("x1", STORY), line("x2", &other), line("=cmd", STORY)];
    fs::write(folder.at("posts.jsonl"), lines.join("\n")).unwrap();
    let story = |id: u32, text: &str| {
        format!(
            "<REUTERS NEWID=\"{id}\">\n<TEXT><TITLE>HARBOUR</TITLE><BODY>{text}</BODY></TEXT>\n</REUTERS>\n"
        )
    };
    fs::write(
        folder.at("news.sgm"),
        [story(17, STORY), story(23, &other)].concat(),
    )
    .unwrap();
}

fn rows(args: &[&str]) -> Vec<Value> {
    let run = twicetold(
        ["pairs", "--format", "jsonl"]
            .into_iter()
            .chain(args.iter().copied()),
    );
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let lines = text(&run.stdout).lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn help_teaches() {
    let run = twicetold(["pairs", "--help"]);
    let help = text(&run.stdout);
    for part in [
        "Examples:",
        "--method",
        "--against",
        "--verify",
        "Exit codes",
        "docs/pairs.md",
        "only reads",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
}

#[test]
fn pairs_have_names_a_method_and_a_score() {
    let folder = Folder::new("pairs-rows");
    collection(&folder);
    let (one, two) = (folder.at("mail/1.eml"), folder.at("mail/2.eml"));
    let found = rows(&[&folder.at("mail"), "--method", "winnow,blocks"]);
    let seen: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|row| {
            let field = |name: &str| row[name].as_str().unwrap();
            (field("a"), field("b"), field("method"))
        })
        .collect();
    assert_eq!(seen, [(&*one, &*two, "winnow"), (&*one, &*two, "blocks")]);
    for row in &found {
        assert_eq!(row["schema"], 1);
        assert!(row["score"].as_f64().unwrap() < 1.0);
        assert_eq!(row["verified"], Value::Null);
        assert_eq!(row["a_path"], Value::from(&*one));
    }
    // Texts with an id are called by it.
    let found = rows(&[&folder.at("news.sgm")]);
    assert_eq!(
        (&found[0]["a"], &found[0]["b"]),
        (&"17".into(), &"23".into())
    );
    assert_eq!(found[0]["a_offset"], 0);
    let found = rows(&[&folder.at("posts.jsonl")]);
    let names: Vec<_> = found.iter().map(|row| (&row["a"], &row["b"])).collect();
    let pair = |a: &'static str, b: &'static str| (Value::from(a), Value::from(b));
    let expected = [pair("x1", "x2"), pair("x1", "=cmd"), pair("x2", "=cmd")];
    assert_eq!(
        names,
        expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>()
    );
}

#[test]
fn another_collection_can_be_compared_with() {
    let folder = Folder::new("pairs-against");
    collection(&folder);
    let found = rows(&[&folder.at("mail"), "--against", &folder.at("posts.jsonl")]);
    assert_eq!(found.len(), 6, "two mails, three posts");
    assert!(
        found
            .iter()
            .all(|row| row["a"].as_str().unwrap().ends_with(".eml"))
    );
    assert!(
        found
            .iter()
            .all(|row| row["b_path"] == folder.at("posts.jsonl"))
    );
}

#[test]
fn pairs_are_verified_if_asked() {
    let folder = Folder::new("pairs-verify");
    collection(&folder);
    for check in ["cosine", "containment", "edit"] {
        let found = rows(&[
            &folder.at("mail"),
            "--threshold",
            "0",
            "--method",
            "simhash",
            "--verify",
            check,
            "--verify-threshold",
            "0.8",
        ]);
        let verified: Vec<bool> = found
            .iter()
            .map(|row| row["verified"].as_bool().unwrap())
            .collect();
        assert_eq!(verified, [true, false, false], "{check}");
        assert!(found[0]["verified_score"].as_f64().unwrap() > 0.8);
    }
    let args = [
        "pairs",
        "-m",
        "simhash",
        "-t",
        "0",
        "--verify",
        "edit",
        "--groups",
        &folder.at("mail"),
    ];
    let run = twicetold(args);
    let told = text(&run.stdout);
    assert!(told.contains("group 1: 2 texts"), "{told}");
    assert!(
        told.contains("3 pairs with a score of 0 or more, 1 of them verified by edit"),
        "{told}"
    );
}

#[test]
fn groups_come_in_every_format() {
    let folder = Folder::new("pairs-groups");
    collection(&folder);
    let all = [
        folder.at("mail"),
        folder.at("posts.jsonl"),
        folder.at("news.sgm"),
    ];
    let args: Vec<&str> = all.iter().map(String::as_str).chain(["--groups"]).collect();
    let found = rows(&args);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["size"], 7);
    assert_eq!(found[0]["methods"][0], "winnow");
    assert_eq!(found[0]["texts"][5]["name"], "x2");
    let run = twicetold(
        ["pairs", "--format", "csv"]
            .into_iter()
            .chain(args.iter().copied()),
    );
    let told = text(&run.stdout);
    assert!(
        told.starts_with("schema,group,size,methods,name,path,offset\r\n1,1,7,winnow,"),
        "{told}"
    );
    assert!(
        told.contains(",'=cmd,"),
        "a cell must not start a formula\n{told}"
    );
    assert_eq!(told.lines().count(), 8);
}

#[test]
fn the_text_says_who_saw_what() {
    let folder = Folder::new("pairs-text");
    collection(&folder);
    let run = twicetold([
        "pairs",
        "-m",
        "winnow,simhash",
        "--set",
        "simhash.distance=20",
        &folder.at("mail"),
    ]);
    let told = text(&run.stdout);
    assert!(told.contains("2.eml  winnow 0."), "{told}");
    assert!(told.contains(", simhash 0."), "{told}");
    assert!(
        told.contains("3 texts compared with each other.\n"),
        "{told}"
    );
    assert!(text(&run.stderr).contains("3 texts in "));
    // The same for any number of threads.
    let one = twicetold(["pairs", "-q", "--threads", "1", &folder.at("mail")]);
    let two = twicetold(["pairs", "-q", "--threads", "2", &folder.at("mail")]);
    assert_eq!(text(&one.stdout), text(&two.stdout));
    assert!(one.stderr.is_empty());
}

#[test]
fn wrong_usage_ends_with_2_and_a_hint() {
    let folder = Folder::new("pairs-wrong");
    collection(&folder);
    let mail = folder.at("mail");
    let cases: &[&[&str]] = &[
        &["--method", "winow"],
        &["--method", "winnow,winnow"],
        &["--threshold", "1.5"],
        &["--set", "winnow.windows=2"],
        &["--set", "simhash.distance=2"],
        &["--set", "winnow"],
        &["--verify-threshold", "0.5"],
        &["--lexicon", "README.md"],
    ];
    for case in cases {
        let run = twicetold(["pairs", &mail].into_iter().chain(case.iter().copied()));
        let code = run.status.code();
        let expected = if case[0] == "--lexicon" { 1 } else { 2 };
        assert_eq!(code, Some(expected), "{case:?}");
        assert!(run.stdout.is_empty(), "{case:?}");
    }
    let run = twicetold(["pairs", "no/such/box"]);
    assert_eq!(run.status.code(), Some(1));
    let run = twicetold(["pairs", "-m", "layout", &mail]);
    let told = text(&run.stderr);
    assert!(told.contains("layout has nothing to say"), "{told}");
}

#[test]
fn texts_are_never_overwritten_by_the_report() {
    let folder = Folder::new("pairs-overwrite");
    collection(&folder);
    let posts = folder.at("posts.jsonl");
    let before = fs::read_to_string(&posts).unwrap();
    for paths in [[&*posts, "--quiet"], [&*folder.at("mail"), "--quiet"]] {
        let run = twicetold(
            ["pairs", "--output", &posts, "--against", &posts]
                .into_iter()
                .chain(paths),
        );
        assert_eq!(run.status.code(), Some(1));
        assert!(text(&run.stderr).contains("would overwrite"));
    }
    assert_eq!(fs::read_to_string(&posts).unwrap(), before);
}

#[test]
fn a_path_that_is_missing_beside_others_ends_with_3() {
    let folder = Folder::new("pairs-partly");
    collection(&folder);
    let run = twicetold(["pairs", &folder.at("mail"), &folder.at("nowhere")]);
    assert_eq!(run.status.code(), Some(3));
    assert!(
        text(&run.stderr).contains("warning: "),
        "{}",
        text(&run.stderr)
    );
}
