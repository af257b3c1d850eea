//! One message after the other: classify, and later train.

use std::collections::BTreeMap;

use super::{Filter, Mail};
use crate::metrics::Filtered;
use crate::{Dice, EvalError, Watch};

/// When the filter is told what a message was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Before the next message comes.
    Immediate,
    /// After a random number of further messages, at most this many.
    Delayed(usize),
}

/// Sends messages through a filter, in order.
///
/// # Errors
/// If the store of the filter fails.
pub fn run(
    mails: &[Mail],
    filter: &mut dyn Filter,
    feedback: Feedback,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Vec<Filtered>, EvalError> {
    let mut dice = Dice::new(seed);
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut run = Vec::with_capacity(mails.len());
    for (n, mail) in mails.iter().enumerate() {
        let (score, called) = filter.classify(mail)?;
        run.push(Filtered {
            spam: mail.spam,
            score,
            called,
        });
        let due = match feedback {
            Feedback::Immediate => n,
            Feedback::Delayed(most) => n + dice.below(most + 1),
        };
        waiting.entry(due).or_default().push(n);
        while let Some(entry) = waiting.first_entry().filter(|entry| *entry.key() <= n) {
            for told in entry.remove() {
                filter.train(&mails[told])?;
            }
        }
        watch.step(1);
    }
    Ok(run)
}
