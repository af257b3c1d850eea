//! ARCHITECTURE.md is true: what it names is there, and no crate is left out.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MAP: &str = include_str!("../../../ARCHITECTURE.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders under `crates/`.
fn crates() -> BTreeSet<String> {
    fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// What stands between backticks in a line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The rows of the table of crates: crate, and what it stands on.
fn table(map: &str) -> BTreeMap<String, BTreeSet<String>> {
    map.lines()
        .skip_while(|line| !line.ends_with("| stands on |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let below = names(cells.last().unwrap()).map(str::to_owned).collect();
            (names(cells[0]).next().unwrap().to_owned(), below)
        })
        .collect()
}

/// The crate of a heading such as "### `mail`".
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("### ")
        .and_then(|rest| names(rest).next())
}

/// Every path the map names, from the root of the repository.
fn paths(map: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut home = None;
    for line in map.lines() {
        if line.starts_with('#') {
            home = heading(line);
        }
        for name in names(line) {
            let inside = name.starts_with("src/") || name.starts_with("tests/");
            match home {
                Some(home) if inside => found.insert(format!("crates/{home}/{name}")),
                // Words with a blank, a bracket or the like are code, not paths.
                _ if name.contains('/') && !name.contains([' ', '<', '(', '*']) => {
                    found.insert(name.to_owned())
                }
                _ => false,
            };
        }
    }
    found
}

/// The crates of this project in the `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.strip_prefix("twicetold-"))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_path_it_names_is_there() {
    let paths = paths(MAP);
    assert!(
        paths.len() > 40,
        "only {} paths were found in the map",
        paths.len()
    );
    let missing: Vec<&String> = paths
        .iter()
        .filter(|path| !root().join(path).exists())
        .collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names what is not there: {missing:?}"
    );
}

#[test]
fn every_crate_has_a_row_and_a_section() {
    let rows: BTreeSet<String> = table(MAP).into_keys().collect();
    assert_eq!(
        rows,
        crates(),
        "the table of crates in ARCHITECTURE.md (left) and crates/ (right)"
    );
    let sections: BTreeSet<String> = MAP.lines().filter_map(heading).map(str::to_owned).collect();
    assert_eq!(
        sections,
        crates(),
        "the sections of ARCHITECTURE.md (left) and crates/ (right)"
    );
}

#[test]
fn crates_stand_on_what_it_says() {
    for (name, below) in table(MAP) {
        let manifest = root().join("crates").join(&name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        assert_eq!(
            below,
            dependencies(&manifest),
            "{name}: ARCHITECTURE.md (left), Cargo.toml (right)"
        );
    }
}

#[test]
fn a_wrong_map_is_noticed() {
    let map = "| crate | stands on |\n|---|---|\n| `mail` | `model` |\n\n### `mail`\n`src/gone.rs` and `docs/x.md`\n## Next\n`a b/c`";
    assert_eq!(
        table(map),
        BTreeMap::from([("mail".to_owned(), BTreeSet::from(["model".to_owned()]))])
    );
    assert_eq!(
        paths(map),
        BTreeSet::from(["crates/mail/src/gone.rs".to_owned(), "docs/x.md".to_owned()])
    );
}
