//! Strings made for the purpose: Figures 1, 2 and 3, Table 1.

use std::cell::OnceCell;

use rayon::prelude::*;
use twicetold_methods::edit::{
    Edit, Filter, Forest, Signature, TABLE, Windows, collision, distance,
};

use crate::metrics::{kendall, numbered};
use crate::{Bench, Chart, Dice, EvalError, Findings, Line, Table, Watch, share};

/// Precision at |S| = 2L as printed in Table 1, by L.
const PRINTED: [(usize, f64, f64); 6] = [
    (1, 0.950, 0.945),
    (2, 0.895, 0.853),
    (5, 0.824, 0.786),
    (10, 0.787, 0.749),
    (16, 0.746, 0.721),
    (20, 0.762, 0.708),
];
/// How many independent forests are averaged; the paper has 100.
const FORESTS: u64 = 12;
/// Strings within this many edits of the centre are close (the paper's k₂ at n = 1,000).
const CLOSE: usize = 126;
/// How many strings there are, and how many edits lie between them and the centre: half of them are close.
const STRINGS: usize = 2200;
const EDITS: std::ops::RangeInclusive<usize> = 10..=248;

fn random(n: usize, dice: &mut Dice) -> Vec<char> {
    (0..n)
        .map(|_| char::from(b'a' + dice.below(26) as u8))
        .collect()
}

/// A string of the same length with so many places changed; the edit distance is at most twice that.
fn changed(text: &[char], edits: usize, dice: &mut Dice) -> Vec<char> {
    let mut out = text.to_vec();
    for _ in 0..edits {
        let letter = char::from(b'a' + dice.below(26) as u8);
        match dice.below(4) {
            // A letter taken out here and put in there shifts what lies between.
            0 => {
                let (from, to) = (dice.below(out.len()), dice.below(out.len()));
                out.remove(from);
                out.insert(to, letter);
            }
            _ => {
                let at = dice.below(out.len());
                out[at] = letter;
            }
        }
    }
    out
}

/// Figure 1: D against the edit distance, with both bounds.
pub(super) fn bounds(bench: &mut Bench<'_>, findings: &mut Findings) -> Result<(), EvalError> {
    const N: usize = 2000;
    let windows = Windows::of_width(45);
    let seed = bench.seed;
    let levels: Vec<usize> = vec![1, 2, 5, 10, 20, 40, 60, 80, 120, 160, 240, 320, 480, 640];
    let watch = bench.watch;
    let points: Vec<(usize, f64)> =
        bench
            .notebook
            .measure(&format!("edit bounds n={N} seed={seed}"), || {
                watch.begin("distances", (levels.len() * 4) as u64);
                let jobs: Vec<(usize, u64)> = levels
                    .iter()
                    .flat_map(|&edits| (0..4).map(move |n| (edits, n)))
                    .collect();
                let points = jobs.par_iter().filter_map(|&(edits, n)| {
                    let mut dice = Dice::of(seed, edits as u64 * 100 + n);
                    let x = random(N, &mut dice);
                    let y = changed(&x, edits, &mut dice);
                    watch.step(1);
                    Some((distance(&x, &y, N)?, windows.distance(&x, &y)))
                });
                Ok(points.collect())
            })?;
    let mut sorted = points;
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let outside = sorted.iter().filter(|(edits, d)| {
        let most = windows.at_most(N, *edits).min(windows.farthest());
        *d > most + 1e-9 || *d < windows.at_least(N, edits.saturating_sub(1)) - 1e-9
    });
    findings.remark(format!("D lies between the bounds (4) and (5) for {} of {} pairs of strings of {N} characters, w = √n.", sorted.len() - outside.count(), sorted.len()));
    let grid: Vec<usize> = (0..=24)
        .map(|step| step * sorted.last().map_or(1, |last| last.0) / 24)
        .collect();
    let farthest = windows.farthest();
    findings.charts.push(Chart {
        lines: vec![
            Line::new(
                "D measured",
                sorted.iter().map(|&(edits, d)| (edits as f64, d)),
            ),
            Line::thin(
                "upper bound",
                grid.iter()
                    .map(|&k| (k as f64, windows.at_most(N, k).min(farthest))),
            ),
            Line::thin(
                "lower bound",
                grid.iter()
                    .map(|&k| (k as f64, windows.at_least(N, k.saturating_sub(1)).max(0.0))),
            ),
        ],
        ..Chart::new(
            "edit-bounds",
            "Figure 1: the distance D against the edit distance, n = 2,000",
            "edit distance",
            "D",
        )
    });
    Ok(())
}

/// Figure 2: how often hashes agree, measured and predicted.
pub(super) fn collisions(bench: &mut Bench<'_>, findings: &mut Findings) -> Result<(), EvalError> {
    const N: usize = 1000;
    const SAMPLED: usize = 60;
    let mut table = Table::new(
        "edit-collisions",
        "Figure 2: the chance that a hash agrees, n = 1,000, w = r = 100: measured over 600 hashes and 4 pairs, and predicted from the distances of 60 windows of each pair",
        &["edit distance", "measured", "predicted"],
    );
    let row = TABLE
        .iter()
        .find(|row| row.n == N)
        .copied()
        .unwrap_or(TABLE[5]);
    let (windows, seed, watch) = (row.windows(), bench.seed, bench.watch);
    let edit = Edit {
        trees: 30,
        longest: N,
        keeps_text: false,
        folds: false,
        ..Edit::paper()
    };
    let (mut measured_line, mut predicted_line) = (Vec::new(), Vec::new());
    watch.begin("collisions", 9);
    for edits in [1_usize, 2, 5, 10, 20, 40, 80, 160, 320] {
        let found: (f64, f64, f64) =
            bench
                .notebook
                .measure(&format!("edit collisions {edits} seed={seed}"), || {
                    let runs: Vec<(f64, f64, f64)> = (0..4_u64)
                        .into_par_iter()
                        .map(|n| {
                            let mut dice = Dice::of(seed, edits as u64 * 1000 + n);
                            let x = random(N, &mut dice);
                            let y = changed(&x, edits, &mut dice);
                            let values = |text: &[char]| {
                                let signature = edit
                                    .signature(&text.iter().collect::<String>())
                                    .cut(N as u32, 600, 1);
                                signature
                                    .vectors()
                                    .flat_map(|(_, vector)| vector.to_vec())
                                    .collect::<Vec<u16>>()
                            };
                            let (a, b) = (values(&x), values(&y));
                            let agree = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64
                                / a.len().max(1) as f64;
                            let starts = dice.some(SAMPLED, N + 1 - windows.width);
                            let predicted = starts.iter().map(|&at| {
                                let window = at..at + windows.width;
                                let apart = windows.distance(&x[window.clone()], &y[window])
                                    * windows.lengths() as f64;
                                if apart > 0.0 {
                                    collision(windows.width as f64 / apart)
                                } else {
                                    1.0
                                }
                            });
                            let apart = distance(&x, &y, N).unwrap_or(N) as f64;
                            (apart, agree, predicted.sum::<f64>() / starts.len() as f64)
                        })
                        .collect();
                    let mean = |pick: fn(&(f64, f64, f64)) -> f64| {
                        runs.iter().map(pick).sum::<f64>() / runs.len() as f64
                    };
                    Ok((mean(|run| run.0), mean(|run| run.1), mean(|run| run.2)))
                })?;
        table.row([format!("{:.0}", found.0), share(found.1), share(found.2)]);
        measured_line.push((found.0, found.1));
        predicted_line.push((found.0, found.2));
        watch.step(1);
    }
    findings.tables.push(table);
    findings.charts.push(Chart {
        lines: vec![
            Line::new("measured", measured_line),
            Line::thin("predicted", predicted_line),
        ],
        range: Some((0.0, 1.05)),
        ..Chart::new(
            "edit-collisions",
            "Figure 2: hashes that agree, n = 1,000",
            "edit distance",
            "chance",
        )
    });
    Ok(())
}

/// Strings around a centre, and their hashes in every forest.
struct Strings {
    /// How far each is from the centre.
    apart: Vec<usize>,
    /// By forest and string.
    signatures: Vec<Vec<Signature>>,
    /// By forest: the centre's.
    query: Vec<Signature>,
}

impl Strings {
    fn make(strings: usize, forests: u64, seed: u64, watch: &dyn Watch) -> Self {
        let centre = random(1000, &mut Dice::new(seed));
        watch.begin("hashing strings", forests);
        let made: Vec<(usize, String)> = (0..strings)
            .into_par_iter()
            .map(|n| {
                let edits = EDITS.start() + n * EDITS.clone().count() / strings;
                let text = changed(&centre, edits, &mut Dice::of(seed, n as u64));
                let apart = distance(&centre, &text, 1000).unwrap_or(1000);
                (apart, text.into_iter().collect())
            })
            .collect();
        let text: String = centre.iter().collect();
        let hashed = (1..=forests).map(|forest| {
            let edit = Edit {
                trees: 20,
                longest: 1000,
                keeps_text: false,
                folds: false,
                seed: forest,
                ..Edit::paper()
            };
            watch.step(1);
            let all = made.par_iter().map(|(_, text)| edit.signature(text));
            (all.collect(), edit.signature(&text))
        });
        let (signatures, query) = hashed.unzip();
        Self {
            apart: made.iter().map(|(apart, _)| *apart).collect(),
            signatures,
            query,
        }
    }
}

/// What one forest returned for one setting.
type Measured = (f64, f64, Vec<f64>);

/// Table 1 and Figure 3: precision at |S|, and the order of the answers.
pub(super) fn forest(bench: &mut Bench<'_>, findings: &mut Findings) -> Result<(), EvalError> {
    const FILTERS: [(&str, Filter); 4] = [
        ("all", Filter::All),
        ("==max", Filter::Deepest),
        ("==half", Filter::Half),
        (">=half", Filter::AtLeastHalf),
    ];
    let (seed, watch) = (bench.seed, bench.watch);
    // A bench for few texts makes few strings and forests.
    let strings = STRINGS.min(bench.most);
    let forests = if strings < STRINGS { 2 } else { FORESTS };
    // Made only if something is left to measure.
    let made: OnceCell<Strings> = OnceCell::new();
    let mut table = Table::new(
        "edit-precision",
        &format!(
            "Table 1: precision at |S|, {strings} strings of 1,000 characters, 10 to 248 edits from a centre, close within {CLOSE}, {forests} forests (the paper: 2,200 and 100)"
        ),
        &[
            "L",
            "paper: |S| = L",
            "paper: |S| = 2L",
            "here: |S| = L",
            "here: |S| = 2L",
        ],
    );
    let mut order = Table::new(
        "edit-order",
        "Figure 3: generalised Kendall distance (p = 1) between the forest's order and the true one, at most 50 answers; in brackets how many there are",
        &["L", "all", "==max", "==half", ">=half"],
    );
    let mut lines: Vec<Line> = FILTERS
        .iter()
        .map(|(name, _)| Line::new(name, []))
        .collect();
    for (trees, at_l, at_2l) in PRINTED {
        let key = format!(
            "edit forest and answers L={trees} strings={strings} forests={forests} seed={seed}"
        );
        let (one, two, orders): Measured = bench.notebook.measure(&key, || {
            let Strings {
                apart,
                signatures,
                query,
            } = made.get_or_init(|| Strings::make(strings, forests, seed, watch));
            let nearest = {
                let mut sorted = apart.clone();
                sorted.sort_unstable();
                sorted
            };
            let runs: Vec<Measured> = (0..forests as usize)
                .into_par_iter()
                .map(|at| {
                    let mut forest = Forest::default();
                    for (id, signature) in (0..).zip(&signatures[at]) {
                        forest.insert(id, &signature.cut(1000, trees, 20));
                    }
                    let asked = query[at].cut(1000, trees, 20);
                    let precision = |wanted: usize| {
                        let found = forest.ascend(&asked, wanted);
                        let some = found.iter().take(wanted);
                        let close = some
                            .clone()
                            .filter(|one| apart[one.id as usize] <= CLOSE)
                            .count();
                        close as f64 / some.count().max(1) as f64
                    };
                    let whole: Vec<_> = forest.ascend(&asked, 50).into_iter().take(50).collect();
                    let orders = FILTERS.iter().flat_map(|(_, filter)| {
                        let mut found = whole.clone();
                        filter.apply(&mut found);
                        let theirs: Vec<usize> =
                            found.iter().map(|one| apart[one.id as usize]).collect();
                        let truly = &nearest[..theirs.len().min(nearest.len())];
                        let apart = kendall(&numbered(truly), &numbered(&theirs), 1.0);
                        [apart, theirs.len() as f64]
                    });
                    (precision(trees), precision(2 * trees), orders.collect())
                })
                .collect();
            let mean = |pick: &dyn Fn(&Measured) -> f64| {
                runs.iter().map(pick).sum::<f64>() / runs.len() as f64
            };
            Ok((
                mean(&|run| run.0),
                mean(&|run| run.1),
                (0..2 * FILTERS.len())
                    .map(|at| mean(&|run| run.2[at]))
                    .collect(),
            ))
        })?;
        table.row([
            trees.to_string(),
            share(at_l),
            share(at_2l),
            share(one),
            share(two),
        ]);
        let cells = orders.chunks(2).map(|both| match both {
            [apart, answers] => format!("{apart:.0} ({answers:.0})"),
            _ => String::new(),
        });
        order.row(std::iter::once(trees.to_string()).chain(cells));
        for (line, both) in lines.iter_mut().zip(orders.chunks(2)) {
            line.points
                .extend(both.first().map(|&apart| (trees as f64, apart)));
        }
    }
    findings.remark(
        "Figure 3: as in the paper, the distance falls as trees are added, and `==max` is far ahead; of the others the paper has `==half` second, here it is `>=half`. The distance is a sum over pairs, and the filters return fewer answers: \
         much of the gain lies in their number.",
    );
    findings.tables.extend([table, order]);
    findings.charts.push(Chart {
        lines,
        ..Chart::new(
            "edit-order",
            "Figure 3: disorder of the answers by trees and filter, |S| = 50",
            "trees L",
            "Kendall distance",
        )
    });
    Ok(())
}
