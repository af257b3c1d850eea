//! Which campaigns could a message belong to?

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::draft::Draft;
use crate::campaign::{Campaign, CampaignId, sought, sought_edits};
use crate::evidence::{Asked, Match};
use crate::sketch::Sketches;
use crate::state::StateError;

/// A key that leads to more campaigns than this says nothing about any of them.
const COMMON: usize = 64;
/// Campaigns that are compared with a message, those that share most of what is rare.
const COMPARED: usize = 12;

/// What the index says for a campaign.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    /// By how many keys, each counted by how rare it is.
    sum: f64,
    /// How many of them are edit keys.
    edits: usize,
}

/// The campaigns that fit a message, the best first.
///
/// A campaign is indexed by some sixty keys. Keys shared with many campaigns are boilerplate and are passed
/// over; the others vote, the rarer the more. What the index proposes is then compared.
pub(super) fn find(
    draft: &Draft<'_>,
    message: &Sketches,
) -> Result<Vec<(Arc<Campaign>, Match)>, StateError> {
    let (keys, edits) = (sought(message), sought_edits(message));
    let mut votes: HashMap<CampaignId, Votes, FixedState> = HashMap::default();
    let mut common_edits = 0;
    for (key, owners) in keys.iter().zip(draft.owners(&keys, COMMON)?) {
        if owners.ids.is_empty() && !owners.more {
            continue;
        }
        let is_edit = edits.binary_search(key).is_ok();
        if owners.more {
            common_edits += usize::from(is_edit);
            continue;
        }
        let vote = 1.0 / owners.ids.len() as f64;
        for id in owners.ids {
            let votes = votes.entry(id).or_default();
            votes.sum += vote;
            votes.edits += usize::from(is_edit);
        }
    }
    let mut candidates: Vec<(CampaignId, Votes)> = votes.into_iter().collect();
    candidates.sort_by(|a, b| b.1.sum.total_cmp(&a.1.sum).then(a.0.cmp(&b.0)));
    candidates.truncate(COMPARED);
    let mut ids: Vec<CampaignId> = candidates.iter().map(|one| one.0).collect();
    let asked = Asked::new(message);
    // Most candidates share a pair or two by chance. A glance sees that without reading them.
    let mut glances = draft.glances(&ids).into_iter().zip(&candidates);
    ids.retain(|_| match glances.next() {
        Some((Some(glance), (_, votes))) => glance.may_fit(&asked, votes.edits + common_edits),
        _ => true,
    });
    let mut found: Vec<(Arc<Campaign>, Match)> = draft
        .campaigns(&ids)?
        .into_iter()
        .map(|campaign| {
            let fit = campaign.compare_asked(&asked);
            (campaign, fit)
        })
        .filter(|(_, fit)| fit.is_named())
        .collect();
    found.sort_by(|(a, fit), (b, other)| {
        other
            .certainty()
            .total_cmp(&fit.certainty())
            .then(a.first_seen.cmp(&b.first_seen))
            .then(a.id.cmp(&b.id))
    });
    Ok(found)
}
