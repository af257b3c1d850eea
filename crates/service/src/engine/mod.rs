//! Check, report, revoke.

mod draft;
mod exchange;
mod find;
mod tidy;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::campaign::{Campaign, CampaignId};
use crate::evidence::{Evidence, Match};
use crate::reputation::{HALF, Reporter, Standing, belief};
use crate::sketch::Sketches;
use crate::state::{Committed, Record, State, StateError};

use draft::Draft;
pub use exchange::{ExchangeError, Line};
use find::find;
pub use tidy::Tidied;

/// From this score on a message is called spam.
pub const SPAM: f64 = 0.8;
/// People who keep authenticated bulk mail and make it disputed.
pub const KEEPERS: usize = 3;
/// A campaign is noted as seen again after so many seconds.
const DAY: i64 = 86_400;
/// How often a change is decided anew because others were faster.
const TRIES: usize = 20;

/// What is known about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// No campaign is known that it belongs to.
    Unknown,
    /// It belongs to a campaign, but that is not enough to block it.
    Unsure,
    /// It belongs to a campaign that reporters whose word counts called spam.
    Spam,
}

/// What is told of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub id: CampaignId,
    /// How many different people reported it.
    pub reporters: u64,
    /// How many different messages were reported, counted per reporter.
    pub messages: u64,
    /// How many people keep such mail.
    pub keeps: u64,
    /// When it was first reported, in seconds since 1970.
    pub first_seen: i64,
    /// When it was last reported or recognised, to the day.
    pub last_seen: i64,
    /// Whether it is authenticated bulk mail that several people keep.
    pub disputed: bool,
    /// How much is believed that it is spam, 0 to 1.
    pub belief: f64,
}

/// The answer to a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What it is.
    pub class: Class,
    /// The belief that the campaign is spam times the certainty that the message belongs to it, 0 to 1;
    /// `Spam` from [`SPAM`] on.
    pub score: f64,
    /// The campaign it belongs to.
    pub campaign: Option<Summary>,
    /// What each method found, for that campaign.
    pub evidence: Evidence,
}

/// What became of a report or of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The report began a campaign.
    New,
    /// The report was filed under a campaign that was known.
    Added,
    /// The same reporter had reported the campaign before.
    Again,
    /// The reporter's own report was taken back.
    Withdrawn,
    /// The reporter keeps what others reported.
    Disputed,
    /// There was nothing to take back.
    Nothing,
    /// There is nothing in the message to recognise it by.
    Blank,
}

/// The answer to a report or a revocation. When it is there, the state is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// What became of it.
    pub outcome: Outcome,
    /// Which campaign it concerns, as it is now.
    pub campaign: Option<Summary>,
}

/// The engine: everything there is to ask. It can be shared by threads.
///
/// Time is always given, never read: the same history leads to the same answers.
pub struct Engine {
    state: Box<dyn State>,
    /// Campaigns that were recognised and have not been noted as seen yet.
    seen: Mutex<BTreeMap<CampaignId, i64>>,
}

impl Engine {
    /// An engine on this state.
    pub fn new(state: Box<dyn State>) -> Self {
        Self {
            state,
            seen: Mutex::default(),
        }
    }

    /// The state it stands on.
    pub fn state(&self) -> &dyn State {
        &*self.state
    }

    /// Says what is known about a message.
    pub fn check(&self, message: &Sketches, now: i64) -> Result<Answer, StateError> {
        let draft = Draft::new(&*self.state);
        let found = find(&draft, message)?;
        let unknown = Answer {
            class: Class::Unknown,
            score: 0.0,
            campaign: None,
            evidence: Evidence::default(),
        };
        let mut best: Option<(Answer, Match)> = None;
        for (campaign, fit) in &found {
            let summary = self.summary(&draft, campaign)?;
            if summary.belief <= 0.0 {
                continue;
            }
            let mut trust = summary.belief;
            // Somebody copied a newsletter: that is no reason to block the newsletter.
            if message.authenticated_bulk && !campaign.is_bulk() {
                trust = trust.min(HALF);
            }
            let certainty = fit.certainty();
            let score = trust * certainty;
            let answer = Answer {
                class: if score >= SPAM {
                    Class::Spam
                } else {
                    Class::Unsure
                },
                score,
                campaign: Some(summary),
                evidence: fit.evidence,
            };
            // The campaign that fits best is named, not the one with the worst name: what fits equally
            // well is decided by who is believed more.
            let better = best
                .as_ref()
                .is_none_or(|(now, held)| (certainty, score) > (held.certainty(), now.score));
            if better {
                best = Some((answer, *fit));
            }
        }
        let Some((answer, _)) = best else {
            return Ok(unknown);
        };
        if let Some(campaign) = &answer.campaign
            && now - campaign.last_seen >= DAY
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let noted = seen.entry(campaign.id).or_insert(now);
            *noted = now.max(*noted);
        }
        Ok(answer)
    }

    /// Files a message under a campaign.
    pub fn report(
        &self,
        message: &Sketches,
        reporter: &str,
        now: i64,
    ) -> Result<Receipt, StateError> {
        let receipts = self.report_all(std::slice::from_ref(message), reporter, now)?;
        Ok(first(receipts))
    }

    /// Files messages one after the other, in one commit.
    pub fn report_all(
        &self,
        messages: &[Sketches],
        reporter: &str,
        now: i64,
    ) -> Result<Vec<Receipt>, StateError> {
        self.change(|draft| {
            let mut receipts = Vec::with_capacity(messages.len());
            for message in messages {
                receipts.push(self.file(draft, message, reporter, now)?);
            }
            Ok(receipts)
        })
    }

    /// Takes a report back, or disputes the reports of others.
    pub fn revoke(
        &self,
        message: &Sketches,
        reporter: &str,
        now: i64,
    ) -> Result<Receipt, StateError> {
        let receipts = self.revoke_all(std::slice::from_ref(message), reporter, now)?;
        Ok(first(receipts))
    }

    /// Revokes messages one after the other, in one commit.
    pub fn revoke_all(
        &self,
        messages: &[Sketches],
        reporter: &str,
        now: i64,
    ) -> Result<Vec<Receipt>, StateError> {
        self.change(|draft| {
            let mut receipts = Vec::with_capacity(messages.len());
            for message in messages {
                receipts.push(self.take_back(draft, message, reporter, now)?);
            }
            Ok(receipts)
        })
    }

    /// What is known of a campaign, by any name it ever had.
    pub fn campaign(&self, id: CampaignId) -> Result<Option<Summary>, StateError> {
        let draft = Draft::new(&*self.state);
        let Some(campaign) = draft.campaign(id)? else {
            return Ok(None);
        };
        self.summary(&draft, &campaign).map(Some)
    }

    /// Campaigns after this one (or from the first), ascending by name, at most `most`, and where to go on.
    pub fn campaigns(
        &self,
        after: Option<CampaignId>,
        most: usize,
    ) -> Result<(Vec<Summary>, Option<CampaignId>), StateError> {
        let draft = Draft::new(&*self.state);
        let names = self.state.names(after, most)?;
        let next = names.last().copied().filter(|_| names.len() == most);
        let mut summaries = Vec::with_capacity(names.len());
        for stored in self.state.records(&names)?.into_iter().flatten() {
            if let Record::Campaign(campaign) = stored.record {
                summaries.push(self.summary(&draft, &campaign)?);
            }
        }
        Ok((summaries, next))
    }

    /// What is known of a reporter.
    pub fn reporter(&self, name: &str) -> Result<Reporter, StateError> {
        let found = self.state.reporters(&[name])?;
        Ok(found.into_iter().flatten().next().unwrap_or_default())
    }

    /// Changes how a reporter is regarded.
    pub fn set_standing(&self, name: &str, standing: Standing) -> Result<(), StateError> {
        let mut reporter = self.reporter(name)?;
        reporter.standing = standing;
        self.state.set_reporter(name, Some(&reporter))
    }

    /// Trusts a reporter nobody has heard of yet; leaves all others as they are.
    pub fn introduce(&self, name: &str) -> Result<(), StateError> {
        let known = self.state.reporters(&[name])?;
        if known.into_iter().flatten().next().is_none() {
            self.set_standing(name, Standing::Trusted)?;
        }
        Ok(())
    }

    /// Runs a change until it can be committed.
    fn change<T>(
        &self,
        decide: impl Fn(&mut Draft<'_>) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        for _ in 0..TRIES {
            let mut draft = Draft::new(&*self.state);
            let outcome = decide(&mut draft)?;
            if self.state.commit(&draft.into_changes())? == Committed::Done {
                return Ok(outcome);
            }
        }
        Err(StateError::Contended {
            place: self.state.place().to_owned(),
        })
    }

    fn file(
        &self,
        draft: &mut Draft<'_>,
        message: &Sketches,
        reporter: &str,
        now: i64,
    ) -> Result<Receipt, StateError> {
        if message.is_blank() {
            return Ok(Receipt {
                outcome: Outcome::Blank,
                campaign: None,
            });
        }
        let mut same: Vec<Campaign> = Vec::new();
        for (campaign, fit) in find(draft, message)? {
            // A layout is no reason to put two texts under one name.
            if fit.by_text() {
                same.push(Arc::unwrap_or_clone(campaign));
            }
        }
        let id = Campaign::id_for(message);
        if same.is_empty() {
            same.extend(draft.campaign(id)?);
        }
        let begins = same.is_empty();
        let mut campaign =
            merge(draft, same, message).unwrap_or_else(|| Campaign::begin(message, now));
        let known_before = campaign.reports.contains_key(reporter);
        let new = campaign.report(message, reporter, now);
        if new {
            draft.tally(campaign.id, reporter, |tally| tally.reports += 1);
        }
        confirm(draft, &mut campaign)?;
        draft.put(&campaign)?;
        let outcome = match (begins, known_before) {
            (true, _) => Outcome::New,
            (false, true) => Outcome::Again,
            (false, false) => Outcome::Added,
        };
        Ok(Receipt {
            outcome,
            campaign: Some(self.summary(draft, &campaign)?),
        })
    }

    fn take_back(
        &self,
        draft: &mut Draft<'_>,
        message: &Sketches,
        reporter: &str,
        now: i64,
    ) -> Result<Receipt, StateError> {
        let found = find(draft, message)?;
        let exact = draft.campaign(Campaign::id_for(message))?;
        let fitting = found
            .into_iter()
            .filter(|(_, fit)| fit.by_text())
            .map(|(campaign, _)| Arc::unwrap_or_clone(campaign));
        let mut concerned: Vec<Campaign> = fitting.collect();
        if let Some(exact) = exact
            && !concerned.iter().any(|campaign| campaign.id == exact.id)
        {
            concerned.push(exact);
        }
        // One's own report is the one that was meant.
        let own = |campaign: &Campaign| campaign.reports.contains_key(reporter);
        let at = concerned.iter().position(own).unwrap_or(0);
        let Some(mut campaign) = concerned.into_iter().nth(at) else {
            return Ok(Receipt {
                outcome: Outcome::Nothing,
                campaign: None,
            });
        };
        let outcome = if let Some(report) = campaign.reports.remove(reporter) {
            let messages = report.messages.len().max(1) as u64;
            campaign.messages = campaign.messages.saturating_sub(messages);
            draft.tally(campaign.id, reporter, |tally| {
                tally.disputed += i64::from(!report.disputed);
                tally.confirmed -= i64::from(report.confirmed);
            });
            Outcome::Withdrawn
        } else {
            campaign.keeps.entry(reporter.to_owned()).or_insert(now);
            Outcome::Disputed
        };
        if draft.reporter(reporter)?.counts_alone() && outcome == Outcome::Disputed {
            campaign.let_go(message);
            for (name, report) in &mut campaign.reports {
                if !report.disputed {
                    report.disputed = true;
                    draft.tally(campaign.id, name, |tally| tally.disputed += 1);
                }
            }
        }
        let gone = campaign.reporters() == 0 && campaign.keeps.is_empty();
        if gone {
            draft.remove(campaign.id)?;
        } else {
            draft.put(&campaign)?;
        }
        let campaign = if gone {
            None
        } else {
            Some(self.summary(draft, &campaign)?)
        };
        Ok(Receipt { outcome, campaign })
    }

    fn summary(&self, draft: &Draft<'_>, campaign: &Campaign) -> Result<Summary, StateError> {
        let reported = draft.reporters(campaign.reports.keys())?;
        let kept = draft.reporters(campaign.keeps.keys())?;
        let disputed = campaign.is_bulk() && campaign.keeps.len() >= KEEPERS;
        let believed = belief(reported.iter(), kept.iter());
        Ok(Summary {
            id: campaign.id,
            reporters: campaign.reporters(),
            messages: campaign.messages,
            keeps: campaign.keeps.len() as u64,
            first_seen: campaign.first_seen,
            last_seen: campaign.last_seen,
            disputed,
            belief: if disputed {
                believed.min(HALF)
            } else {
                believed
            },
        })
    }
}

fn first(receipts: Vec<Receipt>) -> Receipt {
    receipts.into_iter().next().unwrap_or(Receipt {
        outcome: Outcome::Nothing,
        campaign: None,
    })
}

/// Makes one campaign of several that a message belongs to, the oldest of them, and returns it.
///
/// Only campaigns of which the message holds most are merged: a message made of two spam texts does not
/// make them one.
fn merge(draft: &mut Draft<'_>, same: Vec<Campaign>, message: &Sketches) -> Option<Campaign> {
    const MOST: f64 = 0.6;
    let mut same = same.into_iter();
    let mut merged = same.next()?;
    let mostly = |campaign: &Campaign| {
        let share = campaign.compare(message).evidence.winnow;
        share.is_some_and(|share| share >= MOST)
    };
    for other in same {
        // Both ways: what each holds of the other is what the message holds of both.
        let alike = merged
            .exemplars
            .iter()
            .any(|exemplar| mostly(&other) && other.compare(&exemplar.0).by_text());
        if !(alike && mostly(&merged)) {
            continue;
        }
        let older = (other.first_seen, other.id) < (merged.first_seen, merged.id);
        let (mut into, from) = if older {
            (other, merged)
        } else {
            (merged, other)
        };
        draft.redirect(from.id, into.id);
        into.absorb(from);
        merged = into;
    }
    Some(merged)
}

/// Notes in the figures of reporters that one whose word counts alone agrees with them.
fn confirm(draft: &mut Draft<'_>, campaign: &mut Campaign) -> Result<(), StateError> {
    let names: Vec<String> = campaign.reports.keys().cloned().collect();
    let reporters = draft.reporters(names.iter())?;
    let sure: Vec<bool> = reporters.iter().map(Reporter::counts_alone).collect();
    let count = sure.iter().filter(|&&sure| sure).count();
    for ((name, sure), report) in names.iter().zip(sure).zip(campaign.reports.values_mut()) {
        // Nobody confirms himself.
        if !report.confirmed && count > usize::from(sure) {
            report.confirmed = true;
            draft.tally(campaign.id, name, |tally| tally.confirmed += 1);
        }
    }
    Ok(())
}
