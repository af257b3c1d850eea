//! Running the real binary.

// Every test file uses its own part of this, and a failing step is to fail the test.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod spark;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs `twicetold` with these arguments.
pub(crate) fn twicetold<'a>(args: impl IntoIterator<Item = &'a str>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(args)
        .output()
        .unwrap()
}

/// Runs it with something on stdin.
pub(crate) fn twicetold_fed<'a>(args: impl IntoIterator<Item = &'a str>, input: &str) -> Output {
    twicetold_fed_bytes(args, input.as_bytes())
}

/// Runs it with any bytes on stdin.
pub(crate) fn twicetold_fed_bytes<'a>(
    args: impl IntoIterator<Item = &'a str>,
    input: &[u8],
) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_twicetold"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|threads| {
        // It may end before it has read everything; what it says then is what the test looks at.
        threads.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    })
}

/// What it wrote, which is always UTF-8.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A fresh folder for one test, below the build folder; removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of something in the folder.
    pub(crate) fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// What is in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
