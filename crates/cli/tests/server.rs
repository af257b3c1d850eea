//! `apply` and `undo` on a real IMAP server, as users run them.

#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use common::{Folder, text};
use twicetold_account::{Credentials, Login, Profile, Protocol, Secret, Session, Source, Tls};
use twicetold_testbed::{Dovecot, PASSWORD, Setup};

/// What is in the folders of an account: bytes, flags and dates, sorted.
type Content = BTreeMap<String, Vec<(String, Vec<String>, Option<i64>)>>;

struct Site {
    dovecot: Dovecot,
    home: Folder,
}

fn mail(subject: &str, id: &str, body: &str) -> Vec<u8> {
    format!("From: bert@example.org\r\nTo: anna@example.org\r\nSubject: {subject}\r\nMessage-ID: <{id}@example.org>\r\nDate: Mon, 6 Jan 2025 10:00:00 +0000\r\n\r\n{body}\r\n").into_bytes()
}

const HARBOUR: &str =
    "The harbour master wants the list of all ships before the storm arrives on Thursday.";
const LIGHT: &str =
    "The lighthouse needs a new lamp, and the keeper asks who will carry it up the stairs.";

impl Site {
    /// An account with one message three times, one twice, and one that another quotes.
    fn new(name: &str, capabilities: &str) -> Self {
        let more = match capabilities {
            "" => String::new(),
            some => format!("imap_capability = {some}\n"),
        };
        let dovecot = Dovecot::with(&Setup {
            more,
            ..Setup::default()
        });
        dovecot.deliver(
            "anna",
            "INBOX",
            [
                ("1700000001.M1.h:2,S", mail("Ships", "1", HARBOUR)),
                ("1700000002.M2.h:2,FR", mail("Ships", "1", HARBOUR)),
                ("1700000003.M3.h:2,", mail("Lamp", "2", LIGHT)),
                (
                    "1700000004.M4.h:2,",
                    mail(
                        "Anchors",
                        "3",
                        "Nobody knows how many anchors lie in the old basin.",
                    ),
                ),
            ],
        );
        let quoting = format!("I shall carry it myself on Friday evening.\r\n\r\n> {LIGHT}");
        dovecot.deliver(
            "anna",
            "Archive",
            [
                ("1700000005.M5.h:2,", mail("Ships", "1", HARBOUR)),
                ("1700000006.M6.h:2,", mail("Re: Lamp", "4", &quoting)),
            ],
        );
        for (folder, day) in [("INBOX", 1), ("Archive", 9)] {
            let cur = dovecot.maildir("anna", folder).join("cur");
            for (number, entry) in fs::read_dir(cur).unwrap().enumerate() {
                let seconds = 1_600_000_000 + 86_400 * day + number as u64;
                let file = fs::File::options().write(true).open(entry.unwrap().path());
                let time = UNIX_EPOCH + Duration::from_secs(seconds);
                file.unwrap().set_modified(time).unwrap();
            }
        }
        let home = Folder::new(name);
        let site = Self { dovecot, home };
        site.account_at(site.dovecot.imap);
        site
    }

    fn account_at(&self, port: u16) {
        let config = format!(
            "[accounts.work]\nhost = 'localhost'\nport = {port}\ntls = 'none'\nuser = 'anna'\npassword = 'env:MAIL_PASSWORD'\nmail = 'mail'\n"
        );
        fs::write(self.home.at("accounts.toml"), config).unwrap();
    }

    fn run_killed(&self, kill_at: u64, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_twicetold"));
        self.run_as(kill_at, command.args(args))
    }

    fn run_as(&self, kill_at: u64, command: &mut Command) -> Output {
        command
            .env("TWICETOLD_CONFIG", self.home.at("accounts.toml"))
            .env("TWICETOLD_STATE", self.home.at("state"))
            .env("TWICETOLD_KILL_AT", kill_at.to_string())
            .env("XDG_CACHE_HOME", self.home.at("cache"))
            .env("MAIL_PASSWORD", PASSWORD)
            .current_dir(self.home.at(""))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn run(&self, args: &[&str], code: i32) -> String {
        let run = self.run_killed(0, args);
        let all = format!("{}{}", text(&run.stdout), text(&run.stderr));
        assert_eq!(run.status.code(), Some(code), "{args:?}: {all}");
        all
    }

    fn plan(&self) {
        let scan = [
            "scan",
            "-q",
            "account:work",
            "--remote",
            "--keep",
            "folder:account:work/Archive",
            "--plan",
            "work.plan",
        ];
        self.run(&scan, 0);
    }

    fn session(&self) -> Session {
        let profile = Profile {
            name: "other".into(),
            protocol: Protocol::Imap,
            host: "localhost".into(),
            port: self.dovecot.imap,
            user: "anna".into(),
            tls: Tls::None,
            login: Login::Password(Source::Prompt),
            authorities: None,
            mail: None,
            folders: Vec::new(),
            exclude: Vec::new(),
            jobs: 1,
            timeout: Duration::from_secs(60),
        };
        let password = Credentials::Password(Secret::new(PASSWORD.into()));
        Session::connect(&profile, &password).unwrap()
    }

    fn content(&self) -> Content {
        let mut session = self.session();
        let mut content = Content::new();
        for folder in session.folders().unwrap().0 {
            if !folder.holds_messages {
                continue;
            }
            session.examine(&folder).unwrap();
            let all = session.uids_from(1).unwrap();
            let mut messages = Vec::new();
            session
                .read_messages(&all, 1 << 20, &mut |message| {
                    let mut flags = message.flags;
                    flags.retain(|flag| flag != "\\Recent");
                    flags.sort();
                    let bytes = String::from_utf8(message.bytes).unwrap();
                    messages.push((bytes, flags, message.date));
                })
                .unwrap();
            messages.sort();
            if !messages.is_empty() {
                content.insert(folder.name, messages);
            }
        }
        content
    }
}

/// All messages, wherever they are.
fn bytes(content: &Content) -> Vec<&str> {
    let mut all: Vec<&str> = content
        .values()
        .flatten()
        .map(|(bytes, _, _)| bytes.as_str())
        .collect();
    all.sort_unstable();
    all
}

fn counts(content: &Content) -> String {
    let counts: Vec<String> = content
        .iter()
        .map(|(folder, messages)| format!("{folder} {}", messages.len()))
        .collect();
    counts.join(", ")
}

#[test]
fn a_plan_is_carried_out_on_the_server_and_undone() {
    for (name, capabilities) in [
        ("server-move", ""),
        (
            "server-copy",
            "IMAP4rev1 SASL-IR UIDPLUS LIST-EXTENDED SPECIAL-USE",
        ),
        ("server-plain", "IMAP4rev1 SASL-IR MOVE"),
    ] {
        let site = Site::new(name, capabilities);
        let before = site.content();
        assert_eq!(counts(&before), "Archive 2, INBOX 4");
        site.plan();
        let said = site.run(&["apply", "work.plan", "--dry-run", "--list"], 0);
        assert!(
            said.contains("3 messages") && said.contains("\n  account:work/INBOX@2\n"),
            "{said}"
        );
        assert_eq!(site.content(), before, "a dry run changes nothing");
        let said = site.run(&["apply", "work.plan", "--yes"], 0);
        let after = site.content();
        assert_eq!(counts(&after), "Archive 2, INBOX 1, Trash 3", "{said}");
        assert_eq!(bytes(&before), bytes(&after));
        let ships = |(bytes, _, _): &&(String, Vec<String>, _)| bytes.contains(": Ships");
        let (_, flags, _) = after["Archive"].iter().find(ships).unwrap();
        assert_eq!(flags.as_slice(), ["\\Answered", "\\Flagged", "\\Seen"]);
        let said = site.run(&["apply", "work.plan", "--yes"], 0);
        assert!(
            said.contains("3 messages of the plan went in an earlier run"),
            "{said}"
        );
        let said = site.run(&["undo", "--yes"], 0);
        assert_eq!(site.content(), before, "{name}: {said}");
    }
}

/// Everything that can be killed is killed; then it is looked what is left.
fn killed(name: &str, capabilities: &str, action: &str) {
    let site = Site::new(name, capabilities);
    let before = site.content();
    let apply = ["apply", "work.plan", "--yes", "-q", "--action", action];
    let undo = ["undo", "--yes", "-q"];
    for command in [&apply[..], &undo] {
        let mut points = 0;
        for kill_at in 1.. {
            let at = format!("{command:?}, killed at point {kill_at}");
            site.plan();
            if command == undo {
                site.run(&apply, 0);
            }
            let run = site.run_killed(kill_at, command);
            if run.status.code() == Some(0) {
                if command == apply {
                    site.run(&undo, 0);
                }
                break;
            }
            assert_eq!(run.status.code(), None, "{at}: {run:?}");
            points += 1;
            let said = site.run(&["history"], 0);
            let now = site.content();
            if action == "delete" {
                // What is out lies beside the journal, whose copy undo needs.
                assert!(bytes(&now).len() <= bytes(&before).len(), "{at}");
            } else {
                assert_eq!(bytes(&now), bytes(&before), "{at}: {said}");
            }
            if command == apply {
                site.run(&apply, 0);
            }
            while site.run_killed(0, &undo).status.code() == Some(0) {}
            assert_eq!(site.content(), before, "{at}: {said}");
        }
        assert!(points > 8, "{command:?}: only {points} points");
    }
}

#[test]
fn a_kill_at_any_point_is_recovered_from() {
    killed("server-kill", "", "trash");
}

#[test]
fn a_kill_at_any_point_is_recovered_from_without_move() {
    let capabilities = "IMAP4rev1 SASL-IR UIDPLUS LIST-EXTENDED SPECIAL-USE";
    killed("server-kill-copy", capabilities, "trash");
}

#[test]
fn a_kill_at_any_point_of_deleting_is_recovered_from() {
    killed("server-kill-delete", "", "delete");
}

#[test]
fn what_was_fetched_can_be_let_go_of_on_the_server() {
    let site = Site::new("server-fetched", "");
    let before = site.content();
    site.run(&["fetch", "work"], 0);
    let said = site.run(&["scan", "account:work", "--on-server"], 2);
    assert!(said.contains("--plan"), "{said}");
    let scan = ["scan", "-q", "account:work", "--plan", "work.plan"];
    site.run(&[&scan[..], &["--on-server"]].concat(), 0);
    let said = site.run(
        &[
            "apply",
            "work.plan",
            "--yes",
            "--only",
            "account:work/INBOX",
        ],
        0,
    );
    assert!(said.contains(" were moved to the trash"), "{said}");
    assert_ne!(site.content(), before);
    // Here nothing went; the next fetch can follow the server.
    let said = site.run(&["fetch", "work", "--mirror"], 0);
    assert!(said.contains("gone on the server, removed here"), "{said}");
    site.run(&["undo", "--yes"], 0);
    assert_eq!(site.content(), before);
}

#[test]
fn messages_here_and_there_may_stand_for_each_other() {
    let site = Site::new("server-mixed", "");
    let archive = mail(
        "Anchors",
        "3",
        "Nobody knows how many anchors lie in the old basin.",
    );
    fs::create_dir_all(site.home.at("old/cur")).unwrap();
    fs::write(site.home.at("old/cur/1.M1.h:2,"), &archive).unwrap();
    fs::write(site.home.at("old/cur/2.M2.h:2,"), mail("Lamp", "2", LIGHT)).unwrap();
    let before = site.content();
    let scan = [
        "scan",
        "-q",
        "old",
        "account:work",
        "--remote",
        "--keep",
        "folder:old",
    ];
    site.run(&[&scan[..], &["--plan", "mixed.plan"]].concat(), 0);
    let said = site.run(&["apply", "mixed.plan", "--yes", "--list"], 0);
    // The anchors are kept here, the lamp is kept where it is quoted.
    assert!(said.contains("  account:work/INBOX@4\n"), "{said}");
    assert!(said.contains("  old/cur/2.M2.h:2,\n"), "{said}");
    assert!(fs::exists(site.home.at("old/cur/1.M1.h:2,")).unwrap());
    assert!(fs::exists(site.home.at("old/.Twicetold-Trash/cur/2.M2.h:2,")).unwrap());
    site.run(&["undo", "--yes"], 0);
    assert_eq!(site.content(), before);
    assert!(fs::exists(site.home.at("old/cur/2.M2.h:2,")).unwrap());
}

#[test]
fn trash_and_junk_hold_nothing_that_counts() {
    let site = Site::new("server-trash", "");
    let mut other = site.session();
    for (folder, id) in [("Trash", "7"), ("Junk", "8")] {
        let folder = other.folder_named(folder);
        other.create_folder(&folder).unwrap();
        let text = format!("The committee of barn owls meets at midnight near gate {id}.");
        let owls = mail("Owls", id, &text);
        for place in [other.folder_named("INBOX"), folder] {
            let size = owls.len() as u64;
            other
                .append(
                    &place,
                    &["\\Seen"],
                    Some(1_500_000_000),
                    size,
                    &mut &owls[..],
                )
                .unwrap();
        }
    }
    let scan = [
        "scan",
        "account:work",
        "--remote",
        "--list",
        "--keep",
        "newest",
    ];
    let said = site.run(&scan, 0);
    let may_go = |said: &str| {
        said.split("Versions, which stay")
            .next()
            .unwrap()
            .matches("Owls")
            .count()
    };
    assert_eq!(may_go(&said), 0, "{said}");
    assert!(
        said.contains("scan --format jsonl --keep newest --remote account:work\n"),
        "{said}"
    );
    for folder in ["account:work/Trash", "account:work/Junk"] {
        assert!(
            said.contains(&format!("{folder}: trash or junk, left out")),
            "{said}"
        );
    }
    let said = site.run(&[&scan[..], &["--with-trash"]].concat(), 0);
    assert!(!said.contains("left out"), "{said}");
    assert_eq!(may_go(&said), 2, "{said}");
}

#[test]
fn what_cannot_be_done_on_a_server_is_told() {
    let site = Site::new("server-bad", "");
    site.plan();
    let before = site.content();
    let apply = ["apply", "work.plan", "--yes"];
    let said = site.run(&[&apply[..], &["--action", "hardlink"]].concat(), 3);
    assert!(said.contains("cannot be made a second name"), "{said}");
    let said = site.run(
        &[&apply[..], &["--action", "move-to", "--to", "here"]].concat(),
        3,
    );
    assert!(said.contains("--to account:work/FOLDER"), "{said}");
    let to = ["--action", "move-to", "--to", "account:home/There"];
    let said = site.run(&[&apply[..], &to].concat(), 3);
    assert!(said.contains("lies in another account"), "{said}");
    let config = fs::read_to_string(site.home.at("accounts.toml")).unwrap();
    fs::write(
        site.home.at("accounts.toml"),
        config.replace("work", "home"),
    )
    .unwrap();
    let said = site.run(&apply, 3);
    assert!(said.contains("there is no account work"), "{said}");
    // Nobody listens there any more.
    site.account_at(1);
    let said = site.run(&apply, 3);
    assert!(said.contains("cannot connect to localhost:1"), "{said}");
    site.account_at(site.dovecot.imap);
    assert_eq!(site.content(), before);
    let to = ["--action", "move-to", "--to", "account:work/Put away/2025"];
    site.run(&[&apply[..], &to].concat(), 0);
    assert_eq!(
        counts(&site.content()),
        "Archive 2, INBOX 1, Put away/2025 3"
    );
    let said = site.run(&["history", "--forget", "7", "--yes"], 1);
    assert!(said.contains("there is no run 7"), "{said}");
    let said = site.run(&["history", "--forget", "6", "--yes"], 0);
    assert!(said.contains("The copies of 3 messages"), "{said}");
    site.run(&["undo", "--yes"], 0);
    assert_eq!(site.content(), before);
}

#[test]
fn without_room_for_copies_nothing_goes() {
    let site = Site::new("server-full", "");
    let large = mail(
        "Log",
        "9",
        &"The log of the ship says nothing. ".repeat(6_000),
    );
    let mut other = site.session();
    for folder in ["INBOX", "Archive"] {
        let folder = other.folder_named(folder);
        let size = large.len() as u64;
        other
            .append(&folder, &[], None, size, &mut &large[..])
            .unwrap();
    }
    site.plan();
    let before = site.content();
    let limited = "trap '' XFSZ; ulimit -f 50; exec \"$@\"";
    let mut command = Command::new("bash");
    command
        .args(["-c", limited, "bash", env!("CARGO_BIN_EXE_twicetold")])
        .args(["apply", "work.plan", "--yes"]);
    let run = site.run_as(0, &mut command);
    let said = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("store/000001/server-000000 cannot be written") && said.contains("make room"),
        "{said}"
    );
    assert_eq!(site.content(), before);
    site.run(&["apply", "work.plan", "--yes"], 0);
    assert_ne!(site.content(), before);
    site.run(&["undo", "--yes"], 0);
    assert_eq!(site.content(), before);
}
