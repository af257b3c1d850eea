//! Forgetting what has not been seen for long, a little at a time.

use std::sync::PoisonError;

use super::draft::Draft;
use super::{DAY, Engine};
use crate::campaign::CampaignId;
use crate::state::{Record, StateError};

/// Campaigns that are looked at in one go.
const AT_ONCE: usize = 500;

/// What one go of tidying did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Campaigns that were looked at.
    pub looked_at: usize,
    /// Campaigns that were forgotten.
    pub forgotten: usize,
    /// Where to go on; `None` after the last one.
    pub next: Option<CampaignId>,
}

impl Engine {
    /// Looks at some campaigns and forgets those unseen for `days`. Call it again with `next` until that
    /// is `None`; checks and reports go on between and meanwhile.
    pub fn tidy(
        &self,
        now: i64,
        days: u32,
        after: Option<CampaignId>,
    ) -> Result<Tidied, StateError> {
        self.note_seen()?;
        let names = self.state.names(after, AT_ONCE)?;
        let next = names.last().copied().filter(|_| names.len() == AT_ONCE);
        let limit = now.saturating_sub(i64::from(days).saturating_mul(DAY));
        let forgotten = self.change(|draft| {
            let mut forgotten = 0;
            for record in draft.records(&names)?.into_iter().flatten() {
                if let Record::Campaign(campaign) = record
                    && campaign.last_seen < limit
                {
                    draft.remove(campaign.id)?;
                    forgotten += 1;
                }
            }
            Ok(forgotten)
        })?;
        Ok(Tidied {
            looked_at: names.len(),
            forgotten,
            next,
        })
    }

    /// Notes which campaigns were recognised since the last time, so that they do not age.
    pub fn note_seen(&self) -> Result<usize, StateError> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        if seen.is_empty() {
            return Ok(0);
        }
        self.change(|draft: &mut Draft<'_>| {
            for (&id, &when) in &seen {
                if let Some(mut campaign) = draft.campaign(id)?
                    && campaign.last_seen < when
                {
                    campaign.last_seen = when;
                    draft.put(&campaign)?;
                }
            }
            Ok(seen.len())
        })
    }
}
