//! `twicetold explain` as users run it.

mod common;

use common::{Folder, text, twicetold};

#[test]
fn help_teaches() {
    let run = twicetold(["explain", "--help"]);
    assert_eq!(run.status.code(), Some(0));
    let help = text(&run.stdout);
    for part in [
        "Examples:",
        "MESSAGE",
        "path@offset",
        "Message-ID",
        "docs/exit-codes.md",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    let cases: &[&[&str]] = &[
        &["explain"],
        &["explain", "--format", "csv", "a", "b"],
        &["explain", "<an.id@example.org>"],
    ];
    for args in cases {
        let run = twicetold(args.iter().copied());
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_message_that_is_not_there_is_told_with_a_hint() {
    let folder = Folder::new("explain-none");
    let run = twicetold([
        "explain",
        "--quiet",
        "nobody\u{9b}@example.org",
        &folder.at(""),
    ]);
    assert_eq!(run.status.code(), Some(1));
    assert!(run.stdout.is_empty());
    let told = text(&run.stderr);
    assert!(
        told.starts_with("error: nobody\\x9b@example.org is none of the 0 messages"),
        "{told}"
    );
    assert!(told.contains("\nhint: "), "{told}");
}

#[test]
fn a_missing_path_is_named_with_a_hint() {
    let run = twicetold(["explain", "a@b", "no/such/box"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).starts_with("error: there is no file or folder no/such/box\nhint: "));
}
