//! The one table of experiments.

use crate::{
    Bench, EvalError, Findings, blocks, collisions, edit, imatch, redundancy, simhash, spam,
};

/// An experiment.
pub struct Experiment {
    /// The word users type.
    pub name: &'static str,
    /// Makes it.
    pub run: fn(&mut Bench<'_>) -> Result<Findings, EvalError>,
}

/// Every experiment, in the order of the papers.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "redundancy",
        run: redundancy::run,
    },
    Experiment {
        name: "collisions",
        run: collisions::run,
    },
    Experiment {
        name: "imatch",
        run: imatch::run,
    },
    Experiment {
        name: "blocks",
        run: blocks::run,
    },
    Experiment {
        name: "simhash",
        run: simhash::run,
    },
    Experiment {
        name: "edit",
        run: edit::run,
    },
    Experiment {
        name: "spam",
        run: spam::run,
    },
];
