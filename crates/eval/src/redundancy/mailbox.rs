//! A labelled mailbox, and what the methods say about it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use twicetold_detect::{Options, Scan, cover};
use twicetold_index::MemoryIndex;
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Document, Method, Share, Standing};
use twicetold_source::Collection;

use super::truth::{Label, holders, read_classification, read_labels};
use crate::{Bench, Corpus, EvalError, Watch};

/// From which share of common fingerprints on `scan` is asked about a pair.
const ASKED: u32 = 25;

/// A labelled mailbox.
pub(super) struct Mailbox {
    pub(super) mail: PathBuf,
    pub(super) corpus: Corpus<Document>,
    /// One for each message, in its order; units are empty without a `truth.jsonl`.
    pub(super) labels: Vec<Label>,
    pub(super) has_units: bool,
    /// Who makes whom redundant, one at a time.
    pub(super) truth: Vec<BTreeSet<usize>>,
}

/// The name of a file without its folders.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Mailbox {
    pub(super) fn open(folder: &Path, bench: &Bench<'_>) -> Result<Self, EvalError> {
        let inside = folder.join("mail");
        let mail = if inside.is_dir() {
            inside
        } else {
            folder.to_owned()
        };
        let (units, ids) = (
            folder.join("truth.jsonl"),
            folder.join("classification.txt"),
        );
        if !units.is_file() && !ids.is_file() {
            return Err(EvalError::nothing(format!(
                "{} has neither truth.jsonl nor classification.txt; twicetold eval cases makes a labelled mailbox",
                folder.display()
            )));
        }
        let mut corpus = Corpus::documents(std::slice::from_ref(&mail), usize::MAX, bench.watch)?;
        let known: HashMap<String, Label> = if units.is_file() {
            let labels = read_labels(&units)?.into_iter();
            labels.map(|label| (label.file.clone(), label)).collect()
        } else {
            HashMap::new()
        };
        if !known.is_empty() {
            // The files of truths may lie among the messages.
            corpus
                .items
                .retain(|item| known.contains_key(file_name(&item.location.path)));
        } else {
            corpus
                .items
                .retain(|item| item.value.envelope.message_id.is_some());
        }
        if corpus.items.is_empty() {
            return Err(EvalError::nothing(format!(
                "no message of {} has a label",
                mail.display()
            )));
        }
        let labels: Vec<Label> = corpus
            .items
            .iter()
            .map(|item| {
                let file = file_name(&item.location.path);
                let id = item.value.envelope.message_id.clone().unwrap_or_default();
                let label = known.get(file).cloned().unwrap_or_default();
                Label {
                    file: file.to_owned(),
                    id,
                    ..label
                }
            })
            .collect();
        let truth = if ids.is_file() {
            by_ids(&labels, &ids)?
        } else {
            holders(&labels)
        };
        Ok(Self {
            mail,
            corpus,
            has_units: !known.is_empty(),
            labels,
            truth,
        })
    }

    /// Which message of the mailbox each message of a scan is.
    pub(super) fn places(&self, scan: &Scan) -> Vec<Option<usize>> {
        let items = self.corpus.items.iter().enumerate();
        let known: HashMap<_, usize> = items.map(|(n, item)| (&item.location, n)).collect();
        let found = scan.messages.iter();
        found
            .map(|message| known.get(&message.location).copied())
            .collect()
    }

    /// What a scan would remove.
    pub(super) fn removed(&self, scan: &Scan) -> BTreeSet<usize> {
        let places = self.places(scan);
        let messages = scan.messages.iter().zip(places);
        messages
            .filter(|(message, _)| matches!(message.verdict.standing, Standing::Redundant(_)))
            .filter_map(|(_, place)| place)
            .collect()
    }

    /// Who makes whom redundant as `scan` sees it, asked pair by pair.
    pub(super) fn relation(
        &self,
        scan: &Scan,
        collection: &Collection,
        watch: &dyn Watch,
    ) -> Vec<BTreeSet<usize>> {
        let winnow = Winnow::default();
        let keys: Vec<Vec<u64>> = self
            .corpus
            .items
            .par_iter()
            .map(|item| {
                winnow
                    .sketch(&item.value)
                    .map(|sketch| sketch.keys)
                    .unwrap_or_default()
            })
            .collect();
        let mut index = MemoryIndex::new();
        for (n, keys) in (0..).zip(&keys) {
            index.insert(n, keys.iter().copied());
        }
        let places = self.places(scan);
        let mut number = vec![0_u32; self.labels.len()];
        for (m, place) in (0..).zip(&places) {
            if let Some(n) = place {
                number[*n] = m;
            }
        }
        watch.begin("asking pair by pair", keys.len() as u64);
        (0..keys.len())
            .into_par_iter()
            .map(|n| {
                let of = |m: u32| keys.get(m as usize).map_or(&[][..], Vec::as_slice);
                let near = index.containing(&keys[n], Share::percent(ASKED), of);
                let others = near
                    .iter()
                    .map(|one| one.message as usize)
                    .filter(|&m| m != n);
                let found = others
                    .filter(|&m| {
                        cover(
                            collection,
                            scan,
                            &Options::default(),
                            number[n],
                            &[number[m]],
                        )
                        .is_ok()
                    })
                    .collect();
                watch.step(1);
                found
            })
            .collect()
    }
}

/// The truth of a classification file, for the messages that are there.
fn by_ids(labels: &[Label], path: &Path) -> Result<Vec<BTreeSet<usize>>, EvalError> {
    let known = read_classification(path)?;
    let places: HashMap<&str, usize> = labels
        .iter()
        .map(|label| label.id.as_str())
        .zip(0..)
        .collect();
    let lists = labels.iter().map(|label| {
        let witnesses = known.get(&label.id).into_iter().flatten();
        witnesses
            .filter_map(|id| places.get(id.as_str()).copied())
            .collect()
    });
    Ok(lists.collect())
}
