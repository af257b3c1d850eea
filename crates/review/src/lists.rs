//! Which messages are wanted, in which order, and how many there are of each sort.

use twicetold_detect::Scan;

use crate::catalogue::{Catalogue, Kind, Sort};
use crate::choices::Choices;
use crate::query::Query;

/// How many messages stand on one page of a list.
pub(crate) const PAGE: usize = 100;

/// The names in addresses that say what is wanted.
pub(crate) const WISHES: [&str; 7] = ["q", "kind", "folder", "sender", "year", "choice", "sort"];

/// What the user wants to see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    pub(crate) words: String,
    pub(crate) kind: Option<String>,
    pub(crate) folder: Option<String>,
    pub(crate) sender: Option<String>,
    pub(crate) year: Option<i16>,
    pub(crate) choice: Option<String>,
    pub(crate) sort: Sort,
}

impl Wish {
    pub(crate) fn of(query: &Query) -> Self {
        let owned = |name| query.get(name).map(str::to_owned);
        Self {
            words: owned("q").unwrap_or_default(),
            kind: owned("kind"),
            folder: owned("folder"),
            sender: owned("sender"),
            year: query.number("year"),
            choice: owned("choice"),
            sort: Sort::named(query.get("sort")),
        }
    }

    /// The numbers of the messages wanted, in order.
    pub(crate) fn find(&self, scan: &Scan, catalogue: &Catalogue, choices: &Choices) -> Vec<u32> {
        let words = (!self.words.trim().is_empty()).then(|| catalogue.with_words(&self.words));
        let folders = self.folder.as_deref().map(|f| catalogue.below(f));
        let sender = self
            .sender
            .as_ref()
            .map(|s| catalogue.senders.names.binary_search(s).ok());
        let wanted = |&m: &u32| {
            let n = m as usize;
            let kind = catalogue.kinds[n];
            words.as_ref().is_none_or(|w| w[n])
                && folders.as_ref().is_none_or(|f| {
                    let folder = catalogue.folders.of[n] as usize;
                    f.get(folder).copied().unwrap_or(false)
                })
                && sender.is_none_or(|s| s == Some(catalogue.senders.of[n] as usize))
                && self.year.is_none_or(|y| catalogue.years[n] == Some(y))
                && self.kind.as_deref().is_none_or(|name| match name {
                    "redundant" => matches!(kind, Kind::Redundant(_)),
                    "problems" => catalogue.troubled[n] || kind == Kind::Unreadable,
                    _ => kind.name() == name,
                })
                && self.choice.as_deref().is_none_or(|name| match name {
                    "go" => choices.goes(m),
                    "stay" => !choices.goes(m),
                    "changed" => choices.differs(scan, m),
                    _ => true,
                })
        };
        catalogue.sorted(self.sort).filter(wanted).collect()
    }
}

/// How much there is of something, and how much of it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) going: u64,
    pub(crate) going_bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u64, goes: bool) {
        self.messages += 1;
        self.bytes += bytes;
        if goes {
            self.going += 1;
            self.going_bytes += bytes;
        }
    }
}

/// How much there is of everything.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) all: Amount,
    /// In the order of [`Kind::ALL`].
    pub(crate) kinds: [Amount; Kind::ALL.len()],
    /// By number of the folder.
    pub(crate) folders: Vec<Amount>,
    /// By number of the sender.
    pub(crate) senders: Vec<Amount>,
    /// By year, the earliest first; without a date at the end.
    pub(crate) years: Vec<(Option<i16>, Amount)>,
    /// Messages with problems.
    pub(crate) troubled: u64,
    /// Messages about which the user decided otherwise than the scan.
    pub(crate) changed: u64,
}

impl Totals {
    pub(crate) fn of(scan: &Scan, catalogue: &Catalogue, choices: &Choices) -> Self {
        let mut totals = Self {
            folders: vec![Amount::default(); catalogue.folders.names.len()],
            senders: vec![Amount::default(); catalogue.senders.names.len()],
            ..Self::default()
        };
        let mut years = std::collections::BTreeMap::new();
        for (n, message) in scan.messages.iter().enumerate() {
            let (bytes, goes) = (message.bytes, choices.goes(n as u32));
            let kind = Kind::ALL.iter().position(|&k| k == catalogue.kinds[n]);
            let year = catalogue.years[n];
            let places = [
                Some(&mut totals.all),
                kind.map(|k| &mut totals.kinds[k]),
                totals.folders.get_mut(catalogue.folders.of[n] as usize),
                totals.senders.get_mut(catalogue.senders.of[n] as usize),
                Some(
                    years
                        .entry((year.is_none(), year))
                        .or_insert_with(Amount::default),
                ),
            ];
            for place in places.into_iter().flatten() {
                place.add(bytes, goes);
            }
            totals.troubled += u64::from(catalogue.troubled[n]);
            totals.changed += u64::from(choices.differs(scan, n as u32));
        }
        totals.years = years.into_iter().map(|((_, y), a)| (y, a)).collect();
        totals
    }
}
