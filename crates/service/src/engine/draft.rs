//! Changes that have been decided and not yet been made, in front of the state they will change.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::campaign::{Campaign, CampaignId};
use crate::glance::Glance;
use crate::reputation::Reporter;
use crate::state::{
    COMMON, Change, Owners, Question, Record, State, StateError, Stored, Tally, add, proposed,
};

/// A way through merged campaigns longer than this does not exist.
const LONGEST_WAY: usize = 32;

/// A view of the state with changes applied.
pub(super) struct Draft<'s> {
    state: &'s dyn State,
    /// What was read and what it becomes.
    entries: BTreeMap<CampaignId, Entry>,
    /// Keys that lead to campaigns only because of these changes.
    added: BTreeMap<u64, BTreeSet<CampaignId>>,
    /// Records as they were first read: what is decided is decided about these, and a change of
    /// theirs by others in the meantime must be noticed.
    read: RefCell<BTreeMap<CampaignId, Option<Stored>>>,
    /// Reporters that were read.
    reporters: RefCell<BTreeMap<String, Reporter>>,
}

struct Entry {
    expected: u64,
    before: BTreeSet<u64>,
    now: Option<Record>,
    tallies: BTreeMap<String, Tally>,
}

impl<'s> Draft<'s> {
    pub(super) fn new(state: &'s dyn State) -> Self {
        Self {
            state,
            entries: BTreeMap::new(),
            added: BTreeMap::new(),
            read: RefCell::default(),
            reporters: RefCell::default(),
        }
    }

    /// As [`State::owners`].
    fn owners(&self, keys: &[u64], most: usize) -> Result<Vec<Owners>, StateError> {
        let mut owners = self.state.owners(keys, most)?;
        if !self.added.is_empty() {
            for (key, owners) in keys.iter().zip(&mut owners) {
                if let Some(added) = self.added.get(key) {
                    owners.ids.extend(added);
                    owners.ids.sort_unstable();
                    owners.ids.dedup();
                    owners.more |= owners.ids.len() > most;
                    owners.ids.truncate(most);
                }
            }
        }
        Ok(owners)
    }

    /// As [`State::propose`].
    pub(super) fn propose(&self, question: &Question<'_>) -> Result<Vec<CampaignId>, StateError> {
        if self.added.is_empty() && self.entries.is_empty() {
            return self.state.propose(question);
        }
        let owners = self.owners(question.keys(), COMMON)?;
        Ok(proposed(question, &owners, |ids| self.glances(ids)))
    }

    /// As [`State::glances`]; of campaigns that will change nothing is known.
    fn glances(&self, ids: &[CampaignId]) -> Vec<Option<Glance>> {
        let mut glances = self.state.glances(ids);
        if !self.entries.is_empty() {
            for (id, glance) in ids.iter().zip(&mut glances) {
                if self.entries.contains_key(id) {
                    *glance = None;
                }
            }
        }
        glances
    }

    /// The campaigns under these names; names of merged campaigns lead to what they became.
    pub(super) fn campaigns(&self, ids: &[CampaignId]) -> Result<Vec<Arc<Campaign>>, StateError> {
        let mut found: BTreeMap<CampaignId, Arc<Campaign>> = BTreeMap::new();
        let mut asked: Vec<CampaignId> = ids.to_vec();
        let mut known: BTreeSet<CampaignId> = BTreeSet::new();
        for _ in 0..LONGEST_WAY {
            asked.sort_unstable();
            asked.dedup();
            asked.retain(|id| known.insert(*id));
            if asked.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for record in self.records(&asked)?.into_iter().flatten() {
                match record {
                    Record::Campaign(campaign) => {
                        found.insert(campaign.id, campaign);
                    }
                    Record::Merged(into) => next.push(into),
                }
            }
            asked = next;
        }
        Ok(found.into_values().collect())
    }

    /// The campaign under a name.
    pub(super) fn campaign(&self, id: CampaignId) -> Result<Option<Campaign>, StateError> {
        let found = self.campaigns(&[id])?.into_iter().next();
        Ok(found.map(Arc::unwrap_or_clone))
    }

    /// The records under these names, as they will be. Reading many at once is quicker than one by one.
    pub(super) fn records(&self, ids: &[CampaignId]) -> Result<Vec<Option<Record>>, StateError> {
        let mut read = self.read.borrow_mut();
        let unread: Vec<CampaignId> = ids
            .iter()
            .copied()
            .filter(|id| !read.contains_key(id))
            .collect();
        if !unread.is_empty() {
            read.extend(unread.iter().copied().zip(self.state.records(&unread)?));
        }
        let now = |id: &CampaignId| match self.entries.get(id) {
            Some(entry) => entry.now.clone(),
            None => read.get(id).cloned().flatten().map(|stored| stored.record),
        };
        Ok(ids.iter().map(now).collect())
    }

    /// The entry of a campaign that is to be changed.
    fn entry(&mut self, id: CampaignId) -> Result<&mut Entry, StateError> {
        self.records(&[id])?;
        let stored = self.read.borrow().get(&id).cloned().flatten();
        Ok(self.entries.entry(id).or_insert_with(|| {
            let (expected, now) = match stored {
                Some(Stored { version, record }) => (version, Some(record)),
                None => (0, None),
            };
            Entry {
                expected,
                before: keys(now.as_ref()),
                now,
                tallies: BTreeMap::new(),
            }
        }))
    }

    /// Replaces a campaign.
    pub(super) fn put(&mut self, campaign: &Campaign) -> Result<(), StateError> {
        let id = campaign.id;
        let keys = campaign.keys();
        let entry = self.entry(id)?;
        entry.now = Some(Record::Campaign(Arc::new(campaign.clone())));
        let new: Vec<u64> = keys.difference(&entry.before).copied().collect();
        for key in new {
            self.added.entry(key).or_default().insert(id);
        }
        for merged in &campaign.merged {
            // Only those merged just now have a record of their own that is not yet a pointer.
            if let Some(entry) = self.entries.get_mut(merged) {
                entry.now = Some(Record::Merged(id));
            }
        }
        Ok(())
    }

    /// Removes a campaign and every name it ever had.
    pub(super) fn remove(&mut self, id: CampaignId) -> Result<(), StateError> {
        let mut names = vec![id];
        let entry = self.entry(id)?;
        if let Some(Record::Campaign(campaign)) = &entry.now {
            names.extend(&campaign.merged);
        }
        for name in names {
            self.entry(name)?.now = None;
        }
        Ok(())
    }

    /// Makes one name lead to another campaign.
    pub(super) fn redirect(&mut self, from: CampaignId, to: CampaignId) {
        // If it cannot be read now, committing will fail or conflict, and all is decided anew.
        if let Ok(entry) = self.entry(from) {
            entry.now = Some(Record::Merged(to));
        }
    }

    /// Adds to the figures of a reporter, together with a change of this campaign.
    pub(super) fn tally(&mut self, id: CampaignId, name: &str, change: impl FnOnce(&mut Tally)) {
        if let Ok(entry) = self.entry(id) {
            change(entry.tallies.entry(name.to_owned()).or_default());
        }
    }

    /// A reporter, with the figures as they will be.
    pub(super) fn reporter(&self, name: &str) -> Result<Reporter, StateError> {
        let name = name.to_owned();
        let found = self.reporters(std::iter::once(&name))?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// Reporters, with the figures as they will be.
    pub(super) fn reporters<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Vec<Reporter>, StateError> {
        let names: Vec<&str> = names.map(String::as_str).collect();
        let mut read = self.reporters.borrow_mut();
        let unread: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !read.contains_key(*name))
            .collect();
        if !unread.is_empty() {
            let found = self.state.reporters(&unread)?;
            for (name, found) in unread.iter().zip(found) {
                read.insert((*name).to_owned(), found.unwrap_or_default());
            }
        }
        Ok(names
            .iter()
            .map(|name| {
                let mut reporter = read.get(*name).cloned().unwrap_or_default();
                for tally in self.entries.values().filter_map(|e| e.tallies.get(*name)) {
                    add(&mut reporter, tally);
                }
                reporter
            })
            .collect())
    }

    /// What is to be committed.
    pub(super) fn into_changes(self) -> Vec<Change> {
        self.entries
            .into_iter()
            .filter(|(_, entry)| entry.expected > 0 || entry.now.is_some())
            .map(|(id, entry)| {
                let after = keys(entry.now.as_ref());
                Change {
                    id,
                    expected: entry.expected,
                    added: after.difference(&entry.before).copied().collect(),
                    removed: entry.before.difference(&after).copied().collect(),
                    record: entry.now,
                    tallies: entry.tallies.into_iter().collect(),
                }
            })
            .collect()
    }
}

fn keys(record: Option<&Record>) -> BTreeSet<u64> {
    match record {
        Some(Record::Campaign(campaign)) => campaign.keys(),
        _ => BTreeSet::new(),
    }
}
