//! The index in memory, and a glance at each campaign.

use std::hint::black_box;
use std::io;

use redb::{ReadTransaction, ReadableTableMetadata};

use super::embedded::{CAMPAIGNS, INDEX};
use super::postings::{Leads, Postings};
use super::proposal::{COMMON, Poll, Question};
use super::shelf::Shelf;
use super::{Owners, Record};
use crate::campaign::CampaignId;
use crate::glance::{Glance, may_fit};

/// What a glance tells of a usual one.
const GLANCE: u64 = 256;

/// So many deeds are done at most before it is looked whether there is room for more.
pub(super) const AT_ONCE: usize = 256;

/// Something that was committed.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// A key leads to a campaign now.
    Led(u64, CampaignId),
    /// It no longer does.
    Parted(u64, CampaignId),
    /// The record of a campaign is another one; this is what it looks like, if it is known.
    Became(CampaignId, Option<Glance>),
    /// It is gone.
    Gone(CampaignId),
}

impl Deed {
    /// What became of a campaign whose record is now this one.
    pub(super) fn of(id: CampaignId, record: Option<&Record>) -> Self {
        match record {
            Some(Record::Campaign(campaign)) => Self::Became(id, Glance::of(campaign)),
            // Whoever asks for one that was merged reads where it leads.
            Some(Record::Merged(_)) => Self::Became(id, None),
            None => Self::Gone(id),
        }
    }
}

/// The index in memory.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) postings: Postings,
    pub(super) campaigns: Campaigns,
}

/// The campaigns that there are, each with a number, which is shorter than its name.
#[derive(Debug)]
pub(super) struct Campaigns {
    /// Numbers by name, and names by number.
    numbers: Postings,
    shelf: Shelf,
}

impl Campaigns {
    /// The numbers of campaigns that have these names.
    pub(super) fn numbers(&self, ids: &[u64]) -> impl Iterator<Item = Option<u32>> {
        let spots = self.numbers.near(ids);
        ids.iter().zip(spots).map(|(&id, spot)| {
            let mut found = None;
            self.numbers.leads(spot, |number| {
                // Two names may look alike there.
                if self.shelf.name(number) == Some(id) {
                    found = Some(number);
                }
            });
            found
        })
    }

    fn number(&self, id: u64) -> Option<u32> {
        self.numbers(&[id]).next().flatten()
    }

    /// The number of a campaign, which it is given if it has none; `None` if there are too many.
    fn number_or_new(&mut self, id: u64) -> Option<u32> {
        if let Some(number) = self.number(id) {
            return Some(number);
        }
        let number = self.shelf.give(id)?;
        self.numbers.add(id, number);
        Some(number)
    }
}

impl Memory {
    /// An empty one with room for a quarter more than a snapshot of the file has; `None` if it would take more than `most` bytes, or more
    /// than the system has.
    pub(super) fn new(snapshot: &ReadTransaction, most: u64) -> Result<Option<Self>, redb::Error> {
        let keys = snapshot.open_table(INDEX)?.len()?;
        let campaigns = snapshot.open_table(CAMPAIGNS)?.len()?;
        let more = |count: u64| count.saturating_add(count / 4);
        let (room, names) = (more(keys) + (1 << 17), more(campaigns) + (1 << 15));
        let fixed = Postings::bytes(room)
            .saturating_add(Shelf::bytes(names))
            .saturating_add(Postings::bytes(names));
        let glances = most.saturating_sub(fixed);
        if glances < campaigns.saturating_mul(GLANCE) {
            return Ok(None);
        }
        let made = || -> io::Result<Self> {
            Ok(Self {
                postings: Postings::new(room)?,
                campaigns: Campaigns {
                    numbers: Postings::new(names)?,
                    shelf: Shelf::new(names, glances)?,
                },
            })
        };
        Ok(made().ok())
    }

    /// Does what was done to the file.
    pub(super) fn apply(&mut self, deed: &Deed) {
        match deed {
            Deed::Led(key, id) => {
                if let Some(number) = self.campaigns.number_or_new(id.0) {
                    self.postings.add(*key, number);
                }
            }
            Deed::Parted(key, id) => {
                if let Some(number) = self.campaigns.number(id.0) {
                    self.postings.remove(*key, number);
                }
            }
            Deed::Became(id, glance) => {
                if let Some(number) = self.campaigns.number_or_new(id.0) {
                    let glance = glance.as_ref().map(Glance::numbers);
                    let shelf = &mut self.campaigns.shelf;
                    shelf.hold(number, glance.unwrap_or_default());
                }
            }
            Deed::Gone(id) => {
                if let Some(number) = self.campaigns.number(id.0) {
                    self.campaigns.numbers.remove(id.0, number);
                    self.campaigns.shelf.take_back(number);
                }
            }
        }
    }

    /// As [`super::State::owners`], but for keys that lead to many, whose places are handed to `read`.
    pub(super) fn owners(
        &self,
        keys: &[u64],
        most: usize,
        mut read: impl FnMut(usize),
    ) -> Vec<Owners> {
        let shelf = &self.campaigns.shelf;
        let mut all = Vec::with_capacity(keys.len());
        for (at, spot) in self.postings.near(keys).into_iter().enumerate() {
            let mut owners = Owners::default();
            let ids = &mut owners.ids;
            let leads = self.postings.leads(spot, |number| {
                ids.extend(shelf.name(number).map(CampaignId));
            });
            match leads {
                Leads::Told => {
                    ids.sort_unstable();
                    ids.dedup();
                    owners.more = ids.len() > most;
                    owners.ids.truncate(most);
                }
                Leads::Many(count) if count as usize > most => owners.more = true,
                Leads::Many(_) => read(at),
            }
            all.push(owners);
        }
        all
    }

    /// As [`super::State::propose`]; `None` if the file has to be read for it.
    pub(super) fn propose(&self, question: &Question<'_>) -> Option<Vec<CampaignId>> {
        let (keys, shelf) = (question.keys(), &self.campaigns.shelf);
        let mut poll = Poll::new(question);
        let mut told = Vec::with_capacity(COMMON + 1);
        for (&key, spot) in keys.iter().zip(self.postings.near(keys)) {
            told.clear();
            let more = match self.postings.leads(spot, |number| told.push(number)) {
                Leads::Told => told.len() > COMMON,
                Leads::Many(count) if count as usize > COMMON => true,
                // It once led to more.
                Leads::Many(_) => return None,
            };
            if told.len() > 1 {
                told.sort_unstable();
                told.dedup();
            }
            poll.vote(key, &told, more);
        }
        // Names are asked for all at once, and then what glances tell.
        let chosen = poll.choose(|number| shelf.name(number).map(CampaignId));
        black_box(shelf.fetch(chosen.iter().map(|one| one.which)));
        let fits = chosen.iter().filter(|one| {
            let glance = shelf.glance(one.which);
            glance.is_none_or(|glance| may_fit(glance, question.asked(), one.edits))
        });
        Some(fits.map(|one| one.id).collect())
    }

    /// What a glance at a campaign tells.
    pub(super) fn glance(&self, id: CampaignId) -> Option<Glance> {
        let number = self.campaigns.number(id.0)?;
        self.campaigns.shelf.glance(number).map(Glance::from)
    }

    /// How many bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        let Campaigns { numbers, shelf } = &self.campaigns;
        self.postings.size() + numbers.size() + shelf.size()
    }

    /// Whether a larger one would be quicker.
    pub(super) fn is_crowded(&self) -> bool {
        let Campaigns { numbers, shelf } = &self.campaigns;
        self.postings.is_crowded() || numbers.is_crowded() || shelf.room() < 8 * AT_ONCE
    }

    /// Whether there is hardly room for [`AT_ONCE`] more: some must be left, so that a search ends.
    pub(super) fn is_full(&self) -> bool {
        let Campaigns { numbers, shelf } = &self.campaigns;
        let room = [self.postings.room(), numbers.room(), shelf.room()];
        room.iter().any(|&room| room < 2 * AT_ONCE)
    }
}
