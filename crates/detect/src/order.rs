//! Who is asked first, and so who survives.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use twicetold_model::Location;
use twicetold_source::is_in_folder;

use crate::record::Record;

/// What decides which of several messages that say the same is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepRule {
    /// The one with the earliest date; one without a date comes last.
    Oldest,
    /// The one with the latest date; one without a date comes last.
    Newest,
    /// The one with the most bytes.
    Largest,
    /// The one with the fewest bytes.
    Smallest,
    /// The one in the earliest of these folders, or below it.
    Folders(Vec<FolderRule>),
}

/// A folder that a user prefers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRule {
    /// As the user calls it.
    pub name: String,
    /// The folders and mailbox files of the collection that this means, sorted, if that was found
    /// out before. Else each message is asked by its path.
    pub places: Option<Arc<[String]>>,
}

impl FolderRule {
    /// A folder that the user calls so.
    pub fn called(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            places: None,
        }
    }

    fn has(&self, location: &Location) -> bool {
        let Some(places) = &self.places else {
            return is_in_folder(location, &self.name);
        };
        let has = |path: &str| {
            places
                .binary_search_by(|place| place.as_str().cmp(path))
                .is_ok()
        };
        let folder = location
            .path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        has(folder) || location.offset.is_some() && has(&location.path)
    }
}

impl KeepRule {
    /// The rule as the user wrote it, whatever folders there are.
    pub(crate) fn as_written(&self) -> Self {
        match self {
            Self::Folders(folders) => {
                let names = folders
                    .iter()
                    .map(|folder| FolderRule::called(&*folder.name));
                Self::Folders(names.collect())
            }
            other => other.clone(),
        }
    }

    fn compare(&self, a: &Record, b: &Record) -> Ordering {
        match self {
            Self::Oldest => (a.date.is_none(), a.date).cmp(&(b.date.is_none(), b.date)),
            Self::Newest => Reverse(a.date).cmp(&Reverse(b.date)),
            Self::Largest => b.bytes.cmp(&a.bytes),
            Self::Smallest => a.bytes.cmp(&b.bytes),
            Self::Folders(folders) => rank(folders, a).cmp(&rank(folders, b)),
        }
    }
}

fn rank(folders: &[FolderRule], record: &Record) -> usize {
    folders
        .iter()
        .position(|folder| folder.has(&record.location))
        .unwrap_or(folders.len())
}

/// Which of two messages that say the same survives: less is kept. What may be gone tomorrow does
/// not survive what stays, whatever the rules say.
pub(crate) fn by_policy(rules: &[KeepRule], a: &Record, b: &Record) -> Ordering {
    let rules = rules.iter().map(|rule| rule.compare(a, b));
    let permanence = a.permanence.cmp(&b.permanence);
    std::iter::once(permanence)
        .chain(rules)
        .find(|o| o.is_ne())
        .unwrap_or_else(|| a.location.cmp(&b.location))
}

/// The order of the walk: who says more first; between equals the user's policy.
pub(crate) fn by_content(rules: &[KeepRule], a: &Record, b: &Record) -> Ordering {
    let more = |r: &Record| (r.said.says, r.said.attachments.len(), r.said.links.len());
    more(b).cmp(&more(a)).then_with(|| by_policy(rules, a, b))
}

/// A text that sorts as [`by_content`] does, but for the policy.
pub(crate) fn content_key(record: &Record) -> String {
    let less = |n: u64| u64::MAX - n;
    format!(
        "{:016x}{:016x}{:016x}",
        less(u64::from(record.said.says)),
        less(record.said.attachments.len() as u64),
        less(record.said.links.len() as u64)
    )
}

/// A text that sorts as [`by_policy`] does, but for the location.
pub(crate) fn policy_key(rules: &[KeepRule], record: &Record) -> String {
    format!("{}{}", record.permanence as u8, rules_key(rules, record))
}

/// A text that sorts as these rules do.
pub(crate) fn rules_key(rules: &[KeepRule], record: &Record) -> String {
    // Seconds before 1970 sort before those after it.
    let moment = |date: i64| (date as u64) ^ (1 << 63);
    let without = format!("1{:016x}", 0);
    let key = |rule: &KeepRule| match rule {
        KeepRule::Oldest => record
            .date
            .map_or_else(|| without.clone(), |d| format!("0{:016x}", moment(d))),
        KeepRule::Newest => record
            .date
            .map_or_else(|| without.clone(), |d| format!("0{:016x}", !moment(d))),
        KeepRule::Largest => format!("{:016x}", u64::MAX - record.bytes),
        KeepRule::Smallest => format!("{:016x}", record.bytes),
        KeepRule::Folders(folders) => format!("{:016x}", rank(folders, record)),
    };
    rules.iter().map(key).collect()
}
