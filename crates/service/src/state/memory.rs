//! The index in memory, and a glance at each campaign.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use redb::{ReadTransaction, ReadableTable, ReadableTableMetadata};

use super::embedded::{CAMPAIGNS, INDEX};
use super::postings::{Leads, Postings};
use super::{Owners, Record, decode};
use crate::campaign::CampaignId;
use crate::glance::Glance;

/// What a campaign takes besides its keys and what a glance tells.
const CAMPAIGN: u64 = 64;
/// What a glance tells of a usual one.
const GLANCE: u64 = 256;

/// So many deeds are done at most before it is looked whether there is room for more.
pub(super) const AT_ONCE: usize = 1024;

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
    postings: Postings,
    /// The number of each campaign, which is shorter than its name.
    numbers: HashMap<u64, u32, FixedState>,
    /// By number: its name, and what a glance tells.
    campaigns: Vec<(u64, Option<Glance>)>,
    /// Numbers that nobody has any more.
    free: Vec<u32>,
    /// Bytes that glances take, and may take.
    glances: u64,
    most: u64,
}

impl Memory {
    /// An empty one with room for a quarter more than a snapshot of the file has; `None` if it would take more than `most` bytes.
    pub(super) fn new(snapshot: &ReadTransaction, most: u64) -> Result<Option<Self>, redb::Error> {
        let keys = snapshot.open_table(INDEX)?.len()?;
        let campaigns = snapshot.open_table(CAMPAIGNS)?.len()?;
        let room = keys.saturating_add(keys / 4).saturating_add(1 << 16);
        let bytes = Postings::bytes(room).saturating_add(campaigns.saturating_mul(CAMPAIGN));
        let glances = most.saturating_sub(bytes);
        Ok((glances >= campaigns.saturating_mul(GLANCE)).then(|| Self {
            postings: Postings::new(room),
            numbers: HashMap::with_capacity_and_hasher(
                usize::try_from(campaigns).unwrap_or(0),
                FixedState::default(),
            ),
            campaigns: Vec::new(),
            free: Vec::new(),
            glances: 0,
            most: glances,
        }))
    }

    /// Reads a snapshot of the file, until `ending` says that it is not wanted any more.
    pub(super) fn fill(
        &mut self,
        snapshot: &ReadTransaction,
        ending: impl Fn() -> bool,
    ) -> Result<(), redb::Error> {
        for (at, entry) in snapshot.open_table(INDEX)?.iter()?.enumerate() {
            let (key, id) = entry?.0.value();
            let number = self.number(id);
            self.postings.add(key, number);
            if at % 4096 == 0 && ending() {
                return Ok(());
            }
        }
        for (at, entry) in snapshot.open_table(CAMPAIGNS)?.iter()?.enumerate() {
            let (id, found) = entry?;
            let record = decode(found.value().1);
            // One that is damaged is read when it is asked for, and said to be.
            if let Some(record) = record {
                self.apply(Deed::of(CampaignId(id.value()), Some(&record)));
            }
            if at % 256 == 0 && ending() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The number of a campaign, which it is given if it has none.
    fn number(&mut self, id: u64) -> u32 {
        if let Some(&number) = self.numbers.get(&id) {
            return number;
        }
        let number = self.free.pop().unwrap_or(self.campaigns.len() as u32);
        match self.campaigns.get_mut(number as usize) {
            Some(held) => *held = (id, None),
            None => self.campaigns.push((id, None)),
        }
        self.numbers.insert(id, number);
        number
    }

    /// Does what was done to the file.
    pub(super) fn apply(&mut self, deed: Deed) {
        match deed {
            Deed::Led(key, id) => {
                let number = self.number(id.0);
                self.postings.add(key, number);
            }
            Deed::Parted(key, id) => {
                if let Some(&number) = self.numbers.get(&id.0) {
                    self.postings.remove(key, number);
                }
            }
            Deed::Became(id, glance) => {
                let number = self.number(id.0);
                self.look(number, glance);
            }
            Deed::Gone(id) => {
                if let Some(number) = self.numbers.remove(&id.0) {
                    self.look(number, None);
                    if let Some(held) = self.campaigns.get_mut(number as usize) {
                        *held = (0, None);
                    }
                    self.free.push(number);
                }
            }
        }
    }

    /// Holds what a campaign looks like now, if there is room.
    fn look(&mut self, number: u32, glance: Option<Glance>) {
        let Some((_, held)) = self.campaigns.get_mut(number as usize) else {
            return;
        };
        let bytes = |glance: &Option<Glance>| glance.as_ref().map_or(0, Glance::bytes);
        self.glances = self.glances.saturating_sub(bytes(held));
        let room = self.most.saturating_sub(self.glances);
        *held = glance.filter(|glance| glance.bytes() <= room);
        self.glances += bytes(held);
    }

    /// As [`super::State::owners`], but for keys that lead to many, whose places are handed to `read`.
    pub(super) fn owners(
        &self,
        keys: &[u64],
        most: usize,
        mut read: impl FnMut(usize),
    ) -> Vec<Owners> {
        std::hint::black_box(self.postings.fetch(keys));
        let mut all = Vec::with_capacity(keys.len());
        for (at, &key) in keys.iter().enumerate() {
            let mut owners = Owners::default();
            let ids = &mut owners.ids;
            let leads = self.postings.leads(key, |number| {
                if let Some((id, _)) = self.campaigns.get(number as usize) {
                    ids.push(CampaignId(*id));
                }
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

    /// What a glance at a campaign tells.
    pub(super) fn glance(&self, id: CampaignId) -> Option<Glance> {
        let number = self.numbers.get(&id.0)?;
        self.campaigns.get(*number as usize)?.1.clone()
    }

    /// How many bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        let campaigns = CAMPAIGN.saturating_mul(self.campaigns.len() as u64);
        self.postings.size() + campaigns + self.glances
    }

    /// Whether a larger one would be quicker.
    pub(super) fn is_crowded(&self) -> bool {
        self.postings.is_crowded()
    }

    /// Whether there is hardly room for [`AT_ONCE`] more: some must be left, so that a search ends.
    pub(super) fn is_full(&self) -> bool {
        self.postings.room() < 2 * AT_ONCE
    }
}
