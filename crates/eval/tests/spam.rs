//! The spam experiment on invented mail: campaigns, variants, honest letters.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use support::{Folder, mail, strange};
use twicetold_eval::spam::{self, Body, Combined, Feedback, Filter, Mail, trec};
use twicetold_eval::{Bench, Dice, Silent, imatch};
use twicetold_model::Form;

/// Six campaigns of eight variants, and sixty letters; an index in which they alternate.
fn corpus(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut dice = Dice::new(9);
    let mut index = String::new();
    let campaigns: Vec<String> = (0..6).map(|_| strange(24, &mut dice)).collect();
    for n in 0..108 {
        let (label, said) = if n % 9 < 4 {
            let variant = strange(1, &mut dice);
            ("spam", format!("{}\n{variant}", campaigns[n % 6]))
        } else {
            ("ham", strange(10, &mut dice))
        };
        folder.put(&format!("mail/{label}/{n}.eml"), &mail(n, "Offer", &said));
        index.push_str(&format!("{label} mail/{label}/{n}.eml\n"));
    }
    folder.put("index", &index);
    folder
}

fn figure(findings: &twicetold_eval::Findings, table: &str, row: &str, column: &str) -> f64 {
    let table = findings.table(table).unwrap();
    table
        .cell(row, column)
        .unwrap_or_else(|| panic!("{row}, {column} in {}", table.text()))
        .parse()
        .unwrap()
}

#[test]
fn variants_are_recognised_and_letters_are_not_alarmed() {
    let folder = corpus("spam");
    let mut bench = Bench::new("");
    bench.labelled.index = Some(folder.at("index"));
    let findings = spam::run(&mut bench).unwrap();
    assert_eq!(figure(&findings, "spam-trec", "all methods", "hm%"), 0.0);
    // Of each campaign the first message cannot be known: 6 of 48.
    assert_eq!(figure(&findings, "spam-trec", "all methods", "sm%"), 12.5);
    let delayed = figure(&findings, "spam-trec", "all methods, delayed", "sm%");
    assert!(delayed >= 12.5, "{delayed}");
    assert_eq!(
        figure(&findings, "spam-mutations", "padding +100 %", "recognised"),
        1.0
    );
    assert_eq!(
        figure(
            &findings,
            "spam-mutations",
            "alarms on legitimate mail",
            "recognised"
        ),
        0.0
    );
    assert!(figure(&findings, "spam-mutations", "mixed 10 %", "copies") >= 6.0);
    assert!(figure(&findings, "spam-levels", "deepest, L=20, K=20", "1−ROCA%") < 50.0);
    findings.write(&folder.at("out")).unwrap();
    assert!(folder.at("out/spam-roc.svg").is_file());
}

#[test]
fn an_index_that_cannot_be_understood_is_refused_with_its_line() {
    let folder = corpus("wrong-index");
    let mut bench = Bench::new("");
    bench.labelled.index = Some(folder.at("index"));
    for (text, told) in [
        ("maybe mail/1", "its label is neither"),
        ("spam", "not a label and a path"),
        ("\n", "names no message"),
    ] {
        folder.put("index", text);
        let error = spam::run(&mut bench).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    folder.put("index", "spam gone.eml");
    assert!(
        spam::run(&mut bench)
            .unwrap_err()
            .to_string()
            .contains("cannot read")
    );
}

#[test]
fn late_feedback_comes_late_and_all_of_it() {
    struct Counting(Vec<&'static str>);
    impl Filter for Counting {
        fn classify(&mut self, _: &Mail) -> Result<(f64, bool), twicetold_eval::EvalError> {
            self.0.push("asked");
            Ok((0.0, false))
        }
        fn train(&mut self, _: &Mail) -> Result<(), twicetold_eval::EvalError> {
            self.0.push("told");
            Ok(())
        }
    }
    let mails: Vec<Mail> = (0..50)
        .map(|n| Mail::read(Form::Mail, mail(n, "x", "Hello there.").as_bytes(), true))
        .collect();
    let run = |feedback| {
        let mut filter = Counting(Vec::new());
        let run = spam::run_protocol(&mails, &mut filter, feedback, 1, &Silent).unwrap();
        assert_eq!(run.len(), 50);
        filter.0
    };
    let now = run(Feedback::Immediate);
    assert!(now.chunks(2).all(|two| two == ["asked", "told"]));
    let late = run(Feedback::Delayed(10));
    assert_ne!(late, now);
    assert!(late.iter().filter(|&&what| what == "told").count() >= 40);
}

#[test]
fn a_filter_learns_and_unlearns() {
    let mut dice = Dice::new(3);
    let letter = |dice: &mut Dice| {
        Mail::read(
            Form::Mail,
            mail(1, "x", &strange(12, dice)).as_bytes(),
            true,
        )
    };
    let (one, other) = (letter(&mut dice), letter(&mut dice));
    let mut filter = Combined::new().unwrap();
    assert!(!filter.classify(&one).unwrap().1);
    filter.train(&one).unwrap();
    assert!(filter.classify(&one).unwrap().1);
    assert!(!filter.classify(&other).unwrap().1);
    filter
        .train(&Mail {
            spam: false,
            ..one.clone()
        })
        .unwrap();
    assert!(
        !filter.classify(&one).unwrap().1,
        "told that it was no spam"
    );
}

#[test]
fn the_tool_kits_four_commands() {
    let folder = corpus("trec");
    let state = folder.at("state");
    assert!(
        trec::classify(&state, &folder.at("mail/spam/0.eml"))
            .unwrap_err()
            .to_string()
            .contains("run initialize first")
    );
    trec::initialize(&state).unwrap();
    let asked =
        |n: usize| trec::classify(&state, &folder.at(&format!("mail/spam/{n}.eml"))).unwrap();
    assert_eq!(asked(0), "class=ham score=0.000000 tfile=");
    trec::train(&state, true, &folder.at("mail/spam/0.eml")).unwrap();
    // Number 12 is a variant of number 0.
    assert!(
        asked(12).starts_with("class=spam score=0."),
        "{}",
        asked(12)
    );
    trec::initialize(&state).unwrap();
    assert_eq!(
        asked(12),
        "class=ham score=0.000000 tfile=",
        "a new filter knows nothing"
    );
    trec::finalize(&state).unwrap();
    assert!(!state.exists());
    assert!(
        trec::finalize(&folder.0).is_err(),
        "other folders are not removed"
    );
    assert!(
        trec::initialize(&folder.0)
            .unwrap_err()
            .to_string()
            .contains("holds other files")
    );
    assert!(folder.at("index").is_file());
}

#[test]
fn lexicons_find_variants_and_no_letters() {
    let folder = corpus("imatch");
    let mut bench = Bench::new("");
    bench.labelled.spam = vec![folder.at("mail/spam")];
    bench.labelled.ham = vec![folder.at("mail/ham")];
    let findings = imatch::run(&mut bench).unwrap();
    let table = findings.table("imatch-copies").unwrap();
    let recall = |copies: &str| -> f64 {
        let row = table
            .rows
            .iter()
            .find(|row| row[0] == "same collection" && row[1] == copies)
            .unwrap();
        assert_eq!(row[7], "0", "no letter is found");
        row[2].parse().unwrap()
    };
    assert!(recall("20") >= recall("0"));
    assert_eq!(
        figure(
            &findings,
            "imatch-others",
            "exact hash of the words",
            "recall"
        ),
        0.0,
        "trivial copies are taken out"
    );
    let stability = findings.table("imatch-stability").unwrap();
    for row in &stability.rows[..3] {
        let pair = |at: usize| (row[at].parse::<f64>(), row[at + 1].parse::<f64>());
        if let (Ok(measured), Ok(predicted)) = pair(7) {
            // Some hundred messages: within five standard errors.
            assert!((measured - predicted).abs() < 0.25, "{row:?}");
        }
    }
}

#[test]
fn a_body_is_read_as_it_was_sent() {
    let html = Body {
        html: true,
        text: "<p>Hi</p>".into(),
        subject: "s".into(),
    };
    let mail = Mail::read(Form::Mail, &html.to_mail(1), false);
    assert_eq!(mail.body.unwrap().text.trim(), "<p>Hi</p>");
}
