//! What holds for the program as a whole.

mod common;

use common::{text, twicetold};

#[test]
fn help_shows_examples_and_exit_codes() {
    let run = twicetold(["--help"]);
    assert_eq!(run.status.code(), Some(0));
    let help = text(&run.stdout);
    for part in [
        "scan",
        "explain",
        "apply",
        "undo",
        "history",
        "completions",
        "man",
        "Examples:",
        "Exit codes:",
        "docs/",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
    assert!(!help.contains('\u{1b}'));
}

#[test]
fn documents_named_in_the_help_are_there() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let run = twicetold(["--help"]);
    let named: Vec<&str> = text(&run.stdout)
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| word.starts_with("docs/"))
        .collect();
    assert!(named.len() >= 5, "{named:?}");
    for name in named {
        assert!(std::path::Path::new(root).join(name).is_file(), "{name}");
    }
}

#[test]
fn exit_codes_in_the_help_are_those_in_the_document() {
    let document = include_str!("../../../docs/exit-codes.md");
    let run = twicetold(["--help"]);
    let help = text(&run.stdout);
    for code in ["0", "1", "2", "3", "130"] {
        assert!(document.contains(&format!("| {code} |")), "{code}");
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(code)),
            "{code}"
        );
    }
}

#[test]
fn version_is_told() {
    let run = twicetold(["--version"]);
    assert_eq!(
        text(&run.stdout),
        concat!("twicetold ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
