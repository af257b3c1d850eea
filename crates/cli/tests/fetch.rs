//! `twicetold fetch`, and `account:NAME` as a path, as users run them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::process::{Command, Output, Stdio};

use common::{Folder, text};
use twicetold_testbed::{Dovecot, PASSWORD};

struct Place {
    dovecot: Dovecot,
    home: Folder,
}

impl Place {
    /// A Dovecot with two messages, one of them twice, and an account in a file of its own.
    fn new(name: &str) -> Self {
        let (dovecot, home) = (Dovecot::start(), Folder::new(name));
        let mail = |text: &str| {
            format!("From: bert@example.org\nSubject: {text}\n\nThe harbour master wants the list of all ships before the storm arrives on Thursday, {text}.\n").into_bytes()
        };
        dovecot.deliver(
            "anna",
            "INBOX",
            [("1.M1.h:2,S", mail("one")), ("2.M2.h:2,", mail("two"))],
        );
        dovecot.deliver("anna", "Archive", [("3.M3.h:2,", mail("one"))]);
        let config = format!(
            "[accounts.work]\nhost = 'localhost'\nport = {}\nuser = 'anna'\npassword = 'env:MAIL_PASSWORD'\nca = '{}'\nmail = 'mail of work'\n",
            dovecot.imaps,
            dovecot.certificates.authority().display(),
        );
        fs::write(home.at("accounts.toml"), config).unwrap();
        Self { dovecot, home }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.run_as(Command::new(env!("CARGO_BIN_EXE_twicetold")).args(args))
    }

    /// Runs it where no file can grow beyond 50 kB, as on a disk that is full.
    fn run_without_room(&self, args: &[&str]) -> Output {
        let limited = "trap '' XFSZ; ulimit -f 50; exec \"$@\"";
        self.run_as(
            Command::new("bash")
                .args(["-c", limited, "bash", env!("CARGO_BIN_EXE_twicetold")])
                .args(args),
        )
    }

    fn run_as(&self, command: &mut Command) -> Output {
        command
            .env("TWICETOLD_CONFIG", self.home.at("accounts.toml"))
            .env("XDG_CACHE_HOME", self.home.at("cache"))
            .env("MAIL_PASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn told(run: &Output, code: i32) -> String {
    let all = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(code), "{all}");
    all
}

#[test]
fn mail_is_fetched_and_scanned() {
    let place = Place::new("fetch-scan");
    let said = told(&place.run(&["scan", "account:work"]), 1);
    assert!(
        said.contains("nothing has been fetched from the account work")
            && said.contains("first: twicetold fetch work"),
        "{said}"
    );
    let said = told(&place.run(&["fetch", "work", "--dry-run"]), 0);
    assert!(
        said.starts_with("work: 3 messages would be fetched\n"),
        "{said}"
    );
    assert!(!fs::exists(place.home.at("mail of work")).unwrap());
    let run = place.run(&["fetch", "account:work"]);
    let said = told(&run, 0);
    assert!(
        text(&run.stdout).starts_with("work: 3 new messages, "),
        "{said}"
    );
    assert!(
        said.contains("  INBOX: 2 new\n") && said.contains("  Archive: 1 new\n"),
        "{said}"
    );
    assert!(said.contains("The mail is in "), "{said}");
    assert!(told(&place.run(&["fetch", "work"]), 0).contains("work: 0 new messages"));

    let scan = |path: &str| {
        text(
            &place
                .run(&["scan", "--quiet", "--format", "csv", path])
                .stdout,
        )
        .lines()
        .count()
            - 1
    };
    assert_eq!(
        (
            scan("account:work"),
            scan("account:work/INBOX"),
            scan("account:work/Archive")
        ),
        (3, 2, 1)
    );
    let said = told(&place.run(&["scan", "account:work"]), 0);
    assert!(
        said.contains("1 message may go") || said.contains("may go"),
        "{said}"
    );
    let said = told(&place.run(&["scan", "account:work/Nowhere"]), 1);
    assert!(
        said.contains("the folder Nowhere has not been fetched") && said.contains("\n  Archive\n"),
        "{said}"
    );
    let said = told(&place.run(&["scan", "account:home"]), 1);
    assert!(
        said.contains("there is no account home") && said.contains("the accounts are: work"),
        "{said}"
    );
}

#[test]
fn a_remote_scan_leaves_nothing() {
    let place = Place::new("fetch-remote");
    let left = place.home.at("cache/twicetold/remote/work-1");
    fs::create_dir_all(&left).unwrap();
    fs::write(format!("{left}/.twicetold-lock"), "").unwrap();
    let run = place.run(&["scan", "--remote", "--format", "csv", "account:work/INBOX"]);
    assert_eq!(
        told(&run, 0)
            .lines()
            .filter(|line| line.contains("account:work/INBOX"))
            .count(),
        2
    );
    assert!(
        fs::read_dir(place.home.at("cache/twicetold/remote"))
            .unwrap()
            .next()
            .is_none()
    );
    assert!(!fs::exists(place.home.at("mail of work")).unwrap());
    let said = told(&place.run(&["scan", "--remote", &place.home.at("")]), 2);
    assert!(said.contains("--remote is about accounts"), "{said}");
}

#[test]
fn what_does_not_go_well_is_told_and_ends_with_its_code() {
    let place = Place::new("fetch-bad");
    let said = told(&place.run(&["fetch", "work", "--folder", "Wrok"]), 3);
    assert!(said.contains("warning: no folder fits Wrok"), "{said}");
    let wrong = Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(["fetch", "work", "--config", &place.home.at("accounts.toml")])
        .env("MAIL_PASSWORD", "hunter2")
        .output()
        .unwrap();
    let said = told(&wrong, 1);
    assert!(
        said.starts_with("error: account work: the server refused the login: "),
        "{said}"
    );
    assert!(
        said.contains("\nhint: ") && !said.contains("hunter2"),
        "{said}"
    );
    assert!(place.dovecot.log().contains("anna"));
    told(&place.run(&["fetch", "work", "--jobs", "0"]), 2);
    told(&place.run(&["fetch", "work", "--delete-after-fetch"]), 1);
}

#[test]
fn a_message_for_which_there_is_no_room_is_fetched_later() {
    let place = Place::new("fetch-full");
    let large = format!(
        "Subject: large\n\n{}",
        "All work and no play.\n".repeat(9_000)
    );
    let large = [("4.M4.h:2,", large.into_bytes())];
    place.dovecot.deliver("anna", "INBOX", large);
    let said = told(&place.run_without_room(&["fetch", "work"]), 1);
    assert!(
        said.contains("account work: ")
            && said.contains("mail of work/tmp/")
            && said.contains("make room"),
        "{said}"
    );
    let count = |part: &str| fs::read_dir(place.home.at(part)).unwrap().count();
    assert_eq!(count("mail of work/tmp"), 0);
    let whole = "mail of work/cur";
    assert!(count(whole) < 3);
    let said = told(&place.run(&["fetch", "work"]), 0);
    assert_eq!(count(whole), 3, "{said}");
    assert!(told(&place.run(&["fetch", "work"]), 0).contains("work: 0 new messages"));
}
