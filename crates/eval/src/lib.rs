//! Is it right?
//!
//! The experiments of the papers, on any mail or text: what each method finds, what it misses, and what it finds wrongly,
//! beside what the paper found. This room measures and nothing else: every verdict, pair and answer comes from the rooms
//! that make them for users ([`twicetold_detect`], [`twicetold_methods`], [`twicetold_service`]). What is here besides is
//! what a measurement needs: the truth, mutations, [`metrics`], and the small [`baselines`] that the papers compare with.
//!
//! An experiment takes a [`Bench`] (where the corpora are, where finished measurements are kept, who watches) and returns
//! [`Findings`]: tables, charts, and remarks in words. It prints nothing.

pub mod baselines;
mod bench;
pub mod blocks;
pub mod cases;
mod chart;
pub mod collisions;
mod corpus;
mod dice;
pub mod edit;
mod error;
mod experiments;
mod findings;
pub mod imatch;
pub mod metrics;
mod notebook;
pub mod redundancy;
pub mod simhash;
pub mod spam;
mod table;

pub use bench::{Bench, Labelled, Silent, Watch};
pub use chart::{Chart, Line};
pub use corpus::{Corpus, Item};
pub use dice::Dice;
pub use error::EvalError;
pub use experiments::{EXPERIMENTS, Experiment};
pub use findings::Findings;
pub use notebook::Notebook;
pub use table::{Table, number, percent, share};
