//! The reports of scans built by hand, compared with stored ones.

use std::io::{self, Write};

use insta::assert_snapshot;
use twicetold_detect::{Explanation, Scan, ScannedMessage, ShownPassage};
use twicetold_model::{
    Category, Form, Location, Problem, Residue, ResidueKind, Standing, Verdict, Witness,
};
use twicetold_source::{Severity, Trouble};

use super::text::{Looked, View};
use super::{csv, escape, explanation, jsonl, text};
use crate::terminal::{Color, Paint};

fn message(path: &str, offset: Option<u64>, standing: Standing) -> ScannedMessage {
    ScannedMessage {
        location: Location {
            path: path.into(),
            offset,
        },
        form: Form::Mail,
        bytes: 2_345,
        message_id: Some(format!("<{}@example.org>", path.replace('/', "."))),
        subject: "Lunch on Friday".to_owned(),
        from: "anna@example.org".to_owned(),
        date: Some(989_832_600),
        thread: None,
        verdict: Verdict {
            standing,
            witnesses: Vec::new(),
            residue: Vec::new(),
        },
        residue: Vec::new(),
        problems: Vec::new(),
    }
}

fn covered(mut message: ScannedMessage, by: &[(u32, f64)]) -> ScannedMessage {
    message.verdict.witnesses = by
        .iter()
        .map(|&(message, containment)| Witness {
            message,
            containment,
        })
        .collect();
    message
}

fn leftover(mut message: ScannedMessage, kind: ResidueKind, text: &str) -> ScannedMessage {
    message.verdict.residue.push(Residue { words: 0..2, kind });
    message.residue.push(text.to_owned());
    message
}

/// One message of every sort.
fn one_of_each() -> Scan {
    let mut messages = vec![
        message("box/00.eml", None, Standing::Unique),
        message("box/01.eml", None, Standing::Unique),
    ];
    for (number, category) in (2..).zip(Category::ALL) {
        let path = format!("box/{number:02}.eml");
        let mut one = message(&path, None, Standing::Redundant(category));
        one.thread = Some("lunch".into());
        let by: &[(u32, f64)] = if category == Category::Combined {
            &[(0, 2.0 / 3.0), (1, 0.5)]
        } else {
            &[(0, 1.0)]
        };
        messages.push(covered(one, by));
    }
    messages.push(leftover(
        message(
            "box/09.eml",
            None,
            Standing::Redundant(Category::AlmostIdentical),
        ),
        ResidueKind::Greeting,
        "Dear all,",
    ));
    messages.push(leftover(
        covered(message("in.mbox", Some(0), Standing::Version), &[(0, 0.95)]),
        ResidueKind::Fact,
        "at 13:30",
    ));
    let mut unreadable = message("in.mbox", Some(5_000), Standing::Unreadable);
    unreadable.message_id = None;
    unreadable.subject.clear();
    unreadable.from.clear();
    unreadable.date = None;
    unreadable
        .problems
        .push(Problem::new("no headers and no text"));
    messages.push(unreadable);
    for offset in [6_000, 7_000, 8_000] {
        let mut odd = message("in.mbox", Some(offset), Standing::Unique);
        odd.problems.push(Problem::new("unknown charset x-klingon"));
        messages.push(odd);
    }
    let troubles = vec![Trouble {
        path: "gone.mbox".to_owned(),
        problem: Problem::new("no such file or folder"),
        severity: Severity::Unread,
    }];
    Scan {
        messages,
        troubles,
        ..Scan::default()
    }
}

/// What an attacker would send.
fn hostile() -> Scan {
    let mut first = message("=cmd|'/c calc'!A1", None, Standing::Unique);
    first.message_id = Some("+1@\u{202e}gro.elpmaxe".to_owned());
    first
        .problems
        .push(Problem::new("bad header \u{1b}]0;owned\u{7}"));
    let mut second = message(
        "-rf\u{1b}[2J\n/x",
        Some(3),
        Standing::Redundant(Category::Identical),
    );
    second.subject = "\u{1b}[31mYou won\u{1b}[0m\r\n\u{9b}2J\u{200b}\u{feff}\u{7f}".to_owned();
    second.from = format!("@SUM(1,2) {}", "x".repeat(500));
    second.date = Some(i64::MAX);
    second.thread = Some("\t=HYPERLINK(\"http://evil\")".into());
    let second = covered(second, &[(0, f64::NAN), (77, 1.0)]);
    let second = leftover(
        second,
        ResidueKind::Greeting,
        "=2+5\u{2028}\"quoted\", comma",
    );
    let troubles = vec![Trouble {
        path: "\u{1b}c".to_owned(),
        problem: Problem::new("\u{1b}[5m"),
        severity: Severity::Unread,
    }];
    Scan {
        messages: vec![first, second],
        troubles,
        ..Scan::default()
    }
}

fn view(list: bool) -> View {
    let looked = |path: &str, what: &str| Looked {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    View {
        paths: vec![
            looked("box", "an empty folder"),
            looked("my mail.mbox", "an empty file"),
        ],
        options: Vec::new(),
        skipped: 3,
        remote: false,
        list,
        plan: None,
        paint: Paint::PLAIN,
    }
}

fn rendered(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    render(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn no_tricks(report: &str) {
    let line_ends = |c: char| c == '\n' || c == '\r';
    assert!(
        !report
            .chars()
            .any(|c| escape::is_tricky(c) && !line_ends(c)),
        "{report:?}"
    );
}

#[test]
fn summary() {
    let scan = one_of_each();
    let report = rendered(|out| text::write(out, &scan, &view(false)));
    assert!(
        report.lines().all(|line| line.chars().count() <= 80),
        "{report}"
    );
    assert_snapshot!(report);
}

#[test]
fn summary_in_colour_says_the_same() {
    let scan = one_of_each();
    let paint = Paint::for_stdout(Color::Always);
    let coloured = rendered(|out| {
        text::write(
            out,
            &scan,
            &View {
                paint,
                ..view(true)
            },
        )
    });
    assert!(coloured.contains('\u{1b}'));
    let mut plain = String::new();
    for (at, part) in coloured.split('\u{1b}').enumerate() {
        plain.push_str(if at == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        });
    }
    assert_eq!(plain, rendered(|out| text::write(out, &scan, &view(true))));
}

#[test]
fn list() {
    assert_snapshot!(rendered(|out| text::write(
        out,
        &one_of_each(),
        &view(true)
    )));
}

#[test]
fn summary_without_anything_redundant() {
    let scan = Scan {
        messages: vec![message("a", None, Standing::Unique)],
        ..Scan::default()
    };
    assert_snapshot!(rendered(|out| text::write(out, &scan, &view(false))));
}

#[test]
fn summary_without_messages() {
    assert_snapshot!(rendered(|out| text::write(
        out,
        &Scan::default(),
        &view(false)
    )));
}

#[test]
fn summary_of_hostile_mail() {
    let report = rendered(|out| text::write(out, &hostile(), &view(true)));
    no_tricks(&report);
    assert_snapshot!(report);
}

#[test]
fn many_problems_and_troubles_are_cut_short() {
    let mut scan = one_of_each();
    for number in 0..20 {
        let mut odd = message(&format!("odd/{number:02}"), None, Standing::Unique);
        odd.problems = vec![Problem::new(format!("problem number {}", number % 12)); 2];
        scan.messages.push(odd);
        let path = format!("missing/{number:02}");
        scan.troubles.push(Trouble {
            path,
            problem: Problem::new("not there"),
            severity: Severity::Unread,
        });
    }
    assert_snapshot!(rendered(|out| text::write(out, &scan, &view(false))));
    let listed = rendered(|out| text::write(out, &scan, &view(true)));
    assert!(listed.contains("missing/19: not there"));
}

#[test]
fn json_lines() {
    assert_snapshot!(rendered(|out| jsonl::write(out, &one_of_each())));
}

#[test]
fn json_lines_of_hostile_mail() {
    let report = rendered(|out| jsonl::write(out, &hostile()));
    no_tricks(&report);
    let lines: Vec<serde_json::Value> = report
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[1]["path"], "-rf\u{1b}[2J\n/x");
    assert_eq!(lines[1]["residue"][0], "=2+5\u{2028}\"quoted\", comma");
    assert_snapshot!(report);
}

#[test]
fn keep_is_false_only_for_redundant_messages() {
    let scan = one_of_each();
    let report = rendered(|out| jsonl::write(out, &scan));
    for (line, message) in report.lines().zip(&scan.messages) {
        let redundant = matches!(message.verdict.standing, Standing::Redundant(_));
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["keep"], !redundant);
        assert_eq!(line["verdict"] == "redundant", redundant);
    }
}

#[test]
fn csv_table() {
    let report = rendered(|out| csv::write(out, &one_of_each()));
    assert!(report.lines().count() == report.matches("\r\n").count());
    assert_snapshot!(report.replace('\r', ""));
}

#[test]
fn csv_table_of_hostile_mail() {
    let report = rendered(|out| csv::write(out, &hostile()));
    no_tricks(&report);
    for record in ::csv::Reader::from_reader(report.as_bytes()).records() {
        for cell in &record.unwrap() {
            assert!(
                !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{cell}"
            );
        }
    }
    assert_snapshot!(report.replace('\r', ""));
}

#[test]
fn closed_pipes_keep_their_kind() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
    let scan = one_of_each();
    for result in [
        text::write(&mut Closed, &scan, &view(false)),
        jsonl::write(&mut Closed, &scan),
        csv::write(&mut Closed, &scan),
    ] {
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

fn proof() -> Explanation {
    let passage = |text: &str, there: Option<(u32, &str)>, residue, changed| ShownPassage {
        text: text.to_owned(),
        there: there.map(|(number, text)| (number, text.to_owned())),
        residue,
        changed,
    };
    let long = "Please bring the signed papers to the office in the harbour street, where somebody \
                will be waiting for you until the evening and give you the keys.";
    Explanation {
        passages: vec![
            passage("Dear all,", None, Some(ResidueKind::Greeting), false),
            passage(
                "We meet at noon.",
                Some((0, "> We meet at noon.")),
                None,
                false,
            ),
            passage(
                long,
                Some((1, &long.replace("Please bring", "Please brings"))),
                None,
                true,
            ),
            passage(
                "On Monday Anna wrote:",
                None,
                Some(ResidueKind::Attribution),
                false,
            ),
            passage("Room 12, not 13.", None, Some(ResidueKind::Fact), false),
            passage(
                "The cake is \u{1b}[5mnew.",
                None,
                Some(ResidueKind::Content),
                false,
            ),
            passage(
                "Sent from my phone",
                None,
                Some(ResidueKind::Boilerplate),
                false,
            ),
            passage("Lost witness.", Some((9_999, "Lost witness.")), None, false),
        ],
    }
}

#[test]
fn explanation_of_a_removable_message() {
    let report = rendered(|out| explanation::write(out, &one_of_each(), 7, &proof(), Paint::PLAIN));
    no_tricks(&report);
    assert_snapshot!(report);
}

#[test]
fn explanations_say_each_verdict_in_a_sentence() {
    let scan = one_of_each();
    let mut report = String::new();
    for number in 0..scan.messages.len() as u32 {
        let explanation = Explanation::default();
        report +=
            &rendered(|out| explanation::write(out, &scan, number, &explanation, Paint::PLAIN));
    }
    let sentences: Vec<&str> = report.split("\n\n").skip(1).collect();
    assert_snapshot!(sentences.join("\n--\n"));
}

#[test]
fn explanation_as_json() {
    let report = rendered(|out| jsonl::write_explanation(out, &one_of_each(), 7, &proof()));
    no_tricks(&report);
    assert_snapshot!(report);
}
