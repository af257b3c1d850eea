//! POP3, with a real Dovecot.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use support::*;
use twicetold_account::{FetchOptions, Profile, Protocol, Tls, fetch};
use twicetold_testbed::{Dovecot, Fake, Folder, Proxy};

fn on_server(dovecot: &Dovecot) -> usize {
    messages(&dovecot.maildir("anna", "INBOX")).len()
}

#[test]
fn mail_comes_once_and_stays_on_the_server() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 500);
    let home = Folder::new();
    let profile = profile(&dovecot, Protocol::Pop3, Tls::Implicit);
    assert_eq!(fetched_well(&profile, home.path()).new_messages(), 500);
    assert_eq!(contents(home.path()), mails(0..500));
    assert_eq!(fetched_well(&profile, home.path()).new_messages(), 0);
    fill(&dovecot, "INBOX", 500, 3);
    assert_eq!(fetched_well(&profile, home.path()).new_messages(), 3);
    assert_eq!(contents(home.path()), mails(0..503));
    assert_eq!(on_server(&dovecot), 503);
}

#[test]
fn mail_is_removed_from_the_server_only_if_asked_and_here() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 30);
    let home = Folder::new();
    let profile = profile(&dovecot, Protocol::Pop3, Tls::StartTls);
    fetched_well(&profile, home.path());
    // One was removed here: it is not removed there as well.
    fs::remove_file(home.at("cur").join(file_of(home.path(), 7).unwrap())).unwrap();
    fill(&dovecot, "INBOX", 30, 5);
    let delete = FetchOptions {
        delete_after_fetch: true,
        ..FetchOptions::default()
    };
    let report = fetched(&profile, home.path(), &delete);
    assert!(report.failure.is_none(), "{report:?}");
    assert_eq!(
        (report.folders[0].new, report.folders[0].removed_on_server),
        (5, 34)
    );
    assert_eq!(on_server(&dovecot), 1);
    assert_eq!(contents(home.path()), mails((0..35).filter(|&n| n != 7)));
}

#[test]
fn a_cut_removes_nothing_and_loses_nothing() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 40);
    for bytes in (300..30_000).step_by(2711) {
        let home = Folder::new();
        let proxy = Proxy::start(dovecot.pop3, move |number| (number == 0).then_some(bytes));
        let profile = Profile {
            port: proxy.port,
            ..profile(&dovecot, Protocol::Pop3, Tls::None)
        };
        let delete = FetchOptions {
            delete_after_fetch: true,
            ..FetchOptions::default()
        };
        if let Ok(report) = fetch(&profile, &password(), home.path(), &delete, &()) {
            assert!(
                report.failure.is_some() && report.folders[0].removed_on_server == 0,
                "{report:?}"
            );
        }
        assert_eq!(on_server(&dovecot), 40, "{bytes}");
        fetched_well(&profile, home.path());
        assert_eq!(contents(home.path()), mails(0..40), "{bytes}");
        assert!(is_empty(&home.at("tmp")));
    }
}

#[test]
fn wishes_that_do_not_fit_are_refused() {
    let dovecot = Dovecot::start();
    let home = Folder::new();
    let refused = |protocol, options: FetchOptions| {
        let profile = profile(&dovecot, protocol, Tls::None);
        fetch(&profile, &password(), home.path(), &options, &())
            .unwrap_err()
            .to_string()
    };
    let mirror = FetchOptions {
        mirror: true,
        ..FetchOptions::default()
    };
    assert!(refused(Protocol::Pop3, mirror).contains("mirrored"));
    let folders = FetchOptions {
        folders: vec!["x".into()],
        ..FetchOptions::default()
    };
    assert!(refused(Protocol::Pop3, folders).contains("no folders"));
    let delete = FetchOptions {
        delete_after_fetch: true,
        ..FetchOptions::default()
    };
    assert!(refused(Protocol::Imap, delete).contains("POP3 only"));
}

/// A server from before unique ids, with three messages of which two are the same.
fn old_server() -> Fake {
    Fake::start("+OK old\r\n", |line| {
        Some(
            match line.text.split(' ').collect::<Vec<_>>()[..] {
                ["USER" | "PASS" | "QUIT", ..] => "+OK\r\n",
                ["STAT"] => "+OK 3 30\r\n",
                ["RETR", "2"] => "+OK\r\n..two\r\n.\r\n",
                ["RETR", _] => "+OK\r\none\r\n.\r\n",
                _ => "-ERR what?\r\n",
            }
            .into(),
        )
    })
}

#[test]
fn a_server_without_unique_ids_gives_no_copies() {
    let fake = old_server();
    let home = Folder::new();
    let profile = Profile {
        protocol: Protocol::Pop3,
        ..at_port(fake.port)
    };
    fetched_well(&profile, home.path());
    assert_eq!(contents(home.path()), [&b".two\r\n"[..], b"one\r\n"]);
    let again = fetched_well(&profile, home.path());
    assert_eq!((again.folders[0].new, again.folders[0].again), (0, 3));
    assert_eq!(contents(home.path()).len(), 2);
}
