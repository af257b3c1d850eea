//! Every message by what it can be found and sorted by.
//!
//! Made once after a scan. A list is answered by walking one of the orders made ready here and asking of each message whether it is wanted:
//! a few milliseconds for half a million.

use std::collections::HashMap;

use memchr::memmem;
use rayon::prelude::*;
use twicetold_detect::{Scan, ScannedMessage};
use twicetold_model::{Category, Location, Standing};

use crate::plain::units::moment;

/// No thread, no year.
const NONE: u32 = u32::MAX;

/// What was decided about a message, as lists tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// It may go.
    Redundant(Category),
    /// It says something new.
    Unique,
    /// It is nearly the same as another one.
    Version,
    /// It could not be read.
    Unreadable,
}

impl Kind {
    /// All of them, in the order of the overview.
    pub(crate) const ALL: [Self; 9] = [
        Self::Redundant(Category::Identical),
        Self::Redundant(Category::AlmostIdentical),
        Self::Redundant(Category::Rearranged),
        Self::Redundant(Category::Quoted),
        Self::Redundant(Category::QuotedChanged),
        Self::Redundant(Category::Combined),
        Self::Unique,
        Self::Version,
        Self::Unreadable,
    ];

    pub(crate) fn of(standing: Standing) -> Self {
        match standing {
            Standing::Redundant(category) => Self::Redundant(category),
            Standing::Unique => Self::Unique,
            Standing::Version => Self::Version,
            Standing::Unreadable => Self::Unreadable,
        }
    }

    /// The word used in reports and addresses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Redundant(category) => category.name(),
            Self::Unique => "unique",
            Self::Version => "version",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Names that messages share, each with a number.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The names, sorted.
    pub(crate) names: Vec<String>,
    /// The number of each message's name.
    pub(crate) of: Vec<u32>,
}

impl Names {
    fn new(each: Vec<&str>) -> Self {
        let mut names = each.clone();
        names.par_sort_unstable();
        names.dedup();
        let of = each
            .par_iter()
            .map(|name| names.binary_search(name).map_or(NONE, |n| n as u32))
            .collect();
        Self {
            names: names.into_iter().map(str::to_owned).collect(),
            of,
        }
    }

    /// The name of a message.
    pub(crate) fn name(&self, message: u32) -> &str {
        self.names
            .get(self.of[message as usize] as usize)
            .map_or("", String::as_str)
    }
}

/// The messages of a scan, ready to be listed.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) folders: Names,
    pub(crate) senders: Names,
    /// The year of each message; `None` without a date.
    pub(crate) years: Vec<Option<i16>>,
    /// The conversation of each message, and the messages of each conversation.
    threads: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The messages that rest on another one by the scan, copies first.
    resting: HashMap<u32, Vec<u32>>,
    /// Messages with problems, unreadable ones included.
    pub(crate) troubled: Vec<bool>,
    orders: Orders,
    words: Haystack,
}

/// The messages in the orders in which they can be listed.
#[derive(Debug)]
struct Orders {
    date: Vec<u32>,
    size: Vec<u32>,
    sender: Vec<u32>,
    subject: Vec<u32>,
    place: Vec<u32>,
}

/// By what a list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Latest first.
    #[default]
    Newest,
    /// Earliest first.
    Oldest,
    /// Most bytes first.
    Largest,
    /// Fewest bytes first.
    Smallest,
    /// By sender.
    Sender,
    /// By subject.
    Subject,
    /// By folder and file.
    Place,
}

impl Sort {
    /// All of them with the words for people and addresses.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Newest, "newest", "Newest first"),
        (Self::Oldest, "oldest", "Oldest first"),
        (Self::Largest, "largest", "Largest first"),
        (Self::Smallest, "smallest", "Smallest first"),
        (Self::Sender, "sender", "By sender"),
        (Self::Subject, "subject", "By subject"),
        (Self::Place, "place", "By folder"),
    ];

    /// The sort of this name, or the usual one.
    pub(crate) fn named(name: Option<&str>) -> Self {
        let found = Self::ALL.iter().find(|(_, n, _)| Some(*n) == name);
        found.map_or(Self::default(), |(sort, ..)| *sort)
    }
}

impl Catalogue {
    pub(crate) fn new(scan: &Scan) -> Self {
        let all = &scan.messages;
        let folders: Vec<String> = all.par_iter().map(|m| folder_of(&m.location)).collect();
        let folders = Names::new(folders.iter().map(String::as_str).collect());
        let senders = Names::new(all.par_iter().map(|m| m.from.as_str()).collect());
        let threads = Names::new(
            all.par_iter()
                .map(|m| m.thread.as_deref().unwrap_or_default())
                .collect(),
        );
        let alone = threads.names.first().is_some_and(String::is_empty);
        let mut members = vec![Vec::new(); threads.names.len()];
        for (n, &thread) in threads.of.iter().enumerate() {
            if !(alone && thread == 0) {
                members[thread as usize].push(n as u32);
            }
        }
        let mut resting: HashMap<u32, Vec<u32>> = HashMap::new();
        for copies in [true, false] {
            for (n, message) in all.iter().enumerate() {
                if let Standing::Redundant(category) = message.verdict.standing
                    && (category == Category::Identical) == copies
                {
                    for witness in &message.verdict.witnesses {
                        resting.entry(witness.message).or_default().push(n as u32);
                    }
                }
            }
        }
        let years = all.par_iter().map(|m| year_of(m.date?)).collect();
        Self {
            kinds: all.iter().map(|m| Kind::of(m.verdict.standing)).collect(),
            troubled: all.iter().map(|m| !m.problems.is_empty()).collect(),
            orders: Orders::new(all, &folders, &senders),
            words: Haystack::new(all),
            folders,
            senders,
            years,
            threads: threads.of,
            members,
            resting,
        }
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The messages of the conversation of a message; empty if it stands alone.
    pub(crate) fn thread(&self, message: u32) -> &[u32] {
        let thread = self.threads.get(message as usize).copied();
        let members = thread.and_then(|t| self.members.get(t as usize));
        members.map_or(&[], Vec::as_slice)
    }

    /// The messages that rest on this one by the scan, whatever the user chose since.
    pub(crate) fn resting(&self, message: u32) -> &[u32] {
        self.resting.get(&message).map_or(&[], Vec::as_slice)
    }

    /// The messages in an order.
    pub(crate) fn sorted(&self, sort: Sort) -> Box<dyn Iterator<Item = u32> + '_> {
        match sort {
            Sort::Oldest => Box::new(self.orders.date.iter().copied()),
            Sort::Newest => Box::new(self.orders.date.iter().rev().copied()),
            Sort::Smallest => Box::new(self.orders.size.iter().copied()),
            Sort::Largest => Box::new(self.orders.size.iter().rev().copied()),
            Sort::Sender => Box::new(self.orders.sender.iter().copied()),
            Sort::Subject => Box::new(self.orders.subject.iter().copied()),
            Sort::Place => Box::new(self.orders.place.iter().copied()),
        }
    }

    /// Which messages have all of these words, or parts of them, in subject, sender, place or Message-ID.
    pub(crate) fn with_words(&self, text: &str) -> Vec<bool> {
        self.words.find(text)
    }

    /// Which folders are this one or below it.
    pub(crate) fn below(&self, folder: &str) -> Vec<bool> {
        // In a Maildir++, `.Archive.2020` is below `.Archive`.
        let dotted = folder
            .rsplit('/')
            .next()
            .is_some_and(|f| f.starts_with('.'));
        let inside = |name: &String| {
            name.strip_prefix(folder).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || dotted && rest.starts_with('.')
            })
        };
        self.folders.names.iter().map(inside).collect()
    }
}

impl Orders {
    fn new(all: &[ScannedMessage], folders: &Names, senders: &Names) -> Self {
        let numbers: Vec<u32> = (0..all.len() as u32).collect();
        let at = |n: u32| &all[n as usize];
        let sorted = |by: &(dyn Fn(u32, u32) -> std::cmp::Ordering + Sync)| {
            let mut order = numbers.clone();
            order.par_sort_unstable_by(|&a, &b| by(a, b).then(a.cmp(&b)));
            order
        };
        let number = |names: &Names, n: u32| names.of[n as usize];
        let subjects: Vec<String> = all.par_iter().map(|m| m.subject.to_lowercase()).collect();
        Self {
            // Without a date: before all others, so that they come last where the newest come first.
            date: sorted(&|a, b| at(a).date.cmp(&at(b).date)),
            size: sorted(&|a, b| at(a).bytes.cmp(&at(b).bytes)),
            sender: sorted(&|a, b| {
                let sender = number(senders, a).cmp(&number(senders, b));
                sender.then_with(|| at(b).date.cmp(&at(a).date))
            }),
            subject: sorted(&|a, b| subjects[a as usize].cmp(&subjects[b as usize])),
            place: sorted(&|a, b| number(folders, a).cmp(&number(folders, b))),
        }
    }
}

/// What can be searched, in lower case, one message after another.
#[derive(Debug)]
struct Haystack {
    text: String,
    ends: Vec<usize>,
}

impl Haystack {
    fn new(all: &[ScannedMessage]) -> Self {
        let each: Vec<String> = all
            .par_iter()
            .map(|m| {
                let id = m.message_id.as_deref().unwrap_or_default();
                format!("{}\n{}\n{}\n{id}\n", m.subject, m.from, m.location).to_lowercase()
            })
            .collect();
        let ends = each
            .iter()
            .scan(0, |end, text| {
                *end += text.len();
                Some(*end)
            })
            .collect();
        Self {
            text: each.concat(),
            ends,
        }
    }

    fn find(&self, text: &str) -> Vec<bool> {
        let text = text.to_lowercase();
        let mut others: Vec<&str> = text.split_whitespace().collect();
        // The longest word is in the fewest messages, as a rule.
        others.sort_by_key(|word| std::cmp::Reverse(word.len()));
        if others.is_empty() {
            return vec![true; self.ends.len()];
        }
        let first = others.remove(0);
        let mut found = vec![false; self.ends.len()];
        let finder = memmem::Finder::new(first);
        let mut at = 0;
        while let Some(hit) = self
            .text
            .get(at..)
            .and_then(|rest| finder.find(rest.as_bytes()))
        {
            let message = self.ends.partition_point(|&end| end <= at + hit);
            let Some(&end) = self.ends.get(message) else {
                break;
            };
            let start = message.checked_sub(1).map_or(0, |before| self.ends[before]);
            let own = self.text.get(start..end).unwrap_or_default();
            found[message] = others.iter().all(|word| own.contains(word));
            at = end;
        }
        found
    }
}

/// The folder that a message is in, as people think of it: for a Maildir not its `cur`, for an mbox the file.
pub(crate) fn folder_of(location: &Location) -> String {
    if location.offset.is_some() {
        return location.path.to_string();
    }
    let folder = location
        .path
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let folder = folder
        .strip_suffix("/cur")
        .or_else(|| folder.strip_suffix("/new"))
        .unwrap_or(folder);
    match folder {
        "" | "cur" | "new" => ".".to_owned(),
        _ => folder.to_owned(),
    }
}

/// The year of a date.
pub(crate) fn year_of(date: i64) -> Option<i16> {
    moment(date)?.get(..4)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_people() {
        for (path, offset, folder) in [
            ("mail/cur/1", None, "mail"),
            ("mail/.Archive/new/1", None, "mail/.Archive"),
            ("cur/1", None, "."),
            ("a.eml", None, "."),
            ("x/a.eml", None, "x"),
            ("x/in.mbox", Some(7), "x/in.mbox"),
        ] {
            let location = Location {
                path: path.into(),
                offset,
            };
            assert_eq!(folder_of(&location), folder, "{path}");
        }
    }

    #[test]
    fn words_are_found_in_the_message_that_has_them() {
        let texts = ["Lunch on Monday\n", "Ünïcode lunch\n", "nothing\n"];
        let lower: Vec<String> = texts.iter().map(|t| t.to_lowercase()).collect();
        let mut end = 0;
        let ends = lower.iter().map(|t| {
            end += t.len();
            end
        });
        let words = Haystack {
            ends: ends.collect(),
            text: lower.concat(),
        };
        for (text, expected) in [
            ("lunch", [true, true, false]),
            ("LUNCH mon", [true, false, false]),
            ("ünï", [false, true, false]),
            ("  ", [true, true, true]),
            ("monday ünïcode", [false, false, false]),
        ] {
            assert_eq!(words.find(text), expected, "{text}");
        }
    }
}
