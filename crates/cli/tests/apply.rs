//! `twicetold apply` as users run it.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;
mod mailboxes;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Folder, text, twicetold};
use mailboxes::{BOAT, boxed, contents, copy, difference, fill, mail, must, run, tree};

/// A folder with mailboxes, their plan, and a place for journals.
struct Site {
    folder: Folder,
    mail: PathBuf,
    state: PathBuf,
    plan: String,
}

impl Site {
    fn new(name: &str, fill: impl FnOnce(&Path)) -> Self {
        let folder = Folder::new(name);
        let mail = PathBuf::from(folder.at("mail"));
        fs::create_dir_all(&mail).unwrap();
        fill(&mail);
        let site = Self {
            state: folder.at("state").into(),
            plan: folder.at("mail.plan"),
            folder,
            mail,
        };
        site.must(&["scan", "-q", ".", "--plan", &site.plan]);
        site
    }

    fn run(&self, args: &[&str]) -> Output {
        run(&self.mail, &self.state, 0, args)
    }

    fn must(&self, args: &[&str]) -> String {
        must(&self.mail, &self.state, args)
    }

    /// Applies the plan, which must end with 3, and returns what is said.
    fn refused(&self, args: &[&str]) -> String {
        let mut all = vec!["apply", &self.plan, "--yes", "-q"];
        all.extend(args);
        let run = self.run(&all);
        let said = format!("{}{}", text(&run.stdout), text(&run.stderr));
        assert_eq!(run.status.code(), Some(3), "{said}");
        said
    }

    fn exists(&self, path: &str) -> bool {
        self.mail.join(path).exists()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.mail.join(path)).unwrap()
    }
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample")
}

#[test]
fn the_three_commands() {
    let folder = Folder::new("apply-three");
    let (mail, state) = (
        PathBuf::from(folder.at("Mail")),
        PathBuf::from(folder.at("state")),
    );
    copy(&sample().join("mailbox"), &mail.join("mailbox"));
    fs::copy(sample().join("list.mbox"), mail.join("list.mbox")).unwrap();
    let before = tree(&mail);
    let here = PathBuf::from(folder.at(""));
    must(&here, &state, &["scan", "Mail", "--plan", "mail.plan"]);
    assert_eq!(difference(&before, &tree(&mail)), None);
    let said = must(&here, &state, &["apply", "mail.plan", "--yes"]);
    assert!(
        said.contains("18 messages (11.9 kB) were moved to the trash."),
        "{said}"
    );
    assert_eq!(contents(&[&mail]).values().sum::<usize>(), 50);
    let rest = must(&here, &state, &["scan", "-q", "--format", "jsonl", "Mail"]);
    assert_eq!(rest.lines().count(), 32);
    assert!(!rest.contains("\"redundant\""), "{rest}");
    let said = must(&here, &state, &["undo", "--yes"]);
    assert!(
        said.contains("18 messages (11.9 kB) were put back."),
        "{said}"
    );
    assert_eq!(difference(&before, &tree(&mail)), None);
}

#[test]
fn a_dry_run_changes_nothing_and_leaves_no_trace() {
    let site = Site::new("apply-dry", fill);
    let before = tree(&site.mail);
    let said = site.must(&["apply", &site.plan, "--dry-run", "--list"]);
    assert!(said.contains("would be moved to the trash"), "{said}");
    assert!(said.contains("Nothing was changed"), "{said}");
    assert_eq!(difference(&before, &tree(&site.mail)), None);
    assert!(!site.state.exists());
}

#[test]
fn without_a_terminal_somebody_must_have_said_yes() {
    let site = Site::new("apply-yes", fill);
    let before = tree(&site.mail);
    let run = site.run(&["apply", &site.plan]);
    assert_eq!(run.status.code(), Some(2));
    let said = text(&run.stderr);
    assert!(said.contains("will be moved to the trash"), "{said}");
    assert!(said.contains("hint: add --yes"), "{said}");
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn flags_and_labels_go_over_to_what_stays() {
    let site = Site::new("apply-flags", fill);
    let said = site.must(&["apply", &site.plan, "--yes"]);
    // The copy in the archive stays: it was answered, and takes the star of the message that it quotes.
    assert!(
        site.exists("mail/.Archive/cur/3.host:2,FRSa"),
        "{said}\n{:?}",
        tree(&site.mail).keys()
    );
    // In the mbox, the unread copy stays and takes over that the other was read and starred, and labels from the other file.
    let lists = site.read("lists.mbox");
    assert!(lists.contains("X-Status: F\n"), "{lists}");
    assert!(lists.contains("Status: R\n"), "{lists}");
    assert!(lists.contains("X-Keywords: hut winter\n"), "{lists}");
    site.must(&["undo", "--yes"]);
    let fresh = PathBuf::from(site.folder.at("fresh"));
    fs::create_dir_all(&fresh).unwrap();
    fill(&fresh);
    assert_eq!(difference(&tree(&fresh), &tree(&site.mail)), None);
}

#[test]
fn other_actions_do_what_they_say_and_can_be_undone() {
    type Check = fn(&Site);
    let cases: [(&str, &[&str], Check); 5] = [
        (
            "move",
            &["--action", "move-to", "--to", "../away"],
            |site| {
                assert!(Path::new(&site.folder.at("away/tree/b/x.eml")).is_file());
                assert!(Path::new(&site.folder.at("away/lists.mbox")).is_file());
                assert!(!site.exists("tree/b/x.eml"));
            },
        ),
        ("delete", &["--action", "delete"], |site| {
            assert!(!site.exists("tree/b/x.eml"));
            assert!(!site.exists(".Twicetold-Trash"));
        }),
        (
            "flag",
            &[
                "--action",
                "flag",
                "--except",
                "tree",
                "--except",
                "notes.jsonl",
            ],
            |site| {
                assert!(site.exists("mail/cur/1.host:2,FST"));
                assert!(site.read("lists.mbox").contains("X-Status: FD\n"));
                assert!(site.read("second.mbox").contains("X-Status: D\n"));
            },
        ),
        (
            "label",
            &[
                "--action",
                "label",
                "--label",
                "Work",
                "--only",
                "mail",
                "--only",
                "lists.mbox",
            ],
            |site| {
                assert!(
                    site.exists("mail/cur/1.host:2,FSc"),
                    "{:?}",
                    tree(&site.mail).keys()
                );
                assert!(site.read("lists.mbox").contains("X-Keywords: Work\n"));
            },
        ),
        (
            "hardlink",
            &["--action", "hardlink", "--only", "tree"],
            |site| {
                let inode = |path: &str| fs::metadata(site.mail.join(path)).unwrap().ino();
                assert_eq!(inode("tree/a/x.eml"), inode("tree/b/x.eml"));
                assert_eq!(inode("tree/a/x.eml"), inode("tree/b/y.eml"));
            },
        ),
    ];
    for (name, action, check) in cases {
        let site = Site::new(&format!("apply-{name}"), fill);
        let before = tree(&site.mail);
        let mut args = vec!["apply", &site.plan, "--yes"];
        args.extend(action);
        site.must(&args);
        check(&site);
        site.must(&["undo", "--yes"]);
        let found = difference(&before, &tree(&site.mail));
        assert!(found.is_none(), "{name}: {}", found.unwrap());
        // Files of their own again.
        if name == "hardlink" {
            assert_eq!(
                fs::metadata(site.mail.join("tree/a/x.eml"))
                    .unwrap()
                    .nlink(),
                1
            );
        }
        assert!(!Path::new(&site.folder.at("away")).exists());
    }
}

#[test]
fn what_an_action_cannot_do_is_told() {
    let site = Site::new("apply-cannot", fill);
    let before = tree(&site.mail);
    let said = site.refused(&["--action", "hardlink", "--only", "lists.mbox"]);
    assert!(said.contains("cannot be a link"), "{said}");
    let said = site.refused(&["--action", "flag", "--only", "tree"]);
    assert!(said.contains("no place for flags"), "{said}");
    let said = site.refused(&["--action", "label", "--only", "mail"]);
    assert!(said.contains("does not know the label twicetold"), "{said}");
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn only_and_except_choose() {
    let site = Site::new("apply-choose", fill);
    let said = site.must(&[
        "apply",
        &site.plan,
        "--dry-run",
        "--list",
        "--only",
        "identical",
        "--except",
        "./tree/b/y.eml",
    ]);
    assert!(
        said.contains("tree/b/x.eml") && !said.contains("tree/b/y.eml"),
        "{said}"
    );
    assert!(!said.contains("mail/cur/1.host"), "{said}");
    let said = site.must(&[
        "apply",
        &site.plan,
        "--dry-run",
        "--list",
        "--only",
        "boat-1@rowing.example.org",
    ]);
    assert!(said.starts_with("1 message"), "{said}");
    // A slip names no message: nothing is done, and the folders there are are named.
    for option in ["--only", "--except"] {
        let run = site.run(&["apply", &site.plan, "--yes", option, "no-such-thing"]);
        assert_eq!(run.status.code(), Some(2), "{option}");
        let said = text(&run.stderr);
        assert!(
            said.contains(&format!("{option} no-such-thing matches none"))
                && said.contains("tree/b"),
            "{said}"
        );
    }
    fs::create_dir(site.mail.join("empty")).unwrap();
    let said = site.must(&["apply", &site.plan, "--yes", "--only", "empty"]);
    assert!(said.contains("Nothing to do"), "{said}");
}

#[test]
fn a_witness_that_was_marked_since_holds_nothing() {
    for flags in ["ST", "DS"] {
        let site = Site::new(&format!("apply-marked-{flags}"), |root| {
            let cur = root.join("mail/cur");
            fs::create_dir_all(&cur).unwrap();
            let letter = "From: a@example.org\nSubject: Hut\nMessage-ID: <1@example.org>\n\
                          Date: Mon, 1 Jan 2024 10:00:00 +0000\n\n\
                          The hut in the mountains has room for twelve guests this winter.\n";
            fs::write(cur.join("1.host:2,S"), letter).unwrap();
            fs::write(cur.join("2.host:2,S"), letter).unwrap();
        });
        let marked = format!("1.host:2,{flags}");
        let cur = site.mail.join("mail/cur");
        fs::rename(cur.join("1.host:2,S"), cur.join(marked)).unwrap();
        let said = site.refused(&[]);
        assert!(said.contains("marked deleted, a draft"), "{said}");
        assert!(site.exists("mail/cur/2.host:2,S"));
    }
}

#[test]
fn a_message_or_witness_that_changed_stays_and_the_others_go() {
    let site = Site::new("apply-changed", fill);
    let pond = site.read("tree/b/x.eml");
    fs::write(
        site.mail.join("tree/b/x.eml"),
        pond.replace("helmet", "hat"),
    )
    .unwrap();
    // What holds a message of the mbox is no longer there.
    fs::rename(site.mail.join("mail/new/4.host"), site.folder.at("4")).unwrap();
    let said = site.refused(&[]);
    assert!(
        said.contains("tree/b/x.eml: it has changed since the scan; scan again"),
        "{said}"
    );
    assert!(
        said.contains("mail/new/4.host holds what it says, but"),
        "{said}"
    );
    assert!(site.exists("tree/b/x.eml"));
    assert!(site.read("second.mbox").contains("wooden oars"));
    assert!(!site.exists("tree/b/y.eml"), "{said}");
}

#[test]
fn mail_that_was_read_or_delivered_meanwhile_is_no_obstacle() {
    let site = Site::new("apply-meanwhile", fill);
    let cur = site.mail.join("mail/cur");
    fs::rename(cur.join("2.host:2,"), cur.join("2.host:2,S")).unwrap();
    fs::rename(site.mail.join("mail/new/4.host"), cur.join("4.host:2,S")).unwrap();
    let lists = site.read("lists.mbox");
    let new = boxed(&mail(
        "new-1",
        20,
        "",
        "The new gate code will be told at the meeting.\n",
    ));
    // A mail program writes "Status" when a message is read: everything behind it moves.
    let read = lists.replacen("Message-ID", "Status: RO\nMessage-ID", 1);
    fs::write(site.mail.join("lists.mbox"), format!("{read}{new}")).unwrap();
    let before = tree(&site.mail);
    let said = site.must(&["apply", &site.plan, "--yes"]);
    assert!(said.contains("9 messages"), "{said}");
    assert!(site.read("lists.mbox").ends_with(&new));
    site.must(&["undo", "--yes"]);
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn a_forged_plan_removes_nothing_that_is_not_proved() {
    let site = Site::new("apply-forged", fill);
    // A plan that names another message as the witness, with a right checksum all over.
    let plan = fs::read_to_string(&site.plan).unwrap();
    let mut lines: Vec<serde_json::Value> = plan
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines.pop();
    let at = |path: &str| lines.iter().position(|line| line["path"] == path).unwrap();
    let (x, other) = (at("./tree/b/x.eml"), at("./mail/cur/1.host:2,FS"));
    lines[x]["witnesses"] = lines[other]["witnesses"].clone();
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let checksum = twicetold_source::Checksum::of(body.as_bytes());
    let seal = format!(
        "{{\"lines\":{},\"checksum\":\"{checksum}\"}}\n",
        lines.len()
    );
    fs::write(&site.plan, body + &seal).unwrap();
    let said = site.refused(&[]);
    assert!(
        said.contains("tree/b/x.eml: the proof does not hold"),
        "{said}"
    );
    assert!(site.exists("tree/b/x.eml"));
}

#[test]
fn plans_that_cannot_be_trusted_are_refused() {
    let site = Site::new("apply-plans", fill);
    let before = tree(&site.mail);
    let plan = fs::read(&site.plan).unwrap();
    let lines: Vec<&[u8]> = plan.split_inclusive(|&b| b == b'\n').collect();
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("cut", plan[..plan.len() / 2].to_vec(), "its end is missing"),
        (
            "edited",
            [lines[0], &lines[2..].concat()].concat(),
            "was changed",
        ),
        ("other", b"From: a\n\nb".to_vec(), "it is not a plan"),
        ("empty", Vec::new(), "it is not a plan"),
        ("future", b"{\"twicetold_plan\":2}\n".to_vec(), "version 2"),
    ];
    for (name, bytes, expected) in cases {
        let file = site.folder.at(name);
        fs::write(&file, bytes).unwrap();
        let run = site.run(&["apply", &file, "--yes"]);
        let said = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains(expected) && said.contains(name), "{said}");
        assert!(said.contains("hint: "), "{said}");
    }
    let run = site.run(&["apply", "no-such-plan", "--yes"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stderr).contains("no-such-plan"),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn a_plan_for_files_that_are_elsewhere_removes_nothing() {
    let site = Site::new("apply-elsewhere", fill);
    let moved = PathBuf::from(site.folder.at("moved"));
    fs::rename(&site.mail, &moved).unwrap();
    fs::create_dir(&site.mail).unwrap();
    let before = tree(&moved);
    let said = site.refused(&[]);
    assert!(
        said.contains("is no longer there") && said.contains("scan again"),
        "{said}"
    );
    assert!(said.contains("Nothing was changed."), "{said}");
    assert_eq!(difference(&before, &tree(&moved)), None);
    assert!(tree(&site.mail).is_empty());
}

#[test]
fn a_locked_mailbox_stays_and_the_lock_is_named() {
    let site = Site::new("apply-locked", fill);
    fs::write(site.mail.join("lists.mbox.lock"), "1\n").unwrap();
    let held = fs::File::options()
        .write(true)
        .open(site.mail.join("second.mbox"))
        .unwrap();
    rustix::fs::fcntl_lock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let before = (site.read("lists.mbox"), site.read("second.mbox"));
    // Reading it in this process has given the lock up.
    rustix::fs::fcntl_lock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let said = site.refused(&["--lock-timeout", "0"]);
    assert!(
        said.contains("lists.mbox is locked by another program"),
        "{said}"
    );
    assert!(said.contains("lists.mbox.lock was there"), "{said}");
    assert!(
        said.contains("second.mbox is locked by another program"),
        "{said}"
    );
    assert_eq!(before, (site.read("lists.mbox"), site.read("second.mbox")));
    assert_eq!(site.read("lists.mbox.lock"), "1\n");
    assert!(!site.exists("tree/b/x.eml"));
}

/// Root may write everywhere: then the test shows nothing, and says so.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_read_only_folder_stays_as_it_is() {
    let site = Site::new("apply-read-only", fill);
    let before = tree(&site.mail);
    let folders = ["mail/cur", "mail", "tree/b", "tree", "."];
    let set = |mode| {
        for folder in folders {
            fs::set_permissions(site.mail.join(folder), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    let args = ["apply", &site.plan, "--yes", "-q"];
    let run = if is_root() {
        // Root is allowed everything, nobody is not; the state must be nobody's.
        fs::create_dir_all(&site.state).unwrap();
        fs::set_permissions(&site.state, fs::Permissions::from_mode(0o777)).unwrap();
        let run = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(env!("CARGO_BIN_EXE_twicetold"))
            .args(args)
            .current_dir(&site.mail)
            .env("TWICETOLD_STATE", &site.state)
            .output();
        match run {
            Ok(run) if run.status.code() != Some(1) => run,
            _ => {
                eprintln!("skipped: root cannot become somebody else here");
                return set(0o755);
            }
        }
    } else {
        site.run(&args)
    };
    set(0o755);
    let said = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("cannot be") && said.contains("denied"),
        "{said}"
    );
    assert!(said.contains("right"), "{said}");
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn a_full_disk_loses_nothing() {
    let site = Site::new("apply-full", |root| {
        fill(root);
        // Much that stays, so that the new file does not fit.
        let long: String = (0..4000)
            .map(|n| format!("Line {n} of the minutes tells about item {}.\n", n * 7))
            .collect();
        let lists = fs::read_to_string(root.join("lists.mbox")).unwrap();
        fs::write(
            root.join("lists.mbox"),
            boxed(&mail("long-1", 9, "", &long)) + &lists,
        )
        .unwrap();
    });
    let before = tree(&site.mail);
    // No file may become longer than 50 kB; the signal for it is ignored, so that writing fails.
    let run = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 50; exec \"$@\"", "bash"])
        .arg(env!("CARGO_BIN_EXE_twicetold"))
        .args(["apply", &site.plan, "--yes", "-q"])
        .current_dir(&site.mail)
        .env("TWICETOLD_STATE", &site.state)
        .output()
        .unwrap();
    let said = format!("{}{}", text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("lists.mbox cannot be changed: File too large"),
        "{said}"
    );
    assert!(said.contains("make room on the disk"), "{said}");
    assert!(!site.exists(".Twicetold-Trash/lists.mbox"));
    assert!(!site.exists("tree/b/x.eml"), "{said}");
    site.must(&["undo", "--yes"]);
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn names_that_are_not_utf8_survive() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"caf\xE9 \xFF");
    let site = Site::new("apply-odd", |root| {
        fs::create_dir_all(root.join(odd)).unwrap();
        let boat = mail("boat-1", 1, "", BOAT);
        fs::write(root.join(odd).join("a.eml"), &boat).unwrap();
        fs::write(root.join(odd).join(odd), &boat).unwrap();
        fs::write(root.join("b.mbox"), boxed(&boat)).unwrap();
    });
    let before = tree(&site.mail);
    let said = site.must(&["apply", &site.plan, "--yes"]);
    assert!(said.contains("2 messages"), "{said}");
    let trashed = site.mail.join(".Twicetold-Trash").join(odd);
    assert_eq!(fs::read_dir(trashed).unwrap().count(), 2);
    site.must(&["undo", "--yes"]);
    assert_eq!(difference(&before, &tree(&site.mail)), None);
}

#[test]
fn a_trash_of_another_name_is_left_out_too() {
    let site = Site::new("apply-other-trash", fill);
    site.must(&["apply", &site.plan, "--yes", "--trash", ".Trash"]);
    let again = site.folder.at("again.plan");
    site.must(&["scan", "-q", ".", "--plan", &again]);
    let plan = fs::read_to_string(&again).unwrap();
    assert!(plan.contains("\"removals\":0"), "{plan}");
    assert!(!plan.contains(".Trash"), "{plan}");
}

#[test]
fn what_lies_in_the_trash_is_no_reason_to_remove_more() {
    let site = Site::new("apply-trash", fill);
    site.must(&["apply", &site.plan, "--yes"]);
    let kept = contents(&[&site.mail]).len();
    let again = site.folder.at("again.plan");
    site.must(&["scan", "-q", ".", "--plan", &again]);
    assert!(
        fs::read_to_string(&again)
            .unwrap()
            .contains("\"removals\":0")
    );
    // Named on purpose, the trash is read; nothing goes because of it.
    site.must(&[
        "scan",
        "-q",
        ".",
        ".Twicetold-Trash",
        "mail/.Twicetold-Trash",
        "--keep",
        "folder:.Twicetold-Trash,folder:mail/.Twicetold-Trash",
        "--plan",
        &again,
    ]);
    let run = site.run(&["apply", &again, "--yes", "-q"]);
    assert!(
        text(&run.stdout).contains("lies in the trash"),
        "{}",
        text(&run.stdout)
    );
    assert_eq!(contents(&[&site.mail]).len(), kept);
}

#[test]
fn wrong_usage_ends_with_2() {
    let cases: &[&[&str]] = &[
        &["apply"],
        &["apply", "p", "--action", "burn"],
        &["apply", "p", "--action", "move-to"],
        &["undo", "first"],
        &["history", "--format", "xml"],
    ];
    for args in cases {
        let run = twicetold(args.iter().copied());
        assert_eq!(run.status.code(), Some(2), "{args:?}");
    }
    let site = Site::new("apply-usage", fill);
    for args in [
        ["--trash", "a/b"],
        ["--trash", ".Old"],
        ["--trash", "Trash"],
        ["--label", "a b"],
        ["--to", "x"],
    ] {
        let run = site.run(&["apply", &site.plan, "--yes", args[0], args[1]]);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
    }
}
