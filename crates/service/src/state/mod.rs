//! Where campaigns and reporters are kept: one contract, several places.

mod embedded;
mod filter;
mod memory;
mod pages;
mod postings;
mod proposal;
mod reading;
mod ready;
mod redis;
mod shelf;
mod view;
mod warm;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::campaign::{Campaign, CampaignId};
use crate::glance::Glance;
use crate::reputation::Reporter;

pub use self::embedded::Embedded;
pub use self::proposal::Question;
pub(crate) use self::proposal::{COMMON, proposed};
pub use self::redis::Redis;

/// Something about the state went wrong.
#[derive(Debug, Error)]
pub enum StateError {
    /// Another process has it open.
    #[error("{place} is in use by another process")]
    InUse {
        /// The file or server.
        place: String,
    },
    /// It was written by another version of the program.
    #[error("{place} has format {found}; this program reads format {reads}")]
    Format {
        /// The file or server.
        place: String,
        /// What it says of itself.
        found: String,
        /// What would be understood.
        reads: u32,
    },
    /// A record cannot be understood.
    #[error("{place}: the record of {what} is damaged")]
    Damaged {
        /// The file or server.
        place: String,
        /// Which record.
        what: String,
    },
    /// Reading, writing or the network failed.
    #[error("{place}: {what}")]
    Failed {
        /// The file or server.
        place: String,
        /// What happened.
        what: String,
    },
    /// Others kept changing the same campaigns.
    #[error("{place}: too many others changed the same campaigns; try again")]
    Contended {
        /// The file or server.
        place: String,
    },
}

/// What stands under the name of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// The campaign.
    Campaign(Arc<Campaign>),
    /// It turned out to be the same as another one.
    Merged(CampaignId),
}

/// A record, and how often it has been written. A change must know what it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Counts the changes; 0 stands for a record that is not there.
    pub version: u64,
    /// What was written.
    pub record: Record,
}

/// What is added to the figures of a reporter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Campaigns reported.
    pub reports: i64,
    /// Reports confirmed.
    pub confirmed: i64,
    /// Reports disputed.
    pub disputed: i64,
}

/// A change of one campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which campaign.
    pub id: CampaignId,
    /// The version that was read; 0 if there was none.
    pub expected: u64,
    /// What is to stand there; `None` to remove it.
    pub record: Option<Record>,
    /// Keys that now lead to it.
    pub added: Vec<u64>,
    /// Keys that no longer do.
    pub removed: Vec<u64>,
    /// What changes in the figures of reporters, by name.
    pub tallies: Vec<(String, Tally)>,
}

/// How a commit went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// All changes are made, and stay made.
    Done,
    /// Somebody else changed one of the campaigns in the meantime: read again and decide anew.
    Conflict,
}

/// The owners of a key: which campaigns it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// In ascending order, at most as many as were asked for; if there are more, some of them or none.
    pub ids: Vec<CampaignId>,
    /// Whether there are more than that.
    pub more: bool,
}

/// A place where campaigns and reporters are kept.
///
/// Everything is synchronous. What was committed is visible to every later call, and to other
/// processes that share the place within a second.
pub trait State: Send + Sync {
    /// Which campaigns the keys lead to, in the order of the keys; of each at most `most`.
    fn owners(&self, keys: &[u64], most: usize) -> Result<Vec<Owners>, StateError>;

    /// What stands under these names, in their order.
    fn records(&self, ids: &[CampaignId]) -> Result<Vec<Option<Stored>>, StateError>;

    /// The names after `after` (or from the first), ascending, at most `most`.
    fn names(&self, after: Option<CampaignId>, most: usize) -> Result<Vec<CampaignId>, StateError>;

    /// Hands over every record in the order of names, until `take` wants no more. Where it can be had, this is how
    /// things stood at one moment, whatever is changed meanwhile.
    fn each(&self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), StateError> {
        let mut after = None;
        loop {
            let names = self.names(after, AT_ONCE)?;
            for stored in self.records(&names)?.into_iter().flatten() {
                if !take(stored.record) {
                    return Ok(());
                }
            }
            after = names.last().copied();
            if names.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Makes changes and returns when they are durable.
    ///
    /// With [`Committed::Conflict`] some of them may have been made; deciding anew on what is there
    /// then must lead to the same end.
    fn commit(&self, changes: &[Change]) -> Result<Committed, StateError>;

    /// What is known of these reporters, in their order.
    fn reporters(&self, names: &[&str]) -> Result<Vec<Option<Reporter>>, StateError>;

    /// All reporters, by name.
    fn all_reporters(&self) -> Result<Vec<(String, Reporter)>, StateError>;

    /// Replaces what is known of a reporter; `None` forgets.
    fn set_reporter(&self, name: &str, reporter: Option<&Reporter>) -> Result<(), StateError>;

    /// What is known of these campaigns without reading them, in their order.
    fn glances(&self, ids: &[CampaignId]) -> Vec<Option<Glance>> {
        vec![None; ids.len()]
    }

    /// The campaigns that a message has to be compared with, those that fit best first.
    fn propose(&self, question: &Question<'_>) -> Result<Vec<CampaignId>, StateError> {
        let owners = self.owners(question.keys(), COMMON)?;
        Ok(proposed(question, &owners, |ids| self.glances(ids)))
    }

    /// Prepares for many checks, in the background, with at most so many bytes of memory; answers stay the same.
    fn warm(&self, bytes: u64) -> Result<(), StateError> {
        let _ = bytes;
        Ok(())
    }

    /// Whether that is done, and checks are as quick as they will be.
    fn is_warm(&self) -> bool {
        true
    }

    /// Where it is, in words for people.
    fn place(&self) -> &str;
}

/// Records that are read in one go.
const AT_ONCE: usize = 500;

/// The version of records: what [`encode`] writes.
pub(crate) const FORMAT: u32 = 1;

/// A record as bytes: its version, then the record.
pub(crate) fn encode(record: &Record) -> Vec<u8> {
    let mut bytes = vec![FORMAT as u8];
    // Writing to memory does not fail.
    if let Ok(body) = postcard::to_allocvec(record) {
        bytes.extend(body);
    }
    bytes
}

/// A record from bytes.
pub(crate) fn decode(bytes: &[u8]) -> Option<Record> {
    match bytes.split_first() {
        Some((1, body)) => postcard::from_bytes(body).ok(),
        _ => None,
    }
}

/// Adds to the figures of a reporter.
pub(crate) fn add(reporter: &mut Reporter, tally: &Tally) {
    reporter.reports = reporter.reports.saturating_add_signed(tally.reports);
    reporter.confirmed = reporter.confirmed.saturating_add_signed(tally.confirmed);
    reporter.disputed = reporter.disputed.saturating_add_signed(tally.disputed);
}
