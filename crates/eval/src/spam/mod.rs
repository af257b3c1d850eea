//! Is new spam recognised by what was reported before? The TREC spam track's protocol, paper 004's Figures 7 and 8, and
//! the mutation bench.
//!
//! Messages come one after the other. The filter says what it thinks of each, and is then told what it was, at once or
//! later. Every true spam is reported; legitimate mail is told only if it was taken for spam. What a filter of this sort
//! cannot know is spam of which nobody reported a variant before.

mod body;
mod filters;
pub(crate) mod levels;
mod mail;
mod mutation;
mod mutations;
mod protocol;
mod tables;
pub mod trec;

pub use body::Body;
pub use filters::{ByMethod, Combined, Filter, METHODS, Says};
pub use mail::Mail;
pub(crate) use mail::places;
pub use mutations::{Mutator, VARIANTS};
pub use protocol::{Feedback, run as run_protocol};

use crate::{Bench, EvalError, Findings, number};

/// Makes the experiment.
///
/// # Errors
/// If there is no labelled mail, or it cannot be read.
pub fn run(bench: &mut Bench<'_>) -> Result<Findings, EvalError> {
    let mails = mail::read(bench)?;
    let spam = mails.items.iter().filter(|mail| mail.spam).count();
    let mut findings = Findings::new("spam", "Variants of reported spam (papers 003 and 004)");
    findings.about = format!(
        "{} messages, {} of them spam ({}), {}. Paper 004 used the TREC 2006 corpus of 37,822 messages, 66 % of them spam, where campaigns are far \
         larger; here most spam has no earlier variant in the corpus, and no filter of this kind can know it. Compare the shape, and the table by number of earlier variants.",
        number(mails.items.len()),
        number(spam),
        mails.name,
        mails.order,
    );
    tables::protocol(bench, &mails, &mut findings)?;
    tables::reports(bench, &mails, &mut findings)?;
    levels::levels(bench, &mails, &mut findings)?;
    mutation::bench(bench, &mails, &mut findings)?;
    Ok(findings)
}
