//! What a job on a cluster is to read: paths, cut into portions that tasks can read, and URLs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use twicetold_source::{Collection, LeftOut, Portion, Trouble};

use super::absolute;
use super::entries::TABLE;
use super::running::Scratch;
use crate::feed::is_table;

/// Paths, and what Spark is to read for itself.
pub(super) fn apart(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.iter().cloned().partition(|path| !is_url(path))
}

/// Whether it is the business of Spark's connectors.
pub(super) fn is_url(path: &Path) -> bool {
    path.to_string_lossy().contains("://")
}

/// What stands below some paths.
pub(super) struct Given {
    /// Sorted, in portions that tasks can read.
    portions: Vec<Portion>,
    /// What cannot be read or was passed over.
    pub(super) troubles: Vec<Trouble>,
    /// How many bytes of mail there are; `None` if some of it is in tables, which do not say.
    pub(super) mail: Option<u64>,
}

impl Given {
    /// Looks what is there. Nothing of a file of many messages that is much longer than `room` is read by one task.
    pub(super) fn open(paths: &[PathBuf], left_out: LeftOut, room: u64) -> Self {
        let (mut tables, mut others) = (Vec::new(), Vec::new());
        for path in paths {
            let inside = tables_in(path);
            if is_table(path) {
                tables.push(path.clone());
            } else if inside.is_empty() {
                others.push(path.clone());
            } else {
                tables.extend(inside);
            }
        }
        let collection = Collection::open_without(&others, left_out);
        let mail = tables.is_empty().then(|| collection.total_bytes());
        let mut portions = collection.portions(room);
        portions.extend(tables.into_iter().map(|file| {
            let bytes = file.metadata().map_or(0, |found| found.len());
            let path = file.to_string_lossy().into_owned();
            let kind = TABLE.to_owned();
            Portion {
                kind,
                ..Portion::named(path, file, bytes)
            }
        }));
        portions.sort_by(|a, b| {
            let start = |portion: &Portion| portion.range.as_ref().map(|range| range.start);
            (&a.path, start(a)).cmp(&(&b.path, start(b)))
        });
        Self {
            portions,
            troubles: collection.troubles().to_vec(),
            mail,
        }
    }

    /// How many bytes the files have.
    pub(super) fn bytes(&self) -> u64 {
        self.portions.iter().map(|portion| portion.bytes).sum()
    }

    /// How many files there are.
    pub(super) fn files(&self) -> u64 {
        let portions = self.portions.iter();
        let mut paths: Vec<&str> = portions.map(|portion| portion.path.as_str()).collect();
        paths.dedup();
        paths.len() as u64
    }

    /// Whether everything that was given can be read.
    pub(super) fn is_all(&self) -> bool {
        self.troubles.iter().all(Trouble::is_note)
    }
}

/// Writes down what is to be read: a line for each portion.
pub(super) fn write_manifest(scratch: &Scratch, sides: &[Given]) -> Result<PathBuf> {
    let manifest = scratch.path().join("portions.jsonl");
    let mut lines = String::new();
    for (side, given) in sides.iter().enumerate() {
        for portion in &given.portions {
            lines.push_str(&line(side, portion).to_string());
            lines.push('\n');
        }
    }
    fs::write(&manifest, lines).with_context(|| format!("cannot write {}", manifest.display()))?;
    Ok(manifest)
}

/// The Parquet files of a folder that holds some: an engine wrote it.
fn tables_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "parquet"))
        .collect();
    found.sort();
    found
}

/// The line about a portion that the job reads, and passes on.
fn line(side: usize, portion: &Portion) -> Value {
    let file = twicetold_source::shown_path(&absolute(&portion.file));
    json!({
        "side": side,
        "path": portion.path,
        "file": file,
        "bytes": portion.bytes,
        "kind": portion.kind,
        "start": portion.range.as_ref().map(|range| range.start),
        "end": portion.range.as_ref().map(|range| range.end),
    })
}
