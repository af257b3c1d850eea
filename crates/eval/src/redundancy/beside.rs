//! The paper's method and ours side by side.

use std::collections::BTreeSet;

use twicetold_detect::Scan;
use twicetold_methods::winnow::paper::Order;
use twicetold_source::Collection;

use super::mailbox::Mailbox;
use super::score::{Outcome, Report, score};
use super::sweeps::{contained, quality, two};
use crate::{Bench, EvalError, Findings, Table, percent};

/// Both methods side by side: the report, the loss, and by category.
pub(super) fn beside(
    bench: &mut Bench<'_>,
    mailbox: &Mailbox,
    collection: &Collection,
    scanned: &Scan,
    findings: &mut Findings,
) -> Result<(), EvalError> {
    let its = contained(mailbox, 3, Order::Paper);
    let relation = its.relation(|_, _| 0.95);
    let its_report = Report::of(&mailbox.truth, &relation);
    let key = format!("redundancy pair by pair {:x}", mailbox.corpus.checksum);
    let watch = bench.watch;
    let ours: Vec<BTreeSet<usize>> = bench
        .notebook
        .measure(&key, || Ok(mailbox.relation(scanned, collection, watch)))?;
    let our_report = Report::of(&mailbox.truth, &ours);
    let mut table = Table::new(
        "redundancy-report",
        "The paper's report (Figure 13): who is made redundant by which one other message",
        &["", "paper's method", "scan"],
    );
    let mut row = |name: &str, take: &dyn Fn(&Report) -> String| {
        table.row([name.to_owned(), take(&its_report), take(&our_report)]);
    };
    row("redundant in truth", &|r| r.truth.to_string());
    row("found", &|r| r.found.to_string());
    row("missing", &|r| r.missing.len().to_string());
    row("extra", &|r| r.extra.len().to_string());
    row("wrong number of witnesses", &|r| {
        r.witnesses.len().to_string()
    });
    row("precision by message %", &|r| two(quality(r).2));
    row("recall by message %", &|r| two(quality(r).3));
    row("precision as the paper counts %", &|r| two(quality(r).0));
    row("recall as the paper counts %", &|r| two(quality(r).1));
    findings.tables.push(table);
    findings.tables.push(differences(
        mailbox,
        &[("paper's method", &its_report), ("scan", &our_report)],
    ));
    if !mailbox.has_units {
        return Ok(());
    }
    let theirs = score(&mailbox.labels, &its.removed(&relation));
    let scan = score(&mailbox.labels, &mailbox.removed(scanned));
    let mut table = Table::new(
        "redundancy-category",
        "If everything found goes: what may go, what goes, and what loses content (window 3, threshold 95 %; traps begin with neg-)",
        &[
            "category",
            "may go",
            "paper: went",
            "paper: lost content",
            "scan: went",
            "scan: lost content",
        ],
    );
    let row = |name: &str, its: Outcome, ours: Outcome| {
        [
            name.to_owned(),
            its.removable.to_string(),
            its.removed.to_string(),
            its.lost.to_string(),
            ours.removed.to_string(),
            ours.lost.to_string(),
        ]
    };
    for (category, its) in &theirs.by {
        table.row(row(
            category,
            *its,
            scan.by.get(category).copied().unwrap_or_default(),
        ));
    }
    table.row(row("all", theirs.all, scan.all));
    findings.tables.push(table);
    findings.remark(format!(
        "`scan` lets {} % of what may go go and loses content in {} of {} removed messages; the paper's method (threshold 95 %, one kept \
         copy each) {} % with {} of {}.",
        percent(scan.all.removed as f64, scan.all.removable as f64), scan.all.lost, scan.removed,
        percent(theirs.all.removed as f64, theirs.all.removable as f64), theirs.all.lost, theirs.removed
    ));
    Ok(())
}

/// Every message about which a method and the truth disagree.
fn differences(mailbox: &Mailbox, reports: &[(&str, &Report)]) -> Table {
    let mut table = Table::new(
        "redundancy-differences",
        "Where method and truth disagree",
        &[
            "method",
            "what",
            "message",
            "file",
            "category",
            "witnesses found",
            "witnesses in truth",
        ],
    );
    table.long = true;
    for (method, report) in reports {
        let missing = report
            .missing
            .iter()
            .map(|&n| ("missing", n, 0, mailbox.truth[n].len()));
        let extra = report.extra.iter().map(|&n| ("extra", n, 1, 0));
        let uneven = report
            .witnesses
            .iter()
            .map(|&(n, found, truth)| ("witnesses", n, found, truth));
        for (what, n, found, truth) in missing.chain(extra).chain(uneven) {
            let label = &mailbox.labels[n];
            let count = if what == "extra" {
                String::new()
            } else {
                found.to_string()
            };
            table.row([
                (*method).to_owned(),
                what.to_owned(),
                label.id.clone(),
                label.file.clone(),
                label.category.clone(),
                count,
                truth.to_string(),
            ]);
        }
    }
    table
}
