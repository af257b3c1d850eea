//! Texts to measure on.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use twicetold_model::{Document, Location, RawMessage};
use twicetold_source::Collection;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::{EvalError, Watch};

/// A text, or whatever was made of it, and where it stands.
#[derive(Clone, Debug)]
pub struct Item<T> {
    /// Where it stands.
    pub location: Location,
    /// What was made of it.
    pub value: T,
    /// Checksum of its bytes.
    pub checksum: u64,
}

/// Texts, sorted by where they stand.
#[derive(Clone, Debug, Default)]
pub struct Corpus<T> {
    /// The texts, or those of them that were drawn.
    pub items: Vec<Item<T>>,
    /// How many there are in all.
    pub total: usize,
    /// Checksum of the bytes of all that were drawn, whatever their names.
    pub checksum: u64,
}

impl<T: Send> Corpus<T> {
    /// Reads everything below some paths and makes something of each text. Of more than `most`, those with the smallest
    /// checksums are taken: the same ones wherever the files lie.
    ///
    /// # Errors
    /// If nothing can be read there.
    pub fn read(
        paths: &[PathBuf],
        most: usize,
        watch: &dyn Watch,
        make: impl Fn(RawMessage<'_>) -> T + Sync,
    ) -> Result<Self, EvalError> {
        let collection = Collection::open(paths);
        watch.begin("reading", collection.total_bytes());
        let (make, named) = (&make, paths.iter().map(|path| path.display().to_string()));
        let mut places: Vec<(u64, Location, Option<T>)> = collection
            .tasks()
            .par_bridge()
            .flat_map_iter(|task| {
                let mut out = Vec::new();
                task.run(
                    &mut |raw| {
                        let checksum = xxh3_64(&raw.bytes);
                        watch.step(raw.bytes.len() as u64);
                        // Of a sample everything is drawn first and read again, for texts take more room than places.
                        let value = (most == usize::MAX).then(|| make(raw.clone()));
                        out.push((checksum, raw.location, value));
                    },
                    &mut |_| {},
                );
                out
            })
            .collect();
        let total = places.len();
        if total == 0 {
            let named: Vec<String> = named.collect();
            return Err(EvalError::nothing(format!(
                "{} holds no message or text",
                named.join(", ")
            )));
        }
        places.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        places.truncate(most);
        places.sort_by(|a, b| a.1.cmp(&b.1));
        let mut sum = Xxh3::new();
        places
            .iter()
            .for_each(|(checksum, ..)| sum.update(&checksum.to_le_bytes()));
        let items: Vec<Item<T>> = places
            .into_par_iter()
            .filter_map(|(checksum, location, value)| {
                let value = match value {
                    Some(value) => value,
                    None => make(collection.read(&location).ok()?),
                };
                Some(Item {
                    location,
                    value,
                    checksum,
                })
            })
            .collect();
        Ok(Self {
            items,
            total,
            checksum: sum.digest(),
        })
    }

    /// How many there are, for people: "500 of 6,046".
    pub fn size(&self) -> String {
        let here = crate::number(self.items.len());
        if self.items.len() == self.total {
            here
        } else {
            format!("{here} of {}", crate::number(self.total))
        }
    }
}

impl Corpus<Document> {
    /// Reads everything below some paths as documents.
    ///
    /// # Errors
    /// If nothing can be read there.
    pub fn documents(paths: &[PathBuf], most: usize, watch: &dyn Watch) -> Result<Self, EvalError> {
        Self::read(paths, most, watch, |raw| {
            twicetold_mail::read(raw.form, &raw.bytes)
        })
    }
}

/// The folders directly below a path whose name contains a word, sorted; the path itself if there are none.
pub(crate) fn folders_with(path: &Path, word: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().contains(word))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}
