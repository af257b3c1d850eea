//! `twicetold judge` as engines run it.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;

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

/// What scan says of the sample mailbox.
fn scanned() -> Vec<Value> {
    let run = twicetold(["scan", "--format", "jsonl"].into_iter().chain(SAMPLE));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    rows(&run.stdout)
}

/// The sample mailbox as sketch hands it over.
fn handed_over() -> Vec<Value> {
    let run = twicetold(["sketch", "--with-message"].into_iter().chain(SAMPLE));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    rows(&run.stdout)
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn judged(run: &Output) -> Vec<Value> {
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    rows(&run.stdout)
}

/// A row without what only judge adds.
fn as_scan_writes_it(mut row: Value) -> Value {
    let members = row.as_object_mut().unwrap();
    for added in ["group", "id", "covered_by_ids"] {
        assert!(members.remove(added).is_some(), "{added} is missing");
    }
    row
}

#[test]
fn help_teaches() {
    let run = twicetold(["judge", "--help"]);
    let help = text(&run.stdout);
    for part in [
        "Examples:",
        "--largest",
        "--keep",
        "one group only",
        "Exit codes",
        "docs/scale.md",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
}

#[test]
fn one_group_with_everything_is_a_scan() {
    let mut handed = handed_over();
    for row in &mut handed {
        row["group"] = json!("all");
    }
    let straight = judged(&twicetold_fed(["judge"], &lines(&handed)));
    assert_eq!(straight.len(), 50);
    for row in straight.iter().filter(|row| row["keep"] == false) {
        let named = row["covered_by_ids"].as_array().unwrap();
        assert_eq!(named.len(), row["covered_by"].as_array().unwrap().len());
        assert!(named.iter().all(|id| !id.as_str().unwrap().is_empty()));
    }
    // A shuffle changes nothing.
    handed.reverse();
    let backwards = judged(&twicetold_fed(["judge", "--threads", "1"], &lines(&handed)));
    assert_eq!(straight, backwards);
    let verdicts: Vec<Value> = straight.into_iter().map(as_scan_writes_it).collect();
    assert_eq!(verdicts, scanned());
}

/// The group of each message: whoever shares a key, directly or through others.
fn groups(rows: &[Value]) -> Vec<usize> {
    fn root(up: &[usize], mut n: usize) -> usize {
        while up[n] != n {
            n = up[n];
        }
        n
    }
    let mut up: Vec<usize> = (0..rows.len()).collect();
    let mut holder: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, row) in rows.iter().enumerate() {
        for key in row["keys"].as_array().unwrap() {
            let first = *holder.entry(key.as_str().unwrap()).or_insert(n);
            let (a, b) = (root(&up, first), root(&up, n));
            up[a.max(b)] = a.min(b);
        }
    }
    (0..rows.len()).map(|n| root(&up, n)).collect()
}

#[test]
fn sketched_grouped_and_judged_is_a_scan() {
    let mut handed = handed_over();
    let groups = groups(&handed);
    for (row, group) in handed.iter_mut().zip(&groups) {
        row["group"] = json!(group);
    }
    handed.sort_by_key(|row| row["group"].as_u64());
    let mut several = groups.clone();
    several.sort_unstable();
    several.dedup();
    assert!(several.len() > 5, "{several:?}");
    let found = judged(&twicetold_fed(["judge"], &lines(&handed)));
    let place = |row: &Value| (row["path"].to_string(), row["offset"].as_u64());
    let scan: BTreeMap<_, _> = scanned()
        .into_iter()
        .map(|row| (place(&row), row))
        .collect();
    assert_eq!(found.len(), scan.len());
    for row in &found {
        let there = &scan[&place(row)];
        for member in ["verdict", "category", "keep", "covered_by", "residue"] {
            assert_eq!(row[member], there[member], "{row}");
        }
    }
}

#[test]
fn groups_are_judged_on_their_own_in_their_order() {
    let other = format!("{STORY} It was over on Tuesday, when the sun came out again.");
    let line = |group: &Value, id: &str, text: &str| {
        json!({"group": group, "id": id, "text": text, "date": 1}).to_string()
    };
    let mut input = String::new();
    for n in 0..300 {
        // The same text is a copy inside a group, and nobody's copy beyond it.
        let name = if n % 2 == 0 {
            json!(n)
        } else {
            json!(format!("g{n}"))
        };
        input += &format!(
            "{}\n{}\n",
            line(&name, "b", &other),
            line(&name, "a", STORY)
        );
        if n % 3 == 0 {
            input += &format!("{}\n", line(&name, "c", STORY));
        }
    }
    let run = twicetold_fed(["judge", "--threads", "4"], &input);
    let found = judged(&run);
    assert_eq!(found.len(), 700);
    assert_eq!(
        run.stdout,
        twicetold_fed(["judge", "--threads", "1"], &input).stdout
    );
    assert!(text(&run.stderr).contains("700 messages in 300 groups"));
    let mut at = 0;
    for n in 0..300 {
        let name = if n % 2 == 0 {
            n.to_string()
        } else {
            format!("g{n}")
        };
        let ids: &[&str] = if n % 3 == 0 {
            &["a", "b", "c"]
        } else {
            &["a", "b"]
        };
        for id in ids {
            let row = &found[at];
            at += 1;
            assert_eq!((&row["group"], &row["id"]), (&json!(name), &json!(id)));
            assert_eq!(row["schema"], 1);
            let kept = *id == "b";
            assert_eq!(row["keep"], kept, "{row}");
            let by = if kept { json!([]) } else { json!(["b"]) };
            assert_eq!(row["covered_by_ids"], by, "{row}");
        }
    }
}

#[test]
fn bad_lines_are_told_and_the_rest_is_judged() {
    let good = |id: &str| json!({"group": "g", "id": id, "text": STORY}).to_string();
    let input = [
        good("a"),
        "{\"group\":".to_owned(),
        json!({"group": "g", "id": "bad", "message": "**"}).to_string(),
        json!({"id": "nowhere", "text": STORY}).to_string(),
        good("b"),
        good("a"),
    ];
    let run = twicetold_fed(["judge"], &input.join("\n"));
    assert_eq!(run.status.code(), Some(3));
    assert!(text(&run.stderr).contains("4 rows could not be judged"));
    let found = rows(&run.stdout);
    let seen: Vec<(&str, &str)> = found
        .iter()
        .map(|row| {
            (
                row["id"].as_str().unwrap(),
                row["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert_eq!(
        seen[1..],
        [
            ("bad", "unreadable"),
            ("nowhere", "unreadable"),
            ("a", "unreadable"),
            ("a", "unique"),
            ("b", "redundant")
        ]
    );
    assert_eq!(found[0]["group"], Value::Null);
    assert_eq!(found[1]["group"], "g");
    for row in found.iter().filter(|row| row["verdict"] == "unreadable") {
        assert_eq!(row["keep"], true);
        assert_eq!(row["problems"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_group_that_is_too_large_stays() {
    let long = "So many words that nobody reads them all. ".repeat(15_000);
    let line = |group: &str, id: &str, text: &str| {
        json!({"group": group, "id": id, "text": text}).to_string()
    };
    let input = [
        line("large", "1", &long),
        line("large", "2", &long),
        line("large", "3", "short"),
        line("small", "4", STORY),
        line("small", "5", STORY),
    ];
    let run = twicetold_fed(["judge", "--largest", "1M"], &input.join("\n"));
    assert_eq!(run.status.code(), Some(3));
    let found = rows(&run.stdout);
    let kept: Vec<bool> = found
        .iter()
        .map(|row| row["keep"].as_bool().unwrap())
        .collect();
    assert_eq!(kept, [true, true, true, true, false]);
    for row in &found[..3] {
        assert!(
            row["problems"][0].as_str().unwrap().contains("--largest"),
            "{row}"
        );
    }
}

#[test]
fn files_are_read_one_after_the_other() {
    let folder = Folder::new("judge-files");
    let line = |id: &str| json!({"group": 1, "id": id, "text": STORY}).to_string();
    fs::write(folder.at("1.jsonl"), line("a")).unwrap();
    fs::write(folder.at("2.jsonl"), line("b")).unwrap();
    let (one, two) = (folder.at("1.jsonl"), folder.at("2.jsonl"));
    let found = judged(&twicetold(["judge", &one, &two]));
    assert_eq!((found.len(), &found[1]["keep"]), (2, &json!(false)));
    assert!(judged(&twicetold_fed(["judge"], "\n \n")).is_empty());
    let run = twicetold(["judge", &one, &folder.at("gone.jsonl")]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("gone.jsonl"));
    assert_eq!(twicetold(["judge", &folder.at("")]).status.code(), Some(1));
    let run = twicetold(["judge", &one, "--output", &one]);
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&one).unwrap(), line("a"));
}
