//! What tests of jobs on Apache Spark have in common.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The mail that comes with the project.
pub(crate) const SAMPLE: [&str; 2] = ["../../sample/mailbox", "../../sample/list.mbox"];

/// A job of a few messages spends its time compiling; these leave out what pays for larger ones only.
pub(crate) const QUICK: [&str; 5] = [
    "spark.sql.codegen.wholeStage=false",
    "spark.sql.codegen.factoryMode=NO_CODEGEN",
    "spark.sql.adaptive.enabled=false",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
];

/// The Python that has PySpark and whatever else is needed; `None`, and a word about it, if there is none.
#[allow(clippy::print_stderr)] // A test that is skipped says so.
pub(crate) fn python(needed: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join("spark-venv/bin/python");
    let import = format!("import {needed}");
    let asked = Command::new(&python).args(["-c", &import]).output();
    if asked.is_ok_and(|asked| asked.status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: there is no PySpark in target/spark-venv; scripts/spark installs it");
    None
}

/// The rows that a job wrote, as one text.
pub(crate) fn written(folder: &str) -> String {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("part-")
    };
    let mut parts: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(is_part)
        .collect();
    parts.sort();
    let read = |part: &PathBuf| fs::read_to_string(part).unwrap();
    parts.iter().map(read).collect()
}
