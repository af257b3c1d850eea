//! Labelled cases out of a mailbox, and the redundancy experiment on them.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::fs;

use support::{Folder, mail, text};
use twicetold_eval::{Bench, Dice, Notebook, Silent, cases, redundancy};

/// A mailbox of invented mails, and labelled cases made of it.
fn labelled(name: &str, count: usize) -> Folder {
    let folder = Folder::new(name);
    let mut dice = Dice::new(5);
    for n in 0..count * 33 {
        let sentences = if n % 4 == 0 { 20 } else { 4 + n % 7 };
        folder.put(
            &format!("in/{n}.eml"),
            &mail(n, "News", &text(sentences, &mut dice)),
        );
    }
    let written = cases::write(&[folder.at("in")], &folder.at("cases"), count, 1, &Silent).unwrap();
    assert!(
        written.cases.iter().all(|(_, made)| *made == count),
        "{written:?}"
    );
    assert_eq!(
        fs::read_dir(folder.at("cases/mail")).unwrap().count(),
        written.messages
    );
    folder
}

fn figure(findings: &twicetold_eval::Findings, table: &str, row: &str, column: &str) -> f64 {
    let table = findings.table(table).unwrap();
    let cell = table.cell(row, column);
    cell.unwrap_or_else(|| panic!("{row}, {column} in {}", table.text()))
        .parse()
        .unwrap()
}

#[test]
fn scan_loses_nothing_where_the_papers_method_does() {
    let folder = labelled("redundancy", 4);
    let mut bench = Bench::new(folder.at("cases"));
    let findings = redundancy::run(&mut bench).unwrap();
    let of = |row: &str, column: &str| figure(&findings, "redundancy-category", row, column);
    for trap in [
        "neg-version",
        "neg-attachment",
        "neg-short",
        "neg-template",
        "neg-long",
        "neg-partial",
    ] {
        assert_eq!(of(trap, "may go"), 0.0, "{trap}");
        assert_eq!(of(trap, "scan: went"), 0.0, "{trap}");
    }
    assert_eq!(
        of("all", "may go"),
        24.0,
        "one of each case that is no trap"
    );
    assert_eq!(of("all", "scan: lost content"), 0.0);
    assert!(of("all", "scan: went") >= 23.0, "{}", findings.text());
    assert!(
        of("neg-attachment", "paper: lost content") > 0.0,
        "it knows no attachments"
    );
    assert_eq!(
        of("combined", "paper: went"),
        0.0,
        "it compares two messages at a time"
    );
    let window = |row: &str, column: &str| figure(&findings, "redundancy-window", row, column);
    assert_eq!(window("3", "paper P"), 97.16);
    assert!(window("1", "here fingerprints") > window("10", "here fingerprints"));
    assert!(
        figure(&findings, "redundancy-threshold", "85", "here R")
            >= figure(&findings, "redundancy-threshold", "100", "here R")
    );
    assert_eq!(figure(&findings, "redundancy-report", "extra", "scan"), 0.0);
    findings.write(&folder.at("out")).unwrap();
    for name in [
        "redundancy-window.csv",
        "redundancy-window.svg",
        "redundancy-differences.csv",
    ] {
        assert!(folder.at("out").join(name).is_file(), "{name}");
    }
}

#[test]
fn a_classification_by_message_id_is_enough() {
    let folder = labelled("classified", 2);
    fs::remove_file(folder.at("cases/truth.jsonl")).unwrap();
    let mut bench = Bench::new("");
    bench.texts = vec![folder.at("cases")];
    let findings = redundancy::run(&mut bench).unwrap();
    assert!(findings.table("redundancy-category").is_none());
    assert!(figure(&findings, "redundancy-report", "redundant in truth", "scan") >= 10.0);
    assert!(
        figure(
            &findings,
            "redundancy-report",
            "recall by message %",
            "scan"
        ) >= 90.0
    );
    folder.put("cases/classification.txt", "# fine\nno brackets\n");
    let told = redundancy::run(&mut bench).unwrap_err().to_string();
    assert!(
        told.contains("line 2: it does not begin with a Message-ID"),
        "{told}"
    );
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let folder = labelled("resumed", 1);
    let run = |fresh: bool| {
        let mut bench = Bench::new(folder.at("cases"));
        bench.notebook = Notebook::open(&folder.at("out"), fresh).unwrap();
        let findings = redundancy::run(&mut bench).unwrap();
        (findings.text(), bench.notebook.made, bench.notebook.reused)
    };
    let (first, made, reused) = run(false);
    assert!(made > 10 && reused == 0, "{made} {reused}");
    // A killed run leaves half a line.
    let notes = folder.at("out/measurements.jsonl");
    let mut text = fs::read_to_string(&notes).unwrap();
    text.truncate(text.len() - 20);
    fs::write(&notes, text).unwrap();
    let (again, remade, reused) = run(false);
    assert_eq!((remade, reused), (1, made - 1));
    assert_eq!(again, first);
    // Other mail is measured anew.
    fs::remove_file(folder.at("cases/mail/000000.eml")).unwrap();
    assert_eq!(run(false).2, 0);
    assert_eq!(run(true).2, 0);
}

#[test]
fn cases_are_the_same_for_the_same_seed_and_never_mixed_with_other_files() {
    let folder = labelled("seeded", 1);
    let write =
        |name: &str, seed| cases::write(&[folder.at("in")], &folder.at(name), 1, seed, &Silent);
    write("again", 1).unwrap();
    write("other", 2).unwrap();
    let truth = |name: &str| fs::read_to_string(folder.at(name).join("truth.jsonl")).unwrap();
    assert_eq!(truth("cases"), truth("again"));
    assert_ne!(truth("cases"), truth("other"));
    assert!(
        write("again", 1)
            .unwrap_err()
            .to_string()
            .contains("is not empty")
    );
    folder.put("few/1.eml", "Subject: x\n\nOk.\n");
    let told = cases::write(&[folder.at("few")], &folder.at("none"), 1, 1, &Silent);
    assert!(told.unwrap_err().to_string().contains("too few sentences"));
}

#[test]
fn a_folder_without_truth_is_refused() {
    let folder = Folder::new("untrue");
    folder.put("mail/1.eml", "Subject: x\n\nOk.\n");
    let mut bench = Bench::new("");
    bench.texts = vec![folder.0.clone()];
    let told = redundancy::run(&mut bench).unwrap_err().to_string();
    assert!(
        told.contains("neither truth.jsonl nor classification.txt"),
        "{told}"
    );
}
