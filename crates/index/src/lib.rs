//! Who shares them?
//!
//! An inverted index from keys to the messages that hold them. It knows no method: keys are numbers.
//!
//! If message B holds at least the share `t` of the `n` keys of A, then any `n − ⌈t·n⌉ + 1` keys of A
//! include one that B holds. So only A's *rarest* keys need to be looked up, and the messages found
//! are then counted exactly: nothing with containment ≥ `t` is missed, and keys that everybody has
//! (templates, footers) are walked only by messages made of nothing else.

mod filter;
mod memory;
mod numbered;
mod rows;
mod seen;
mod twice;

pub use filter::Filter;
pub use memory::{Candidate, Limits, MemoryIndex, Met, met_often};
pub use numbered::{Key, Numbers};
pub use rows::{Packed, Rows, Standing, room_for, shares};
pub use seen::{Seen, Times};
pub use twice::Twice;
pub use twicetold_model::Share;
