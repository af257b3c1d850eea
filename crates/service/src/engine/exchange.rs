//! The whole state as JSON lines, to carry it elsewhere.

use std::io::{BufRead, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Engine;
use super::draft::Draft;
use crate::campaign::{Campaign, CampaignId};
use crate::reputation::Reporter;
use crate::state::{Record, StateError};

/// The version of the lines.
const EXPORT: u32 = 1;
/// Campaigns that are taken in in one go.
const AT_ONCE: usize = 500;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Line {
    /// The first one: which version the others have.
    Export {
        /// The version.
        version: u32,
    },
    /// A reporter, without the key.
    Reporter {
        /// The name.
        name: String,
        /// What is known.
        reporter: Reporter,
    },
    /// A campaign.
    Campaign {
        /// The campaign.
        campaign: Box<Campaign>,
    },
}

/// Why an export or import could not be finished.
#[derive(Debug, Error)]
pub enum ExchangeError {
    /// The state.
    #[error(transparent)]
    State(#[from] StateError),
    /// The file.
    #[error("cannot read or write the lines: {0}")]
    File(#[from] std::io::Error),
    /// A line that is none of ours.
    #[error("line {number} is no line of an export ({what}); nothing after it was imported")]
    Line {
        /// Which line, from 1.
        number: usize,
        /// What is wrong with it.
        what: String,
    },
}

impl Engine {
    /// Writes everything as JSON lines and returns how many campaigns there were. Checks and reports can go on meanwhile.
    pub fn export(&self, out: &mut dyn Write) -> Result<u64, ExchangeError> {
        let mut write = |line: &Line| -> Result<(), ExchangeError> {
            serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
            Ok(out.write_all(b"\n")?)
        };
        write(&Line::Export { version: EXPORT })?;
        for (name, mut reporter) in self.state.all_reporters()? {
            // A key is between a reporter and a server.
            reporter.key = None;
            write(&Line::Reporter { name, reporter })?;
        }
        let (mut count, mut failed) = (0, None);
        self.state.each(&mut |record| {
            if let Record::Campaign(campaign) = record {
                let campaign = Box::new(Arc::unwrap_or_clone(campaign));
                match write(&Line::Campaign { campaign }) {
                    Ok(()) => count += 1,
                    Err(error) => failed = Some(error),
                }
            }
            failed.is_none()
        })?;
        failed.map_or(Ok(count), Err)
    }

    /// Reads what [`Engine::export`] wrote, adds it to what is there, and returns how many campaigns came.
    /// Importing the same lines twice changes nothing. Figures of reporters who are known stay as they are.
    pub fn import(&self, lines: &mut dyn BufRead) -> Result<u64, ExchangeError> {
        let mut campaigns: Vec<Campaign> = Vec::new();
        let mut count = 0;
        for (number, line) in (1..).zip(lines.lines()) {
            let wrong = |what: String| ExchangeError::Line { number, what };
            let line: Line =
                serde_json::from_str(&line?).map_err(|error| wrong(error.to_string()))?;
            match line {
                Line::Export { version: EXPORT } if number == 1 => {}
                Line::Export { version } => {
                    return Err(wrong(format!("version {version}")));
                }
                _ if number == 1 => return Err(wrong("it does not begin with its version".into())),
                Line::Reporter { name, reporter } => {
                    let known = self.state.reporters(&[&name])?;
                    if known.into_iter().flatten().next().is_none() {
                        self.state.set_reporter(&name, Some(&reporter))?;
                    }
                }
                Line::Campaign { campaign } => {
                    campaigns.push(*campaign);
                    count += 1;
                    if campaigns.len() >= AT_ONCE {
                        self.take_in(&std::mem::take(&mut campaigns))?;
                    }
                }
            }
        }
        self.take_in(&campaigns)?;
        Ok(count)
    }

    fn take_in(&self, campaigns: &[Campaign]) -> Result<(), StateError> {
        self.change(|draft: &mut Draft<'_>| {
            for campaign in campaigns {
                let taken = match draft.campaign(campaign.id)? {
                    Some(known) if known == *campaign => continue,
                    Some(mut known) => {
                        let (messages, bulk) = (known.messages, known.bulk);
                        known.absorb(campaign.clone());
                        known.merged.retain(|&id: &CampaignId| id != known.id);
                        // The same messages are not counted twice.
                        known.messages = messages.max(campaign.messages);
                        known.bulk = bulk.max(campaign.bulk);
                        known
                    }
                    None => campaign.clone(),
                };
                draft.put(&taken)?;
                for &name in &campaign.merged {
                    draft.redirect(name, taken.id);
                }
            }
            Ok(())
        })
    }
}
