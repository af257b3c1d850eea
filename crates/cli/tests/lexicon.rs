//! `twicetold lexicon` as users run it.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Folder, text, twicetold};

/// Eight texts: some words in most, some in half, some in one.
fn texts(folder: &Folder) {
    for n in 0..8 {
        let often = if n < 6 { "common" } else { "other" };
        let half = if n % 2 == 0 {
            "evenly divided"
        } else {
            "oddly divided"
        };
        fs::write(
            folder.at(&format!("{n}.txt")),
            format!("{often} words {half} alone{n}\n"),
        )
        .unwrap();
    }
}

#[test]
fn a_lexicon_is_made_shown_and_used() {
    let folder = Folder::new("lexicon");
    texts(&folder);
    let (file, source) = (folder.at("my.lexicon"), folder.at(""));
    let run = twicetold([
        "lexicon", "build", &source, "-o", &file, "--low", "0.1", "--high", "0.8",
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(run.stdout.is_empty());
    assert!(
        text(&run.stderr).contains("8 texts counted; "),
        "{}",
        text(&run.stderr)
    );
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("twicetold lexicon 1\n")
    );

    let run = twicetold(["lexicon", "show", &file]);
    let told = text(&run.stdout);
    assert!(told.contains("range: 0.1 to 0.8"), "{told}");
    let run = twicetold(["lexicon", "show", "--words", &file]);
    let words = text(&run.stdout);
    assert!(words.starts_with("6\tprimary\tcommon\n"), "{words}");
    assert!(words.contains("\n4\tprimary\tevenly\n"), "{words}");
    assert!(
        !words.contains("\twords\n"),
        "a word of every text tells nothing\n{words}"
    );

    let settings = ["--set", "imatch.least-words=2", "--set", "imatch.ratio=0"];
    let args = [
        "pairs",
        "-m",
        "imatch",
        "--lexicon",
        &file,
        "--format",
        "csv",
        &folder.at("0.txt"),
        &folder.at("2.txt"),
    ];
    let run = twicetold(args.into_iter().chain(settings));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));

    // Threads and order make no difference to the file.
    let again = folder.at("again.lexicon");
    let run = twicetold([
        "lexicon",
        "build",
        "--threads",
        "1",
        &source,
        "-o",
        &again,
        "--low",
        "0.1",
        "--high",
        "0.8",
    ]);
    assert_eq!(run.status.code(), Some(0));
    // The first lexicon file lies among the texts by now, so only its own words may be added.
    assert!(
        fs::read_to_string(&again)
            .unwrap()
            .starts_with("twicetold lexicon 1\n")
    );
}

#[test]
fn without_a_file_the_shipped_lexicon_is_shown() {
    let run = twicetold(["lexicon", "show"]);
    assert_eq!(run.status.code(), Some(0));
    assert!(
        text(&run.stdout).contains("37,368 texts counted"),
        "{}",
        text(&run.stdout)
    );
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let folder = Folder::new("lexicon-wrong");
    texts(&folder);
    let file = folder.at("my.lexicon");
    let source = folder.at("0.txt");
    let run = twicetold([
        "lexicon", "build", &source, "-o", &file, "--low", "0.9", "--high", "0.1",
    ]);
    assert_eq!(run.status.code(), Some(2));
    // One text has no word that is in several.
    let run = twicetold(["lexicon", "build", &source, "-o", &file]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("hint: name more texts"),
        "{}",
        text(&run.stderr)
    );
    assert!(!folder.names().contains(&"my.lexicon".to_owned()));
    let run = twicetold(["lexicon", "build", &source, "-o", &source]);
    assert!(
        text(&run.stderr).contains("would overwrite"),
        "{}",
        text(&run.stderr)
    );
    let run = twicetold(["lexicon", "show", &source]);
    assert_eq!(run.status.code(), Some(1));
    let told = text(&run.stderr);
    assert!(
        told.contains("as a lexicon: this is not a lexicon file\nhint: "),
        "{told}"
    );
}
