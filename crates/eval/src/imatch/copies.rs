//! More and more randomised lexicons.

use std::sync::Arc;

use twicetold_methods::imatch::{Imatch, Lexicon};

use super::count::{Quality, counted};
use super::texts::{Texts, signatures};
use crate::{Bench, Chart, EvalError, Findings, Line, Table, share};

/// Numbers of randomised lexicons.
const COPIES: [u32; 6] = [0, 1, 2, 5, 10, 20];
/// What the paper found: copies, recall and utility with honeypot spam, recall and utility with cluster spam (Tables 2 and 3).
const PRINTED: [(u32, f64, f64, f64, f64); 4] = [
    (0, 0.66, 30.17, 0.40, 46.34),
    (2, 0.72, 36.32, 0.49, 81.25),
    (5, 0.76, 43.34, 0.55, 96.24),
    (10, 0.80, 56.93, 0.61, 113.38),
];

/// Figures 3, 4 and 6, Tables 2 and 3: K.
pub(super) fn copies(
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
