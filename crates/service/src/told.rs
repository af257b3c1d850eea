//! Answers as programs read them, on stdout and over HTTP; the keys are told in `docs/spam.md`.

use serde::{Deserialize, Serialize};
use twicetold_model::{moment, seconds};

use crate::campaign::CampaignId;
use crate::engine::{Answer, Class, Outcome, Receipt, Summary};
use crate::evidence::Evidence;

/// The version of these keys.
pub const SCHEMA: u32 = 1;

/// What is told of a campaign, or that there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CampaignTold {
    /// Its name.
    pub campaign: Option<CampaignId>,
    /// How many people reported it.
    pub reporters: u64,
    /// How many different messages were reported, counted per reporter.
    pub messages: u64,
    /// How many people keep such mail.
    pub keeps: u64,
    /// When it was first reported.
    pub first_seen: Option<String>,
    /// When it was last reported or recognised, to the day.
    pub last_seen: Option<String>,
    /// Whether it is authenticated bulk mail that several people keep.
    pub disputed: bool,
}

/// The answer to a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckTold {
    /// What the message is.
    pub class: Class,
    /// How sure that is, 0 to 1.
    pub score: f64,
    /// The campaign it belongs to.
    #[serde(flatten)]
    pub campaign: CampaignTold,
    /// What each method found.
    pub evidence: Evidence,
    /// How much is believed that the campaign is spam.
    pub belief: Option<f64>,
}

/// The answer to a report or a revocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiptTold {
    /// What became of it.
    pub outcome: Outcome,
    /// Which campaign it concerns.
    #[serde(flatten)]
    pub campaign: CampaignTold,
    /// How much is believed that the campaign is spam.
    pub belief: Option<f64>,
}

impl CampaignTold {
    /// What is told of this campaign.
    pub fn new(campaign: Option<&Summary>) -> Self {
        Self {
            campaign: campaign.map(|campaign| campaign.id),
            reporters: campaign.map_or(0, |campaign| campaign.reporters),
            messages: campaign.map_or(0, |campaign| campaign.messages),
            keeps: campaign.map_or(0, |campaign| campaign.keeps),
            first_seen: campaign.and_then(|campaign| moment(campaign.first_seen)),
            last_seen: campaign.and_then(|campaign| moment(campaign.last_seen)),
            disputed: campaign.is_some_and(|campaign| campaign.disputed),
        }
    }

    /// The campaign that was told of, as far as it was told.
    pub fn summary(&self, belief: Option<f64>) -> Option<Summary> {
        let when = |told: &Option<String>| told.as_deref().and_then(seconds).unwrap_or_default();
        Some(Summary {
            id: self.campaign?,
            reporters: self.reporters,
            messages: self.messages,
            keeps: self.keeps,
            first_seen: when(&self.first_seen),
            last_seen: when(&self.last_seen),
            disputed: self.disputed,
            belief: belief.unwrap_or_default(),
        })
    }
}

impl From<&Answer> for CheckTold {
    fn from(answer: &Answer) -> Self {
        let evidence = &answer.evidence;
        Self {
            class: answer.class,
            score: short(answer.score),
            campaign: CampaignTold::new(answer.campaign.as_ref()),
            evidence: Evidence {
                winnow: evidence.winnow.map(short),
                imatch: evidence.imatch.map(short),
                simhash: evidence.simhash.map(short),
                edit: evidence.edit.map(short),
                layout: evidence.layout.map(short),
            },
            belief: answer
                .campaign
                .as_ref()
                .map(|campaign| short(campaign.belief)),
        }
    }
}

impl From<&CheckTold> for Answer {
    fn from(told: &CheckTold) -> Self {
        Self {
            class: told.class,
            score: told.score,
            campaign: told.campaign.summary(told.belief),
            evidence: told.evidence,
        }
    }
}

impl From<&Receipt> for ReceiptTold {
    fn from(receipt: &Receipt) -> Self {
        Self {
            outcome: receipt.outcome,
            campaign: CampaignTold::new(receipt.campaign.as_ref()),
            belief: receipt
                .campaign
                .as_ref()
                .map(|campaign| short(campaign.belief)),
        }
    }
}

impl From<&ReceiptTold> for Receipt {
    fn from(told: &ReceiptTold) -> Self {
        Self {
            outcome: told.outcome,
            campaign: told.campaign.summary(told.belief),
        }
    }
}

/// A number with four decimals.
pub fn short(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_was_meant() {
        let campaign = Summary {
            id: CampaignId(0xfe),
            reporters: 2,
            messages: 3,
            keeps: 1,
            first_seen: 989_832_600,
            last_seen: 989_832_601,
            disputed: true,
            belief: 0.5,
        };
        let answer = Answer {
            class: Class::Unsure,
            score: 0.25,
            campaign: Some(campaign.clone()),
            evidence: Evidence {
                winnow: Some(0.75),
                ..Evidence::default()
            },
        };
        let told = serde_json::to_string(&CheckTold::from(&answer)).unwrap();
        assert!(
            told.starts_with(
                r#"{"class":"unsure","score":0.25,"campaign":"00000000000000fe","reporters":2,"#
            ),
            "{told}"
        );
        let heard: CheckTold = serde_json::from_str(&told).unwrap();
        assert_eq!(Answer::from(&heard), answer);
        for campaign in [Some(campaign), None] {
            let receipt = Receipt {
                outcome: Outcome::Again,
                campaign,
            };
            let told = serde_json::to_string(&ReceiptTold::from(&receipt)).unwrap();
            let heard: ReceiptTold = serde_json::from_str(&told).unwrap();
            assert_eq!(Receipt::from(&heard), receipt);
        }
    }
}
