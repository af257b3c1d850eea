//! Which campaigns could a message belong to?

use std::sync::Arc;

use super::draft::Draft;
use crate::campaign::Campaign;
use crate::evidence::Match;
use crate::sketch::Sketches;
use crate::state::{Question, StateError};

/// The campaigns that fit a message, the best first: what the index proposes is compared.
pub(super) fn find(
    draft: &Draft<'_>,
    message: &Sketches,
) -> Result<Vec<(Arc<Campaign>, Match)>, StateError> {
    let question = Question::new(message);
    let ids = draft.propose(&question)?;
    let mut found: Vec<(Arc<Campaign>, Match)> = draft
        .campaigns(&ids)?
        .into_iter()
        .map(|campaign| {
            let fit = campaign.compare_asked(question.asked());
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
