//! The texts, what is true of them, and the lexicons.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use twicetold_methods::imatch::{Imatch, Lexicon, LexiconBuilder, Range};
use twicetold_model::{Document, Method};

use crate::baselines::{exact, near_pairs};
use crate::spam::places;
use crate::{Bench, Corpus, EvalError};

/// Texts with this cosine are duplicates in truth.
const TRUTH: f64 = 0.9;
/// How many secondary words a lexicon has.
const SECONDARY: usize = 200_000;
/// How many texts a lexicon of another collection is made of.
const OTHER: usize = 8000;

/// Spam without trivial copies, and legitimate mail.
pub(super) struct Texts {
    pub(super) spam: Vec<Document>,
    pub(super) ham: Vec<Document>,
    /// For each spam its true duplicates.
    pub(super) truth: Vec<BTreeSet<u32>>,
    pub(super) checksum: u64,
    pub(super) name: String,
    pub(super) removed: usize,
}

pub(super) fn read(bench: &mut Bench<'_>) -> Result<Texts, EvalError> {
    let (spam, ham, name) = places(bench)?;
    let spam = Corpus::documents(&spam, bench.most, bench.watch)?;
    let ham = Corpus::documents(&ham, bench.most, bench.watch)?;
    let checksum = spam.checksum ^ ham.checksum.rotate_left(1);
    let all = spam.items.len();
    let mut seen = HashSet::new();
    let spam: Vec<Document> = spam
        .items
        .into_iter()
        .map(|item| item.value)
        .filter(|document| seen.insert(exact(document)))
        .collect();
    let words: Vec<Vec<u64>> = spam
        .par_iter()
        .map(twicetold_methods::imatch::unique_words)
        .collect();
    let watch = bench.watch;
    let key = format!("imatch truth {checksum:x}");
    let near: Vec<(u32, u32)> = bench.notebook.measure(&key, || {
        let sets: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        Ok(near_pairs(&sets, TRUTH, watch))
    })?;
    let mut truth = vec![BTreeSet::new(); spam.len()];
    for (a, b) in near {
        truth[a as usize].insert(b);
        truth[b as usize].insert(a);
    }
    Ok(Texts {
        removed: all - spam.len(),
        spam,
        ham: ham.items.into_iter().map(|item| item.value).collect(),
        truth,
        checksum,
        name,
    })
}

/// The lexicons: of the same collection, of another one, and the one that ships.
pub(super) fn lexicons(
    bench: &Bench<'_>,
    texts: &Texts,
) -> Result<Vec<(&'static str, Arc<Lexicon>)>, EvalError> {
    let build = |documents: &[&Document]| {
        let parts = documents.par_chunks(500).map(|some| {
            let mut builder = LexiconBuilder::default();
            some.iter().for_each(|document| builder.add(document));
            builder
        });
        let whole = parts.reduce(LexiconBuilder::default, |mut a, b| {
            a.merge(b);
            a
        });
        Arc::new(whole.build(Range::MAIL, SECONDARY))
    };
    let own: Vec<&Document> = texts.spam.iter().chain(&texts.ham).collect();
    let mut found = vec![("same collection", build(&own))];
    if let Ok(paths) = bench.corpus(&["reuters21578"]) {
        let news = Corpus::documents(&paths, OTHER, bench.watch)?;
        let news: Vec<&Document> = news.items.iter().map(|item| &item.value).collect();
        found.push(("news", build(&news)));
    }
    found.push(("shipped", Lexicon::shipped()));
    Ok(found)
}

/// The signatures of all texts.
pub(super) fn signatures(texts: &Texts, imatch: &Imatch) -> Vec<Vec<u64>> {
    let all: Vec<&Document> = texts.spam.iter().chain(&texts.ham).collect();
    all.par_iter()
        .map(|document| {
            imatch
                .sketch(document)
                .map(|sketch| sketch.keys)
                .unwrap_or_default()
        })
        .collect()
}
