//! What the tests of this crate share.

#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::path::{Path, PathBuf};

use twicetold_model::{Form, Location};
use twicetold_source::{Collection, Trouble};

/// A message that was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    pub location: Location,
    pub form: Form,
    pub text: String,
}

/// Runs every task, one after the other.
pub fn read_all(collection: &Collection) -> (Vec<Handed>, Vec<Trouble>) {
    let (mut messages, mut troubles) = (Vec::new(), Vec::new());
    for task in collection.tasks() {
        task.run(
            &mut |message| {
                messages.push(Handed {
                    location: message.location,
                    form: message.form,
                    text: String::from_utf8_lossy(&message.bytes).into_owned(),
                });
            },
            &mut |trouble| troubles.push(trouble),
        );
    }
    (messages, troubles)
}

/// Opens the paths and gives the messages back, each with its path below `root`; there must be no
/// trouble while reading.
pub fn messages(root: &Path, paths: &[&str]) -> (Vec<(String, String)>, Vec<String>) {
    let collection = open(root, paths);
    let (handed, troubles) = read_all(&collection);
    assert_eq!(troubles, []);
    let below = |path: &str| {
        path.strip_prefix(root.to_str().unwrap())
            .unwrap_or(path)
            .trim_start_matches('/')
            .to_owned()
    };
    for message in &handed {
        let again = collection.read(&message.location).unwrap();
        assert_eq!(String::from_utf8_lossy(&again.bytes), message.text);
        assert_eq!(again.form, message.form);
    }
    let troubles = collection
        .troubles()
        .iter()
        .map(|trouble| format!("{}: {}", below(&trouble.path), trouble.problem))
        .collect();
    let found = handed
        .into_iter()
        .map(|message| (below(&message.location.path), message.text))
        .collect();
    (found, troubles)
}

/// Opens paths below `root`.
pub fn open(root: &Path, paths: &[&str]) -> Collection {
    let paths: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
    Collection::open(&paths)
}

/// Writes a file and the folders above it.
pub fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}
