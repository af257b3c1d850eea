//! Servers that lie, babble or fall silent, and disks that are full: a clear error, and nothing wrong kept.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use support::*;
use twicetold_account::{FetchOptions, FetchReport, Profile, Protocol, fetch};
use twicetold_testbed::{Dovecot, Fake, Folder, Line};

const GREETING: &str = "* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi\r\n";

/// A polite server with three messages, but for what it answers to one command.
fn server(command: &'static str, answer: impl Fn(&Line) -> String + Send + Sync + 'static) -> Fake {
    Fake::start(GREETING, move |line| {
        let tag = &line.tag;
        let rest = line.rest.as_str();
        if rest.starts_with(command) {
            return Some(answer(line).into_bytes());
        }
        let text = match rest.split(' ').next().unwrap_or_default() {
            "CAPABILITY" => format!("* CAPABILITY IMAP4rev1\r\n{tag} OK\r\n"),
            "LIST" => format!("* LIST () \"/\" INBOX\r\n{tag} OK\r\n"),
            "EXAMINE" => format!("* 3 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 4] x\r\n{tag} OK\r\n"),
            "UID" if rest.starts_with("UID SEARCH") => format!("* SEARCH 1 2 3\r\n{tag} OK\r\n"),
            "UID" => "* 1 FETCH (UID 1 FLAGS () BODY[] {3}\r\none)\r\n* 2 FETCH (UID 2 BODY[] {3}\r\ntwo)\r\n* 3 FETCH (BODY[] {5}\r\nthree UID 3)\r\n".to_owned() + &format!("{tag} OK\r\n"),
            _ => format!("{tag} OK\r\n"),
        };
        Some(text.into_bytes())
    })
}

fn options() -> FetchOptions {
    FetchOptions {
        retries: 0,
        jobs: Some(1),
        ..FetchOptions::default()
    }
}

fn quick(port: u16) -> Profile {
    Profile {
        timeout: Duration::from_secs(1),
        ..at_port(port)
    }
}

fn outcome(port: u16) -> (String, Vec<Vec<u8>>) {
    let home = Folder::new();
    let said = match fetch(&quick(port), &password(), home.path(), &options(), &()) {
        Err(error) => error.to_string(),
        Ok(FetchReport {
            failure: Some(error),
            ..
        }) => error.to_string(),
        Ok(report) => format!("{:?}", report.problems),
    };
    assert!(
        !home.at("tmp").exists() || is_empty(&home.at("tmp")),
        "a draft is left"
    );
    (said, contents(home.path()))
}

#[test]
fn a_polite_server_is_no_problem() {
    let (said, here) = outcome(server("nothing", |_| String::new()).port);
    assert_eq!(said, "[]");
    assert_eq!(here, [&b"one"[..], b"three", b"two"]);
}

#[test]
fn lies_about_sizes_cost_the_message_they_are_about() {
    let body = |size: u64| {
        move |line: &Line| {
            let first = "* 1 FETCH (UID 1 BODY[] {3}\r\none)\r\n";
            format!(
                "{first}* 2 FETCH (UID 2 BODY[] {{{size}}}\r\ntwo)\r\n{} OK\r\n",
                line.tag
            )
        }
    };
    let cases = [
        // Too small: the rest of the message is no IMAP.
        (2, "does not keep to the protocol"),
        (0, "does not keep to the protocol"),
        // Too large: it eats what follows, and waits for more.
        (10, "does not keep to the protocol"),
        (500, "did not answer for 1 seconds"),
        (1 << 29, "did not answer for 1 seconds"),
        (1 << 40, "of more than 1073741824 bytes"),
        (u64::MAX, "of more than 1073741824 bytes"),
    ];
    for (size, expected) in cases {
        let (said, here) = outcome(server("UID FETCH", body(size)).port);
        assert!(said.contains(expected), "{size}: {said}");
        assert!(said.starts_with("account test: "), "{said}");
        assert_eq!(here, [b"one"], "{size}");
    }
}

#[test]
fn nonsense_is_refused() {
    type Answer = fn(&Line) -> String;
    let cases: [(&str, Answer); 12] = [
        ("UID FETCH", |_| "* 1 FETCH (BODY[] {3}\r\none)\r\n".into()),
        ("UID FETCH", |_| {
            "* 1 FETCH (UID 9 BODY[] {3}\r\none)\r\n".into()
        }),
        ("UID FETCH", |_| "* 1 FETCH (UID 1 BODY[] (a b))\r\n".into()),
        ("UID FETCH", |_| "\0\u{1}\u{fffd}garbage\r\n".into()),
        ("UID FETCH", |_| "+ go on\r\n".into()),
        ("UID FETCH", |_| "x99 OK done\r\n".into()),
        ("UID SEARCH", |_| "* SEARCH 1 2 many\r\n".into()),
        ("UID SEARCH", |_| "* SEARCH 1 2 {999999999}\r\n".into()),
        ("EXAMINE", |line| format!("{} OK\r\n", line.tag)),
        ("EXAMINE", |_| "* OK [UIDVALIDITY 99999999999] x\r\n".into()),
        ("LIST", |_| "* LIST () \"/\" {300000}\r\n".into()),
        ("LIST", |_| {
            format!("* LIST () \"/\" \"{}\r\n", "x".repeat(1000))
        }),
    ];
    for (command, answer) in cases {
        let (said, here) = outcome(server(command, answer).port);
        assert!(
            said.contains("does not keep to the protocol") || said.contains("of more than"),
            "{command}: {said}"
        );
        assert!(here.is_empty());
    }
}

#[test]
fn refusals_and_goodbyes_are_passed_on() {
    let (said, _) = outcome(
        server("EXAMINE", |line| {
            format!("{} NO [NOPERM] not yours\r\n", line.tag)
        })
        .port,
    );
    assert!(
        said.contains("the server refused to open the folder INBOX: not yours"),
        "{said}"
    );
    let (said, _) = outcome(server("UID SEARCH", |_| "* BYE maintenance\r\n".into()).port);
    assert!(
        said.contains("the connection was cut: the server said goodbye: maintenance"),
        "{said}"
    );
    let (said, here) = outcome(
        server("UID FETCH", |line| {
            format!(
                "* 2 FETCH (UID 2 BODY[] NIL)\r\n{} NO some are gone\r\n",
                line.tag
            )
        })
        .port,
    );
    assert!(
        said.contains("did not hand out 3 messages of INBOX (UID 1:3)"),
        "{said}"
    );
    assert!(here.is_empty());
}

#[test]
fn silence_and_endless_lines_end() {
    let silent = Fake::raw(|mut client| {
        let _ = client.read(&mut [0; 10]);
        std::thread::sleep(Duration::from_secs(30));
    });
    let endless = Fake::raw(|mut client| {
        let block = vec![b'x'; 1 << 16];
        while client.write_all(&block).is_ok() {}
    });
    let dripping = Fake::raw(|mut client| {
        while client.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let began = Instant::now();
    for (fake, imap, pop3) in [
        (
            &silent,
            "did not answer for 1 seconds",
            "did not answer for 1 seconds",
        ),
        (
            &endless,
            "a line of more than 16777216 bytes",
            "a line of more than 8192 bytes",
        ),
        (
            &dripping,
            "did not answer for 1 seconds",
            "did not answer for 1 seconds",
        ),
    ] {
        let (said, _) = outcome(fake.port);
        assert!(said.contains(imap), "{said}");
        let home = Folder::new();
        let profile = Profile {
            protocol: Protocol::Pop3,
            ..quick(fake.port)
        };
        let said = fetch(&profile, &password(), home.path(), &options(), &())
            .unwrap_err()
            .to_string();
        assert!(said.contains(pop3), "{said}");
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_name_cannot_lead_out_of_the_folder_or_into_a_command() {
    let home = Folder::new();
    let fake = server("LIST", |line| {
        format!(
            "* LIST () \"/\" \"../../../escape\"\r\n* LIST () \"/\" {{12}}\r\nx\r\nt9 LOGOUT\r\n* LIST () NIL \"/etc/passwd\"\r\n{} OK\r\n",
            line.tag
        )
    });
    let inner = home.at("mail");
    let report = fetch(&quick(fake.port), &password(), &inner, &options(), &()).unwrap();
    assert!(
        report.failure.is_some() || !report.problems.is_empty(),
        "{report:?}"
    );
    assert!(
        fake.heard()
            .iter()
            .all(|line| !line.starts_with("t9 LOGOUT")),
        "{:?}",
        fake.heard()
    );
    let outside: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(outside, ["mail"]);
    for folder in &report.folders {
        assert_eq!(folder.path.parent(), Some(inner.as_path()), "{folder:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 5);
    let home = Folder::new();
    // A file where a folder should be stops everybody, root as well.
    std::fs::write(home.at("cur"), "in the way").unwrap();
    let report = fetched(&imap(&dovecot), home.path(), &options());
    let error = report.failure.unwrap();
    assert!(
        error.to_string().contains(home.at("cur").to_str().unwrap()),
        "{error}"
    );
    assert!(
        error.hint().contains("you may write to it"),
        "{}",
        error.hint()
    );
    let nowhere = home.at("cur/below");
    let error = fetch(&imap(&dovecot), &password(), &nowhere, &options(), &()).unwrap_err();
    assert!(error.to_string().contains("cannot make"), "{error}");
}

#[test]
fn a_full_disk_is_told_and_what_was_there_stays() {
    // Every system has a device that is always full; a draft that leads there is a full disk.
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 3);
    let home = Folder::new();
    fetched_well(&imap(&dovecot), home.path());
    let note = home.at(".twicetold-fetch.json.part");
    std::os::unix::fs::symlink("/dev/full", &note).unwrap();
    fill(&dovecot, "INBOX", 3, 2);
    let report = fetched(&imap(&dovecot), home.path(), &options());
    let error = report.failure.unwrap();
    assert!(
        error.to_string().contains("No space left on device"),
        "{error}"
    );
    assert!(error.hint().contains("make room"), "{}", error.hint());
    std::fs::remove_file(&note).unwrap();
    fetched_well(&imap(&dovecot), home.path());
    assert_eq!(contents(home.path()), mails(0..5));
}
