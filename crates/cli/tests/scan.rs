//! `twicetold scan` as users run it.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::process::{Command, Stdio};

use common::{Folder, text, twicetold};

const MAIL: &str = "From: anna@example.org\nSubject: Lunch\nMessage-ID: <1@example.org>\n\
                    Date: Mon, 14 May 2001 09:30:00 +0000\n\nLet us meet at the harbour.\n";

#[test]
fn help_teaches() {
    let run = twicetold(["scan", "--help"]);
    assert_eq!(run.status.code(), Some(0));
    let help = text(&run.stdout);
    for part in [
        "Examples:",
        "--keep",
        "--format",
        "Exit codes",
        "docs/scan.md",
        "only reads",
    ] {
        assert!(help.contains(part), "{part} is missing in\n{help}");
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    let cases: &[&[&str]] = &[
        &[],
        &["scan"],
        &["sacn", "."],
        &["scan", "--format", "xml", "."],
        &["scan", "--window", "0", "."],
        &["scan", "--window", "65", "."],
        &["scan", "--keep", "eldest", "."],
        &["scan", "--keep", "folder:", "."],
        &["scan", "--version-percent", "101", "."],
        &["scan", "--threads", "0", "."],
        &["scan", "--list", "--format", "csv", "."],
    ];
    for args in cases {
        let run = twicetold(args.iter().copied());
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(run.stdout.is_empty(), "{args:?}");
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_missing_path_is_named_with_a_hint() {
    let run = twicetold(["scan", "no/such/\u{1b}[5mbox"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(run.stdout.is_empty());
    let told = text(&run.stderr);
    assert!(
        told.starts_with("error: there is no file or folder no/such/\\x1b[5mbox\n"),
        "{told}"
    );
    assert!(told.contains("\nhint: "), "{told}");
}

#[test]
fn the_report_goes_to_a_file_and_nothing_else_stays() {
    let folder = Folder::new("scan-output");
    fs::write(folder.at("mail.eml"), MAIL).unwrap();
    fs::write(folder.at("report.csv"), "old").unwrap();
    let (mail, report) = (folder.at("mail.eml"), folder.at("report.csv"));
    let run = twicetold(["scan", "--format", "csv", "--output", &report, &mail]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(run.stdout.is_empty());
    assert!(
        fs::read_to_string(&report)
            .unwrap()
            .starts_with("schema,path,offset,")
    );
    assert_eq!(folder.names(), ["mail.eml", "report.csv"]);
    assert_eq!(fs::read_to_string(&mail).unwrap(), MAIL);
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_the_work() {
    let folder = Folder::new("scan-bad-output");
    fs::write(folder.at("mail.eml"), MAIL).unwrap();
    for bad in [
        folder.at("no/such/folder/report"),
        folder.at(""),
        folder.at("."),
    ] {
        let run = twicetold(["scan", "--output", &bad, &folder.at("mail.eml")]);
        assert_eq!(run.status.code(), Some(1), "{bad}");
        let told = text(&run.stderr);
        assert!(told.contains("error: cannot write to"), "{told}");
        assert!(told.contains("hint: "), "{told}");
    }
}

#[test]
fn mail_is_never_overwritten_by_the_report() {
    let folder = Folder::new("scan-overwrite");
    let mail = folder.at("mail.eml");
    fs::write(&mail, MAIL).unwrap();
    let run = twicetold(["scan", "--output", &mail, &mail]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("would overwrite"),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(fs::read_to_string(&mail).unwrap(), MAIL);
}

#[cfg(unix)]
#[test]
fn a_link_and_a_device_stay_what_they_are() {
    let folder = Folder::new("scan-link");
    let (mail, real, link) = (folder.at("mail.eml"), folder.at("real"), folder.at("link"));
    fs::write(&mail, MAIL).unwrap();
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink("real", &link).unwrap();
    let run = twicetold(["scan", "--format", "csv", "--output", &link, &mail]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().starts_with("schema,"));
    let run = twicetold(["scan", "--output", "/dev/null", &mail]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
}

#[test]
fn an_empty_folder_is_explained() {
    let folder = Folder::new("scan-empty");
    let run = twicetold(["scan", &folder.at("")]);
    assert_eq!(run.status.code(), Some(3), "{}", text(&run.stderr));
    let said = text(&run.stdout);
    assert!(said.contains("No messages were found."), "{said}");
    assert!(said.contains("an empty folder"), "{said}");
}

#[test]
fn stdout_holds_no_colour_and_no_clock_when_it_is_no_terminal() {
    let folder = Folder::new("scan-plain");
    fs::write(folder.at("mail.eml"), MAIL).unwrap();
    let first = twicetold(["scan", &folder.at("mail.eml")]);
    let second = twicetold(["scan", "--quiet", "--threads", "1", &folder.at("mail.eml")]);
    assert!(!first.stdout.contains(&0x1b));
    assert_eq!(text(&first.stdout), text(&second.stdout));
    assert!(second.stderr.is_empty(), "{}", text(&second.stderr));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new("scan-pipe");
    fs::write(folder.at("mail.eml"), MAIL).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(["scan", "--quiet", &folder.at("mail.eml")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(run.stderr.is_empty(), "{}", text(&run.stderr));
}

#[test]
fn a_path_named_twice_is_a_note_and_no_failure() {
    let folder = Folder::new("scan-twice");
    let mail = folder.at("mail.eml");
    fs::write(&mail, MAIL).unwrap();
    let run = twicetold(["scan", "--format", "jsonl", &mail, &mail]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let told = text(&run.stderr);
    assert!(
        told.starts_with("note: ") && told.contains("named twice"),
        "{told}"
    );
}

#[test]
fn stats_tell_how_much_every_stage_read() {
    let output = twicetold(["scan", "../../sample", "--no-cache", "--stats"]);
    let said = text(&output.stderr);
    let first = |line: &str| {
        line.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    // "1,748 messages" somewhere in a line.
    let messages = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| word.starts_with("message"));
        at.map_or(0, |at| {
            words[at - 1].replace(',', "").parse::<u64>().unwrap()
        })
    };
    let stages: Vec<&str> = said
        .lines()
        .skip_while(|line| first(line) != "stage")
        .skip(1)
        .take(6)
        .collect();
    let names: Vec<String> = stages.iter().map(|line| first(line)).collect();
    let all = [
        "reading",
        "relating",
        "comparing",
        "combining",
        "versions",
        "copies",
    ];
    assert_eq!(names, all, "{said}");
    let again = said.lines().find(|line| line.starts_with("read again"));
    let sum: u64 = stages[1..].iter().map(|line| messages(line)).sum();
    assert!(sum > 0 && again.map(messages) == Some(sum), "{said}");
}

#[test]
fn what_is_known_is_not_read_again() {
    let folder = Folder::new("scan-cache");
    let cache = folder.at("cache");
    let scan = |more: &[&str]| {
        let args = [
            "scan",
            "../../sample/mailbox",
            "--format",
            "jsonl",
            "--stats",
        ];
        let output = twicetold(args.into_iter().chain(more.iter().copied()));
        assert!(output.status.success());
        (
            text(&output.stdout).to_owned(),
            text(&output.stderr).to_owned(),
        )
    };
    let (plain, said) = scan(&["--no-cache"]);
    assert!(!said.contains("earlier scan"), "{said}");
    let (first, said) = scan(&["--cache", &cache]);
    assert!(!said.contains("earlier scan"), "{said}");
    let (again, said) = scan(&["--cache", &cache]);
    assert!(
        said.contains("all of them known from an earlier scan"),
        "{said}"
    );
    let (verified, said) = scan(&["--cache", &cache, "--verify"]);
    assert!(
        said.contains("all of them known from an earlier scan"),
        "{said}"
    );
    assert!(first == plain && again == plain && verified == plain);
    let output = twicetold(["scan", "--cache", &cache, "--no-cache", "../../sample"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_exceeds_the_memory_stands_in_a_file() {
    let scan = |temporary: Option<&str>, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twicetold"));
        command.args(["scan", "../../sample", "--no-cache", "--stats"]);
        command.args(["--format", "jsonl"]).args(more);
        match temporary {
            Some(folder) => command.env("TMPDIR", folder),
            None => command.env_remove("TMPDIR"),
        };
        let output = command.output().unwrap();
        assert!(output.status.success());
        let said = text(&output.stderr).to_owned();
        (output.stdout, said)
    };
    let in_file = ", and a temporary file of ";
    let (plain, said) = scan(None, &[]);
    assert!(!said.contains(in_file), "{said}");
    let folder = Folder::new("scan-memory");
    let here = folder.at("");
    let little = ["--memory", "1M"];
    for place in [None, Some(here.as_str())] {
        let (bounded, said) = scan(place, &little);
        assert!(bounded == plain);
        if said.contains("does not promise room") {
            eprintln!("skipped: no memory can stand in files here: {said}");
            continue;
        }
        assert!(said.contains(in_file), "{said}");
    }
    // The file has no name, and is gone with the program.
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0);

    let nowhere = folder.at("nowhere");
    let (unbounded, said) = scan(Some(&nowhere), &little);
    assert!(
        said.starts_with("note: more memory than --memory allows"),
        "{said}"
    );
    assert!(said.contains(&nowhere) && !said.contains(in_file), "{said}");
    assert!(unbounded == plain);
    let (_, said) = scan(Some(&nowhere), &[]);
    assert!(!said.contains("--memory"), "{said}");
}

/// Two messages of which neither may go: they differ in a fact.
fn versions(folder: &Folder) {
    for hour in [13, 14] {
        let mail = format!(
            "From: a@example.org\nSubject: Meeting\nMessage-ID: <{hour}@example.org>\n\
             Date: Mon, 1 Jan 2024 {hour}:00:00 +0000\n\n\
             The steering committee meets on Thursday at {hour}:00 in the large hall beside the river.\n"
        );
        fs::write(folder.at(&format!("{hour}.eml")), mail).unwrap();
    }
}

#[test]
fn nothing_goes_for_the_sake_of_a_report() {
    let folder = Folder::new("scan-own-reports");
    versions(&folder);
    let here = folder.at("");
    let first = folder.at("13.eml");
    let rows = || {
        let run = twicetold(["scan", "-q", "--format", "jsonl", &here]);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        text(&run.stdout).to_owned()
    };
    let before = rows();
    assert_eq!(
        before.matches("\"verdict\":\"version\"").count(),
        2,
        "{before}"
    );
    let all: [(&str, Vec<&str>); 9] = [
        (
            "report.csv",
            vec!["scan", "--format", "csv", &here, "--output"],
        ),
        (
            "report.jsonl",
            vec!["scan", "--format", "jsonl", &here, "--output"],
        ),
        (
            "report",
            vec!["scan", "--format", "jsonl", &here, "--output"],
        ),
        ("list.txt", vec!["scan", "--list", &here, "--output"]),
        ("mail.plan", vec!["scan", "-q", &here, "--plan"]),
        ("page.html", vec!["review", &here, "--export"]),
        ("table.csv", vec!["review", &here, "--export"]),
        ("table.jsonl", vec!["review", &here, "--export"]),
        ("why", vec!["explain", &first, &here]),
    ];
    for (name, args) in all {
        let path = folder.at(name);
        // Twice: what was written is no mail that would be overwritten.
        for _ in 0..2 {
            let to_file = args[0] != "explain";
            let run = twicetold(args.iter().copied().chain(to_file.then_some(path.as_str())));
            assert_eq!(run.status.code(), Some(0), "{name}: {}", text(&run.stderr));
            if !to_file {
                fs::write(&path, &run.stdout).unwrap();
            }
        }
        assert_eq!(
            rows(),
            before,
            "{name}: {}",
            fs::read_to_string(&path).unwrap()
        );
    }
}

#[test]
fn what_to_do_next_says_the_options_that_were_said() {
    let folder = Folder::new("scan-next-options");
    versions(&folder);
    fs::create_dir(folder.at("my mail")).unwrap();
    fs::rename(folder.at("14.eml"), folder.at("my mail/14.eml")).unwrap();
    let here = folder.at("");
    let run = twicetold([
        "scan",
        "--keep",
        "folder:my mail,newest",
        "--short",
        "5",
        "--no-cache",
        "--with-trash",
        &here,
    ]);
    let said = text(&run.stdout);
    let options = "--keep 'folder:my mail,newest' --short 5 --with-trash --no-cache";
    assert!(
        said.contains(&format!("twicetold scan --list {options} ")),
        "{said}"
    );
    assert!(
        said.contains(&format!("twicetold explain {options} ")),
        "{said}"
    );
    let plain = twicetold(["scan", "--keep", "oldest", &here]);
    assert!(
        !text(&plain.stdout).contains("--keep"),
        "{}",
        text(&plain.stdout)
    );
}

/// The files that may go, by the rows of a scan of this folder.
fn going(folder: &Folder, args: &[&str]) -> Vec<String> {
    let here = folder.at("");
    let mut all = vec!["scan", "-q", "--no-cache", "--format", "jsonl"];
    all.extend(args);
    all.push(&here);
    let run = twicetold(all);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let rows = text(&run.stdout);
    let gone = rows.lines().filter(|row| row.contains("\"redundant\""));
    let path = |row: &str| {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let path = row["path"].as_str().unwrap();
        path.strip_prefix(&*here)
            .unwrap()
            .trim_start_matches('/')
            .to_owned()
    };
    gone.map(path).collect()
}

#[test]
fn what_is_in_the_trash_is_never_kept_before_other_mail() {
    let folder = Folder::new("scan-trash-witness");
    for maildir in ["m/cur", "m/.Trash/cur", "m/.Archive.2019/cur"] {
        fs::create_dir_all(folder.at(maildir)).unwrap();
    }
    let letter = |day: u32| MAIL.replace("14 May", &format!("{day} May"));
    fs::write(folder.at("m/.Trash/cur/1.h:2,S"), letter(10)).unwrap();
    fs::write(folder.at("m/cur/2.h:2,S"), letter(11)).unwrap();
    for keep in ["oldest", "newest", "folder:Trash", "folder:INBOX"] {
        let gone = going(&folder, &["--with-trash", "--keep", keep]);
        assert_eq!(gone, ["m/.Trash/cur/1.h:2,S"], "{keep}");
    }
    assert!(going(&folder, &[]).is_empty());
}

#[test]
fn folders_to_keep_are_named_as_users_name_them() {
    let folder = Folder::new("scan-keep-folders");
    for maildir in ["m/cur", "m/.Archive.2019/cur", "tb/Archive.sbd"] {
        fs::create_dir_all(folder.at(maildir)).unwrap();
    }
    let boxed = format!("From a@b Mon May 14 09:30:00 2001\n{MAIL}\n");
    fs::write(folder.at("m/cur/1.h:2,S"), MAIL).unwrap();
    fs::write(folder.at("m/.Archive.2019/cur/2.h:2,S"), MAIL).unwrap();
    fs::write(folder.at("tb/Archive.sbd/Lists"), &boxed).unwrap();
    let (inbox, archive, lists) = (
        "m/cur/1.h:2,S",
        "m/.Archive.2019/cur/2.h:2,S",
        "tb/Archive.sbd/Lists",
    );
    for (keep, stays) in [
        ("folder:archive/2019", archive),
        ("folder:Archive.2019", archive),
        ("folder:INBOX.Archive.2019", archive),
        ("folder:m/.Archive.2019", archive),
        ("folder:Archive/Lists", lists),
        ("folder:tb", lists),
        ("folder:inbox", inbox),
    ] {
        let gone = going(&folder, &["--keep", keep]);
        assert_eq!(gone.len(), 2, "{keep}: {gone:?}");
        assert!(!gone.iter().any(|one| one == stays), "{keep}: {gone:?}");
    }
    let run = twicetold(["scan", "--keep", "folder:Arhive", &folder.at("")]);
    assert_eq!(run.status.code(), Some(2));
    assert!(run.stdout.is_empty());
    let told = text(&run.stderr);
    for part in ["folder:Arhive matches none", "m/.Archive.2019", lists] {
        assert!(told.contains(part), "{told}");
    }
}
