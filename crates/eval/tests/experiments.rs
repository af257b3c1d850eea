//! The other experiments on invented texts.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use support::{Folder, mail, text};
use twicetold_eval::{Bench, Dice, EXPERIMENTS, Findings, blocks, collisions, edit, simhash};

fn texts(name: &str, count: usize) -> Folder {
    let folder = Folder::new(name);
    let mut dice = Dice::new(4);
    for n in 0..count {
        folder.put(
            &format!("in/{n}.eml"),
            &mail(n, "News", &text(6 + n % 20, &mut dice)),
        );
    }
    folder
}

fn bench(folder: &Folder) -> Bench<'static> {
    let mut bench = Bench::new("");
    bench.texts = vec![folder.at("in")];
    bench
}

fn figure(findings: &Findings, table: &str, row: &str, column: &str) -> f64 {
    let table = findings.table(table).unwrap();
    table
        .cell(row, column)
        .unwrap_or_else(|| panic!("{row}, {column} in {}", table.text()))
        .parse()
        .unwrap()
}

#[test]
fn pairs_do_not_collide() {
    let folder = texts("collisions", 40);
    let findings = collisions::run(&mut bench(&folder)).unwrap();
    let table = findings.table("collisions").unwrap();
    let here = |row: &str| table.cell(row, "here").unwrap().to_owned();
    assert_eq!(here("documents"), "40");
    for row in [
        "hashes, the paper's a·x − y",
        "hashes, 2³²·x − y",
        "hashes, stable 64 bits (what scan uses)",
    ] {
        assert_eq!(
            here(row),
            format!("{} (0 collisions)", here("different pairs"))
        );
    }
}

#[test]
fn copies_are_found_by_their_sentences() {
    let folder = texts("blocks", 160);
    let findings = blocks::run(&mut bench(&folder)).unwrap();
    let of = |row: &str, column: &str| figure(&findings, "blocks-threshold", row, column);
    assert!(
        of("0.5", "ours R") >= of("0.9", "ours R"),
        "a higher threshold finds less"
    );
    assert!(of("0.6", "ours R") > 80.0);
    assert_eq!(of("0.9", "ours P"), 100.0);
    assert!(of("0.6", "formula (3) R") >= of("0.6", "ours R"));
    let robust = |row: &str, column: &str| figure(&findings, "blocks-robust", row, column);
    assert!(robust("2 KB, 1 %, one place", "ours R") > 95.0);
    assert!(robust("2 KB, 20 %, scattered", "each word on its own: ours R") < 20.0);
}

#[test]
fn short_texts_need_more_bits() {
    let folder = texts("simhash", 120);
    let findings = simhash::run(&mut bench(&folder)).unwrap();
    let table = findings.table("simhash-edits").unwrap();
    let within_three = |size: &str, edits: &str| -> f64 {
        let row = table
            .rows
            .iter()
            .find(|row| row[0] == size && row[1] == edits)
            .unwrap();
        row[5].parse().unwrap()
    };
    assert!(within_three("61–200 words", "1 word") > within_three("8–20 words", "1 word"));
    assert!(within_three("61–200 words", "1 word") > within_three("61–200 words", "10 words"));
    assert_eq!(
        findings
            .table("simhash-examples")
            .unwrap()
            .cell("II: equal", "bits that differ"),
        Some("0")
    );
}

#[test]
fn the_theory_of_the_embedding_holds() {
    let folder = texts("edit", 30);
    let mut bench = bench(&folder);
    bench.most = 240;
    let findings = edit::run(&mut bench).unwrap();
    for row in &findings.table("edit-collisions").unwrap().rows {
        let (measured, predicted): (f64, f64) = (row[1].parse().unwrap(), row[2].parse().unwrap());
        assert!((measured - predicted).abs() < 0.12, "{row:?}");
    }
    assert!(
        findings.remarks[0].contains("for 56 of 56 pairs"),
        "{}",
        findings.remarks[0]
    );
    let of = |row: &str, column: &str| figure(&findings, "edit-precision", row, column);
    let best = ["1", "2", "5", "10", "16", "20"].map(|trees| of(trees, "here: |S| = 2L"));
    assert!(best.iter().sum::<f64>() > 2.4, "{best:?}");
}

#[test]
fn every_experiment_says_what_is_missing() {
    let nowhere = Folder::new("nowhere");
    for experiment in EXPERIMENTS
        .iter()
        .filter(|experiment| experiment.name != "edit")
    {
        let told = (experiment.run)(&mut Bench::new(nowhere.0.clone()))
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("there is nothing to measure"),
            "{}: {told}",
            experiment.name
        );
    }
}
