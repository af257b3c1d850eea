//! Which campaigns could a message belong to?

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::draft::Draft;
use crate::campaign::{Campaign, CampaignId, sought};
use crate::evidence::{Asked, Match};
use crate::sketch::Sketches;
use crate::state::StateError;

/// A key that leads to more campaigns than this says nothing about any of them.
const COMMON: usize = 64;
/// Campaigns that are compared with a message, those that share most of what is rare.
const COMPARED: usize = 12;

/// The campaigns that fit a message, the best first.
///
/// A campaign is indexed by some sixty keys. Keys shared with many campaigns are boilerplate and are passed
/// over; the others vote, the rarer the more. What the index proposes is then compared.
pub(super) fn find(
    draft: &Draft<'_>,
    message: &Sketches,
) -> Result<Vec<(Arc<Campaign>, Match)>, StateError> {
    let mut votes: HashMap<CampaignId, f64, FixedState> = HashMap::default();
    for owners in draft.owners(&sought(message), COMMON)? {
        if !owners.more {
            let vote = 1.0 / owners.ids.len().max(1) as f64;
            for id in owners.ids {
                *votes.entry(id).or_default() += vote;
            }
        }
    }
    let mut candidates: Vec<(CampaignId, f64)> = votes.into_iter().collect();
    candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let ids: Vec<CampaignId> = candidates.iter().take(COMPARED).map(|one| one.0).collect();
    let asked = Asked::new(message);
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
