//! Are copies found by the hashes of their sentences? Paper 002, Tables 2, 3 and 4.

mod corpus;
mod robust;
mod stream;

use std::path::PathBuf;

use corpus::{Planted, clean, plant};
use stream::{Measure, duplicates};

use crate::metrics::Found;
use crate::{Bench, Chart, Corpus, EvalError, Findings, Line, Table, number, percent};

/// What the paper found by threshold: precision, recall (Table 2).
const BY_THRESHOLD: [(u32, f64, f64); 5] = [
    (50, 97.5, 100.0),
    (60, 98.0, 100.0),
    (70, 98.3, 98.7),
    (80, 98.3, 98.2),
    (90, 98.8, 97.3),
];
/// Mails, duplicates among them, the paper's precision and recall, those of ASD (Table 3).
const BY_SHARE: [(usize, usize, f64, f64, f64, f64); 6] = [
    (500, 100, 97.0, 100.0, 97.0, 100.0),
    (500, 200, 97.5, 99.5, 96.5, 99.0),
    (1000, 150, 98.0, 100.0, 97.3, 98.8),
    (1000, 300, 97.6, 99.2, 97.5, 99.2),
    (2000, 200, 97.0, 99.5, 97.0, 98.5),
    (2000, 300, 97.8, 100.0, 96.2, 99.5),
];
/// How many mails the paper counted duplicates among, and how many there were.
const COUNTED: (usize, usize) = (1775, 535);
/// The most texts that mails are drawn from.
const DRAWN: usize = 4000;

/// Makes the experiment.
///
/// # Errors
/// If there are no texts, or they cannot be read.
pub fn run(bench: &mut Bench<'_>) -> Result<Findings, EvalError> {
    let paths = bench.paths(&["spamassassin", "spam", "enron-inboxes"])?;
    let texts = Corpus::documents(&paths, bench.most.min(DRAWN), bench.watch)?;
    let base = clean(&texts, bench)?;
    let mut findings = Findings::new("blocks", "Sentence and paragraph hashes (paper 002)");
    findings.about = format!(
        "{} messages of {}, of which {} different ones of at least five sentences are used; copies of some of them are planted, changed in one of six ways (not at all, a greeting and a closing, \
         a footer, a sentence replaced, one dropped, one added). The paper classified 1,500 mails of its own by hand; what was planted here is harder for short mails, of which one sentence is a large part.",
        texts.size(),
        paths
            .iter()
            .map(|path| bench.called(path))
            .collect::<Vec<_>>()
            .join(", "),
        number(base.len())
    );
    thresholds(bench, &texts, &base, &mut findings)?;
    shares(bench, &texts, &base, &mut findings)?;
    robust::robustness(bench, &texts, &mut findings)?;
    counted(bench, &mut findings)?;
    Ok(findings)
}

fn measured(
    bench: &mut Bench<'_>,
    checksum: u64,
    planted: &Planted<'_>,
    name: &str,
    measure: Measure,
    t: u32,
) -> Result<Found, EvalError> {
    let key = format!(
        "blocks {name} {measure:?} t={t} seed={} {checksum:x}",
        bench.seed
    );
    bench.notebook.measure(&key, || {
        Ok(planted.score(&duplicates(&planted.texts, measure, t)))
    })
}

fn cells(found: Found) -> [String; 2] {
    [
        format!("{:.1}", 100.0 * found.precision()),
        format!("{:.1}", 100.0 * found.recall()),
    ]
}

/// Table 2: the threshold.
fn thresholds(
    bench: &mut Bench<'_>,
    texts: &Corpus<twicetold_model::Document>,
    base: &[usize],
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let (all, copies) = size(base, 1500, 450);
    let planted = plant(texts, base, all, copies, bench.seed);
    let mut table = Table::new(
        "blocks-threshold",
        &format!(
            "By threshold (Table 2): precision P and recall R in %, {copies} copies among {all} mails. Ours divides by max(m, n)²; formula (3) as printed; Definition 2; ASD as sets of sentences"
        ),
        &[
            "threshold",
            "paper P",
            "paper R",
            "ours P",
            "ours R",
            "formula (3) P",
            "formula (3) R",
            "Definition 2 P",
            "Definition 2 R",
            "ASD P",
            "ASD R",
        ],
    );
    let mut lines: Vec<Line> = Measure::ALL
        .iter()
        .map(|measure| Line::new(&format!("{}: recall", measure.name()), []))
        .collect();
    bench.watch.begin("thresholds", BY_THRESHOLD.len() as u64);
    for (t, p, r) in BY_THRESHOLD {
        let mut row = vec![
            format!("{:.1}", f64::from(t) / 100.0),
            format!("{p:.1}"),
            format!("{r:.1}"),
        ];
        for (measure, line) in Measure::ALL.into_iter().zip(&mut lines) {
            let found = measured(
                bench,
                texts.checksum,
                &planted,
                &format!("planted {all}/{copies}"),
                measure,
                t,
            )?;
            row.extend(cells(found));
            line.points
                .push((f64::from(t) / 100.0, 100.0 * found.recall()));
        }
        table.row(row);
        bench.watch.step(1);
    }
    lines.push(Line::thin(
        "paper: recall",
        BY_THRESHOLD
            .iter()
            .map(|row| (f64::from(row.0) / 100.0, row.2)),
    ));
    findings.charts.push(Chart {
        lines,
        ..Chart::new(
            "blocks-threshold",
            "Copies found by threshold (Table 2)",
            "threshold",
            "recall in %",
        )
    });
    findings.remark(format!(
        "At 0.6, the paper's best threshold, ours finds {} % of the copies and the printed formula {} %; the paper prints 100 %. What is missed are short mails in which the changed sentence is more than the \
         threshold allows. The printed formula finds more because a dropped sentence costs it nothing (m·n is less than the weight of a perfect match), and for the same reason it calls more strangers copies.",
        table.cell("0.6", "ours R").unwrap_or("–"), table.cell("0.6", "formula (3) R").unwrap_or("–")
    ));
    findings.tables.push(table);
    Ok(())
}

/// As many mails and copies as wanted, or fewer in the same proportion.
fn size(base: &[usize], all: usize, copies: usize) -> (usize, usize) {
    let originals = all - copies;
    if base.len() >= originals {
        return (all, copies);
    }
    let copies = copies * base.len() / originals.max(1);
    (base.len() + copies, copies)
}

/// Table 3: how many of the mails are duplicates.
fn shares(
    bench: &mut Bench<'_>,
    texts: &Corpus<twicetold_model::Document>,
    base: &[usize],
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let mut table = Table::new(
        "blocks-share",
        "By share of duplicates, threshold 0.6 (Table 3): precision P and recall R in %",
        &[
            "mails / copies",
            "paper P",
            "paper R",
            "paper's ASD P",
            "paper's ASD R",
            "ours P",
            "ours R",
            "ASD P",
            "ASD R",
        ],
    );
    bench.watch.begin("shares", BY_SHARE.len() as u64);
    for (all, copies, p, r, asd_p, asd_r) in BY_SHARE {
        let (all, copies) = size(base, all, copies);
        let planted = plant(texts, base, all, copies, bench.seed);
        let name = format!("planted {all}/{copies}");
        let mut row = vec![format!("{all} / {copies}")];
        row.extend([p, r, asd_p, asd_r].map(|value| format!("{value:.1}")));
        for measure in [Measure::Matched, Measure::Asd] {
            row.extend(cells(measured(
                bench,
                texts.checksum,
                &planted,
                &name,
                measure,
                60,
            )?));
        }
        table.row(row);
        bench.watch.step(1);
    }
    findings.tables.push(table);
    Ok(())
}

/// How many mails of real corpora are duplicates.
fn counted(bench: &mut Bench<'_>, findings: &mut Findings) -> Result<(), EvalError> {
    let mut table = Table::new(
        "blocks-counted",
        "Duplicates in real mail, threshold 0.6, at most 1,775 messages in the order of their places",
        &["corpus", "messages", "duplicates", "%"],
    );
    table.row([
        "the paper's mail",
        &number(COUNTED.0),
        &number(COUNTED.1),
        &percent(COUNTED.1 as f64, COUNTED.0 as f64),
    ]);
    let named = [
        "spamassassin/spam-1",
        "spamassassin/spam-2",
        "spamassassin/easy-ham-1",
        "zh-spam/spam",
        "zh-spam/normal",
        "enron-inboxes",
        "cypherpunks",
    ];
    let places: Vec<PathBuf> = if bench.texts.is_empty() {
        named
            .iter()
            .map(|name| bench.corpora.join(name))
            .filter(|path| path.exists())
            .collect()
    } else {
        bench.texts.clone()
    };
    for path in places {
        let corpus = Corpus::documents(
            std::slice::from_ref(&path),
            COUNTED.0.min(bench.most),
            bench.watch,
        )?;
        let key = format!("blocks counted {:x}", corpus.checksum);
        let found: usize = bench.notebook.measure(&key, || {
            let texts: Vec<&str> = corpus
                .items
                .iter()
                .map(|item| item.value.text.as_str())
                .collect();
            Ok(duplicates(&texts, Measure::Matched, 60)
                .iter()
                .flatten()
                .count())
        })?;
        let all = corpus.items.len();
        table.row([
            bench.called(&path),
            number(all),
            number(found),
            percent(found as f64, all as f64),
        ]);
    }
    findings.tables.push(table);
    Ok(())
}
