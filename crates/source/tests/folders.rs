//! What is read in a folder, and what is not.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use support::{messages, open, read_all, write};
use twicetold_model::{Form, Location};
use twicetold_source::MailboxKind;

const MAIL: &str = "Subject: x\n\nhello\n";

fn paths(found: &[(String, String)]) -> Vec<&str> {
    found.iter().map(|(path, _)| path.as_str()).collect()
}

#[test]
fn each_file_of_a_tree_is_judged_alone() {
    let root = tempfile::tempdir().unwrap();
    let mbox = "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\nhello\n\n".repeat(2);
    write(root.path(), "t/1.", MAIL);
    write(root.path(), "t/a.eml", "broken header\n\nhello\n");
    write(root.path(), "t/box", &mbox);
    write(root.path(), "t/deep/er/post.txt", "A post\n");
    write(
        root.path(),
        "t/lines.jsonl",
        "{\"id\":1,\"text\":\"a\"}\n\n{\"id\":2,\"text\":\"b\"}\n",
    );
    write(root.path(), "t/picture.png", "no picture, but never opened");
    write(root.path(), "t/program", b"\x7fELF\0\0\0");
    write(root.path(), "t/empty", "");
    write(root.path(), "t/.hidden", MAIL);
    write(root.path(), "t/.git/config", "text");
    let collection = open(root.path(), &["t"]);
    let (handed, troubles) = read_all(&collection);
    assert_eq!(troubles, []);
    assert_eq!(collection.troubles(), []);
    let found: Vec<(String, Option<u64>, Form)> = handed
        .iter()
        .map(|message| {
            let path = message.location.path.rsplit('/').next().unwrap().to_owned();
            (path, message.location.offset, message.form)
        })
        .collect();
    let expected = [
        ("1.", None, Form::Mail),
        ("a.eml", None, Form::Mail),
        ("box", Some(0), Form::Mail),
        ("box", Some(53), Form::Mail),
        ("post.txt", None, Form::Text),
        ("lines.jsonl", Some(0), Form::Json),
        ("lines.jsonl", Some(21), Form::Json),
    ]
    .map(|(path, offset, form)| (path.to_owned(), offset, form));
    assert_eq!(found, expected);
    assert_eq!(collection.skipped(), 3);
    read_all(&collection);
    assert_eq!(collection.skipped(), 3, "counted anew, not added");
    for message in handed {
        let again = collection.read(&message.location).unwrap();
        assert_eq!(again.bytes, message.text.as_bytes());
        assert_eq!(again.form, message.form);
    }
}

#[test]
fn a_maildir_holds_messages_whatever_they_look_like() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "m/cur/1:2,S", "just text\n");
    write(root.path(), "m/cur/2:2,S", "");
    write(root.path(), "m/cur/3.png", MAIL);
    write(
        root.path(),
        "m/cur/4",
        format!("From a@b Thu Jan  1 00:00:00 1970\n{MAIL}\nFrom x\nTo: y\n"),
    );
    write(root.path(), "m/cur/.hidden", MAIL);
    write(root.path(), "m/new/5", b"\0\0\0");
    write(root.path(), "m/tmp/6", MAIL);
    write(root.path(), "m/dovecot.index.log", "x");
    write(root.path(), "m/courierimapuiddb", "x");
    write(root.path(), "m/subscriptions", "x");
    write(root.path(), "m/notes", "notes of some program\n");
    write(
        root.path(),
        "m/archive",
        format!("From a@b Thu Jan  1 00:00:00 1970\n{MAIL}"),
    );
    write(root.path(), "m/.Sent/cur/7", MAIL);
    write(root.path(), "m/.cache/8", MAIL);
    write(root.path(), "m/sub/new/9", MAIL);
    write(root.path(), "m/sub/cur/10", MAIL);
    let (found, troubles) = messages(root.path(), &["m"]);
    assert_eq!(troubles, [""; 0]);
    assert_eq!(
        paths(&found),
        [
            "m/.Sent/cur/7",
            "m/archive",
            "m/cur/1:2,S",
            "m/cur/2:2,S",
            "m/cur/3.png",
            "m/cur/4",
            "m/new/5",
            "m/sub/cur/10",
            "m/sub/new/9"
        ]
    );
    assert_eq!(
        found[5].1,
        format!("{MAIL}\nFrom x\nTo: y\n"),
        "one message, without its From line"
    );
}

#[test]
fn the_parts_of_a_maildir_can_be_named() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "m/cur/1", "just text\n");
    write(root.path(), "m/new/2", "");
    let collection = open(root.path(), &["m/cur", "m/new/2"]);
    let (handed, _) = read_all(&collection);
    assert_eq!(handed.len(), 2);
    assert!(handed.iter().all(|message| message.form == Form::Mail));
}

#[test]
fn an_empty_maildir_is_no_trouble_and_an_empty_folder_is() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("m/cur")).unwrap();
    fs::create_dir_all(root.path().join("n")).unwrap();
    write(root.path(), "o/a.png", "x");
    let (found, troubles) = messages(root.path(), &["m", "n", "o"]);
    assert_eq!(found, []);
    assert_eq!(
        troubles,
        [
            "n: an empty folder; nothing was read",
            "o: no file in this folder holds text, so there are no messages"
        ]
    );
}

#[test]
fn paths_are_as_given() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "t/a/1.eml", MAIL);
    for (given, expected) in [
        ("t", "t/a/1.eml"),
        ("t/", "t/a/1.eml"),
        ("t/./a", "t/./a/1.eml"),
        ("t/a/1.eml", "t/a/1.eml"),
    ] {
        let (found, _) = messages(root.path(), &[given]);
        assert_eq!(paths(&found), [expected]);
    }
}

#[test]
fn large_files_in_trees_are_streamed_and_named() {
    let root = tempfile::tempdir().unwrap();
    let message = format!(
        "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\n{}\n\n",
        "word ".repeat(200)
    );
    write(root.path(), "t/small", &message);
    write(root.path(), "t/large", message.repeat(6000));
    let collection = open(root.path(), &["t"]);
    let kinds: Vec<_> = collection
        .mailboxes()
        .iter()
        .map(|mailbox| (mailbox.kind, mailbox.files))
        .collect();
    assert_eq!(kinds, [(MailboxKind::Tree, 1), (MailboxKind::Mbox, 1)]);
    let (handed, _) = read_all(&collection);
    assert_eq!(handed.len(), 6001);
    assert!(handed.windows(2).all(|pair| pair[0].text == pair[1].text));
    let last = collection.read(&handed[5999].location).unwrap();
    assert_eq!(last.bytes, handed[5999].text.as_bytes());
}

#[test]
fn an_mbox_that_grows_can_be_read_on() {
    let root = tempfile::tempdir().unwrap();
    let message = "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\nhello\n\n";
    write(root.path(), "box", message);
    let collection = open(root.path(), &["box"]);
    write(root.path(), "box", message.repeat(3));
    let (handed, _) = read_all(&collection);
    assert_eq!(handed.len(), 3);
    assert_eq!(
        collection.read(&handed[2].location).unwrap().bytes,
        MAIL.as_bytes()
    );
}

#[test]
fn what_changed_since_is_an_error_not_another_message() {
    let root = tempfile::tempdir().unwrap();
    let message = "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\nhello\n\n";
    write(root.path(), "box", message.repeat(2));
    write(root.path(), "1.eml", MAIL);
    let collection = open(root.path(), &["box", "1.eml"]);
    let (handed, _) = read_all(&collection);
    let at = |offset| Location {
        path: handed[1].location.path.clone(),
        offset,
    };
    assert!(collection.read(&at(Some(53))).is_ok());
    for offset in [
        Some(1),
        Some(50),
        Some(52),
        Some(54),
        Some(5000),
        Some(u64::MAX),
        None,
    ] {
        assert!(collection.read(&at(offset)).is_err(), "{offset:?}");
    }
    let elsewhere = Location {
        path: "nowhere".into(),
        offset: None,
    };
    assert!(collection.read(&elsewhere).is_err());
    fs::remove_file(root.path().join("1.eml")).unwrap();
    assert!(collection.read(&handed[0].location).is_err());
}

#[cfg(unix)]
#[test]
fn names_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    for name in [&b"caf\xE9"[..], b"caf\xE8"] {
        let folder = root.path().join("t").join(OsStr::from_bytes(name));
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(OsStr::from_bytes(b"\xFF.eml")),
            format!("Subject: {}\n\n", name[3]),
        )
        .unwrap();
    }
    let (found, troubles) = messages(root.path(), &["t"]);
    assert_eq!(troubles, [""; 0]);
    assert_eq!(
        found,
        [
            (
                "t/caf\u{FFFD}E8/\u{FFFD}FF.eml".to_owned(),
                "Subject: 232\n\n".to_owned()
            ),
            (
                "t/caf\u{FFFD}E9/\u{FFFD}FF.eml".to_owned(),
                "Subject: 233\n\n".to_owned()
            ),
        ]
    );
}
