//! Mailboxes of every local kind, to be changed and compared.

#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use twicetold_source::{Checksum, Collection};

/// Everything in a folder: bytes, the second and nanosecond each file was written; folders have none.
pub(crate) type Tree = BTreeMap<PathBuf, Option<(Vec<u8>, i64, i64)>>;

/// Looks at everything in a folder.
pub(crate) fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(root).unwrap().to_path_buf();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                found.insert(below, None);
                waiting.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(
                    below,
                    Some((bytes, metadata.mtime(), metadata.mtime_nsec())),
                );
            }
        }
    }
    found
}

/// The first difference between two trees, or nothing.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Option<String> {
    let names: Vec<&PathBuf> = before.keys().chain(after.keys()).collect();
    names.into_iter().find_map(|name| {
        let what = |tree: &Tree| match tree.get(name) {
            None => "nothing".to_owned(),
            Some(None) => "a folder".to_owned(),
            Some(Some((bytes, s, ns))) => {
                format!("written {s}.{ns}: {}", String::from_utf8_lossy(bytes))
            }
        };
        let (a, b) = (what(before), what(after));
        (a != b).then(|| format!("{}:\nbefore {a}\nafter {b}", name.display()))
    })
}

/// Copies a folder with everything in it and the time each file was written.
pub(crate) fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
            let file = fs::File::options().write(true).open(&target).unwrap();
            file.set_modified(fs::metadata(&path).unwrap().modified().unwrap())
                .unwrap();
        }
    }
}

/// How often each message is there, in mailboxes, trash folders and wherever else.
pub(crate) fn contents(roots: &[&Path]) -> BTreeMap<Checksum, usize> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for root in roots {
        let mut waiting = vec![root.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            let hidden = |path: &Path| path.file_name().unwrap().as_encoded_bytes()[0] == b'.';
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    if hidden(&path) && !path.join("cur").is_dir()
                        || path.ends_with(".Twicetold-Trash")
                    {
                        paths.push(path.clone());
                    }
                    waiting.push(path);
                }
            }
        }
        if root.is_dir() {
            paths.push(root.to_path_buf());
        }
    }
    let collection = Collection::open(&paths);
    let mut found = BTreeMap::new();
    for task in collection.tasks() {
        task.run(
            &mut |message| *found.entry(Checksum::of_message(&message)).or_default() += 1,
            &mut |trouble| panic!("{trouble:?}"),
        );
    }
    found
}

/// What no run may leave behind: drafts and lock files.
pub(crate) fn leftovers(tree: &Tree) -> Vec<&PathBuf> {
    tree.keys()
        .filter(|path| {
            let name = path.to_string_lossy();
            name.contains("draft") || name.contains(".lock")
        })
        .collect()
}

/// Runs the program in a folder, with the journals in another one, killed at the `kill_at`-th point unless that is 0.
pub(crate) fn run(folder: &Path, state: &Path, kill_at: u32, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(args)
        .current_dir(folder)
        .env("TWICETOLD_STATE", state)
        .env("TWICETOLD_KILL_AT", kill_at.to_string())
        .output()
        .unwrap()
}

/// The same, and it must end well.
pub(crate) fn must(folder: &Path, state: &Path, args: &[&str]) -> String {
    let run = run(folder, state, 0, args);
    let said = format!(
        "{}{}",
        String::from_utf8(run.stdout).unwrap(),
        String::from_utf8(run.stderr).unwrap()
    );
    assert_eq!(run.status.code(), Some(0), "{args:?}: {said}");
    said
}

/// A mail with a text.
pub(crate) fn mail(id: &str, day: u32, headers: &str, text: &str) -> String {
    format!(
        "From: anna@rowing.example.org\nTo: all@rowing.example.org\nSubject: {}\n\
         Date: {day:02} Jan 2024 10:00:00 +0000\nMessage-ID: <{id}@rowing.example.org>\n{headers}\n{text}",
        id.split('-').next().unwrap()
    )
}

/// The same mail in an mbox.
pub(crate) fn boxed(mail: &str) -> String {
    let stuffed: String = mail
        .split_inclusive('\n')
        .map(|line| match line.starts_with("From ") {
            true => format!(">{line}"),
            false => line.to_owned(),
        })
        .collect();
    format!("From anna@rowing.example.org Mon Jan  1 10:00:00 2024\n{stuffed}\n")
}

pub(crate) const BOAT: &str = "The blue boat needs a new rudder before the regatta in spring.\n\
    Please bring the long ladder and two buckets to the boathouse.\n";
pub(crate) const HUT: &str = "The hut in the mountains has room for twelve guests this winter.\n\
    Whoever wants to come should write to Clara before the end of the month.\n";
pub(crate) const OARS: &str = "Somebody left a pair of wooden oars behind the tool shed.\n\
    They will be given to the youth team unless the owner comes forward.\n";
pub(crate) const CAKE: &str = "From now on the bakery delivers cake on every second Saturday.\n\
    Orders must reach the kitchen by the Thursday before.\n";
pub(crate) const POND: &str = "The pond behind the garden is frozen and safe for skating.\n\
    Children need a helmet and somebody who watches them.\n";

pub(crate) const MUSEUM: &str = "The museum shows old rowing machines until the end of summer.\n\
    Members of the club get in free on the first Sunday.\n";

/// Quotes a text below another one.
pub(crate) fn reply(own: &str, quoted: &str) -> String {
    let quoted: String = quoted.lines().map(|line| format!("> {line}\n")).collect();
    format!("{own}\nOn Monday Anna wrote:\n{quoted}")
}

/// A folder with mailboxes of every kind, in which copies and quoted messages stand.
pub(crate) fn fill(root: &Path) {
    let mut day = 1;
    let mut write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        day += 1;
        let time = std::time::UNIX_EPOCH + std::time::Duration::new(1_600_000_000 + day * 1000, 7);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    };
    let boat = mail("boat-1", 1, "", BOAT);
    let answer = mail(
        "boat-2",
        2,
        "In-Reply-To: <boat-1@rowing.example.org>\n",
        &reply("I can bring the ladder, but my buckets leak badly.", BOAT),
    );
    write("mail/cur/1.host:2,FS", &boat);
    write("mail/cur/2.host:2,", &answer);
    write("mail/.Archive/cur/3.host:2,RSa", &answer);
    write("mail/.Archive/dovecot-keywords", "0 Work\n");
    write("mail/dovecot-keywords", "2 Work\n");
    write("mail/new/4.host", &mail("oars-1", 3, "", OARS));
    write("mail/tmp/ignored", "");
    let cake = mail("cake-1", 4, "", CAKE);
    let cake_read = mail("cake-1", 4, "Status: RO\nX-Status: F\n", CAKE);
    let hut = mail("hut-1", 5, "", HUT);
    let hut_labelled = mail("hut-1", 5, "X-Keywords: winter hut\n", HUT);
    let hut_answer = mail(
        "hut-2",
        6,
        "In-Reply-To: <hut-1@rowing.example.org>\n",
        &reply("Count me and my two sisters in for the first week.", HUT),
    );
    let lists = [&cake, &hut, &cake_read, &hut_answer].map(|mail| boxed(mail));
    write("lists.mbox", &lists.concat());
    // The last message lacks the empty line behind it.
    let second = format!(
        "{}{}",
        boxed(&hut_labelled),
        boxed(&mail("oars-1", 3, "", OARS))
    );
    write("second.mbox", second.trim_end());
    let pond = mail("pond-1", 7, "", POND);
    write("tree/a/x.eml", &pond);
    write("tree/b/x.eml", &pond);
    write("tree/b/y.eml", &pond);
    write(
        "tree/b/answer.eml",
        &mail(
            "pond-2",
            8,
            "",
            "The skates in the cellar are sharp again, says Ben.\n",
        ),
    );
    let line = format!("{{\"id\":1,\"text\":{:?}}}\n", MUSEUM);
    write(
        "notes.jsonl",
        &format!("{line}{}", line.replace(":1", ":2")),
    );
}
