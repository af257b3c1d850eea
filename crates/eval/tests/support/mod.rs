//! Invented mail for the experiments: the same for the same seed.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "every test file uses its own part, and may fail by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};

use twicetold_eval::Dice;

const WHO: &[&str] = &[
    "The harbour office",
    "Our neighbour",
    "The school board",
    "Aunt Clara",
    "The new baker",
    "Every driver",
    "The night watch",
    "A young painter",
    "The choir",
    "My landlord",
    "The librarian",
    "A retired pilot",
];
const DOES: &[&str] = &[
    "repairs",
    "announces",
    "remembers",
    "collects",
    "describes",
    "forbids",
    "questions",
    "celebrates",
    "measures",
    "photographs",
    "translates",
    "borrows",
    "discusses",
    "paints",
];
const WHAT: &[&str] = &[
    "wooden boats",
    "the winter timetable",
    "old letters from Lisbon",
    "a garden of herbs",
    "strange weather reports",
    "the museum catalogue",
    "three silver spoons",
    "a broken accordion",
    "the bridge inspection",
    "small brass instruments",
    "letters to the mayor",
    "some mountain recipes",
];
const WHERE: &[&str] = &[
    "behind the railway station",
    "near the copper mine",
    "beneath the lighthouse",
    "inside the market hall",
    "along the northern canal",
    "above the flower shop",
    "across the frozen lake",
    "beside the town archive",
    "under the chestnut trees",
    "outside the observatory",
];
const WHEN: &[&str] = &[
    "before breakfast",
    "during the storm season",
    "after the long concert",
    "while everybody sleeps",
    "whenever the ferry is late",
    "since the summer fair",
    "until the snow melts",
    "as often as possible",
];

/// An invented name.
fn name(dice: &mut Dice) -> String {
    const PARTS: &[&str] = &[
        "ba", "cor", "den", "fil", "gra", "hul", "jin", "kes", "lom", "mar", "nov", "pel", "rus",
        "sto", "tam", "vik", "wen", "zor",
    ];
    let parts: String = (0..3).filter_map(|_| dice.pick(PARTS).copied()).collect();
    parts[..1].to_uppercase() + &parts[1..]
}

/// A sentence that hardly ever comes twice.
pub(crate) fn sentence(dice: &mut Dice) -> String {
    let (first, second) = (name(dice), name(dice));
    let mut pick = |from: &[&'static str]| *dice.pick(from).unwrap();
    format!(
        "{} of {first} {} {} {} with {second} {}.",
        pick(WHO),
        pick(DOES),
        pick(WHAT),
        pick(WHERE),
        pick(WHEN)
    )
}

/// A text of so many sentences of invented words, which has nothing in common with any other.
pub(crate) fn strange(sentences: usize, dice: &mut Dice) -> String {
    let sentence =
        |dice: &mut Dice| (0..10).map(|_| name(dice)).collect::<Vec<_>>().join(" ") + ".";
    (0..sentences)
        .map(|_| sentence(dice))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A text of so many sentences.
pub(crate) fn text(sentences: usize, dice: &mut Dice) -> String {
    (0..sentences)
        .map(|_| sentence(dice))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A mail with a text.
pub(crate) fn mail(n: usize, subject: &str, text: &str) -> String {
    format!(
        "Message-ID: <m{n}@example.net>\nDate: {} Jan 2003 {:02}:{:02}:00 +0000\nFrom: p{n}@example.net\nTo: you@example.net\nSubject: {subject}\n\n{text}\n",
        n / 1440 % 28 + 1,
        n / 60 % 24,
        n % 60
    )
}

/// A fresh folder for one test; removed when it ends.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file below the folder, with the folders it needs.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
