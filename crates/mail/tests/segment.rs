//! Every case in `segments/` is a text whose lines say what they are.
//!
//! A case starts with `# name`; `from:` and `to:` lines may follow. Then comes the text, each line
//! led by its kind: `own`, `quo`, `att`, `gre`, `clo`, `sig`, `boi`, or nothing for a blank line,
//! then `|` and the line itself. A digit behind the kind is its quote depth, 0 if there is none.

use std::path::Path;

use twicetold_mail::segment::{marks_length, quote_marks, segment};
use twicetold_model::{Envelope, Segment, SegmentKind};

struct Case {
    name: String,
    envelope: Envelope,
    text: String,
    expected: Vec<String>,
}

fn cases(file: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            cases.push(Case {
                name: name.to_owned(),
                envelope: Envelope::default(),
                text: String::new(),
                expected: Vec::new(),
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        if let Some(from) = line.strip_prefix("from:") {
            case.envelope.from_name = from.trim().to_owned();
        } else if let Some(to) = line.strip_prefix("to:") {
            case.envelope.recipients = to.trim().to_owned();
        } else if let Some((kind, text)) = line.split_once('|') {
            case.text.push_str(text);
            case.text.push('\n');
            let kind = kind.trim();
            let depth = if kind.is_empty() || kind.ends_with(|last: char| last.is_ascii_digit()) {
                ""
            } else {
                "0"
            };
            case.expected.push(format!("{kind}{depth}"));
        }
    }
    cases
}

fn code(segment: &Segment) -> String {
    let kind = match segment.kind {
        SegmentKind::Own => "own",
        SegmentKind::Quoted => "quo",
        SegmentKind::Attribution => "att",
        SegmentKind::Greeting => "gre",
        SegmentKind::Closing => "clo",
        SegmentKind::Signature => "sig",
        SegmentKind::Boilerplate => "boi",
    };
    format!("{kind}{}", segment.depth)
}

/// What each line was found to be, beside what it should be where the case says so.
fn check(case: &Case) -> Result<(), String> {
    let segments = segment(&case.text, &case.envelope);
    let mut report = String::new();
    let mut wrong = false;
    let mut start = 0;
    for (line, expected) in case.text.split_inclusive('\n').zip(&case.expected) {
        let found = segments
            .iter()
            .find(|segment| (segment.start as usize..segment.end as usize).contains(&start))
            .map(code)
            .unwrap_or_default();
        // A blank line may belong to the segment before it.
        let same = expected.is_empty() || found == *expected;
        wrong |= !same;
        let sign = if same { " " } else { "≠" };
        report.push_str(&format!("{found:5}{sign}{expected:5}|{line}"));
        start += line.len();
    }
    if wrong {
        Err(format!("\n{}\n{report}", case.name))
    } else {
        Ok(())
    }
}

#[test]
fn every_line_is_what_its_case_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/segments");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut failures = String::new();
    let mut count = 0;
    for path in files {
        for case in cases(&std::fs::read_to_string(&path).unwrap()) {
            count += 1;
            if let Err(report) = check(&case) {
                failures.push_str(&report);
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count >= 100, "only {count} cases were found");
}

#[test]
fn marks_are_counted_and_measured() {
    for (line, expected) in [
        ("", (0, 0)),
        ("text", (0, 0)),
        ("  text", (0, 2)),
        (">text", (1, 1)),
        ("> text", (1, 2)),
        (" > > text", (2, 5)),
        (">>> text", (3, 4)),
        ("＞ text", (1, 4)),
        (">", (1, 1)),
        (">From here", (0, 0)),
        ("> From here", (1, 2)),
        ("\u{a0}> text", (1, 4)),
        ("-> text", (0, 0)),
        ("<b>", (0, 0)),
    ] {
        assert_eq!(quote_marks(line), expected, "{line:?}");
    }
    assert_eq!(quote_marks(&">".repeat(1000)).0, 255);
}

#[test]
fn marks_of_a_deep_quotation_are_counted_one_by_one() {
    for depth in 1..60 {
        let marks = format!(">{}", " >".repeat(depth - 1));
        for (behind, more, length) in [
            ("", 0, 0),
            (" text", 0, 1),
            ("text", 0, 0),
            ("   > text", 1, 5),
            ("    > text", 0, 4),
            (" ＞text", 1, 4),
            (">> text", 2, 3),
        ] {
            let line = format!("{marks}{behind}");
            let expected = (depth as u8 + more, marks.len() + length);
            assert_eq!(quote_marks(&line), expected, "{line:?}");
        }
    }
    assert_eq!(quote_marks(&"> ".repeat(1000)), (255, 2000));
}

#[test]
fn marks_of_other_styles_are_measured_when_the_depth_is_known() {
    assert_eq!(marks_length("| text", 1), 2);
    assert_eq!(marks_length("| text", 0), 0);
    assert_eq!(marks_length("JD> text", 1), 4);
    assert_eq!(marks_length(": : text", 2), 4);
    assert_eq!(marks_length("> > text", 2), 4);
}

#[test]
fn segments_are_in_order_and_cover_every_line_with_words() {
    let text =
        "Hi,\n\n> a\n> b\nown text goes here\n\n>> c\nOn 1/2/2003 10:00, X wrote:\n> d\n-- \nme\n";
    let segments = segment(text, &Envelope::default());
    let mut end = 0;
    for part in &segments {
        assert!(part.start >= end && part.end > part.start);
        assert!(part.start == 0 || text.as_bytes()[part.start as usize - 1] == b'\n');
        assert!(text[end as usize..part.start as usize].trim().is_empty());
        end = part.end;
    }
    assert!(text[end as usize..].trim().is_empty());
}

#[test]
fn hostile_texts_are_cut_without_harm() {
    let envelope = Envelope::default();
    let texts = [
        String::new(),
        "\n".repeat(10_000),
        ">".repeat(100_000),
        "> ".repeat(100_000),
        "wrote:\n".repeat(20_000),
        "On 1/1/2001 10:00 wrote:\n".repeat(20_000),
        "From: a@b\n".repeat(20_000),
        "To: a@b,\n".repeat(20_000),
        "Subject: x\nSubject: y\n".repeat(10_000),
        "____________________\n".repeat(20_000),
        "-----BEGIN PGP SIGNATURE-----\n".repeat(20_000),
        "A> x\n".repeat(20_000),
        "| x\n: y\n".repeat(20_000),
        "Thanks,\n".repeat(20_000),
        "--\n".repeat(20_000),
        "this e-mail is confidential ".repeat(200_000),
        "é…：\u{202e}İ\u{307}\n".repeat(20_000),
        "：".repeat(50_000),
    ];
    for text in &texts {
        let segments = segment(text, &envelope);
        assert!(
            segments
                .iter()
                .all(|part| text.get(part.start as usize..part.end as usize).is_some())
        );
    }
}
