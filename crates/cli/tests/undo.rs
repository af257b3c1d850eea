//! `twicetold undo` as users run it.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;
mod mailboxes;

use std::fs;
use std::path::PathBuf;

use common::{Folder, text};
use mailboxes::{boxed, contents, difference, fill, mail, must, run, tree};

/// Mailboxes to which a plan was applied.
fn applied(name: &str) -> (Folder, PathBuf, PathBuf) {
    let folder = Folder::new(name);
    let (mail, state) = (
        PathBuf::from(folder.at("mail")),
        PathBuf::from(folder.at("state")),
    );
    fs::create_dir_all(&mail).unwrap();
    fill(&mail);
    must(&mail, &state, &["scan", "-q", ".", "--plan", "../p"]);
    must(&mail, &state, &["apply", "../p", "--yes"]);
    (folder, mail, state)
}

#[test]
fn nothing_to_undo_is_told_with_a_hint() {
    let folder = Folder::new("undo-nothing");
    let here = PathBuf::from(folder.at(""));
    let undo = run(&here, &here.join("state"), 0, &["undo", "--yes"]);
    assert_eq!(undo.status.code(), Some(1));
    let said = text(&undo.stderr);
    assert!(said.contains("there is no run to undo"), "{said}");
    assert!(said.contains("hint: twicetold history"), "{said}");
    assert!(!here.join("state").exists());
}

#[test]
fn a_dry_run_and_no_yes_change_nothing() {
    let (_folder, mail, state) = applied("undo-dry");
    let before = tree(&mail);
    let said = must(&mail, &state, &["undo", "--dry-run", "--list"]);
    assert!(
        said.contains("9 messages") && said.contains("would be put back"),
        "{said}"
    );
    assert_eq!(run(&mail, &state, 0, &["undo"]).status.code(), Some(2));
    assert_eq!(difference(&before, &tree(&mail)), None);
}

#[test]
fn what_came_since_is_not_overwritten() {
    let (_folder, mail_, state) = applied("undo-since");
    // New mail in the mbox, a file where a message was, flags changed in the trash, an mbox rewritten.
    let new = boxed(&mail(
        "new-1",
        20,
        "",
        "The new gate code will be told at the meeting.\n",
    ));
    let lists = fs::read_to_string(mail_.join("lists.mbox")).unwrap();
    fs::write(
        mail_.join("lists.mbox"),
        lists.replace("rowing.example.org>\n", "rowing.example.org>\nX-UID: 7\n") + &new,
    )
    .unwrap();
    fs::write(mail_.join("tree/b/x.eml"), "something else\n").unwrap();
    let trash = mail_.join("mail/.Twicetold-Trash/cur");
    fs::rename(trash.join("1.host:2,FS"), trash.join("1.host:2,FRS")).unwrap();
    let before = contents(&[&mail_]);
    let said = must(&mail_, &state, &["undo", "--yes"]);
    assert_eq!(contents(&[&mail_]), before, "{said}");
    assert_eq!(
        fs::read_to_string(mail_.join("tree/b/x.eml")).unwrap(),
        "something else\n"
    );
    assert!(mail_.join("tree/b/x-2.eml").is_file(), "{said}");
    assert!(said.contains("x.eml is taken by another file"), "{said}");
    assert!(mail_.join("mail/cur/1.host:2,FS").is_file(), "{said}");
    assert!(said.contains("lists.mbox has changed since"), "{said}");
    let lists = fs::read_to_string(mail_.join("lists.mbox")).unwrap();
    let order: Vec<usize> = ["<cake-1", "<hut-1", "<hut-2", "<new-1"]
        .iter()
        .map(|id| lists.find(&format!("Message-ID: {id}")).unwrap())
        .collect();
    assert!(order.is_sorted(), "{lists}");
    assert!(!mail_.join(".Twicetold-Trash").exists());
}

#[test]
fn what_is_gone_from_the_trash_is_named_and_the_rest_comes_back() {
    let (_folder, mail, state) = applied("undo-gone");
    fs::remove_file(mail.join(".Twicetold-Trash/tree/b/x.eml")).unwrap();
    fs::remove_file(mail.join(".Twicetold-Trash/lists.mbox")).unwrap();
    let undo = run(&mail, &state, 0, &["undo", "--yes"]);
    let said = text(&undo.stdout);
    assert_eq!(undo.status.code(), Some(3), "{said}");
    assert!(said.contains("6 messages"), "{said}");
    assert!(said.contains("not ./tree/b/x.eml:"), "{said}");
    assert!(said.contains("lists.mbox cannot be read"), "{said}");
    assert!(mail.join("tree/b/y.eml").is_file());
    let said = must(&mail, &state, &["history"]);
    assert!(said.contains("partly undone"), "{said}");
}

#[test]
fn runs_can_be_undone_in_any_order() {
    let folder = Folder::new("undo-order");
    let (mail, state): (PathBuf, PathBuf) = (folder.at("mail").into(), folder.at("state").into());
    fs::create_dir_all(&mail).unwrap();
    fill(&mail);
    let before = tree(&mail);
    let all = contents(&[&mail]);
    must(&mail, &state, &["scan", "-q", ".", "--plan", "../p"]);
    must(
        &mail,
        &state,
        &["apply", "../p", "--yes", "--only", "identical"],
    );
    must(&mail, &state, &["apply", "../p", "--yes"]);
    must(&mail, &state, &["undo", "1", "--yes"]);
    assert_eq!(contents(&[&mail]), all);
    must(&mail, &state, &["undo", "2", "--yes"]);
    assert_eq!(contents(&[&mail]), all);
    let names = |tree: &mailboxes::Tree| -> Vec<PathBuf> {
        let mail = tree
            .keys()
            .filter(|path| !path.to_string_lossy().contains("Trash"));
        mail.cloned().collect()
    };
    assert_eq!(names(&tree(&mail)), names(&before));
    let said = must(&mail, &state, &["undo", "2", "--yes"]);
    assert!(said.contains("run 2 is undone"), "{said}");
}
