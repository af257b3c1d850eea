//! Where an experiment is made: corpora, finished measurements, somebody who watches.

use std::path::{Path, PathBuf};

use crate::{EvalError, Notebook};

/// Somebody who wants to know how far an experiment is.
pub trait Watch: Sync {
    /// A part of the experiment begins, with so many steps; 0 if nobody knows.
    fn begin(&self, what: &str, steps: u64);
    /// So many more steps are done.
    fn step(&self, steps: u64);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn begin(&self, _what: &str, _steps: u64) {}
    fn step(&self, _steps: u64) {}
}

/// Mail of which it is known whether it is spam.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    /// Spam.
    pub spam: Vec<PathBuf>,
    /// Legitimate mail.
    pub ham: Vec<PathBuf>,
    /// A file of the TREC spam track: a label and a path a line, in the order in which the messages came.
    pub index: Option<PathBuf>,
}

/// Where an experiment is made.
pub struct Bench<'a> {
    /// The folder that holds the corpora, each under its own name.
    pub corpora: PathBuf,
    /// Texts to measure on instead of the corpora; empty for those.
    pub texts: Vec<PathBuf>,
    /// Mail with labels to measure on instead of the corpora.
    pub labelled: Labelled,
    /// Finished measurements.
    pub notebook: Notebook,
    /// Who watches.
    pub watch: &'a dyn Watch,
    /// The most texts that are taken of a collection; larger ones are sampled.
    pub most: usize,
    /// Where every draw of chance comes from.
    pub seed: u64,
}

impl<'a> Bench<'a> {
    /// A bench over a folder of corpora that forgets its measurements and is watched by nobody.
    pub fn new(corpora: impl Into<PathBuf>) -> Bench<'static> {
        Bench {
            corpora: corpora.into(),
            texts: Vec::new(),
            labelled: Labelled::default(),
            notebook: Notebook::forgetful(),
            watch: &Silent,
            most: usize::MAX,
            seed: 1,
        }
    }

    /// The paths of a corpus: the texts given instead, or what is there under one of these names.
    ///
    /// # Errors
    /// If nothing is there; the error says where it was looked for.
    pub fn paths(&self, names: &[&str]) -> Result<Vec<PathBuf>, EvalError> {
        if !self.texts.is_empty() {
            return Ok(self.texts.clone());
        }
        self.corpus(names)
    }

    /// As [`Bench::paths`], whatever texts were given.
    ///
    /// # Errors
    /// If nothing is there; the error says where it was looked for.
    pub fn corpus(&self, names: &[&str]) -> Result<Vec<PathBuf>, EvalError> {
        let found = names
            .iter()
            .map(|name| self.corpora.join(name))
            .find(|path| path.exists());
        found.map(|path| vec![path]).ok_or_else(|| {
            EvalError::nothing(format!(
                "{} has no {}",
                self.corpora.display(),
                names.join(" or ")
            ))
        })
    }

    /// The name of a path for people: what stands below the folder of corpora, or else its last part.
    pub fn called(&self, path: &Path) -> String {
        let short = path
            .strip_prefix(&self.corpora)
            .ok()
            .filter(|rest| rest.components().next().is_some())
            .or_else(|| path.file_name().map(Path::new))
            .unwrap_or(path);
        short.display().to_string()
    }
}
