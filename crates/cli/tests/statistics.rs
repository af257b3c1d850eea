//! `twicetold statistics` as engines run it.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{Folder, text, twicetold, twicetold_fed};
use serde_json::{Value, json};

const SAMPLE: [&str; 2] = ["../../sample/mailbox", "../../sample/list.mbox"];
const SLOTS: &str = "1048576";

fn rows(bytes: &[u8]) -> Vec<Value> {
    let lines = text(bytes);
    let rows = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

fn lines<'r>(rows: impl IntoIterator<Item = &'r Value>) -> String {
    rows.into_iter().map(|row| format!("{row}\n")).collect()
}

/// The outlines of the sample mailbox.
fn outlines() -> Vec<Value> {
    let run = twicetold(["sketch", "--for", "scan"].into_iter().chain(SAMPLE));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    rows(&run.stdout)
}

/// Rows with one member of outlines.
fn member(outlines: &[Value], name: &str) -> Vec<Value> {
    let row =
        |outline: &Value| json!({"id": outline["id"], "method": name, "sketch": outline[name]});
    outlines.iter().map(row).collect()
}

/// What `statistics` says of these rows.
fn told(what: &[&str], rows: &str) -> Vec<Value> {
    let run = twicetold_fed(["statistics"].iter().chain(what).copied(), rows);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    self::rows(&run.stdout)
}

/// A file of statistics: the second half of each chunk.
fn file(chunks: &[Value]) -> Vec<u8> {
    let slots: usize = SLOTS.parse().unwrap();
    let mut bits = vec![0; slots / 8];
    for chunk in chunks {
        let both = STANDARD.decode(chunk["sketch"].as_str().unwrap()).unwrap();
        let more = &both[both.len() / 2..];
        let at = more.len() * chunk["id"].as_str().unwrap().parse::<usize>().unwrap();
        bits[at..at + more.len()].copy_from_slice(more);
    }
    [b"twicetold statistics 1\n".to_vec(), bits].concat()
}

#[test]
fn shares_that_are_merged_are_the_whole_and_tell_what_is_new() {
    let outlines = outlines();
    let words = member(&outlines, "words");
    let whole = told(&["count", "--slots", SLOTS], &lines(&words));
    // Those that count as the same go to the same share.
    let (first, second): (Vec<_>, Vec<_>) = words
        .iter()
        .zip(&outlines)
        .partition(|(_, outline)| outline["counted"].as_str().is_some_and(|c| c < "8"));
    let mut shares = Vec::new();
    for share in [first, second] {
        assert!(!share.is_empty());
        let share = lines(share.into_iter().map(|(row, _)| row));
        shares.extend(told(&["count", "--slots", SLOTS], &share));
    }
    let merged = told(&["merge", "--slots", SLOTS], &lines(&shares));
    assert_eq!(file(&merged), file(&whole));

    let folder = Folder::new("statistics");
    let path = folder.at("statistics");
    fs::write(&path, file(&whole)).unwrap();
    let news = member(&outlines, "news");
    let answers = told(&["ask", "--statistics", &path], &lines(&news));
    let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&answers), ids(&news));
    // What is redundant for scan is never new, unless it is a copy: copies count as one. Something in the sample mailbox is new.
    let scan = ["scan", "--no-cache", "--with-trash", "--format", "jsonl"];
    let scanned = rows(&twicetold(scan.into_iter().chain(SAMPLE)).stdout);
    assert_eq!(scanned.len(), answers.len());
    let mut new = 0;
    for (answer, outline) in answers.iter().zip(&outlines) {
        let same =
            |row: &&Value| row["path"] == outline["path"] && row["offset"] == outline["offset"];
        let verdict = scanned.iter().find(same).unwrap();
        if answer["new"] == true {
            new += 1;
            let copy =
                |other: &&Value| !other["copy"].is_null() && other["copy"] == outline["copy"];
            let copied = outlines.iter().filter(copy).count() > 1;
            assert!(verdict["verdict"] != "redundant" || copied, "{verdict}");
        }
    }
    assert!(new > 0 && new < answers.len(), "{new} of {}", answers.len());
}

#[test]
fn scan_reads_what_was_counted_before_unless_it_is_about_other_mail() {
    let folder = Folder::new("statistics-scan");
    let path = folder.at("statistics");
    let words = member(&outlines(), "words");
    let scan = |counted: &[&str]| {
        let scan = ["scan", "--no-cache", "--with-trash", "--format", "jsonl"];
        twicetold(scan.iter().chain(counted).copied().chain(SAMPLE))
    };
    let given = ["--statistics", &path];
    let whole = told(&["count", "--slots", SLOTS], &lines(&words));
    fs::write(&path, file(&whole)).unwrap();
    assert_eq!(text(&scan(&given).stdout), text(&scan(&[]).stdout));

    let refused = |why: &str| {
        let run = scan(&given);
        assert_eq!(run.status.code(), Some(1));
        let said = text(&run.stderr);
        assert!(said.contains(why) && said.contains("hint: "), "{said}");
        assert!(run.stdout.is_empty());
    };
    let half = told(
        &["count", "--slots", SLOTS],
        &lines(&words[words.len() / 2..]),
    );
    fs::write(&path, file(&half)).unwrap();
    refused("counted on other mail");
    fs::write(
        &path,
        [&b"twicetold statistics 1\n"[..], &[0xFF; 64]].concat(),
    )
    .unwrap();
    refused("less mail");
    fs::write(&path, b"twicetold statistics 2\n").unwrap();
    refused("does not hold statistics");
}

#[test]
fn what_is_no_count_is_told_and_the_rest_is_counted() {
    let outlines = outlines();
    let mut words = member(&outlines[..1], "words");
    let whole = told(&["count", "--slots", SLOTS], &lines(&words));
    words.insert(0, json!({"id": "odd", "method": "words", "sketch": "AAAA"}));
    words.push(json!({"id": "other", "method": "winnow", "sketch": "AAAA"}));
    let run = twicetold_fed(["statistics", "count", "--slots", SLOTS], &lines(&words));
    assert_eq!(run.status.code(), Some(3));
    assert_eq!(rows(&run.stdout), whole);
    let said = text(&run.stderr);
    assert!(
        said.contains("odd has no words") && said.contains("winnow"),
        "{said}"
    );
    let run = twicetold_fed(["statistics", "count", "--slots", "1000"], "");
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("power of two"));
    let run = twicetold_fed(["statistics", "ask", "--statistics", "/no/such"], "");
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn help_teaches() {
    let run = twicetold(["statistics", "--help"]);
    assert_eq!(run.status.code(), Some(0));
    for word in ["count", "merge", "ask", "docs/scale.md", "Exit codes"] {
        assert!(text(&run.stdout).contains(word), "{word}");
    }
}
