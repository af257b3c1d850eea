//! Other methods on the same queries.

use std::sync::Arc;

use rayon::prelude::*;
use twicetold_methods::blocks::Blocks;
use twicetold_methods::imatch::{Imatch, Lexicon, Removal};
use twicetold_methods::simhash::{HammingIndex, SimHash};
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Document, Method, Share, shared_keys};

use super::count::{Quality, counted, from_relation};
use super::texts::{Texts, signatures};
use crate::baselines::{MinHash, Rule, exact};
use crate::{Bench, EvalError, Findings, Table, share};

/// The same truth, other methods.
pub(super) fn others(
    bench: &mut Bench<'_>,
    texts: &Texts,
    lexicons: &[(&'static str, Arc<Lexicon>)],
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let mut table = Table::new(
        "imatch-others",
        "Other methods on the same queries and truth. The paper's footnote has recall .668 and precision .758 for megashingles on web pages, about as I-Match with five lexicons",
        &["method", "recall", "precision", "pure", "legitimate found"],
    );
    let all: Vec<&Document> = texts.spam.iter().chain(&texts.ham).collect();
    let last = lexicons
        .last()
        .map(|(_, lexicon)| Arc::clone(lexicon))
        .unwrap_or_else(Lexicon::shipped);
    let fitted = |copies| Imatch {
        copies,
        removal: Removal::FITTED,
        lexicon: Arc::clone(&last),
        ..Imatch::default()
    };
    let minima: Vec<Option<Vec<u64>>> = all
        .par_iter()
        .map(|document| MinHash { words: 3 }.smallest(document))
        .collect();
    let shingled = |rule: Rule| -> Vec<Vec<u64>> {
        minima
            .iter()
            .map(|least| {
                least
                    .as_ref()
                    .map(|least| MinHash::keys(least, rule))
                    .unwrap_or_default()
            })
            .collect()
    };
    type Way<'w> = Box<dyn Fn() -> Quality + 'w>;
    let ways: Vec<(&str, Way<'_>)> = vec![
        (
            "exact hash of the words",
            Box::new(|| {
                let keys: Vec<Vec<u64>> =
                    all.iter().map(|document| vec![exact(document)]).collect();
                counted(texts, &keys, |_, _| true)
            }),
        ),
        (
            "super-shingles (DSC-SS)",
            Box::new(|| counted(texts, &shingled(Rule::SuperShingles), |_, _| true)),
        ),
        (
            "megashingles",
            Box::new(|| counted(texts, &shingled(Rule::MegaShingles), |_, _| true)),
        ),
        (
            "MinHash, 14 bands of 6",
            Box::new(|| counted(texts, &shingled(Rule::Bands(6)), |_, _| true)),
        ),
        (
            "I-Match, fitted lexicons, K = 10",
            Box::new(|| counted(texts, &signatures(texts, &fitted(10)), |_, _| true)),
        ),
        (
            "I-Match, fitted lexicons, K = 20, 2 votes",
            Box::new(|| {
                let imatch = Imatch {
                    votes: 2,
                    ..fitted(20)
                };
                let keys = signatures(texts, &imatch);
                counted(texts, &keys, |a, b| {
                    shared_keys(&keys[a as usize], &keys[b as usize]) >= 2
                })
            }),
        ),
        ("SimHash, k = 3", Box::new(|| by_bits(texts, &all, 3))),
        (
            "sentence hashes, t = 0.6",
            Box::new(|| {
                let blocks = Blocks::default();
                let records: Vec<_> = all
                    .par_iter()
                    .map(|document| blocks.record(document))
                    .collect();
                let keys: Vec<Vec<u64>> = records.iter().map(|record| record.keys()).collect();
                counted(texts, &keys, |a, b| {
                    blocks
                        .similarity(&records[a as usize], &records[b as usize])
                        .reaches(Share::percent(60))
                })
            }),
        ),
        (
            "word pairs, resemblance ≥ 0.5",
            Box::new(|| {
                let winnow = Winnow::default();
                let sketches: Vec<_> = all
                    .par_iter()
                    .map(|document| winnow.sketch(document).unwrap_or_default())
                    .collect();
                let keys: Vec<Vec<u64>> =
                    sketches.iter().map(|sketch| sketch.keys.clone()).collect();
                counted(texts, &keys, |a, b| {
                    winnow
                        .compare(&sketches[a as usize], &sketches[b as usize])
                        .resemblance
                        >= 0.5
                })
            }),
        ),
    ];
    bench.watch.begin("other methods", ways.len() as u64);
    for (name, way) in &ways {
        let key = format!("imatch other {name} {:x}", texts.checksum);
        let quality: Quality = bench.notebook.measure(&key, || Ok(way()))?;
        table.row([
            (*name).to_owned(),
            share(quality.recall),
            share(quality.precision),
            share(quality.pure),
            quality.ham.to_string(),
        ]);
        bench.watch.step(1);
    }
    findings.tables.push(table);
    Ok(())
}

fn by_bits(texts: &Texts, all: &[&Document], k: u32) -> Quality {
    let hashes: Vec<Option<u64>> = all
        .par_iter()
        .map(|document| SimHash::default().of_document(document))
        .collect();
    let mut index = HammingIndex::default();
    for (n, bits) in (0..).zip(&hashes) {
        if let Some(bits) = bits {
            index.insert(n, *bits);
        }
    }
    from_relation(texts, |n| {
        let bits = hashes[n as usize].iter();
        let near = bits
            .flat_map(|&bits| index.within(bits, k))
            .map(|found| found.id);
        near.filter(|&m| m != n).collect()
    })
}
