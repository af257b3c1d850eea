//! `twicetold spam` as users run it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use common::{Folder, text, twicetold};

const SPAM: &str = "From: a@example.net\nSubject: x\n\nGenuine Helvetian chronographs at a fraction of boutique \
    prices! Automatic movements, sapphire crystal, engraved serial numbers and velvet presentation cases. \
    Choose Calatrava, Submariner or Navitimer from our warehouse catalogue tonight.\n";
const VARIANT: &str = "From: b@example.org\nSubject: y\n\nG3nuine Helvetian chr0nographs at a tiny fraction of boutique \
    prices! Automatic movements, s@pphire crystal, engraved numbers and velvet presentation boxes. \
    Choose Calatrava, Submariner or Navitimer from the warehouse catalogue tonight. Shall we meet for lunch?\n";
const HAM: &str = "From: anna@example.org\nSubject: Lunch\n\nLet us meet at the harbour at noon, and bring the \
    boat's papers please.\n";

fn mails(name: &str) -> Folder {
    let folder = Folder::new(name);
    for (file, mail) in [
        ("spam.eml", SPAM),
        ("variant.eml", VARIANT),
        ("ham.eml", HAM),
    ] {
        fs::write(folder.at(file), mail).unwrap();
    }
    folder
}

/// One line of JSON lines.
fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn report_check_revoke() {
    let folder = mails("spam-way");
    let db = folder.at("db");
    let spam = |verb: &str, more: &[&str]| {
        let run = twicetold(["spam", verb, "--db", &db].iter().chain(more).copied());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        text(&run.stdout).to_owned()
    };
    let check = || {
        let lines = spam(
            "check",
            &[
                "--format",
                "jsonl",
                &folder.at("variant.eml"),
                &folder.at("ham.eml"),
            ],
        );
        let mut lines: Vec<_> = lines.lines().map(json).collect();
        lines.sort_by_key(|line| line["path"].as_str().unwrap().ends_with("ham.eml"));
        lines
    };
    assert!(check().iter().all(|line| line["class"] == "unknown"));
    assert!(fs::metadata(&db).is_err(), "looking makes nothing");
    let receipt = json(&spam(
        "report",
        &["--format", "jsonl", &folder.at("spam.eml")],
    ));
    assert_eq!(
        (&receipt["schema"], &receipt["outcome"]),
        (&1.into(), &"new".into())
    );
    let lines = check();
    assert_eq!(lines[0]["class"], "spam");
    assert_eq!(lines[0]["campaign"], receipt["campaign"]);
    assert_eq!(lines[0]["reporters"], 1);
    assert!(lines[0]["score"].as_f64().unwrap() >= 0.8);
    assert!(lines[0]["evidence"]["winnow"].as_f64().unwrap() > 0.3);
    assert!(lines[0]["first_seen"].as_str().unwrap().ends_with('Z'));
    assert_eq!(
        (&lines[1]["class"], &lines[1]["score"]),
        (&"unknown".into(), &0.0.into())
    );
    assert!(lines[1]["campaign"].is_null());
    let name = receipt["campaign"].as_str().unwrap();
    assert!(spam("campaigns", &[name]).contains("1 message by 1 reporter"));
    // Elsewhere the same is known after an export and import.
    let (export, other) = (folder.at("export.jsonl"), folder.at("other"));
    spam("export", &["--output", &export]);
    let run = twicetold(["spam", "import", "--db", &other, &export]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let run = twicetold(["spam", "check", "--db", &other, &folder.at("variant.eml")]);
    assert!(
        text(&run.stdout).starts_with("spam "),
        "{}",
        text(&run.stdout)
    );
    assert!(spam("tidy", &["--days", "1"]).is_empty());
    assert!(spam("revoke", &[&folder.at("variant.eml")]).starts_with("withdrawn"));
    assert!(check().iter().all(|line| line["class"] == "unknown"));
}

#[test]
fn strangers_are_unsure_until_they_are_trusted() {
    let folder = mails("spam-strangers");
    let db = folder.at("db");
    let (mail, variant) = (folder.at("spam.eml"), folder.at("variant.eml"));
    let run = twicetold(["spam", "report", "--db", &db, "--reporter", "berta", &mail]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let exit = |path: &str| {
        twicetold(["spam", "check", "--exit-class", "--db", &db, path])
            .status
            .code()
    };
    assert_eq!(exit(&variant), Some(11));
    assert_eq!(exit(&folder.at("ham.eml")), Some(0));
    let run = twicetold(["spam", "reporters", "--db", &db, "--trust", "berta"]);
    assert!(
        text(&run.stdout).starts_with("trusted "),
        "{}",
        text(&run.stdout)
    );
    assert_eq!(exit(&variant), Some(10));
    let run = twicetold([
        "spam",
        "reporters",
        "--db",
        &db,
        "--block",
        "berta",
        "--format",
        "jsonl",
    ]);
    assert_eq!(json(text(&run.stdout))["weight"], 0.0);
    assert_eq!(exit(&variant), Some(0));
}

#[test]
fn a_message_comes_from_stdin() {
    let folder = mails("spam-stdin");
    let db = folder.at("db");
    for (verb, mail, expected) in [
        ("report", SPAM, "new campaign "),
        ("report", VARIANT, "reported before "),
        ("check", VARIANT, "spam "),
        ("check", HAM, "unknown "),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_twicetold"))
            .args(["spam", verb, "--db", &db, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(mail.as_bytes())
            .unwrap();
        let run = child.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(0));
        assert!(
            text(&run.stdout).starts_with(expected),
            "{}",
            text(&run.stdout)
        );
    }
}

#[test]
fn mistakes_are_told_with_a_hint() {
    let folder = mails("spam-mistakes");
    let (db, mail) = (folder.at("db"), folder.at("spam.eml"));
    let missing = folder.at("missing.eml");
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["check", "--db", &db, &missing],
            1,
            "there is no file or folder",
        ),
        (
            &["check", "--db", "redis://127.0.0.1:1", &mail],
            1,
            "redis://127.0.0.1:1",
        ),
        (&["report", "--db", &mail, &mail], 1, "spam.eml"),
        (
            &["report", "--db", &db, "--reporter", "", &mail],
            2,
            "a reporter's name",
        ),
        (
            &["campaigns", "--db", &db, "xyz"],
            2,
            "no name of a campaign",
        ),
        (
            &["campaigns", "--db", &db, "12ab"],
            1,
            "there is no campaign",
        ),
        (
            &["import", "--db", &db, &mail],
            1,
            "line 1 is no line of an export",
        ),
    ];
    for (args, code, expected) in cases {
        let run = twicetold(std::iter::once("spam").chain(args.iter().copied()));
        let told = text(&run.stderr);
        assert_eq!(run.status.code(), Some(*code), "{args:?} {told}");
        assert!(
            told.contains(expected) && told.contains("hint: "),
            "{args:?} {told}"
        );
    }
    let run = twicetold(["spam", "check", "--db", &db, &mail, &missing]);
    assert_eq!(run.status.code(), Some(3), "{}", text(&run.stderr));
}
