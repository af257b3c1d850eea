//! Does the embedding keep edit distances, and does the forest find what is close? Paper 004, Figures 1 to 6, Tables 1 and 3.

mod reuters;
mod strings;

use crate::{Bench, EvalError, Findings};

/// Makes the experiment. Strings are made; the part with texts needs a collection and is left out without one.
///
/// # Errors
/// If a measurement fails.
pub fn run(bench: &mut Bench<'_>) -> Result<Findings, EvalError> {
    let mut findings = Findings::new(
        "edit",
        "Edit distance by embedding and an LSH forest (paper 004)",
    );
    findings.about = "Random strings over 26 letters, changed at random, as in the paper (which averages 100 forests, here fewer); and Reuters-21578, the paper's own collection, where it is at hand.".to_owned();
    strings::bounds(bench, &mut findings)?;
    strings::collisions(bench, &mut findings)?;
    strings::forest(bench, &mut findings)?;
    match bench.paths(&["reuters21578"]) {
        Ok(paths) => reuters::duplicates(bench, &paths, &mut findings)?,
        Err(_) => findings
            .remark("Reuters-21578 is not at hand, so Table 3 and the gold standard are left out."),
    }
    Ok(findings)
}
