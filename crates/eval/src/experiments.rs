//! The one table of experiments.

use crate::{Bench, EvalError, Findings, redundancy};

/// An experiment.
pub struct Experiment {
    /// The word users type.
    pub name: &'static str,
    /// Makes it.
    pub run: fn(&mut Bench<'_>) -> Result<Findings, EvalError>,
}

/// Every experiment, in the order of the papers.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "redundancy",
    run: redundancy::run,
}];
