//! Who is trusted, what is sent in the clear, and what is said when the door stays shut.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use support::*;
use twicetold_account::{Credentials, Fault, Profile, Protocol, Secret, Tls, overview};
use twicetold_testbed::{Dovecot, Fake, Setup};

fn fault_of(profile: &Profile) -> (String, String) {
    let error = overview(profile, &password()).unwrap_err();
    (error.to_string(), error.hint())
}

#[test]
fn every_way_in_works_and_says_how() {
    let dovecot = Dovecot::start();
    fill(&dovecot, "INBOX", 0, 2);
    for protocol in [Protocol::Imap, Protocol::Pop3] {
        for tls in [Tls::Implicit, Tls::StartTls, Tls::None] {
            let found = overview(&profile(&dovecot, protocol, tls), &password()).unwrap();
            assert_eq!(found.tls.is_some(), tls != Tls::None, "{protocol} {tls}");
            assert!(found.tls.is_none_or(|version| version == "1.3"));
            assert!(
                found.folders.contains(&("INBOX".into(), Some(2))),
                "{found:?}"
            );
            assert!(!found.capabilities.is_empty());
        }
    }
}

#[test]
fn a_certificate_that_is_not_to_be_trusted_ends_it() {
    let dovecot = Dovecot::start();
    let old = Dovecot::with(&Setup {
        expired: true,
        ..Setup::default()
    });
    for protocol in [Protocol::Imap, Protocol::Pop3] {
        for tls in [Tls::Implicit, Tls::StartTls] {
            let good = profile(&dovecot, protocol, tls);
            let unknown = Profile {
                authorities: Some(dovecot.certificates.other_authority()),
                ..good.clone()
            };
            let (what, hint) = fault_of(&unknown);
            assert!(
                what.starts_with("account test: the certificate of localhost:"),
                "{what}"
            );
            assert!(
                what.contains("no authority that is trusted has signed it"),
                "{what}"
            );
            assert!(hint.contains("ca = "), "{hint}");
            let system = Profile {
                authorities: None,
                ..good.clone()
            };
            assert!(
                fault_of(&system).0.contains("certificate"),
                "{:?}",
                fault_of(&system)
            );
            let (what, _) = fault_of(&profile(&old, protocol, tls));
            assert!(what.contains("it has expired"), "{what}");
            let elsewhere = Profile {
                host: "127.0.0.2".into(),
                ..good
            };
            if let (what, _) = fault_of(&elsewhere)
                && !what.contains("cannot connect")
            {
                assert!(what.contains("belongs to another server"), "{what}");
            }
        }
    }
}

#[test]
fn a_bad_file_of_authorities_is_named() {
    let dovecot = Dovecot::start();
    let empty = dovecot.at("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    for file in [empty, dovecot.at("not-there.pem")] {
        let bad = Profile {
            authorities: Some(file.clone()),
            ..profile(&dovecot, Protocol::Imap, Tls::Implicit)
        };
        let (what, _) = fault_of(&bad);
        assert!(what.contains(file.to_str().unwrap()), "{what}");
    }
}

#[test]
fn a_wrong_password_is_told_without_it() {
    let dovecot = Dovecot::start();
    for protocol in [Protocol::Imap, Protocol::Pop3] {
        let wrong = Credentials::Password(Secret::new("hunter2".into()));
        let profile = profile(&dovecot, protocol, Tls::StartTls);
        let error = overview(&profile, &wrong).unwrap_err();
        assert!(matches!(error.fault(), Fault::Login { .. }), "{error}");
        assert!(
            error
                .to_string()
                .starts_with("account test: the server refused the login"),
            "{error}"
        );
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[test]
fn nothing_is_sent_in_the_clear_unless_told() {
    // Neither offers TLS; the second one pretends that no login is needed.
    let plain = Fake::start("* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hi\r\n", |line| {
        Some(format!("{} OK\r\n", line.tag).into_bytes())
    });
    let trusting = Fake::start("* PREAUTH [CAPABILITY IMAP4rev1] hi\r\n", |line| {
        Some(format!("{} OK\r\n", line.tag).into_bytes())
    });
    for fake in [&plain, &trusting] {
        let profile = Profile {
            tls: Tls::StartTls,
            ..at_port(fake.port)
        };
        assert!(fault_of(&profile).0.contains("does not offer STARTTLS"));
        assert!(fake.heard().is_empty(), "{:?}", fake.heard());
    }
    let pop3 = Fake::start("+OK hi\r\n", |_| Some(b"+OK\r\nUSER\r\n.\r\n".to_vec()));
    let profile = Profile {
        tls: Tls::StartTls,
        protocol: Protocol::Pop3,
        ..at_port(pop3.port)
    };
    assert!(fault_of(&profile).0.contains("does not offer STARTTLS"));
    assert_eq!(pop3.heard(), ["CAPA"]);
}

#[test]
fn what_is_slipped_in_before_tls_is_refused() {
    let fake = Fake::start("* OK [CAPABILITY IMAP4rev1 STARTTLS] hi\r\n", |line| {
        Some(format!("{} OK go\r\n* OK [ALERT] call this number\r\n", line.tag).into_bytes())
    });
    let profile = Profile {
        tls: Tls::StartTls,
        ..at_port(fake.port)
    };
    let (what, _) = fault_of(&profile);
    assert!(
        what.contains("between the agreement on TLS and its beginning"),
        "{what}"
    );
}

#[test]
fn tls_on_a_port_without_it_is_explained() {
    let dovecot = Dovecot::start();
    let wrong = Profile {
        port: dovecot.imap,
        timeout: Duration::from_secs(2),
        ..profile(&dovecot, Protocol::Imap, Tls::Implicit)
    };
    let (what, hint) = fault_of(&wrong);
    assert!(what.contains("no TLS with localhost:"), "{what}");
    assert!(hint.contains("starttls"), "{hint}");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (what, hint) = fault_of(&at_port(port));
    assert!(
        what.starts_with(&format!("account test: cannot connect to localhost:{port}")),
        "{what}"
    );
    assert!(hint.contains("twicetold account test test"), "{hint}");
}
