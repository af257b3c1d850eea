//! Which campaigns does the index propose for a message?
//!
//! A campaign is indexed by some sixty keys. Keys shared with many campaigns are boilerplate and are passed
//! over; the others vote, the rarer the more. Those with most votes are proposed, unless a glance sees that they share a
//! pair or two by chance.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::FixedState;

use super::Owners;
use crate::campaign::{CampaignId, sought, sought_edits};
use crate::evidence::Asked;
use crate::glance::Glance;
use crate::sketch::Sketches;

/// A key that leads to more campaigns than this says nothing about any of them.
pub(crate) const COMMON: usize = 64;
/// Campaigns that are compared with a message, those that share most of what is rare.
const COMPARED: usize = 12;

/// A message, as it is looked up.
pub struct Question<'m> {
    keys: Vec<u64>,
    /// Those of the keys that are edit keys, sorted.
    edits: Vec<u64>,
    asked: Asked<'m>,
}

impl<'m> Question<'m> {
    /// Prepares a message.
    pub(crate) fn new(message: &'m Sketches) -> Self {
        Self {
            keys: sought(message),
            edits: sought_edits(message),
            asked: Asked::new(message),
        }
    }

    /// What the message is looked up by, ascending.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    pub(crate) fn asked(&self) -> &Asked<'m> {
        &self.asked
    }
}

/// What the index says for a campaign.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    /// By how many keys, each counted by how rare it is.
    sum: f64,
    /// How many of them are edit keys.
    edits: usize,
}

/// A campaign that has many votes.
pub(super) struct Chosen<C> {
    /// By what votes were given.
    pub(super) which: C,
    /// Its name.
    pub(super) id: CampaignId,
    sum: f64,
    /// How many edit keys it has in common with the message at the most.
    pub(super) edits: usize,
}

/// The votes for campaigns, which are known by name or by number.
pub(super) struct Poll<'q, C> {
    edits: &'q [u64],
    votes: HashMap<C, Votes, FixedState>,
    /// Edit keys that lead to so many campaigns that nobody asked to which.
    common_edits: usize,
}

impl<'q, C: Copy + Eq + Hash> Poll<'q, C> {
    pub(super) fn new(question: &'q Question<'_>) -> Self {
        Self {
            edits: &question.edits,
            votes: HashMap::with_capacity_and_hasher(COMMON, FixedState::default()),
            common_edits: 0,
        }
    }

    /// Counts a key that leads to these campaigns, each once, or to more than anybody asks for.
    pub(super) fn vote(&mut self, key: u64, campaigns: &[C], more: bool) {
        if campaigns.is_empty() && !more {
            return;
        }
        let is_edit = usize::from(self.edits.binary_search(&key).is_ok());
        if more {
            self.common_edits += is_edit;
            return;
        }
        let vote = 1.0 / campaigns.len() as f64;
        for &campaign in campaigns {
            let votes = self.votes.entry(campaign).or_default();
            votes.sum += vote;
            votes.edits += is_edit;
        }
    }

    /// Those with most votes, the most first; of equals the first by name.
    pub(super) fn choose(self, name: impl Fn(C) -> Option<CampaignId>) -> Vec<Chosen<C>> {
        let common = self.common_edits;
        let named = |(which, votes): (C, Votes)| {
            Some(Chosen {
                which,
                id: name(which)?,
                sum: votes.sum,
                edits: votes.edits + common,
            })
        };
        let mut chosen: Vec<Chosen<C>> = self.votes.into_iter().filter_map(named).collect();
        let order = |a: &Chosen<C>, b: &Chosen<C>| b.sum.total_cmp(&a.sum).then(a.id.cmp(&b.id));
        if chosen.len() > COMPARED {
            chosen.select_nth_unstable_by(COMPARED, order);
            chosen.truncate(COMPARED);
        }
        chosen.sort_unstable_by(order);
        chosen
    }
}

/// The campaigns to compare a message with, given where its keys lead, and what is known of campaigns without reading them.
pub(crate) fn proposed(
    question: &Question<'_>,
    owners: &[Owners],
    glances: impl FnOnce(&[CampaignId]) -> Vec<Option<Glance>>,
) -> Vec<CampaignId> {
    let mut poll = Poll::new(question);
    for (&key, owners) in question.keys.iter().zip(owners) {
        poll.vote(key, &owners.ids, owners.more);
    }
    let chosen = poll.choose(Some);
    let ids: Vec<CampaignId> = chosen.iter().map(|one| one.id).collect();
    let glances = glances(&ids);
    let fits = chosen.iter().zip(glances).filter(|(one, glance)| {
        let glance = glance.as_ref();
        glance.is_none_or(|glance| glance.may_fit(&question.asked, one.edits))
    });
    fits.map(|(one, _)| one.id).collect()
}
