//! Campaigns that were read lately, ready to be compared.
//!
//! A wave of spam asks for the same few campaigns over and over; turning their bytes into campaigns each time would
//! cost more than comparing them. What is held is used only where the very same bytes were found again, so
//! nobody has to be told when something changes.

use std::sync::{Mutex, PoisonError};

use super::{Record, decode};
use crate::campaign::CampaignId;

/// Places for campaigns; each is used by the campaigns whose names fall on it, the last one staying.
const PLACES: usize = 4096;
/// Records with more bytes than this are not held, so that all of them together take little.
const LONGEST: usize = 16 << 10;

/// Campaigns that were read lately.
pub(super) struct Ready(Vec<Mutex<Option<Held>>>);

struct Held {
    bytes: Box<[u8]>,
    record: Record,
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ready")
    }
}

impl Default for Ready {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::default()).collect())
    }
}

impl Ready {
    /// The record that these bytes are; `None` if they are none.
    pub(super) fn record(&self, id: CampaignId, bytes: &[u8]) -> Option<Record> {
        let Some(place) = self.0.get(id.0 as usize % PLACES) else {
            return decode(bytes);
        };
        {
            let held = place.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(held) = held.as_ref().filter(|held| *held.bytes == *bytes) {
                return Some(held.record.clone());
            }
        }
        let record = decode(bytes)?;
        if bytes.len() <= LONGEST {
            let held = Held {
                bytes: bytes.into(),
                record: record.clone(),
            };
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        }
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::encode;

    #[test]
    fn only_the_very_same_bytes_are_the_same_record() {
        let ready = Ready::default();
        let records: Vec<Record> = (1..4).map(|id| Record::Merged(CampaignId(id))).collect();
        // Under one name, as if it had been changed between, and under another that falls on its place.
        for id in [7, 7 + PLACES as u64] {
            for record in records.iter().chain(&records) {
                let found = ready.record(CampaignId(id), &encode(record));
                assert_eq!(found.as_ref(), Some(record));
            }
        }
        assert_eq!(ready.record(CampaignId(7), b"no record"), None);
    }
}
