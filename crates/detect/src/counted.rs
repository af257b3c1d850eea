//! Statistics that were counted before a scan, by others: are they about this mail?

use twicetold_index::Twice;

use crate::part::Statistics;

/// One slot in so many is counted once more: enough to notice that the statistics are about other mail.
const SAMPLED: u64 = 64;

/// Why a collection cannot be scanned with statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Statistics know the stable numbers only.
    Numbering,
    /// There is more mail than they were counted for: nearly everything would look as if several messages had it.
    Small,
    /// There are words that several messages have, and the statistics do not say so: so many, in a sample of so many.
    Foreign(u64, u64),
}

/// What is counted once more, to compare.
#[derive(Debug)]
pub(crate) struct Sample<'s> {
    statistics: &'s Statistics,
    slots: u64,
    sampled: Twice,
}

impl<'s> Sample<'s> {
    pub(crate) fn of(statistics: &'s Statistics) -> Self {
        let slots = statistics.pairs().slots();
        // A filter has eight bits for a key.
        let sampled = Twice::with_room_for((slots / SAMPLED / 8) as usize);
        Self {
            statistics,
            slots,
            sampled,
        }
    }

    /// Notes what a message says.
    pub(crate) fn note(&self, pairs: &[u32]) {
        let slots = pairs.iter().map(|&pair| u64::from(pair) & (self.slots - 1));
        let some = slots.filter(|slot| slot.is_multiple_of(SAMPLED));
        self.sampled.insert_each(some.map(|slot| slot / SAMPLED));
    }

    /// Whether the statistics know what several messages were seen to have.
    pub(crate) fn compare(self) -> Result<(), Unfit> {
        let several = (0..self.slots / SAMPLED).filter(|&slot| self.sampled.contains(slot));
        let (mut all, mut missing) = (0, 0);
        for slot in several {
            all += 1;
            missing += u64::from(!self.statistics.pairs().contains(slot * SAMPLED));
        }
        match missing {
            0 => Ok(()),
            _ => Err(Unfit::Foreign(missing, all)),
        }
    }
}
