//! May it go?
//!
//! Takes a collection of messages and finds out which of them say nothing that the others do not
//! say. A message is redundant only with a proof: every sentence of it matched, word by word, with
//! a passage of a message that is kept. This room decides; it never removes anything.

mod scan;

pub use scan::{
    Explanation, KeepRule, Options, Progress, Quiet, Scan, ScannedMessage, ShownPassage, Stage, explain, scan,
};
