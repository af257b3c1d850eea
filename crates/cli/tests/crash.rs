//! Kills the program at every point where it matters, and looks what is left: every message exactly once, byte for byte.

#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used)]

mod common;
mod mailboxes;

use std::path::{Path, PathBuf};

use common::Folder;
use mailboxes::{contents, copy, difference, fill, leftovers, must, run, tree};

/// A pristine folder, a folder to work in, a plan for it, and a folder for journals.
struct Site {
    _folder: Folder,
    memory: Option<PathBuf>,
    pristine: PathBuf,
    work: PathBuf,
    state: PathBuf,
    plan: String,
}

/// The journals lie in memory, if the machine has a place for that: it is fast, and another file system. So do the
/// mailboxes, unless they are to lie elsewhere than the journals.
fn site(name: &str, beside: bool) -> Site {
    let folder = Folder::new(name);
    let memory = PathBuf::from(format!("/dev/shm/twicetold-{name}-{}", std::process::id()));
    let memory = std::fs::create_dir_all(&memory).is_ok().then_some(memory);
    let base = memory.clone().unwrap_or_else(|| folder.at("").into());
    let state = base.join("state");
    let mail = if beside { base } else { folder.at("").into() };
    let [pristine, work] = ["pristine", "work"].map(|n| mail.join(n));
    let plan = folder.at("mail.plan");
    std::fs::create_dir_all(&pristine).unwrap();
    fill(&pristine);
    copy(&pristine, &work);
    must(&work, &state, &["scan", "-q", ".", "--plan", &plan]);
    Site {
        _folder: folder,
        memory,
        pristine,
        work,
        state,
        plan,
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            let _ = std::fs::remove_dir_all(memory);
        }
    }
}

impl Site {
    fn renew(&self) {
        copy(&self.pristine, &self.work);
        let _ = std::fs::remove_dir_all(&self.state);
    }

    fn roots(&self) -> [PathBuf; 2] {
        [self.work.clone(), self.state.join("store")]
    }

    /// Every message is there exactly as often as before.
    fn check_contents(&self, at: &str) {
        let roots = self.roots();
        let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
        assert_eq!(contents(&roots), contents(&[&self.pristine]), "{at}");
        let now = tree(&self.work);
        let left = leftovers(&now);
        assert!(left.is_empty(), "{at}: {left:?}");
    }

    fn check_identical(&self, at: &str) {
        let found = difference(&tree(&self.pristine), &tree(&self.work));
        assert!(found.is_none(), "{at}: {}", found.unwrap());
    }

    fn undo_all(&self) {
        loop {
            let said = run(&self.work, &self.state, 0, &["undo", "--yes", "-q"]);
            match said.status.code() {
                Some(0) => {}
                Some(1) => break,
                code => panic!("{code:?} {said:?}"),
            }
        }
    }
}

fn killed_while_applying(site: &Site, action: &[&str]) {
    let mut apply = vec!["apply", &site.plan, "--yes", "-q"];
    apply.extend(action);
    let mut points = 0;
    for kill_at in 1.. {
        site.renew();
        let killed = run(&site.work, &site.state, kill_at, &apply);
        if killed.status.code() == Some(0) {
            break;
        }
        assert_eq!(killed.status.code(), None, "{killed:?}");
        points += 1;
        let at = format!("{action:?}, killed at point {kill_at}");
        must(&site.work, &site.state, &["history"]);
        site.check_contents(&at);
        // The rest can be done, and then all of it undone.
        must(&site.work, &site.state, &apply);
        site.check_contents(&at);
        site.undo_all();
        site.check_identical(&at);
    }
    assert!(points > 20, "only {points} points were reached");
}

fn killed_while_undoing(site: &Site, action: &[&str]) {
    let mut apply = vec!["apply", &site.plan, "--yes", "-q"];
    apply.extend(action);
    let mut points = 0;
    for kill_at in 1.. {
        site.renew();
        must(&site.work, &site.state, &apply);
        let killed = run(&site.work, &site.state, kill_at, &["undo", "--yes", "-q"]);
        if killed.status.code() == Some(0) {
            break;
        }
        assert_eq!(killed.status.code(), None, "{killed:?}");
        points += 1;
        let at = format!("{action:?}, undo killed at point {kill_at}");
        must(&site.work, &site.state, &["history"]);
        site.check_contents(&at);
        site.undo_all();
        site.check_identical(&at);
    }
    assert!(points > 10, "only {points} points were reached");
}

#[test]
fn applying_trash() {
    killed_while_applying(&site("crash-apply", true), &["--action", "trash"]);
}

#[test]
fn undoing_trash() {
    killed_while_undoing(&site("crash-undo", true), &["--action", "trash"]);
}

/// Fewer messages, because a disk is slow.
const DELETE: &[&str] = &[
    "--action",
    "delete",
    "--except",
    "mail",
    "--except",
    "lists.mbox",
];

/// Deleted messages are kept beside the journal, here on another file system if the machine has one.
#[test]
fn applying_delete() {
    killed_while_applying(&site("crash-delete", false), DELETE);
}

#[test]
fn undoing_delete() {
    killed_while_undoing(&site("crash-undelete", false), DELETE);
}
