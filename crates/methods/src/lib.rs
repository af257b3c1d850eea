//! Which fingerprints has it?
//!
//! One folder per method, each behind the same joint ([`twicetold_model::Method`]) and each opening
//! with its paper, its parameters and a worked example. Methods are pure: no I/O, no clock, no
//! randomness but what a seed gives.

pub mod blocks;
pub mod catalogue;
pub mod edit;
pub mod imatch;
pub mod layout;
pub mod simhash;
pub mod winnow;
