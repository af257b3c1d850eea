//! How good is it? Numbers with known definitions.

mod found;
mod order;
mod roc;

pub use found::Found;
pub use order::{kendall, numbered};
pub use roc::{Filtered, Roc, lam};
