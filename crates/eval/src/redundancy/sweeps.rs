//! The paper's parameters, one after the other.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use twicetold_detect::{Options, Quiet, Scan, scan};
use twicetold_methods::winnow::paper::Order;
use twicetold_source::Collection;

use super::mailbox::Mailbox;
use super::paper::Contained;
use super::score::{Report, score};
use crate::{Bench, Chart, EvalError, Findings, Line, Table};

/// What the paper found by window, at a threshold of 95 %: precision, recall, average fingerprints (Figures 10 and 14).
const BY_WINDOW: [(f64, f64, f64); 10] = [
    (97.14, 96.45, 250.0),
    (97.14, 96.45, 166.0),
    (97.16, 97.16, 123.0),
    (97.14, 96.45, 97.0),
    (97.08, 94.33, 81.0),
    (94.78, 90.07, 68.0),
    (94.74, 89.36, 60.0),
    (96.24, 90.78, 53.0),
    (96.24, 90.78, 48.0),
    (95.42, 88.65, 43.0),
];
/// What the paper found by threshold, with a window of 3: threshold, precision, recall (Figure 16).
const BY_THRESHOLD: [(u32, f64, f64); 8] = [
    (85, 89.74, 99.29),
    (88, 91.50, 99.29),
    (90, 92.11, 99.29),
    (92, 94.48, 97.16),
    (95, 97.16, 97.16),
    (96, 97.04, 92.91),
    (97, 99.20, 88.65),
    (100, 100.0, 68.09),
];
/// The paper's method with a window, written down for a run.
pub(super) fn contained(mailbox: &Mailbox, window: usize, order: Order) -> Contained {
    let texts = mailbox
        .corpus
        .items
        .iter()
        .map(|item| item.value.text.as_str());
    Contained::of(texts, window, order)
}

/// Precision and recall of a relation, in percent: the paper's count, and by message.
pub(super) type Quality = (f64, f64, f64, f64);

pub(super) fn quality(report: &Report) -> Quality {
    let (strict, messages) = (report.strict(), report.messages());
    let p = |value: f64| 100.0 * value;
    (
        p(strict.precision()),
        p(strict.recall()),
        p(messages.precision()),
        p(messages.recall()),
    )
}

pub(super) fn two(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.2}")
    } else {
        "–".to_owned()
    }
}

/// Figures 10 and 14: the window.
pub(super) fn windows(
    bench: &mut Bench<'_>,
    mailbox: &Mailbox,
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let mut table = Table::new(
        "redundancy-window",
        "By window, threshold 95 % (Figures 10 and 14): precision P and recall R in % by message, fingerprints per message. \
         *Here* is the paper's method on these messages, *no traps* without the cases made to mislead, *mixed* with minima in a \
         random order instead of the dictionary's; *scan* is ours",
        &[
            "window",
            "paper P",
            "paper R",
            "paper fingerprints",
            "here P",
            "here R",
            "here fingerprints",
            "no traps P",
            "no traps R",
            "mixed P",
            "mixed R",
            "scan P",
            "scan R",
        ],
    );
    let names = [
        "here: precision",
        "here: recall",
        "no traps: precision",
        "no traps: recall",
        "scan: precision",
        "scan: recall",
    ];
    let mut lines: Vec<Line> = names.iter().map(|name| Line::new(name, [])).collect();
    bench.watch.begin("windows", BY_WINDOW.len() as u64);
    for (window, printed) in (1..).zip(BY_WINDOW) {
        let key = format!("redundancy window={window} {:x}", mailbox.corpus.checksum);
        let found: ByWindow = bench
            .notebook
            .measure(&key, || Ok(ByWindow::measure(mailbox, window)))?;
        let (p, r) = found.scan.unwrap_or((f64::NAN, f64::NAN));
        let values = [
            found.here.0,
            found.here.1,
            found.no_traps.0,
            found.no_traps.1,
            p,
            r,
        ];
        table.row([
            window.to_string(),
            two(printed.0),
            two(printed.1),
            format!("{:.0}", printed.2),
            two(found.here.0),
            two(found.here.1),
            format!("{:.0}", found.fingerprints),
            two(found.no_traps.0),
            two(found.no_traps.1),
            two(found.mixed.0),
            two(found.mixed.1),
            two(p),
            two(r),
        ]);
        for (line, value) in lines.iter_mut().zip(values) {
            line.points
                .extend(value.is_finite().then_some((window as f64, value)));
        }
        if window == 3 {
            findings.remark(format!(
                "With a window of 3 the paper prints a precision of {} % and a recall of {} %. Its method has {} % and {} % on the \
                 cases here that are of its own kinds, and {} % and {} % with the traps: a share of common fingerprints cannot tell \
                 a changed number, another attachment or a short answer from a copy.",
                two(printed.0), two(printed.1), two(found.no_traps.0), two(found.no_traps.1), two(found.here.0), two(found.here.1)
            ));
        }
        bench.watch.step(1);
    }
    lines.retain(|line| !line.points.is_empty());
    let printed = |take: fn(&(f64, f64, f64)) -> f64| {
        let rows = (1..).zip(&BY_WINDOW);
        rows.map(move |(w, row)| (f64::from(w), take(row)))
            .collect::<Vec<_>>()
    };
    lines.push(Line::thin("paper: precision", printed(|row| row.0)));
    lines.push(Line::thin("paper: recall", printed(|row| row.1)));
    findings.charts.push(Chart {
        lines,
        ..Chart::new(
            "redundancy-window",
            "Precision and recall by window, threshold 95 %",
            "window",
            "%",
        )
    });
    findings.tables.push(table);
    Ok(())
}

/// What was measured with one window: precision and recall, in percent by message.
#[derive(Serialize, Deserialize)]
struct ByWindow {
    here: (f64, f64),
    fingerprints: f64,
    no_traps: (f64, f64),
    mixed: (f64, f64),
    scan: Option<(f64, f64)>,
}

impl ByWindow {
    fn measure(mailbox: &Mailbox, window: usize) -> Self {
        let its = contained(mailbox, window, Order::Paper);
        let relation = its.relation(|_, _| 0.95);
        let by_message = |truth: &[BTreeSet<usize>], relation: &[BTreeSet<usize>]| {
            let found = quality(&Report::of(truth, relation));
            (found.2, found.3)
        };
        let honest = |relation: &[BTreeSet<usize>]| -> Vec<BTreeSet<usize>> {
            let labelled = relation.iter().zip(&mailbox.labels);
            labelled
                .filter(|(_, label)| !label.category.starts_with("neg-"))
                .map(|(by, _)| by.clone())
                .collect()
        };
        let mixed = contained(mailbox, window, Order::Mixed).relation(|_, _| 0.95);
        let scan = mailbox.has_units.then(|| {
            let options = Options {
                window,
                ..Options::default()
            };
            let collection = Collection::open(std::slice::from_ref(&mailbox.mail));
            let scanned = scan(&collection, &options, &Quiet);
            let score = score(&mailbox.labels, &mailbox.removed(&scanned));
            (100.0 * score.precision(), 100.0 * score.recall())
        });
        Self {
            here: by_message(&mailbox.truth, &relation),
            fingerprints: its.average(),
            no_traps: by_message(&honest(&mailbox.truth), &honest(&relation)),
            mixed: by_message(&mailbox.truth, &mixed),
            scan,
        }
    }
}

/// Figure 16: the threshold.
pub(super) fn thresholds(
    bench: &mut Bench<'_>,
    mailbox: &Mailbox,
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let mut table = Table::new(
        "redundancy-threshold",
        "By threshold, window 3 (Figure 16): precision P and recall R in %; *here* is the paper's method on these messages by message, \
         *counted its way* right only with the right number of witnesses",
        &[
            "threshold",
            "paper P",
            "paper R",
            "here P",
            "here R",
            "counted its way P",
            "counted its way R",
            "lose content if all found go",
        ],
    );
    let key = format!("redundancy thresholds {:x}", mailbox.corpus.checksum);
    let found: Vec<(Quality, Option<usize>)> = bench.notebook.measure(&key, || {
        let contained = contained(mailbox, 3, Order::Paper);
        let rows = BY_THRESHOLD.iter().map(|(threshold, ..)| {
            let relation = contained.relation(|_, _| f64::from(*threshold) / 100.0);
            let lost = mailbox.has_units.then(|| {
                score(&mailbox.labels, &contained.removed(&relation))
                    .all
                    .lost
            });
            (quality(&Report::of(&mailbox.truth, &relation)), lost)
        });
        Ok(rows.collect())
    })?;
    let mut lines = vec![
        Line::new("here: precision", []),
        Line::new("here: recall", []),
    ];
    for ((threshold, p, r), (its, lost)) in BY_THRESHOLD.iter().zip(&found) {
        table.row([
            threshold.to_string(),
            two(*p),
            two(*r),
            two(its.2),
            two(its.3),
            two(its.0),
            two(its.1),
            lost.map_or("–".to_owned(), |lost| lost.to_string()),
        ]);
        for (line, value) in lines.iter_mut().zip([its.2, its.3]) {
            line.points.push((f64::from(*threshold), value));
        }
    }
    let printed = |take: fn(&(u32, f64, f64)) -> f64| {
        BY_THRESHOLD
            .iter()
            .map(move |row| (f64::from(row.0), take(row)))
            .collect::<Vec<_>>()
    };
    lines.push(Line::thin("paper: precision", printed(|row| row.1)));
    lines.push(Line::thin("paper: recall", printed(|row| row.2)));
    findings.charts.push(Chart {
        lines,
        ..Chart::new(
            "redundancy-threshold",
            "The paper's method by threshold, window 3",
            "threshold in %",
            "%",
        )
    });
    findings.tables.push(table);
    Ok(())
}

/// The paper's idea for later: a higher threshold within a conversation.
pub(super) fn in_threads(
    bench: &mut Bench<'_>,
    mailbox: &Mailbox,
    scanned: &Scan,
) -> Result<Table, EvalError> {
    let mut table = Table::new(
        "redundancy-threads",
        "The paper's method with a higher threshold within conversations (its chapter 6), 95 % elsewhere, window 3; in %, by message",
        &[
            "threshold within",
            "precision",
            "recall",
            "extra",
            "missing",
        ],
    );
    let mut threads: Vec<Option<&str>> = vec![None; mailbox.labels.len()];
    for (message, place) in scanned.messages.iter().zip(mailbox.places(scanned)) {
        if let Some(place) = place {
            threads[place] = message.thread.as_deref();
        }
    }
    let key = format!("redundancy threads {:x}", mailbox.corpus.checksum);
    let found: Vec<(f64, f64, usize, usize)> = bench.notebook.measure(&key, || {
        let contained = contained(mailbox, 3, Order::Paper);
        let rows = [0.95, 0.97, 0.99, 1.0].map(|within| {
            let relation = contained.relation(|a, b| {
                if threads[a].is_some() && threads[a] == threads[b] {
                    within
                } else {
                    0.95
                }
            });
            let report = Report::of(&mailbox.truth, &relation);
            let quality = quality(&report);
            (
                quality.2,
                quality.3,
                report.extra.len(),
                report.missing.len(),
            )
        });
        Ok(rows.to_vec())
    })?;
    for (within, (p, r, extra, missing)) in [95, 97, 99, 100].iter().zip(found) {
        table.row([
            within.to_string(),
            two(p),
            two(r),
            extra.to_string(),
            missing.to_string(),
        ]);
    }
    Ok(table)
}
