//! May it go?
//!
//! Takes a collection of messages and finds out which of them say nothing that the others do not
//! say. A message is redundant only with a proof: every sentence of it matched, word by word, with
//! a passage of a message that is kept. This room decides; it never removes anything.
//!
//! In the order in which a message meets them: `reading` reads it once, `record` keeps of each message what finding
//! candidates needs, `said` of what it says, once for all copies (`seldom` asked for, it goes `aside` if memory is short), `threads` finds conversations, `shared` what several messages have, `near` who shares much with whom, `placed` which stand for which, `leads` who can be asked about whom, `order` says who is asked first, `keepset` walks
//! down that order, `prove` asks about one message, `cover` asks `align` sentence by sentence whether other messages say the same
//! (`alike` word by word, on the text prepared by `comparable`), `check` proves the answer once more
//! on the text itself, `versions` looks at near copies among what is kept, `listed` shows each message with its verdict. `plan` writes down what may go,
//! and `recheck` asks once more when it is about to. `cache` and `memo` spare a scan what the last one has read and compared, `amend` what it has counted and decided;
//! `many` scans many small collections at once.

mod align;
mod alike;
mod amend;
mod aside;
mod cache;
mod check;
mod choose;
mod comparable;
mod counted;
mod counting;
mod cover;
mod differ;
mod explain;
mod gathered;
mod hard;
mod keepset;
mod leads;
mod library;
mod listed;
mod many;
mod memo;
mod near;
mod noted;
mod options;
mod order;
mod outline;
mod pairs;
mod part;
mod placed;
mod plan;
mod progress;
mod prove;
mod proven;
mod reading;
mod recheck;
mod record;
mod said;
mod scan;
mod seldom;
mod shared;
mod show;
mod threads;
mod versions;

pub use aside::temporary_folders;
pub use cache::Cache;
pub use choose::{Cover, Lost, cover};
pub use counted::Unfit;
pub use counting::Counting;
pub use explain::{Explanation, ShownPassage, explain};
pub use many::Crew;
pub use options::{Numbering, Options};
pub use order::{FolderRule, KeepRule};
pub use outline::{Outline, outline};
pub use pairs::{
    Asking, Check, Entered, Entering, Group, Looking, MOST, Met, Pair, Pairs, Sketched, Sketcher,
    Sought, Verify, count_words, farthest, groups, pairs, sketch_each, walk_limit,
};
pub use part::{InWhole, NotStatistics, Statistics, Whole};
pub use plan::plan;
pub use progress::{Progress, Quiet, Stage};
pub use recheck::{Doubt, recheck};
pub use scan::{Reread, Scan, ScannedMessage, scan, scan_counted, scan_part, scan_with};
pub use shared::Reach;
pub use show::{Aligned, SHOWN_BYTES, ShownText, SideBySide, Turn, conversation, side_by_side};
