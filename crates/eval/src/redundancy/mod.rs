//! Which messages tell nothing new? Paper 000, Figures 10, 13, 14 and 16.
//!
//! A labelled mailbox is a folder with the messages in `mail/` and the truth beside it: `truth.jsonl` ([`Label`]s), or
//! `classification.txt` (Message-IDs, see [`read_classification`]). `eval cases` makes one out of any mailbox.
//!
//! Two questions are asked of the same messages. The paper's: which message is made redundant by which others, one at a
//! time? And the user's: if everything that was found goes, what is lost? `scan` answers the second one itself; of the
//! first one it is asked pair by pair, through the door by which the review page asks ([`twicetold_detect::cover`]).

mod beside;
mod mailbox;
mod paper;
mod score;
mod sweeps;
mod truth;

use twicetold_detect::{Options, Quiet, scan};
use twicetold_source::Collection;

pub use paper::Contained;
pub use score::{Outcome, Report, Score, score};
pub use truth::{Label, holders, read_classification, read_labels};

use crate::{Bench, EvalError, Findings};
use beside::beside;
use mailbox::Mailbox;
use sweeps::{in_threads, thresholds, windows};

/// Measures the paper's method and ours on a labelled mailbox.
///
/// # Errors
/// If there is no labelled mailbox, or it cannot be read.
pub fn run(bench: &mut Bench<'_>) -> Result<Findings, EvalError> {
    let folder = match bench.texts.first() {
        Some(given) => given.clone(),
        None if bench.corpora.join("truth.jsonl").is_file() => bench.corpora.clone(),
        None => bench.corpus(&["redundancy-dev", "redundancy"])?.remove(0),
    };
    let mailbox = Mailbox::open(&folder, bench)?;
    let mut findings = Findings::new("redundancy", "Redundant messages (paper 000)");
    findings.about = format!(
        "{} labelled messages ({}), of which {} are made redundant by one other message. The paper had 143 messages of its own \
         (20 identical, 16 almost identical, 20 rearranged, 87 quoted) and no traps; here a large part are traps made to be \
         mistaken for redundant ones, so compare the shape, not the level.",
        mailbox.corpus.size(),
        bench.called(&folder),
        mailbox.truth.iter().filter(|by| !by.is_empty()).count()
    );
    let collection = Collection::open(std::slice::from_ref(&mailbox.mail));
    let scanned = scan(&collection, &Options::default(), &Quiet);
    windows(bench, &mailbox, &mut findings)?;
    thresholds(bench, &mailbox, &mut findings)?;
    let threads = in_threads(bench, &mailbox, &scanned)?;
    beside(bench, &mailbox, &collection, &scanned, &mut findings)?;
    findings.tables.push(threads);
    Ok(findings)
}
