//! Whose word counts how much, and what several words together are worth.
//!
//! Open on purpose: every number is here and in `docs/spam.md`, and a reporter's figures can be listed.
//!
//! A reporter's **weight** is `base × good / (good + 2 × disputed)`, where *confirmed* counts campaigns that
//! a trusted reporter reported as well, and *disputed* those that a trusted reporter called wanted, or that
//! the reporter took back.
//!
//! | standing | how one gets it | base | good |
//! |---|---|---|---|
//! | trusted | the owner of the state says so | .95 | 30 + reports |
//! | established | unknown, but confirmed five times or more and with a weight of .45 or more | .6 | 1 + confirmed |
//! | unknown | everybody else | .2, growing to .6 with the first five confirmations | 1 + confirmed |
//! | blocked | the owner of the state says so | 0 | – |
//!
//! The **belief** that a campaign is spam is `(1 − Π (1 − weight)) × S / (S + D)` with S the sum of the
//! weights of those who reported it and D of those who keep it. Weights are those of today, so that what a
//! reporter does later re-weighs what he said before.

use serde::{Deserialize, Serialize};

/// How a reporter is regarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Nobody vouches for the reporter.
    #[default]
    Unknown,
    /// The owner of the state vouches for the reporter.
    Trusted,
    /// Reports are taken and count nothing.
    Blocked,
}

/// What is known of a reporter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reporter {
    /// How the reporter is regarded.
    pub standing: Standing,
    /// A checksum of the key that the reporter has to show to a server; `None` without one.
    pub key: Option<String>,
    /// How many campaigns the reporter has reported.
    pub reports: u64,
    /// How many of them a trusted reporter reported as well.
    pub confirmed: u64,
    /// How many of them a trusted reporter called wanted, or the reporter took back.
    pub disputed: u64,
}

/// Confirmations that make an unknown reporter an established one.
const ESTABLISHED: u64 = 5;

impl Reporter {
    /// What the reporter's word counts, 0 to .95.
    pub fn weight(&self) -> f64 {
        let (base, good) = match self.standing {
            Standing::Blocked => return 0.0,
            // The owner vouches for what was not disputed; a slip now and then changes little.
            Standing::Trusted => (0.95, 30.0 + self.reports as f64),
            Standing::Unknown => {
                let grown = self.confirmed.min(ESTABLISHED) as f64 / ESTABLISHED as f64;
                (0.2 + 0.4 * grown, 1.0 + self.confirmed as f64)
            }
        };
        base * good / (good + 2.0 * self.disputed as f64)
    }

    /// Whether the reporter's word alone can make a campaign spam: trusted, or established by experience.
    pub fn counts_alone(&self) -> bool {
        match self.standing {
            Standing::Trusted => true,
            Standing::Unknown => self.confirmed >= ESTABLISHED && self.weight() >= 0.45,
            Standing::Blocked => false,
        }
    }
}

/// What is believed of a campaign at most if nobody who counts alone has reported it, if it is disputed
/// bulk mail, or if a message only looks like it.
pub const HALF: f64 = 0.5;

/// How much is believed that a campaign is spam, from those who reported it and those who keep it.
pub fn belief<'r>(
    reported: impl Iterator<Item = &'r Reporter>,
    kept: impl Iterator<Item = &'r Reporter>,
) -> f64 {
    let (mut doubt, mut sum, mut sure) = (1.0, 0.0, false);
    for reporter in reported {
        let weight = reporter.weight();
        doubt *= 1.0 - weight;
        sum += weight;
        sure |= reporter.counts_alone();
    }
    if sum <= 0.0 {
        return 0.0;
    }
    let against: f64 = kept.map(Reporter::weight).sum();
    let belief = (1.0 - doubt) * sum / (sum + against);
    if sure { belief } else { belief.min(HALF) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reporter(standing: Standing, confirmed: u64, disputed: u64) -> Reporter {
        Reporter {
            standing,
            confirmed,
            disputed,
            ..Reporter::default()
        }
    }

    #[test]
    fn one_trusted_reporter_is_enough_and_a_crowd_of_strangers_is_not() {
        let trusted = reporter(Standing::Trusted, 0, 0);
        let stranger = Reporter::default();
        assert!(belief([&trusted].into_iter(), [].into_iter()) > 0.8);
        let crowd = vec![&stranger; 1000];
        assert_eq!(belief(crowd.iter().copied(), [].into_iter()), HALF);
        assert!(belief(crowd.iter().copied().chain([&trusted]), [].into_iter()) > 0.99);
        let blocked = reporter(Standing::Blocked, 50, 0);
        assert_eq!(belief([&blocked].into_iter(), [].into_iter()), 0.0);
    }

    #[test]
    fn experience_establishes_and_disputes_undo_it() {
        assert!(!reporter(Standing::Unknown, 4, 0).counts_alone());
        let established = reporter(Standing::Unknown, 5, 0);
        assert!(established.counts_alone() && established.weight() < 0.95);
        assert!(!reporter(Standing::Unknown, 5, 2).counts_alone());
        let mut last = 1.0;
        for disputed in 0..20 {
            let weight = reporter(Standing::Trusted, 0, disputed).weight();
            assert!(weight < last);
            last = weight;
        }
        assert!(last < 0.5);
    }

    #[test]
    fn those_who_keep_it_count_against() {
        let trusted = reporter(Standing::Trusted, 0, 0);
        let alone = belief([&trusted].into_iter(), [].into_iter());
        let against = belief([&trusted].into_iter(), [&trusted].into_iter());
        assert!((against - alone / 2.0).abs() < 1e-9);
    }
}
