//! What cannot be read is told, and never stops the rest; what is named twice is read once.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::Path;

use support::{messages, open, read_all, write};

const MAIL: &str = "Subject: x\n\nhello\n";
const MBOX: &str = "From a@b Thu Jan  1 00:00:00 1970\nSubject: x\n\nhello\n\n";

fn check(root: &Path, given: &[&str], expected: &[&str], troubles: &[&str]) {
    let (found, told) = messages(root, given);
    let found: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(found, expected, "{given:?}");
    assert_eq!(told, troubles, "{given:?}");
}

#[test]
fn what_is_not_there() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a.eml", MAIL);
    check(
        root.path(),
        &["b", "a.eml", "a.eml/c"],
        &["a.eml"],
        &[
            "a.eml/c: there is no such file or folder; check the spelling",
            "b: there is no such file or folder; check the spelling",
        ],
    );
}

#[test]
fn what_is_no_mail() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "a.png", b"\x89PNG\0");
    write(root.path(), "empty", "");
    let collection = open(root.path(), &["a.png", "empty"]);
    assert_eq!(collection.troubles().len(), 1);
    assert_eq!(collection.skipped(), 2);
    assert_eq!(
        collection.troubles()[0].problem.what,
        "holds no text, so no messages; if it is an archive, unpack it first"
    );
}

#[test]
fn a_file_that_is_gone_when_it_is_read() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "t/a.eml", MAIL);
    write(root.path(), "t/b.eml", MAIL);
    let collection = open(root.path(), &["t"]);
    fs::remove_file(root.path().join("t/a.eml")).unwrap();
    let (handed, troubles) = read_all(&collection);
    assert_eq!(handed.len(), 1);
    assert_eq!(troubles.len(), 1);
    assert!(troubles[0].path.ends_with("t/a.eml"));
    assert!(troubles[0].problem.what.starts_with("gone since"));
}

#[test]
fn named_twice() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "t/a.eml", MAIL);
    write(root.path(), "t/s/b.eml", MAIL);
    write(root.path(), "box", MBOX);
    let all = ["t/a.eml", "t/s/b.eml"];
    let twice = |path: &str| format!("{path}: named twice, read once");
    check(root.path(), &["t", "t"], &all, &[&twice("t")]);
    check(root.path(), &["t", "t/"], &all, &[&twice("t/")]);
    check(root.path(), &["t", "t/s"], &all, &[&twice("t/s")]);
    check(root.path(), &["t/s", "t"], &all, &[&twice("t/s")]);
    check(root.path(), &["t/a.eml", "t"], &all, &[&twice("t/a.eml")]);
    check(
        root.path(),
        &["t", "t/s/b.eml"],
        &all,
        &[&twice("t/s/b.eml")],
    );
    check(
        root.path(),
        &["box", "./box", "box"],
        &["box"],
        &[&twice("./box"), &twice("box")],
    );
    check(root.path(), &["t/s", "box"], &["box", "t/s/b.eml"], &[]);
}

#[test]
fn a_part_of_a_maildir_named_beside_it() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "m/cur/1", MAIL);
    write(root.path(), "m/new/2", MAIL);
    for given in [["m", "m/cur"], ["m/cur", "m"]] {
        check(
            root.path(),
            &given,
            &["m/cur/1", "m/new/2"],
            &["m/cur: named twice, read once"],
        );
    }
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_that_lead_nowhere() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "t/a.eml", MAIL);
        symlink("/no/such/disk", root.path().join("t/archive")).unwrap();
        symlink("loop", root.path().join("t/loop")).unwrap();
        let (found, told) = messages(root.path(), &["t"]);
        assert_eq!(found.len(), 1);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("t/archive: a link that leads nowhere"));
        assert!(told[1].starts_with("t/loop: a link that leads nowhere"));
        let troubles = open(root.path(), &["t"]);
        assert!(troubles.troubles().iter().all(|trouble| trouble.is_note()));
    }

    #[test]
    fn links_to_what_is_named_already() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "t/a.eml", MAIL);
        write(root.path(), "box", MBOX);
        symlink(root.path().join("t"), root.path().join("u")).unwrap();
        fs::hard_link(root.path().join("box"), root.path().join("also")).unwrap();
        check(
            root.path(),
            &["t", "u"],
            &["t/a.eml"],
            &["u: named twice, read once"],
        );
        check(root.path(), &["u"], &["u/a.eml"], &[]);
        check(
            root.path(),
            &["box", "also"],
            &["box"],
            &["also: named twice, read once"],
        );
    }

    #[test]
    fn a_named_mbox_is_known_again_by_its_other_name_in_a_folder() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "box", MBOX);
        write(root.path(), "t/a.eml", MAIL);
        fs::hard_link(root.path().join("box"), root.path().join("t/box")).unwrap();
        check(
            root.path(),
            &["box", "t"],
            &["box", "t/a.eml"],
            &["box: named twice, read once"],
        );
    }

    #[test]
    fn hard_links_in_a_maildir_are_two_copies() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "m/cur/1", MAIL);
        write(root.path(), "m/.Copies/cur/x", MAIL);
        fs::hard_link(root.path().join("m/cur/1"), root.path().join("m/cur/2")).unwrap();
        let all = ["m/.Copies/cur/x", "m/cur/1", "m/cur/2"];
        check(root.path(), &["m"], &all, &[]);
        check(
            root.path(),
            &["m/cur/1", "m"],
            &all,
            &["m/cur/1: named twice, read once"],
        );
    }

    #[test]
    fn loops_end_and_real_paths_win() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "t/z/a.eml", MAIL);
        write(root.path(), "outside/o.eml", MAIL);
        write(root.path(), "single.eml", MAIL);
        let link =
            |to: &str, at: &str| symlink(root.path().join(to), root.path().join(at)).unwrap();
        link("t", "t/again");
        link("t/z", "t/a-link-to-z");
        link("t/z/a.eml", "t/b.eml");
        link("outside", "t/out");
        link("outside", "t/out-too");
        link("outside/o.eml", "t/o.eml");
        link("single.eml", "t/single");
        link("single.eml", "t/single-too");
        link("nowhere", "t/broken");
        link("t/self", "t/self");
        check(
            root.path(),
            &["t"],
            &["t/out/o.eml", "t/single", "t/z/a.eml"],
            &[
                "t/broken: a link that leads nowhere; if its disk is not mounted, mount it and scan again",
                "t/self: a link that leads nowhere; if its disk is not mounted, mount it and scan again",
            ],
        );
    }

    #[test]
    fn a_socket_is_not_read() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "t/a.eml", MAIL);
        let path = root.path().join("t/socket");
        let _socket = std::os::unix::net::UnixListener::bind(path).unwrap();
        check(root.path(), &["t"], &["t/a.eml"], &[]);
        check(
            root.path(),
            &["t/socket"],
            &[],
            &[
                "t/socket: neither a file nor a folder, so it was not read; name the file that holds the mail",
            ],
        );
    }

    #[test]
    fn what_may_not_be_read() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "t/a.eml", MAIL);
        write(root.path(), "t/closed/b.eml", MAIL);
        let closed = root.path().join("t/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read everything.
        if fs::read_dir(&closed).is_err() {
            check(
                root.path(),
                &["t"],
                &["t/a.eml"],
                &["t/closed: permission denied; ask for the right to read it, or leave it out"],
            );
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn an_mbox_that_somebody_writes_to_meanwhile_is_told() {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in [("still", MBOX.repeat(3)), ("busy", MBOX.repeat(3))] {
        write(root.path(), name, text);
    }
    write(root.path(), "t/a.eml", MAIL);
    let collection = open(root.path(), &["still", "busy", "t"]);
    assert!(collection.changed().is_empty());
    for text in [MBOX.repeat(4), MBOX.to_owned()] {
        write(root.path(), "busy", text);
        let changed = collection.changed();
        assert_eq!(changed.len(), 1);
        assert!(changed[0].path.ends_with("busy") && !changed[0].is_note());
        assert!(
            changed[0]
                .problem
                .what
                .starts_with("changed while it was read")
        );
    }
    fs::remove_file(root.path().join("still")).unwrap();
    assert_eq!(collection.changed().len(), 2);
}

#[test]
fn a_report_that_is_named_is_told_and_one_in_a_folder_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let report = "schema,path,offset,message_id,verdict,category\r\n1,a.eml,,,unique,\r\n";
    write(root.path(), "t/report.csv", report);
    write(root.path(), "t/a.eml", MAIL);
    check(root.path(), &["t"], &["t/a.eml"], &[]);
    check(
        root.path(),
        &["t/report.csv"],
        &[],
        &[
            "t/report.csv: a report or a plan that Twicetold has written, so no messages; name the mail that it is about",
        ],
    );
}
