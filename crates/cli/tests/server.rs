//! `apply` and `undo` on a real IMAP server, as users run them.

#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::{Folder, text};
use twicetold_account::{
    Credentials, FlagChange, Login, Profile, Protocol, Secret, Session, Source, Tls, UidSet,
};
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
        Command::new(env!("CARGO_BIN_EXE_twicetold"))
            .args(args)
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
        println!("{said}");
        assert_eq!(site.content(), before, "a dry run changes nothing");
        let said = site.run(&["apply", "work.plan", "--yes"], 0);
        println!("{said}");
        let after = site.content();
        assert_eq!(counts(&after), "Archive 2, INBOX 1, Trash 3", "{said}");
        println!("{after:#?}");
        assert_eq!(bytes(&before), bytes(&after));
        let said = site.run(&["apply", "work.plan", "--yes"], 0);
        assert!(
            said.contains("3 messages of the plan went in an earlier run"),
            "{said}"
        );
        println!("{}", site.run(&["history"], 0));
        let said = site.run(&["undo", "--yes"], 0);
        println!("{said}");
        assert_eq!(site.content(), before, "{name}: {said}");
    }
}
