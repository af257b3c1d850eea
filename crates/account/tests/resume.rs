//! Connections that are cut, at any byte: what arrived stays, the rest comes later, nothing twice.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use support::*;
use twicetold_account::{FetchOptions, Profile};
use twicetold_testbed::{Dovecot, Folder, Proxy};

#[test]
fn a_cut_at_any_byte_loses_nothing() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 12);
    let once = FetchOptions {
        retries: 0,
        jobs: Some(1),
        ..FetchOptions::default()
    };
    // In the greeting, the login, the listing, in messages and between them.
    let mut partly = 0;
    for bytes in (1..9000).step_by(397).chain([50, 600, 1200, 2001]) {
        let home = Folder::new();
        let proxy = Proxy::start(dovecot.imap, move |number| (number == 0).then_some(bytes));
        let profile = Profile {
            port: proxy.port,
            ..imap(&dovecot)
        };
        match twicetold_account::fetch(&profile, &password(), home.path(), &once, &()) {
            Err(error) => assert!(error.fault().is_passing(), "{bytes}: {error}"),
            Ok(report) => {
                let here = contents(home.path());
                assert_eq!(here.len() as u64, report.new_messages(), "{bytes}");
                let all = mails(0..12);
                assert!(
                    here.iter().all(|mail| all.binary_search(mail).is_ok()),
                    "{bytes}: half a message"
                );
                partly += usize::from((1..12).contains(&here.len()));
            }
        }
        fetched_well(&profile, home.path());
        assert_eq!(contents(home.path()), mails(0..12), "{bytes}");
        assert!(is_empty(&home.at("tmp")), "{bytes}");
    }
    assert!(partly > 3, "only {partly} cuts were in the middle");
}

#[test]
fn a_connection_that_is_cut_again_and_again_gets_there() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 300);
    let home = Folder::new();
    let proxy = Proxy::start(dovecot.imap, |number| Some(30_000 + 1000 * number as u64));
    let profile = Profile {
        port: proxy.port,
        ..imap(&dovecot)
    };
    let report = fetched_well(&profile, home.path());
    assert_eq!(report.new_messages(), 300);
    assert_eq!(contents(home.path()), mails(0..300));
    assert!(proxy.connections() > 3, "{}", proxy.connections());
}

#[test]
fn a_cut_of_tls_is_a_cut() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 40);
    let home = Folder::new();
    let proxy = Proxy::start(dovecot.imaps, |number| (number == 0).then_some(20_000));
    let profile = Profile {
        port: proxy.port,
        ..profile(
            &dovecot,
            twicetold_account::Protocol::Imap,
            twicetold_account::Tls::Implicit,
        )
    };
    let report = fetched_well(&profile, home.path());
    assert_eq!(report.new_messages(), 40);
    assert_eq!(contents(home.path()), mails(0..40));
}
