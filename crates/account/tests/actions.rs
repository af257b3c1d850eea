//! Changing a mailbox on a real server: moving, flags, putting back, reading one message again.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod support;

use support::*;
use twicetold_account::{Appended, Fault, FlagChange, Session, UidSet};
use twicetold_testbed::{Dovecot, Fake, Setup};

fn set(text: &str) -> UidSet {
    text.parse().unwrap()
}

/// Dovecot, with the capabilities it is to admit.
fn dovecot(capabilities: &str) -> Dovecot {
    let more = if capabilities.is_empty() {
        String::new()
    } else {
        format!("imap_capability = {capabilities}\n")
    };
    Dovecot::with(&Setup {
        more,
        ..Setup::default()
    })
}

fn uids(session: &mut Session, folder: &str) -> String {
    let folder = session.folder_named(folder);
    session.examine(&folder).unwrap();
    session.uids_from(1).unwrap().to_string()
}

#[test]
fn messages_move_and_others_stay() {
    for capabilities in ["", "IMAP4rev1 SASL-IR UIDPLUS"] {
        let dovecot = dovecot(capabilities);
        fill(&dovecot, "INBOX", 0, 10);
        let mut session = session(&dovecot);
        assert_eq!(session.has("MOVE"), capabilities.is_empty());
        assert!(session.can_move());
        let (inbox, trash) = (
            session.folder_named("INBOX"),
            session.folder_named("Trash/Zweite Hälfte"),
        );
        session.select(&inbox).unwrap();
        // Another program has marked a message for removal: it must stay.
        session
            .store_flags(&set("10"), FlagChange::Add, &["\\Deleted"])
            .unwrap();
        let missing = session.move_messages(&set("2:4,6"), &trash).unwrap_err();
        assert!(matches!(missing, Fault::Refused { .. }), "{missing}");
        assert_eq!(uids(&mut session, "INBOX"), "1:10");
        session.create_folder(&trash).unwrap();
        session.create_folder(&trash).unwrap();
        session.select(&inbox).unwrap();
        let moved = session.move_messages(&set("2:4,6,99"), &trash).unwrap();
        assert_eq!(
            moved.uids,
            [(2, 1), (3, 2), (4, 3), (6, 4)],
            "{capabilities}"
        );
        assert!(moved.uid_validity.is_some());
        assert_eq!(uids(&mut session, "INBOX"), "1,5,7:10");
        session.examine(&trash).unwrap();
        let found = session.read_message(2, 1 << 20).unwrap().unwrap();
        // UID 3 was mail 2; the flag that removing needs is not on the copy.
        assert_eq!(found.bytes, mail(2));
        assert!(
            !found.flags.iter().any(|flag| flag == "\\Deleted"),
            "{found:?}"
        );
    }
}

#[test]
fn without_a_safe_way_nothing_is_moved_or_removed() {
    let dovecot = dovecot("IMAP4rev1 SASL-IR");
    fill(&dovecot, "INBOX", 0, 3);
    fill(&dovecot, "Trash", 3, 1);
    let mut session = session(&dovecot);
    assert!(!session.can_move());
    let (inbox, trash) = (session.folder_named("INBOX"), session.folder_named("Trash"));
    session.select(&inbox).unwrap();
    let fault = session.move_messages(&set("1"), &trash).unwrap_err();
    assert!(matches!(fault, Fault::Lacks { .. }), "{fault}");
    let fault = session.remove_messages(&set("1")).unwrap_err();
    assert!(matches!(fault, Fault::Lacks { .. }), "{fault}");
    assert_eq!(uids(&mut session, "INBOX"), "1:3");
    assert_eq!(uids(&mut session, "Trash"), "1");
}

#[test]
fn a_message_can_be_put_back_as_it_was() {
    let dovecot = dovecot("");
    fill(&dovecot, "INBOX", 0, 3);
    let mut session = session(&dovecot);
    let inbox = session.folder_named("INBOX");
    let opened = session.select(&inbox).unwrap();
    session
        .store_flags(
            &set("2"),
            FlagChange::Replace,
            &["\\Seen", "\\Flagged", "$Work"],
        )
        .unwrap();
    let before = session.read_message(2, 1 << 20).unwrap().unwrap();
    session.remove_messages(&set("2")).unwrap();
    assert_eq!(session.read_message(2, 1 << 20).unwrap(), None);
    let flags: Vec<&str> = before
        .flags
        .iter()
        .map(String::as_str)
        .filter(|flag| *flag != "\\Recent")
        .collect();
    let size = before.bytes.len() as u64;
    let put = session
        .append(&inbox, &flags, before.date, size, &mut &before.bytes[..])
        .unwrap();
    assert_eq!(
        put,
        Some(Appended {
            uid_validity: opened.uid_validity,
            uid: 4
        })
    );
    session.select(&inbox).unwrap();
    let mut after = session.read_message(4, 1 << 20).unwrap().unwrap();
    assert_eq!((&after.bytes, after.date), (&before.bytes, before.date));
    let sort = |flags: &mut Vec<String>| {
        flags.retain(|flag| flag != "\\Recent");
        flags.sort();
    };
    let mut flags = before.flags.clone();
    sort(&mut flags);
    sort(&mut after.flags);
    assert_eq!(after.flags, flags);
    // Too large to hold is told, not cut; what is cut short is not added.
    let mut session = support::session(&dovecot);
    session.examine(&inbox).unwrap();
    assert!(matches!(
        session.read_message(4, 10),
        Err(Fault::TooLarge { .. })
    ));
    let mut session = support::session(&dovecot);
    assert!(
        session
            .append(&inbox, &[], None, 1000, &mut &b"short"[..])
            .is_err()
    );
    drop(session);
    let mut session = support::session(&dovecot);
    assert_eq!(uids(&mut session, "INBOX"), "1,3:4");
    let nowhere = session.folder_named("Nowhere");
    let fault = session
        .append(&nowhere, &[], None, 1, &mut &b"x"[..])
        .unwrap_err();
    assert!(
        fault.to_string().contains("take a message into Nowhere"),
        "{fault}"
    );
}

#[test]
fn flags_and_names_cannot_become_commands() {
    let dovecot = dovecot("");
    fill(&dovecot, "INBOX", 0, 1);
    let mut session = session(&dovecot);
    let inbox = session.folder_named("INBOX");
    session.select(&inbox).unwrap();
    for flag in ["", "\\", "a b", "a)\r\nt9 LOGOUT", "(x", "ü"] {
        let fault = session
            .store_flags(&set("1"), FlagChange::Add, &[flag])
            .unwrap_err();
        assert!(matches!(fault, Fault::Wish { .. }), "{flag:?}: {fault}");
    }
    let trick = session.folder_named("x\"\r\nt9 LOGOUT");
    let fault = session.copy_messages(&set("1"), &trick).unwrap_err();
    assert!(matches!(fault, Fault::Wish { .. }), "{fault}");
    assert_eq!(uids(&mut session, "INBOX"), "1");
}

#[test]
fn a_server_that_muddles_its_answer_is_not_believed() {
    let fake = Fake::start(
        "* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR UIDPLUS] hi\r\n",
        |line| {
            let tag = &line.tag;
            Some(
                match line.rest.as_str() {
                    "CAPABILITY" => format!("* CAPABILITY IMAP4rev1 UIDPLUS\r\n{tag} OK\r\n"),
                    rest if rest.starts_with("SELECT") => {
                        format!("* 2 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n{tag} OK\r\n")
                    }
                    rest if rest.starts_with("UID COPY") => {
                        format!("{tag} OK [COPYUID 7 1:2 5] done\r\n")
                    }
                    _ => format!("{tag} OK\r\n"),
                }
                .into_bytes(),
            )
        },
    );
    let mut session = Session::connect(&at_port(fake.port), &password()).unwrap();
    let (inbox, trash) = (session.folder_named("INBOX"), session.folder_named("Trash"));
    session.select(&inbox).unwrap();
    let fault = session.move_messages(&set("1:2"), &trash).unwrap_err();
    assert!(matches!(fault, Fault::Garbage { .. }), "{fault}");
    assert!(
        fake.heard().iter().all(|line| !line.contains("EXPUNGE")),
        "{:?}",
        fake.heard()
    );
}

#[test]
fn labels_of_gmail_are_written_as_gmail_reads_them() {
    let fake = Fake::start(
        "* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR X-GM-EXT-1] hi\r\n",
        |line| {
            let tag = &line.tag;
            Some(
                match line.rest.as_str() {
                    "CAPABILITY" => format!("* CAPABILITY IMAP4rev1 X-GM-EXT-1\r\n{tag} OK\r\n"),
                    rest if rest.starts_with("SELECT") => {
                        format!("* 2 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n{tag} OK\r\n")
                    }
                    rest if rest.starts_with("UID FETCH") => format!(
                        "* 1 FETCH (UID 1 X-GM-LABELS (\\Inbox \"a b\" \"&AOQ-\"))\r\n{tag} OK\r\n"
                    ),
                    _ => format!("{tag} OK\r\n"),
                }
                .into_bytes(),
            )
        },
    );
    let mut session = Session::connect(&at_port(fake.port), &password()).unwrap();
    let inbox = session.folder_named("INBOX");
    session.select(&inbox).unwrap();
    let labels = session.labels_of(&set("1:2")).unwrap();
    assert_eq!(labels[&1], ["\\Inbox", "a b", "\u{e4}"]);
    let before: Vec<&str> = labels[&1].iter().map(String::as_str).collect();
    session
        .store_labels(&set("1"), FlagChange::Add, &before)
        .unwrap();
    let heard = fake.heard();
    let last = heard.last().unwrap();
    assert!(
        last.ends_with("UID STORE 1 +X-GM-LABELS.SILENT (\\Inbox \"a b\" \"&AOQ-\")"),
        "{last}"
    );
    let fault = session
        .store_labels(&set("1"), FlagChange::Add, &[""])
        .unwrap_err();
    assert!(matches!(fault, Fault::Wish { .. }), "{fault}");
    // What looks like a second command is part of a name.
    session
        .store_labels(&set("1"), FlagChange::Add, &["a\r\nt9 LOGOUT"])
        .unwrap();
    assert!(!fake.heard().iter().any(|line| line.starts_with("t9 ")));
    let dovecot = dovecot("");
    let fault = support::session(&dovecot)
        .store_labels(&set("1"), FlagChange::Add, &["a"])
        .unwrap_err();
    assert!(matches!(fault, Fault::Lacks { .. }), "{fault}");
}
