//! How long a hash stays.

use std::sync::Arc;

use rayon::prelude::*;
use twicetold_methods::imatch::{Imatch, Lexicon, Part};
use twicetold_model::Document;
use xxhash_rust::xxh3::xxh3_64;

use super::texts::Texts;
use crate::{Bench, Chart, Dice, EvalError, Findings, Line, Table, share};

/// Stability after n changed lexicon words, measured and predicted.
pub(super) fn stability(
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
