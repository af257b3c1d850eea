//! What do more lexicons bring? Paper 001, Figures 2, 3, 4 and 6, Tables 2, 3 and 4.

mod copies;
mod count;
mod others;
mod stability;
mod texts;

use crate::{Bench, EvalError, Findings};

/// Makes the experiment.
///
/// # Errors
/// If there is no labelled mail, or it cannot be read.
pub fn run(bench: &mut Bench<'_>) -> Result<Findings, EvalError> {
    let texts = texts::read(bench)?;
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
    let lexicons = texts::lexicons(bench, &texts)?;
    copies::copies(bench, &texts, &lexicons, &mut findings)?;
    others::others(bench, &texts, &lexicons, &mut findings)?;
    stability::stability(bench, &texts, &lexicons, &mut findings)?;
    Ok(findings)
}
