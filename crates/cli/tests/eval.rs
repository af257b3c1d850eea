//! `twicetold eval` as users run it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use std::fs;

use common::{Folder, text, twicetold};

/// A sentence of invented words.
fn sentence(n: usize, k: usize) -> String {
    const PARTS: [&str; 10] = [
        "ba", "cor", "den", "fil", "gra", "hul", "jin", "kes", "lom", "mar",
    ];
    let name = |x: usize| [x, x / 10, x / 100].map(|x| PARTS[x % 10]).concat();
    format!(
        "Our friend {} sends {} and {} to the old {} again.\n",
        name(n * 7 + 1),
        name(n * 13 + k),
        name(n * 29 + 5),
        name(k * 3 + n)
    )
}

/// A mailbox of invented letters.
fn mailbox(folder: &Folder, count: usize) -> String {
    let path = folder.at("letters");
    fs::create_dir_all(&path).unwrap();
    let mut dice = 7_u64;
    for n in 0..count {
        let sentences = (0..5 + n % 13).map(|_| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sentence((dice >> 33) as usize % 1000, (dice >> 43) as usize % 1000)
        });
        let body: String = sentences.collect();
        let head =
            format!("Message-ID: <{n}@example.net>\nSubject: Letter\nFrom: a@example.net\n\n");
        fs::write(format!("{path}/{n}.eml"), head + &body).unwrap();
    }
    path
}

#[test]
fn cases_of_ones_own_mail_are_measured() {
    let folder = Folder::new("eval-cases");
    let path = mailbox(&folder, 40);
    let cases = folder.at("cases");
    let run = twicetold(["eval", "cases", &path, "--out", &cases, "--count", "1"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(
        text(&run.stdout).contains("identical             1\n"),
        "{}",
        text(&run.stdout)
    );
    assert!(
        text(&run.stderr).contains("next: twicetold eval redundancy"),
        "{}",
        text(&run.stderr)
    );

    let out = folder.at("out");
    let run = twicetold(["eval", "redundancy", &cases, "--out", &out]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let first = text(&run.stdout).to_owned();
    assert!(
        first.starts_with("Redundant messages (paper 000)\n"),
        "{first}"
    );
    assert!(first.contains("By window, threshold 95 %"), "{first}");
    for name in [
        "redundancy-window.csv",
        "redundancy-window.svg",
        "measurements.jsonl",
    ] {
        assert!(
            fs::metadata(format!("{out}/{name}")).unwrap().len() > 100,
            "{name}"
        );
    }
    let again = twicetold(["eval", "redundancy", &cases, "--out", &out]);
    assert_eq!(text(&again.stdout), first);
    assert!(
        text(&again.stderr).contains("redundancy: 0 measurements, 13 known from before"),
        "{}",
        text(&again.stderr)
    );

    let again = twicetold(["eval", "cases", &path, "--out", &cases]);
    assert_eq!(again.status.code(), Some(1));
    assert!(
        text(&again.stderr).contains("is not empty"),
        "{}",
        text(&again.stderr)
    );
}

#[test]
fn all_makes_what_there_is_a_corpus_for_and_names_the_rest() {
    let folder = Folder::new("eval-all");
    let data = folder.at("data");
    fs::create_dir_all(format!("{data}/rfc")).unwrap();
    fs::write(
        format!("{data}/rfc/1.txt"),
        "The host sends a message to another host. The other host answers.\n",
    )
    .unwrap();
    let page = folder.at("page.md");
    let run = twicetold([
        "eval",
        "collisions",
        "--data",
        &data,
        "--out",
        &folder.at("out"),
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(
        text(&run.stdout).contains("(0 collisions)"),
        "{}",
        text(&run.stdout)
    );
    let run = twicetold([
        "eval",
        "all",
        "--only",
        "collisions,redundancy",
        "--data",
        &data,
        "--out",
        &folder.at("out"),
        "--page",
        &page,
    ]);
    assert_eq!(run.status.code(), Some(3), "{}", text(&run.stderr));
    assert!(
        text(&run.stderr).contains("warning: redundancy was left out"),
        "{}",
        text(&run.stderr)
    );
    let page = fs::read_to_string(page).unwrap();
    assert!(
        page.starts_with("# Results\n") && page.contains("| different pairs | 3,965,797 |"),
        "{page}"
    );
}

#[test]
fn what_is_missing_is_named_with_a_hint() {
    let folder = Folder::new("eval-missing");
    let nowhere = folder.at("nowhere");
    let run = twicetold(["eval", "spam", "--data", &nowhere]);
    assert_eq!(run.status.code(), Some(2));
    assert!(
        text(&run.stderr).contains("there is no folder of corpora"),
        "{}",
        text(&run.stderr)
    );
    let run = twicetold([
        "eval",
        "spam",
        "--data",
        &folder.at(""),
        "--out",
        &folder.at("out"),
    ]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("has no spamassassin or spam\nhint: docs/eval.md"),
        "{}",
        text(&run.stderr)
    );
    let run = twicetold(["eval", "spam", "--spam", &nowhere, "--ham", &nowhere]);
    assert_ne!(run.status.code(), Some(0));
    let run = twicetold(["eval", "all", "--only", "nothing", "--data", &folder.at("")]);
    assert_eq!(run.status.code(), Some(2));
    assert!(
        text(&run.stderr).contains("there is no experiment nothing"),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn a_filter_for_the_tool_kit() {
    let folder = Folder::new("eval-filter");
    let letters = mailbox(&folder, 2);
    let state = folder.at("state");
    let filter = |args: &[&str]| {
        twicetold(
            ["eval", "filter", "--state", &state]
                .into_iter()
                .chain(args.iter().copied()),
        )
    };
    let (one, other) = (format!("{letters}/0.eml"), format!("{letters}/1.eml"));
    let told = filter(&["classify", &one]);
    assert_eq!(told.status.code(), Some(1));
    assert!(
        text(&told.stderr).contains("run initialize first"),
        "{}",
        text(&told.stderr)
    );
    assert_eq!(filter(&["initialize"]).status.code(), Some(0));
    assert_eq!(
        text(&filter(&["classify", &one]).stdout),
        "class=ham score=0.000000 tfile=\n"
    );
    assert_eq!(
        filter(&["train", "spam", &one, "class=ham", "score=0"])
            .status
            .code(),
        Some(0)
    );
    let known = filter(&["classify", &one]);
    assert!(
        text(&known.stdout).starts_with("class=spam score="),
        "{}",
        text(&known.stdout)
    );
    assert!(text(&filter(&["classify", &other]).stdout).starts_with("class="));
    assert_eq!(filter(&["finalize"]).status.code(), Some(0));
    assert!(!fs::exists(&state).unwrap());
}
