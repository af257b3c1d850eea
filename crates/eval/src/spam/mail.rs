//! Labelled mail, in the order in which it came.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use twicetold_methods::imatch::unique_words;
use twicetold_model::Form;
use twicetold_service::{Sketches, Trust};
use xxhash_rust::xxh3::Xxh3;

use super::Body;
use crate::corpus::folders_with;
use crate::{Bench, Corpus, EvalError};

/// The most characters of a body that are kept.
const LONGEST: usize = 200_000;

/// A message with its label.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Whether it is spam.
    pub spam: bool,
    /// What the service keeps of it.
    pub sketches: Sketches,
    /// Its different words.
    pub words: Vec<u64>,
    /// Its text part, markup and all; `None` if it has none.
    pub body: Option<Body>,
    /// Its date, if it has one.
    pub date: Option<i64>,
}

impl Mail {
    /// Reads a message.
    pub fn read(form: Form, bytes: &[u8], spam: bool) -> Self {
        let document = twicetold_mail::read(form, bytes);
        let body = Body::of(bytes).filter(|body| body.text.len() <= LONGEST);
        Self {
            spam,
            sketches: Sketches::of(form, bytes, &Trust::default()),
            words: unique_words(&document),
            date: document.envelope.date,
            body,
        }
    }
}

/// Labelled mail in order.
pub(super) struct Mails {
    pub(super) items: Vec<Mail>,
    /// Checksum of all bytes and labels.
    pub(super) checksum: u64,
    /// What it is called.
    pub(super) name: String,
    /// In which order it comes, in words.
    pub(super) order: &'static str,
}

/// Where spam and legitimate mail of a corpus are: folders whose names say so.
pub(crate) fn places(bench: &Bench<'_>) -> Result<(Vec<PathBuf>, Vec<PathBuf>, String), EvalError> {
    if !bench.labelled.spam.is_empty() {
        return Ok((
            bench.labelled.spam.clone(),
            bench.labelled.ham.clone(),
            "mail named on the command line".to_owned(),
        ));
    }
    let root = bench.corpus(&["spamassassin", "spam"])?.remove(0);
    let (spam, ham) = (folders_with(&root, "spam"), folders_with(&root, "ham"));
    if spam.is_empty() || ham.is_empty() {
        return Err(EvalError::nothing(format!(
            "{} has no folders with spam and ham in their names",
            root.display()
        )));
    }
    Ok((spam, ham, bench.called(&root)))
}

/// Reads the labelled mail of a bench.
pub(super) fn read(bench: &Bench<'_>) -> Result<Mails, EvalError> {
    if let Some(index) = &bench.labelled.index {
        return by_index(index, bench);
    }
    let (spam, ham, name) = places(bench)?;
    let mut sum = Xxh3::new();
    let mut items = Vec::new();
    for (paths, is_spam) in [(&spam, true), (&ham, false)] {
        let corpus = Corpus::read(paths, bench.most, bench.watch, |raw| {
            Mail::read(raw.form, &raw.bytes, is_spam)
        })?;
        sum.update(&corpus.checksum.to_le_bytes());
        items.extend(
            corpus
                .items
                .into_iter()
                .map(|item| (item.checksum, item.value)),
        );
    }
    // Undated messages are put where chance has them, not all in one place.
    let dates: Vec<i64> = items.iter().filter_map(|(_, mail)| mail.date).collect();
    let drawn = |checksum: u64| {
        dates
            .get(checksum as usize % dates.len().max(1))
            .copied()
            .unwrap_or(0)
    };
    items
        .sort_by_key(|(checksum, mail)| (mail.date.unwrap_or_else(|| drawn(*checksum)), *checksum));
    Ok(Mails {
        items: items.into_iter().map(|(_, mail)| mail).collect(),
        checksum: sum.digest(),
        name,
        order: "in the order of their dates",
    })
}

/// Reads the messages of a TREC index: a label and a path a line.
fn by_index(index: &Path, bench: &Bench<'_>) -> Result<Mails, EvalError> {
    let text = std::fs::read_to_string(index).map_err(EvalError::reading(index))?;
    let folder = index.parent().unwrap_or(Path::new(""));
    let mut lines = Vec::new();
    for (n, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let wrong = |what: &str| EvalError::Line {
            path: index.to_owned(),
            line: n + 1,
            what: what.to_owned(),
        };
        let (label, path) = line
            .trim()
            .split_once(char::is_whitespace)
            .ok_or_else(|| wrong("it is not a label and a path"))?;
        let spam = match label.to_ascii_lowercase().as_str() {
            "spam" => true,
            "ham" => false,
            _ => return Err(wrong("its label is neither spam nor ham")),
        };
        lines.push((spam, folder.join(path.trim())));
    }
    lines.truncate(bench.most);
    if lines.is_empty() {
        return Err(EvalError::nothing(format!(
            "{} names no message",
            index.display()
        )));
    }
    bench.watch.begin("reading", lines.len() as u64);
    let read: Vec<(u64, Mail)> = lines
        .par_iter()
        .map(|(spam, path)| {
            let bytes = std::fs::read(path).map_err(EvalError::reading(path))?;
            bench.watch.step(1);
            let checksum = xxhash_rust::xxh3::xxh3_64(&bytes) ^ u64::from(*spam);
            Ok((checksum, Mail::read(Form::Mail, &bytes, *spam)))
        })
        .collect::<Result<_, EvalError>>()?;
    let mut sum = Xxh3::new();
    read.iter()
        .for_each(|(checksum, _)| sum.update(&checksum.to_le_bytes()));
    Ok(Mails {
        items: read.into_iter().map(|(_, mail)| mail).collect(),
        checksum: sum.digest(),
        name: bench.called(index),
        order: "in the order of the index",
    })
}
