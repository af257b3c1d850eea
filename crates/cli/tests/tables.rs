//! Arrow and Parquet, in and out of `twicetold sketch` and `twicetold judge`: the same rows as JSON lines.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "tables/rows.rs"]
mod rows;

use std::fs;
use std::process::Command;

use common::{Folder, text, twicetold, twicetold_fed_bytes};
use rows::{of_arrow, to_arrow, to_lines, to_parquet};
use serde_json::{Value, json};

const SAMPLE: [&str; 2] = ["../../sample/mailbox", "../../sample/list.mbox"];

const STORY: &str = "The harbour was closed on Monday because of the storm. Nobody had expected it. Three ships waited \
    outside until the wind went down, and the captains sent word to their owners.";

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = text(bytes).lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What a run wrote that ended well.
fn stdout<'a>(args: impl IntoIterator<Item = &'a str>, input: &[u8]) -> Vec<u8> {
    let run = twicetold_fed_bytes(args, input);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    run.stdout
}

/// Compares rows one by one: a difference is told without all the rest.
fn same(found: &[Value], expected: &[Value]) {
    assert_eq!(found.len(), expected.len());
    for (n, (one, other)) in found.iter().zip(expected).enumerate() {
        assert_eq!(one, other, "row {n}");
    }
}

/// The sample mailbox with messages, all in one group, and a text and an empty row for good measure.
fn handed_over() -> Vec<Value> {
    let sample = stdout(["sketch", "--with-message"].into_iter().chain(SAMPLE), b"");
    let mut rows = lines(&sample);
    assert_eq!(rows.len(), 50);
    rows.push(json!({"id": "x1", "text": STORY}));
    rows.push(json!({"id": "x2", "text": format!("{STORY} It was over on Tuesday.")}));
    for row in &mut rows {
        row["group"] = json!("all");
    }
    rows
}

#[test]
fn sketches_are_the_same_whatever_they_are_read_from_and_written_as() {
    let folder = Folder::new("tables-sketch");
    let mut handed = handed_over();
    for row in &mut handed {
        // Of a text the whole line is handed on, and its group with it.
        row.as_object_mut().unwrap().remove("group");
    }
    let (arrow, parquet) = (folder.at("in.arrow"), folder.at("in.parquet"));
    fs::write(&arrow, to_arrow(&handed)).unwrap();
    fs::write(&parquet, to_parquet(&handed)).unwrap();
    let input = to_lines(&handed);
    for method in ["winnow", "simhash"] {
        let sketch = ["sketch", "--with-message", "--method", method];
        let with = |more: &[&'static str]| [&sketch[..], more].concat();
        let expected = lines(&stdout(with(&["-"]), input.as_bytes()));
        assert_eq!(expected.len(), 52);
        let sample = stdout(with(&SAMPLE), b"");
        same(&expected[..50], &lines(&sample));
        same(
            &of_arrow(&stdout(with(&["--format", "arrow", "-"]), input.as_bytes())),
            &expected,
        );
        same(&lines(&stdout(with(&["-"]), &to_arrow(&handed))), &expected);
        for file in [arrow.as_str(), parquet.as_str()] {
            let args = sketch.into_iter().chain([file]);
            same(&lines(&stdout(args, b"")), &expected);
            let args = sketch.into_iter().chain(["--format", "arrow", file]);
            same(&of_arrow(&stdout(args, b"")), &expected);
        }
    }
    // What sketch writes as a table it also reads as one.
    let once = stdout(
        ["sketch", "--with-message", "--format", "arrow"]
            .into_iter()
            .chain(SAMPLE),
        b"",
    );
    let again = stdout(
        ["sketch", "--with-message", "--format", "arrow", "-"],
        &once,
    );
    same(&of_arrow(&again), &of_arrow(&once));
}

#[test]
fn verdicts_are_the_same_whatever_they_are_read_from_and_written_as() {
    let folder = Folder::new("tables-judge");
    let handed = handed_over();
    let (arrow, parquet) = (folder.at("in.arrow"), folder.at("in.parquet"));
    fs::write(&arrow, to_arrow(&handed)).unwrap();
    fs::write(&parquet, to_parquet(&handed)).unwrap();
    let expected = lines(&stdout(["judge"], to_lines(&handed).as_bytes()));
    assert_eq!(expected.len(), 52);
    assert!(expected.iter().any(|row| row["keep"] == false));
    same(&lines(&stdout(["judge"], &to_arrow(&handed))), &expected);
    same(&lines(&stdout(["judge", &arrow], b"")), &expected);
    same(&lines(&stdout(["judge", &parquet], b"")), &expected);
    same(
        &of_arrow(&stdout(["judge", "--format", "arrow", &parquet], b"")),
        &expected,
    );
    let out = folder.at("verdicts.arrow");
    stdout(
        ["judge", "--format", "arrow", "--output", &out, &arrow],
        b"",
    );
    same(&of_arrow(&fs::read(&out).unwrap()), &expected);
    let run = twicetold(["judge", &out]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("verdicts.arrow has verdicts"),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn what_comes_before_a_cut_is_used_and_the_cut_is_told() {
    let folder = Folder::new("tables-cut");
    let handed = handed_over();
    let whole = to_arrow(&handed);
    let cut = folder.at("cut.arrow");
    fs::write(&cut, &whole[..whole.len() * 2 / 3]).unwrap();
    let run = twicetold(["sketch", &cut]);
    assert_eq!(run.status.code(), Some(3));
    let told = text(&run.stderr);
    assert!(
        told.contains("cut.arrow cannot be read to its end, after"),
        "{told}"
    );
    assert!(
        told.contains("hint:") && !told.contains("panicked"),
        "{told}"
    );
    let found = lines(&run.stdout);
    let all = lines(&stdout(["sketch", "-"], &whole));
    let (last, before) = found.split_last().unwrap();
    assert!(before.len() > 6 && before.len() < 52);
    assert_eq!(before, &all[..before.len()]);
    assert!(
        last["problems"][0]
            .as_str()
            .unwrap()
            .contains("cannot be read to its end")
    );
    assert_eq!((&last["id"], &last["form"]), (&json!(cut), &Value::Null));

    // A group whose rows may be missing is not judged; the others are.
    let mut groups = handed.clone();
    for (n, row) in groups.iter_mut().enumerate() {
        row["group"] = json!(n / 10);
    }
    let whole = to_arrow(&groups);
    let run = twicetold_fed_bytes(["judge"], &whole[..whole.len() * 2 / 3]);
    assert_eq!(run.status.code(), Some(3));
    assert!(
        text(&run.stderr).contains("- cannot be read to its end"),
        "{}",
        text(&run.stderr)
    );
    let found = lines(&run.stdout);
    let all = lines(&stdout(["judge"], &whole));
    let spoilt: Vec<&Value> = found
        .iter()
        .filter(|row| row["verdict"] == "unreadable")
        .collect();
    assert!(spoilt.len() > 1 && spoilt.iter().all(|row| row["keep"] == true));
    let judged: Vec<&Value> = found
        .iter()
        .filter(|row| row["verdict"] != "unreadable")
        .collect();
    assert!(
        judged.len() >= 10 && judged.len().is_multiple_of(10),
        "{}",
        judged.len()
    );
    assert_eq!(judged, all[..judged.len()].iter().collect::<Vec<_>>());
    for row in &spoilt[..spoilt.len() - 1] {
        assert!(
            row["problems"][0]
                .as_str()
                .unwrap()
                .contains("rows are missing"),
            "{row}"
        );
    }

    // The files behind a bad one are read all the same.
    let parquet = folder.at("cut.parquet");
    let bytes = to_parquet(&handed);
    fs::write(&parquet, &bytes[..bytes.len() - 9]).unwrap();
    let good = folder.at("good.parquet");
    fs::write(&good, &bytes).unwrap();
    let run = twicetold(["sketch", &parquet, &good]);
    assert_eq!(run.status.code(), Some(3));
    assert!(
        text(&run.stderr).contains("cut.parquet cannot be read"),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(lines(&run.stdout).len(), 53);
}

#[test]
fn mistakes_are_refused_with_a_hint() {
    let folder = Folder::new("tables-mistakes");
    let table = folder.at("in.parquet");
    fs::write(&table, to_parquet(&handed_over())).unwrap();
    let post = folder.at("post.txt");
    fs::write(&post, STORY).unwrap();
    let told = |args: &[&str], input: &[u8]| {
        let run = twicetold_fed_bytes(args.iter().copied(), input);
        (run.status.code(), text(&run.stderr).to_owned())
    };
    let (code, words) = told(&["sketch", &table, &post], b"");
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("is a table of messages"), "{words}");
    let (code, words) = told(&["sketch", "-"], &fs::read(&table).unwrap());
    assert_eq!(code, Some(1));
    assert!(words.contains("cannot come through a pipe"), "{words}");
    let (code, words) = told(&["judge", "--from", "parquet", &post], b"");
    assert_eq!(code, Some(3));
    assert!(
        words.contains("post.txt cannot be read to its end, after 0 rows: it is no Parquet file"),
        "{words}"
    );
    assert_eq!(told(&["judge", "--from", "arrow"], b"{}\n").0, Some(3));
    let (code, words) = told(&["sketch", &table, "--output", &table], b"");
    assert_eq!(code, Some(1), "{words}");
    // A file of JSON lines is texts to pairs; told to be rows, it has messages.
    let rows = folder.at("rows.jsonl");
    fs::write(&rows, to_lines(&handed_over())).unwrap();
    assert_eq!(
        lines(&stdout(["sketch", "--from", "jsonl", &rows], b"")).len(),
        52
    );
}

/// A Python that has pyarrow, if there is one: the one that the Spark tests use.
fn python() -> Option<String> {
    let own = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/spark-venv/bin/python"
    );
    let candidates = [
        std::env::var("TWICETOLD_SPARK_PYTHON").ok(),
        Some(own.to_owned()),
    ];
    candidates.into_iter().flatten().find(|python| {
        let run = Command::new(python)
            .args(["-c", "import pyarrow.parquet"])
            .output();
        run.is_ok_and(|run| run.status.success())
    })
}

#[test]
fn pyarrow_writes_what_we_read_and_reads_what_we_write() {
    let Some(python) = python() else {
        println!("skipped: no Python with pyarrow; set TWICETOLD_SPARK_PYTHON to one");
        return;
    };
    let folder = Folder::new("tables-pyarrow");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables/with_pyarrow.py");
    let run = Command::new(python)
        .args([script, env!("CARGO_BIN_EXE_twicetold"), &folder.at("")])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}{}",
        text(&run.stdout),
        text(&run.stderr)
    );
    assert!(
        text(&run.stdout).ends_with("all the same\n"),
        "{}",
        text(&run.stdout)
    );
}
