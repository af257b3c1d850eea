//! Who can be asked about a message?
//!
//! By its fingerprints, its sentences, its attachments and links, and its conversation: as far as they lead, in a collection or in a part
//! of one that is told what it sees in the whole.

use twicetold_index::Twice;
use twicetold_methods::winnow::Winnow;

use crate::aside::Aside;
use crate::near::{Fingerprints, Nearby};
use crate::part::Whole;
use crate::record::Record;
use crate::shared::{Holding, Leading, Reach, Shared};
use crate::threads::conversation;

/// What leads from messages to others.
#[derive(Debug, Default)]
pub(crate) struct Leads {
    /// Who shares fingerprints with whom.
    pub(crate) nearby: Nearby,
    /// The sentences that several messages have.
    pub(crate) sentences: Leading<u64>,
    /// The attachments and links that several messages have.
    pub(crate) things: Leading<u64>,
    /// The conversations that several messages are in.
    pub(crate) conversations: Leading<u64>,
}

/// What is known of messages before anybody is asked.
pub(crate) struct Told<'t> {
    pub(crate) records: &'t [Record],
    /// The messages in the order in which they are asked.
    pub(crate) order: &'t [u32],
    /// For each message its conversation.
    pub(crate) threads: &'t [u32],
    /// For each message whether it stays in any case.
    pub(crate) new: &'t [bool],
    pub(crate) aside: &'t Aside,
    pub(crate) winnow: Winnow,
    /// If this is a part of a larger collection: what is known from the whole.
    pub(crate) whole: Option<&'t Whole<'t>>,
}

/// Tells the keys of a message.
type KeysOf<'k> = &'k (dyn Fn(u32, &Record, &mut Vec<u64>) + Sync);

impl Leads {
    /// Finds out. `pairs` and `sentences` know at least the word pairs and the sentences that several messages have.
    pub(crate) fn of(told: &Told<'_>, pairs: &Twice, sentences: Twice) -> Self {
        let nearby = || match told.whole {
            Some(whole) => Nearby::Known(whole.near(told.records, told.order)),
            None => Nearby::Counted(told.fingerprints(pairs)),
        };
        let own = || {
            told.leading(Some(&sentences), &|_, record, keys| {
                if let Some(detail) = told.aside.get(&record.detail) {
                    keys.extend(detail.told.iter().map(|told| told.hash));
                }
            })
        };
        // Each has stretches that one thread goes alone.
        let (nearby, own) = rayon::join(nearby, own);
        drop(sentences);
        Self {
            nearby,
            sentences: own,
            things: told.leading(None, &|_, record, keys| {
                keys.extend(record.attachments.iter().chain(&record.links));
            }),
            conversations: told.leading(None, &|a, record, keys| {
                let thread = told.whole.and_then(|whole| whole.thread(record));
                let thread = thread.unwrap_or(u64::from(told.threads[a as usize]));
                keys.push(conversation(thread));
            }),
        }
    }
}

impl Told<'_> {
    fn fingerprints(&self, pairs: &Twice) -> Fingerprints {
        let shared = Shared::of(self.records, self.order, Some(pairs), |_, record, keys| {
            if let Some(detail) = self.aside.get(&record.detail) {
                keys.extend(detail.fingerprints(self.winnow));
            }
        });
        Fingerprints::of(self.records, self.order, shared.by_numbers(self.order))
    }

    fn leading(&self, twice: Option<&Twice>, keys: KeysOf<'_>) -> Leading<u64> {
        let reach = Reach::USUAL;
        // Whom a key leads to is known from the whole, or else counted here.
        let leads = |holding: Holding<'_, u64>| match self.whole {
            Some(whole) => whole.leads(&self.records[holding.message as usize], holding.key()),
            None => {
                let stays = self.new[holding.message as usize];
                reach.shows(holding.frequency, holding.place, stays)
            }
        };
        let shared = Shared::of(self.records, self.order, twice, keys);
        shared.leading(self.order, reach.shown.max(reach.few), leads)
    }
}
