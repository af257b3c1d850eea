//! What large providers do in their own way: tokens instead of passwords, labels instead of folders.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::{Read, Write};

use support::*;
use twicetold_account::{
    Credentials, Fault, FetchOptions, Protocol, Secret, Skipped, Tls, UidSet, overview,
};
use twicetold_testbed::{Dovecot, Fake, Folder, Line, Setup};

/// What Dovecot asks about tokens: one is good.
fn token_service() -> Fake {
    Fake::raw(|mut client| {
        let mut request = Vec::new();
        let mut block = [0; 4096];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match client.read(&mut block) {
                Ok(got @ 1..) => request.extend_from_slice(&block[..got]),
                _ => return,
            }
        }
        let good = String::from_utf8_lossy(&request).contains("good-token");
        let (status, body) = if good {
            ("200 OK", "{\"username\":\"anna\"}")
        } else {
            ("401 Unauthorized", "{\"error\":\"invalid_token\"}")
        };
        let length = body.len();
        let _ = write!(
            client,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
    })
}

#[test]
fn tokens_open_the_door_both_ways() {
    let service = token_service();
    let settings = Folder::new();
    let file = settings.at("oauth2.conf");
    let port = service.port;
    fs::write(
        &file,
        format!(
            "tokeninfo_url = http://127.0.0.1:{port}/token?t=\nusername_attribute = username\n"
        ),
    )
    .unwrap();
    for (mechanisms, expected) in [
        ("xoauth2 oauthbearer", "XOAUTH2"),
        ("oauthbearer", "OAUTHBEARER"),
    ] {
        let more = format!(
            "auth_mechanisms = {mechanisms}\npassdb {{\n  driver = oauth2\n  mechanisms = {mechanisms}\n  args = {}\n}}\n",
            file.display()
        );
        let dovecot = Dovecot::with(&Setup {
            more,
            ..Setup::default()
        });
        for protocol in [Protocol::Imap, Protocol::Pop3] {
            let profile = profile(&dovecot, protocol, Tls::Implicit);
            let token = |text: &str| Credentials::Token(Secret::new(text.into()));
            let found = overview(&profile, &token("good-token"))
                .unwrap_or_else(|error| panic!("{error} {}", dovecot.log()));
            assert_eq!(found.mechanism, expected);
            let error = overview(&profile, &token("stale-token")).unwrap_err();
            assert!(matches!(error.fault(), Fault::Login { .. }), "{error}");
            // A password is of no use here.
            let error = overview(&profile, &password()).unwrap_err();
            assert!(
                matches!(
                    error.fault(),
                    Fault::NoMechanism { .. } | Fault::Login { .. }
                ),
                "{error}"
            );
        }
    }
}

/// UID, Gmail's number, text.
type Message = (u32, u64, &'static str);

/// An account in the manner of Gmail.
const LABELS: [(&str, &str, &[Message]); 4] = [
    ("INBOX", "", &[(1, 11, "one"), (2, 12, "two")]),
    ("Work", "", &[(1, 12, "two"), (2, 13, "three")]),
    (
        "[Gmail]/All Mail",
        "\\All",
        &[(1, 11, "one"), (2, 12, "two"), (3, 13, "three")],
    ),
    ("[Gmail]/Spam", "\\Junk", &[(1, 14, "spam")]),
];

fn gmail() -> Fake {
    let open = std::sync::Mutex::new(0);
    Fake::start(
        "* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi\r\n",
        move |line: &Line| {
            let tag = &line.tag;
            let rest = line.rest.as_str();
            let mut answer = String::new();
            let mut open = open.lock().unwrap();
            if rest == "CAPABILITY" {
                answer.push_str("* CAPABILITY IMAP4rev1 X-GM-EXT-1\r\n");
            } else if rest.starts_with("LIST") {
                for (name, attribute, _) in LABELS {
                    answer.push_str(&format!("* LIST ({attribute}) \"/\" \"{name}\"\r\n"));
                }
            } else if rest.starts_with("EXAMINE") {
                *open = LABELS
                    .iter()
                    .position(|(name, ..)| rest.contains(name))
                    .unwrap();
                let count = LABELS[*open].2.len();
                answer.push_str(&format!("* {count} EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n"));
            } else if rest.starts_with("UID SEARCH") {
                answer.push_str("* SEARCH");
                LABELS[*open]
                    .2
                    .iter()
                    .for_each(|(uid, ..)| answer.push_str(&format!(" {uid}")));
                answer.push_str("\r\n");
            } else if let Some(asked) = rest.strip_prefix("UID FETCH ") {
                let set: UidSet = asked.split(' ').next().unwrap().parse().unwrap();
                for (uid, id, text) in LABELS[*open]
                    .2
                    .iter()
                    .filter(|(uid, ..)| set.contains(*uid))
                {
                    answer.push_str(&format!(
                        "* {uid} FETCH (X-GM-MSGID {id} UID {uid} FLAGS (\\Seen)"
                    ));
                    if asked.contains("BODY") {
                        answer.push_str(&format!(
                            " X-GM-LABELS (\"\\\\Inbox\" \"Arbeit &APw-\") BODY[] {{{}}}\r\n{text}",
                            text.len()
                        ));
                    }
                    answer.push_str(")\r\n");
                }
            }
            Some(format!("{answer}{tag} OK\r\n").into_bytes())
        },
    )
}

#[test]
fn on_gmail_a_message_with_many_labels_comes_once() {
    let fake = gmail();
    let home = Folder::new();
    let one = FetchOptions {
        jobs: Some(1),
        ..FetchOptions::default()
    };
    let report = fetched(&at_port(fake.port), home.path(), &one);
    assert!(
        report.failure.is_none() && report.problems.is_empty(),
        "{report:?}"
    );
    assert_eq!(report.new_messages(), 4);
    assert_eq!(
        report.skipped,
        [
            ("INBOX".to_owned(), Skipped::Label),
            ("Work".to_owned(), Skipped::Label)
        ]
    );
    assert_eq!(
        contents(&home.at(".[Gmail].All Mail")),
        [&b"one"[..], b"three", b"two"]
    );
    let labels = fs::read_to_string(home.at(".[Gmail].All Mail/.twicetold-labels.jsonl")).unwrap();
    assert!(
        labels.contains("\"gmail_id\":12,\"labels\":[\"\\\\Inbox\",\"Arbeit ü\"]"),
        "{labels}"
    );
    assert_eq!(
        fetched(&at_port(fake.port), home.path(), &one).new_messages(),
        0
    );

    // Folders that are named are fetched; still no message twice.
    let home = Folder::new();
    let named = FetchOptions {
        folders: vec!["INBOX".into(), "Work".into()],
        ..one
    };
    let report = fetched(&at_port(fake.port), home.path(), &named);
    assert_eq!(
        report
            .folders
            .iter()
            .map(|f| (f.new, f.elsewhere))
            .collect::<Vec<_>>(),
        [(2, 0), (1, 1)]
    );
    assert_eq!(contents(&home.at(".Work")), [b"three"]);
    let again = fetched(&at_port(fake.port), home.path(), &named);
    assert_eq!(again.new_messages(), 0);
    assert_eq!(contents(&home.at(".Work")).len(), 1);
}
