//! `twicetold cluster pairs` on a real Spark: the rows of `pairs`, byte for byte; what it reads, and `cluster scan` as well; what they do with
//! what they cannot read.
//!
//! `scripts/spark` installs Spark; where there is none, the tests that need it say that they are skipped.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use common::spark::{QUICK, SAMPLE, python, written};
use common::{Folder, text, twicetold};

const METHODS: &str = "winnow,imatch,blocks,simhash,layout,edit";

/// Runs `cluster pairs`, in a folder of its own for everything temporary.
fn cluster_pairs(python: &Path, folder: &Folder, args: &[&str]) -> Output {
    cluster(python, folder, "pairs", args)
}

fn cluster(python: &Path, folder: &Folder, what: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(["cluster", what, "--partitions", "2", "--python"])
        .arg(python)
        .args(QUICK.iter().flat_map(|conf| ["--conf", conf]))
        .args(args)
        .env("TMPDIR", folder.at(""))
        .output()
        .unwrap()
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Texts in families: copies, near copies, strangers, and a footer that all have.
fn families() -> String {
    let mut dice = Dice(7);
    let mut lines = String::new();
    for family in 0..4 {
        let base: Vec<u64> = (0..60).map(|_| dice.below(400)).collect();
        for member in 0..12 {
            let mut words = base.clone();
            for _ in 0..member / 3 {
                let at = dice.below(60) as usize;
                words[at] = dice.below(400);
            }
            let mut body: String = words.iter().fold(String::new(), |mut body, word| {
                let _ = write!(body, "word{word} ");
                body
            });
            body += "and so on. This message was sent to all of you by the office.";
            let line = serde_json::json!({"id": format!("{family}-{member}"), "text": body});
            lines += &format!("{line}\n");
        }
    }
    lines
}

/// An mbox of more than a megabyte, which two tasks read: attachments are long, texts are short.
fn mbox() -> String {
    let mut file = String::new();
    for n in 0..12 {
        let quoted = "From the harbour office we hear this.\n\nFrom a@b Thu Jan  1 00:00:00 1970\nSubject: inner\n\nquoted\n";
        let attachment = format!("{}\n", "QUJD".repeat(18)).repeat(1300);
        let body = format!(
            "--x\n\nThe boat number {} leaves at noon on Monday, please be there in time for it.\n{quoted}\n--x\n\
             Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n{attachment}--x--\n",
            n / 2
        );
        let length = match n % 2 {
            0 => format!("Content-Length: {}\n", body.len()),
            _ => String::new(),
        };
        file += &format!(
            "From a@b Thu Jan  1 00:00:00 1970\nSubject: boat {n}\nMIME-Version: 1.0\n\
             Content-Type: multipart/mixed; boundary=x\n{length}\n{body}\n"
        );
    }
    assert!(file.len() > 1_100_000);
    file
}

#[test]
fn the_rows_are_those_of_pairs_for_every_method() {
    let Some(python) = python("pyspark, pyarrow, pandas") else {
        return;
    };
    let folder = Folder::new("cluster-pairs");
    let (output, texts, boats) = (
        folder.at("pairs"),
        folder.at("t.jsonl"),
        folder.at("b.mbox"),
    );
    fs::write(&texts, families()).unwrap();
    fs::write(&boats, mbox()).unwrap();
    let looking = ["--method", METHODS, "--most", "3"];
    let paths = [SAMPLE[0], SAMPLE[1], &texts, &boats];
    let alone = ["pairs", "--format", "jsonl"];
    let expected = twicetold(alone.into_iter().chain(looking).chain(paths));
    assert_eq!(expected.status.code(), Some(0));
    // Whatever is commoner than this is spread over tasks.
    let spread = ["--conf", "spark.twicetold.heavy=6", "--task", "1M"];
    let cluster = ["--master", "local-cluster[2,1,1024]", "--output", &output];
    let args = [&cluster[..], &spread, &looking, &paths].concat();
    let run = cluster_pairs(&python, &folder, &args);
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(said.contains("more partners than are listed"), "{said}");
    let rows = written(&output);
    let methods: BTreeSet<String> = rows.lines().map(|row| member(row, "method")).collect();
    assert_eq!(methods.len(), 6, "{rows}");
    assert_eq!(rows, text(&expected.stdout), "{said}");
}

#[test]
fn groups_are_those_of_pairs() {
    let Some(python) = python("pyspark, pyarrow, pandas") else {
        return;
    };
    let folder = Folder::new("cluster-groups");
    let texts = folder.at("t.jsonl");
    fs::write(&texts, families()).unwrap();
    // What stands on both sides is no near duplicate of itself.
    let looking = [
        "--groups",
        "--method",
        "winnow,simhash",
        "--against",
        &texts,
    ];
    let paths = [SAMPLE[0], &texts];
    let alone = ["pairs", "--format", "jsonl"];
    let expected = twicetold(alone.into_iter().chain(looking).chain(paths));
    assert_eq!(expected.status.code(), Some(0));
    let output = folder.at("groups");
    let cluster = ["--master", "local[2]", "--output", &output];
    let run = cluster_pairs(&python, &folder, &[&cluster[..], &looking, &paths].concat());
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{said}");
    let rows = written(&output);
    assert!(rows.lines().count() > 2, "{rows}");
    assert_eq!(rows, text(&expected.stdout), "{said}");
    assert!(!Path::new(&folder.at("groups.unfinished")).exists());
}

fn member(row: &str, name: &str) -> String {
    let row: serde_json::Value = serde_json::from_str(row).unwrap();
    row[name].to_string()
}

/// Writes a table of texts.
const TABLE: &str = "\
import pyarrow as pa, pyarrow.parquet as pq, sys
text = 'The ferry to the island leaves at nine every morning except on Sundays in the winter months of the year.'
rows = [{'id': sys.argv[2] + str(n), 'text': text + ' ' + str(n)} for n in range(2)]
pq.write_table(pa.Table.from_pylist(rows), sys.argv[1])
";

#[test]
fn tables_and_urls_are_read_and_what_is_bad_is_named_and_left_out() {
    let Some(python) = python("pyspark, pyarrow, pandas") else {
        return;
    };
    let folder = Folder::new("cluster-pairs-bad");
    for part in ["mail", "tables", "remote"] {
        fs::create_dir(folder.at(part)).unwrap();
    }
    let ferry = "The ferry to the island leaves at nine every morning except on Sundays in the winter months.";
    let mail =
        format!("From: a@b\nSubject: Ferry\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\n{ferry}\n");
    for file in [
        "mail/one.eml",
        "mail/poison.eml",
        "remote/two.eml",
        "remote/three four.eml",
    ] {
        fs::write(folder.at(file), &mail).unwrap();
    }
    fs::write(
        folder.at("remote/in.mbox"),
        format!("From a@b Thu Jan  1 00:00:00 1970\n{mail}\n"),
    )
    .unwrap();
    for (table, prefix) in [
        ("tables/a.parquet", "a"),
        ("tables/b.parquet", "b"),
        ("remote/c.parquet", "c"),
        ("remote/d.parquet", "d"),
    ] {
        let made = Command::new(&python)
            .args(["-c", TABLE, &folder.at(table), prefix])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    for table in ["tables/b.parquet", "remote/d.parquet"] {
        let whole = fs::read(folder.at(table)).unwrap();
        fs::write(folder.at(table), &whole[..whole.len() - 100]).unwrap();
    }
    // A program that is killed when it is to read the poison, and is the real one otherwise.
    let program = folder.at("program");
    let real = env!("CARGO_BIN_EXE_twicetold");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *portions*) asked=$(cat); case \"$asked\" in *poison*) kill -9 $$;; esac\n\
         printf '%s\\n' \"$asked\" | '{real}' \"$@\"; exit;; esac\nexec '{real}' \"$@\"\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let remote = format!("file://{}", folder.at("remote"));
    let given = [folder.at("mail"), folder.at("tables"), remote];
    let run = |what: &str| {
        // What is written goes by Spark's connectors as well.
        let output = format!("file://{}", folder.at(what));
        let args = [
            ["--master", "local[2]"],
            ["--output", &output],
            ["--executor-binary", &program],
        ];
        let given = given.iter().map(String::as_str);
        let args: Vec<&str> = args.iter().flatten().copied().chain(given).collect();
        let run = cluster(&python, &folder, what, &args);
        let said = text(&run.stderr).to_owned();
        assert_eq!(run.status.code(), Some(3), "{said}");
        (written(&folder.at(what)), said)
    };
    let bad = [
        ("poison.eml", "signal 9"),
        ("tables/b.parquet", "cut off"),
        ("remote/d.parquet", "cut off"),
    ];

    // Whoever judges has a row for each, and keeps what could not be read.
    let (rows, said) = run("scan");
    let with =
        |word: &str| -> Vec<&str> { rows.lines().filter(|row| row.contains(word)).collect() };
    assert_eq!(rows.lines().count(), 8 + bad.len(), "{said}\n{rows}");
    for (file, why) in bad {
        let row = with(file).concat();
        assert!(row.contains(why) && row.contains("\"keep\":true"), "{row}");
    }
    // Two tables say twice the same, and one of them what four mails say.
    assert_eq!(with("\"identical\"").len(), 2, "{rows}");
    assert_eq!(with("\"keep\":false").len(), 2 + 4, "{rows}");

    let (rows, said) = run("pairs");
    for (file, why) in bad {
        let told = said.lines().find(|line| line.contains(file));
        assert!(
            told.is_some_and(|line| line.contains(why)),
            "{file}: {said}"
        );
    }
    // Everything else says the same.
    let names: BTreeSet<String> = rows
        .lines()
        .flat_map(|row| [member(row, "a"), member(row, "b")])
        .map(|name| {
            name.trim_matches('"')
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    let expected = [
        "a0",
        "a1",
        "c0",
        "c1",
        "in.mbox@0",
        "one.eml",
        "three four.eml",
        "two.eml",
    ];
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        expected,
        "{said}\n{rows}"
    );
    assert_eq!(rows.lines().count(), 8 * 7 / 2, "{rows}");

    // What Spark cannot reach, or would write over, is told before the work.
    let there = format!("file://{}", folder.at("scan"));
    for (mail, output, told) in [
        (given[0].as_str(), there.as_str(), "already"),
        ("fax://archive/", &folder.at("new"), "fax://archive/"),
    ] {
        let run = cluster(&python, &folder, "scan", &["--output", output, mail]);
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{said}");
        let error = said.lines().find(|line| line.starts_with("error: "));
        assert!(error.is_some_and(|line| line.contains(told)), "{said}");
        assert!(said.contains("hint: "), "{said}");
    }
    assert!(!Path::new(&folder.at("new")).exists());
}

#[test]
fn what_cannot_be_is_refused_before_anything_starts() {
    let folder = Folder::new("cluster-pairs-refused");
    let there = folder.at("there");
    fs::create_dir(&there).unwrap();
    let refused = |args: &[&str], code: i32, told: &str| {
        let run = twicetold(["cluster", "pairs"].into_iter().chain(args.iter().copied()));
        assert_eq!(run.status.code(), Some(code));
        let said = text(&run.stderr);
        assert!(said.contains(told), "{said}");
    };
    let new = folder.at("new");
    refused(&["--output", &there, SAMPLE[0]], 1, "already");
    refused(&["--output", &new, &folder.at("nothing")], 1, "no file");
    refused(&["--output", &new, "--method", "fax", SAMPLE[0]], 2, "fax");
    refused(&["--output", &new, "--task", "1", SAMPLE[0]], 2, "--task");
    assert!(!Path::new(&new).exists());
}

#[test]
fn the_doors_refuse_what_they_cannot_read() {
    let run = common::twicetold_fed(["cluster", "partners"], "no arrow");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("Arrow stream"),
        "{}",
        text(&run.stderr)
    );
    let run = common::twicetold_fed(["cluster", "entries"], "{\"path\":1}\n");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("does not name a file"),
        "{}",
        text(&run.stderr)
    );
    // A file that is gone is a row, and the rest is read.
    let line = r#"{"path":"a","file":"/no/such/file","kind":"named","bytes":7}"#;
    let run = common::twicetold_fed(["cluster", "entries"], &format!("{line}\n"));
    assert_eq!(run.status.code(), Some(3), "{}", text(&run.stderr));
}
