//! What do more lexicons bring? Paper 001, Figures 2, 3, 4 and 6, Tables 2, 3 and 4.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use twicetold_methods::blocks::Blocks;
use twicetold_methods::imatch::{Imatch, Lexicon, LexiconBuilder, Part, Range, Removal};
use twicetold_methods::simhash::{HammingIndex, SimHash};
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Document, Method, Share, shared_keys};
use xxhash_rust::xxh3::xxh3_64;

use crate::baselines::{MinHash, Rule, exact, near_pairs};
use crate::spam::places;
use crate::{Bench, Chart, Corpus, Dice, EvalError, Findings, Line, Table, share};

/// Numbers of randomised lexicons.
const COPIES: [u32; 6] = [0, 1, 2, 5, 10, 20];
/// What the paper found: copies, recall and utility with honeypot spam, recall and utility with cluster spam (Tables 2 and 3).
const PRINTED: [(u32, f64, f64, f64, f64); 4] = [
    (0, 0.66, 30.17, 0.40, 46.34),
    (2, 0.72, 36.32, 0.49, 81.25),
    (5, 0.76, 43.34, 0.55, 96.24),
    (10, 0.80, 56.93, 0.61, 113.38),
];
/// Texts with this cosine are duplicates in truth.
const TRUTH: f64 = 0.9;
/// What a legitimate message that is found costs.
const COST: f64 = 100.0;
/// How many secondary words a lexicon has.
const SECONDARY: usize = 200_000;
/// How many texts a lexicon of another collection is made of.
const OTHER: usize = 8000;

/// What was counted for one setting.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Quality {
    /// Mean over queries of the share of true duplicates found.
    recall: f64,
    /// Mean over queries of the share of what was found that is true; queries that found nothing are left out.
    precision: f64,
    /// The share of queries that found something, and nothing wrong.
    pure: f64,
    /// Mean over queries of spam found less 100 for each legitimate message.
    utility: f64,
    /// Legitimate messages found, over all queries.
    ham: usize,
}

struct Texts {
    spam: Vec<Document>,
    ham: Vec<Document>,
    /// For each spam its true duplicates.
    truth: Vec<BTreeSet<u32>>,
    checksum: u64,
    name: String,
    removed: usize,
}

/// Makes the experiment.
///
/// # Errors
/// If there is no labelled mail, or it cannot be read.
pub fn run(bench: &mut Bench<'_>) -> Result<Findings, EvalError> {
    let texts = read(bench)?;
    let queries = texts.truth.iter().filter(|near| !near.is_empty()).count();
    let mut findings = Findings::new("imatch", "I-Match with randomised lexicons (paper 001)");
    findings.about = format!(
        "{} spam messages of {} after {} trivial duplicates were taken out, {} of which have a near duplicate by the truth (cosine of words ≥ 0.9) and are the queries; {} legitimate messages. \
         The paper had 5,328 and 6,389 spam and 18,555 legitimate messages of its own; the level depends on how alike the spam is, so what can be compared is the relative gain of K.",
        texts.spam.len(),
        texts.name,
        texts.removed,
        queries,
        texts.ham.len()
    );
    let lexicons = lexicons(bench, &texts)?;
    copies(bench, &texts, &lexicons, &mut findings)?;
    others(bench, &texts, &lexicons, &mut findings)?;
    stability(bench, &texts, &lexicons, &mut findings)?;
    Ok(findings)
}

fn read(bench: &mut Bench<'_>) -> Result<Texts, EvalError> {
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
fn lexicons(
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

/// Counts what queries find by shared keys; `keys` come for spam, then for legitimate mail.
fn counted(texts: &Texts, keys: &[Vec<u64>], agree: impl Fn(u32, u32) -> bool) -> Quality {
    let mut holders: HashMap<u64, Vec<u32>> = HashMap::new();
    for (n, keys) in (0..).zip(keys) {
        keys.iter()
            .for_each(|&key| holders.entry(key).or_default().push(n));
    }
    let found = |n: u32| -> BTreeSet<u32> {
        let near = keys[n as usize]
            .iter()
            .filter_map(|key| holders.get(key))
            .flatten()
            .copied();
        near.filter(|&m| m != n)
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .filter(|&m| agree(n, m))
            .collect()
    };
    from_relation(texts, found)
}

/// Counts what queries find.
fn from_relation(texts: &Texts, found: impl Fn(u32) -> BTreeSet<u32>) -> Quality {
    let spam = texts.spam.len() as u32;
    let (mut recall, mut precision, mut answered, mut pure, mut utility, mut ham) =
        (0.0, 0.0, 0, 0, 0.0, 0);
    let mut queries = 0;
    for (n, truth) in (0..).zip(&texts.truth) {
        if truth.is_empty() {
            continue;
        }
        queries += 1;
        let found = found(n);
        let right = found.intersection(truth).count();
        let alarms = found.iter().filter(|&&m| m >= spam).count();
        recall += right as f64 / truth.len() as f64;
        if !found.is_empty() {
            answered += 1;
            precision += right as f64 / found.len() as f64;
            pure += usize::from(right == found.len());
        }
        utility += (found.len() - alarms) as f64 - COST * alarms as f64;
        ham += alarms;
    }
    let mean = |sum: f64, of: usize| sum / of.max(1) as f64;
    Quality {
        recall: mean(recall, queries),
        precision: mean(precision, answered),
        pure: mean(pure as f64, answered),
        utility: mean(utility, queries),
        ham,
    }
}

/// The signatures of all texts.
fn signatures(texts: &Texts, imatch: &Imatch) -> Vec<Vec<u64>> {
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

/// Figures 3, 4 and 6, Tables 2 and 3: K.
fn copies(
    bench: &mut Bench<'_>,
    texts: &Texts,
    lexicons: &[(&'static str, Arc<Lexicon>)],
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let mut table = Table::new(
        "imatch-copies",
        "By number K of randomised lexicons (Figures 3, 4, 6; Tables 2, 3): mean recall with its gain over K = 0, mean precision, pure answers, utility (spam found less 100 for each \
         legitimate message)",
        &[
            "lexicon",
            "K",
            "recall",
            "gain %",
            "precision",
            "pure",
            "utility",
            "legitimate found",
            "paper honeypot recall",
            "honeypot gain %",
            "paper cluster recall",
            "cluster gain %",
        ],
    );
    let (mut recalls, mut pures) = (Vec::new(), Vec::new());
    bench
        .watch
        .begin("lexicons", (lexicons.len() * COPIES.len()) as u64);
    for (name, lexicon) in lexicons {
        let (mut recall, mut pure, mut base) = (Vec::new(), Vec::new(), 0.0);
        for copies in COPIES {
            let key = format!("imatch {name} K={copies} {:x}", texts.checksum);
            let quality: Quality = bench.notebook.measure(&key, || {
                let imatch = Imatch {
                    lexicon: Arc::clone(lexicon),
                    copies,
                    ..Imatch::default()
                };
                Ok(counted(texts, &signatures(texts, &imatch), |_, _| true))
            })?;
            if copies == 0 {
                base = quality.recall;
            }
            let gain = |value: f64, base: f64| {
                if base > 0.0 {
                    format!("{:+.0}", 100.0 * (value / base - 1.0))
                } else {
                    "–".to_owned()
                }
            };
            let printed = PRINTED.iter().find(|row| row.0 == copies);
            let [a, b, c, d] = printed.map_or([const { String::new() }; 4], |row| {
                [
                    format!("{:.2}", row.1),
                    gain(row.1, PRINTED[0].1),
                    format!("{:.2}", row.3),
                    gain(row.3, PRINTED[0].3),
                ]
            });
            table.row([
                (*name).to_owned(),
                copies.to_string(),
                share(quality.recall),
                gain(quality.recall, base),
                share(quality.precision),
                share(quality.pure),
                format!("{:.2}", quality.utility),
                quality.ham.to_string(),
                a,
                b,
                c,
                d,
            ]);
            recall.push((f64::from(copies), quality.recall));
            pure.push((f64::from(copies), quality.pure));
            if copies == 10 {
                findings.remark(format!(
                    "Lexicon ({name}): K = 10 finds {} of the duplicates where one lexicon finds {} ({} %; the paper: +21 and +52 %), with {} legitimate messages found (the paper: none).",
                    share(quality.recall), share(base), gain(quality.recall, base), quality.ham
                ));
            }
            bench.watch.step(1);
        }
        recalls.push(Line::new(name, recall));
        pures.push(Line::new(name, pure));
    }
    recalls.push(Line::thin(
        "paper, honeypot",
        PRINTED.iter().map(|row| (f64::from(row.0), row.1)),
    ));
    recalls.push(Line::thin(
        "paper, cluster",
        PRINTED.iter().map(|row| (f64::from(row.0), row.3)),
    ));
    findings.tables.push(table);
    findings.charts.push(Chart {
        lines: recalls,
        ..Chart::new(
            "imatch-recall",
            "Near duplicates found by K (Figures 3 and 6)",
            "K",
            "recall",
        )
    });
    findings.charts.push(Chart {
        lines: pures,
        ..Chart::new(
            "imatch-pure",
            "Pure answers by K (Figure 4)",
            "K",
            "share of answers without a wrong one",
        )
    });
    Ok(())
}

/// The same truth, other methods.
fn others(
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

/// Stability after n changed lexicon words, measured and predicted.
fn stability(
    bench: &mut Bench<'_>,
    texts: &Texts,
    lexicons: &[(&'static str, Arc<Lexicon>)],
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let mut table = Table::new(
        "imatch-stability",
        "The chance that one of K randomised lexicons keeps its hash after n lexicon words were added (p = .33): measured, and 1 − (1 − pⁿ)^K; expected lexicons until one does, \
         1/pⁿ, beside what the paper's equation (6) gives, 1/(1 − p)ⁿ",
        &[
            "n",
            "K = 1",
            "predicted",
            "K = 2",
            "predicted",
            "K = 5",
            "predicted",
            "K = 10",
            "predicted",
            "lexicons needed",
            "paper's equation (6)",
        ],
    );
    const P: f64 = 0.33;
    const KS: [u32; 4] = [1, 2, 5, 10];
    let Some((name, lexicon)) = lexicons.first() else {
        return Ok(());
    };
    let primary: Vec<u64> = lexicon
        .words()
        .filter(|(_, _, part)| *part == Part::Primary)
        .map(|(word, ..)| xxh3_64(word.as_bytes()))
        .collect();
    let mut lines: Vec<Line> = KS
        .iter()
        .flat_map(|k| {
            [
                Line::new(&format!("K = {k}"), []),
                Line::thin(&format!("K = {k}, predicted"), []),
            ]
        })
        .collect();
    for n in 1..=6_usize {
        let seed = bench.seed;
        let key = format!(
            "imatch stability {name} n={n} seed={seed} {:x}",
            texts.checksum
        );
        let measured: [f64; 4] = bench.notebook.measure(&key, || {
            let trials: Vec<&Document> = texts.spam.iter().chain(&texts.ham).take(3000).collect();
            let imatch = |copies| Imatch {
                lexicon: Arc::clone(lexicon),
                copies,
                ratio: 0,
                least_words: 1,
                ..Imatch::default()
            };
            let kept: Vec<Option<[bool; 4]>> = trials
                .par_iter()
                .enumerate()
                .map(|(at, document)| {
                    let words = twicetold_methods::imatch::unique_words(document);
                    let mut dice = Dice::of(seed, (at * 10 + n) as u64);
                    let mut more = words.clone();
                    let absent: Vec<u64> = primary
                        .iter()
                        .copied()
                        .filter(|word| words.binary_search(word).is_err())
                        .collect();
                    more.extend(dice.some(n, absent.len()).into_iter().map(|at| absent[at]));
                    more.sort_unstable();
                    let enough = primary.len() - absent.len() >= 12 && absent.len() >= n;
                    enough.then(|| {
                        KS.map(|k| {
                            let (a, b) = (imatch(k).signature(&words), imatch(k).signature(&more));
                            a.iter().any(|hash| b.contains(hash))
                        })
                    })
                })
                .collect();
            let kept: Vec<[bool; 4]> = kept.into_iter().flatten().collect();
            Ok([0, 1, 2, 3]
                .map(|at| kept.iter().filter(|row| row[at]).count() as f64 / kept.len() as f64))
        })?;
        let pn = P.powi(n as i32);
        let mut row = vec![n.to_string()];
        for (at, k) in KS.iter().enumerate() {
            let predicted = 1.0 - (1.0 - pn).powi(*k as i32);
            row.extend([share(measured[at]), share(predicted)]);
            if measured[at].is_finite() {
                lines[2 * at].points.push((n as f64, measured[at]));
            }
            lines[2 * at + 1].points.push((n as f64, predicted));
        }
        row.extend([
            format!("{:.1}", 1.0 / pn),
            format!("{:.1}", 1.0 / (1.0 - P).powi(n as i32)),
        ]);
        table.row(row);
    }
    findings.tables.push(table);
    findings.charts.push(Chart {
        lines,
        range: Some((0.0, 1.05)),
        ..Chart::new(
            "imatch-stability",
            "Stability after n added lexicon words (Figure 2), p = .33",
            "n",
            "chance that a hash stays",
        )
    });
    findings.remark(
        "The paper's equation (6) and Table 4 take (1 − p)ⁿ, the chance that no changed word was removed; a hash stays if all of them were, which is pⁿ. The measured curve follows pⁿ.",
    );
    Ok(())
}
