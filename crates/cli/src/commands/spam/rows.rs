//! Lines for programs; the schema is told in `docs/spam.md`.

use std::io::{self, Write};

use serde::Serialize;
use twicetold_model::Location;
use twicetold_service::{Answer, Class, Evidence, Outcome, Receipt, Summary};

use crate::report::escape::SafeJson;
use crate::report::units;

/// The version of the lines.
const SCHEMA: u32 = 1;

/// What is told of a campaign.
#[derive(Serialize)]
struct CampaignFields {
    campaign: Option<String>,
    reporters: u64,
    messages: u64,
    keeps: u64,
    first_seen: Option<String>,
    last_seen: Option<String>,
    disputed: bool,
}

impl CampaignFields {
    fn new(campaign: Option<&Summary>) -> Self {
        Self {
            campaign: campaign.map(|campaign| campaign.id.to_string()),
            reporters: campaign.map_or(0, |campaign| campaign.reporters),
            messages: campaign.map_or(0, |campaign| campaign.messages),
            keeps: campaign.map_or(0, |campaign| campaign.keeps),
            first_seen: campaign.and_then(|campaign| units::moment(campaign.first_seen)),
            last_seen: campaign.and_then(|campaign| units::moment(campaign.last_seen)),
            disputed: campaign.is_some_and(|campaign| campaign.disputed),
        }
    }
}

#[derive(Serialize)]
struct CheckRow<'a> {
    schema: u32,
    path: &'a str,
    offset: Option<u64>,
    class: Class,
    score: f64,
    #[serde(flatten)]
    campaign: CampaignFields,
    evidence: Evidence,
}

#[derive(Serialize)]
struct ReceiptRow<'a> {
    schema: u32,
    path: &'a str,
    offset: Option<u64>,
    outcome: Outcome,
    #[serde(flatten)]
    campaign: CampaignFields,
}

#[derive(Serialize)]
struct CampaignRow {
    schema: u32,
    belief: f64,
    #[serde(flatten)]
    campaign: CampaignFields,
}

/// Writes the answer to a check.
pub(super) fn check(out: &mut dyn Write, location: &Location, answer: &Answer) -> io::Result<()> {
    let evidence = &answer.evidence;
    line(
        out,
        &CheckRow {
            schema: SCHEMA,
            path: &location.path,
            offset: location.offset,
            class: answer.class,
            score: short(answer.score),
            campaign: CampaignFields::new(answer.campaign.as_ref()),
            evidence: Evidence {
                winnow: evidence.winnow.map(short),
                imatch: evidence.imatch.map(short),
                simhash: evidence.simhash.map(short),
                edit: evidence.edit.map(short),
                layout: evidence.layout.map(short),
            },
        },
    )
}

/// Writes the answer to a report or a revocation.
pub(super) fn receipt(
    out: &mut dyn Write,
    location: &Location,
    receipt: &Receipt,
) -> io::Result<()> {
    line(
        out,
        &ReceiptRow {
            schema: SCHEMA,
            path: &location.path,
            offset: location.offset,
            outcome: receipt.outcome,
            campaign: CampaignFields::new(receipt.campaign.as_ref()),
        },
    )
}

/// Writes what is known of a campaign.
pub(super) fn campaign(out: &mut dyn Write, campaign: &Summary) -> io::Result<()> {
    line(
        out,
        &CampaignRow {
            schema: SCHEMA,
            belief: short(campaign.belief),
            campaign: CampaignFields::new(Some(campaign)),
        },
    )
}

/// Writes one object.
pub(super) fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut *out, SafeJson,
    ))?;
    out.write_all(b"\n")
}

/// Four decimals.
pub(super) fn short(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// What people are told of a campaign, as part of a line.
pub(super) fn in_words(campaign: &Summary) -> String {
    let since = units::moment_for_people(campaign.first_seen).unwrap_or_default();
    let mut words = format!(
        "campaign {}: {} by {}",
        campaign.id,
        units::counted(campaign.messages, "message", "messages"),
        units::counted(campaign.reporters, "reporter", "reporters"),
    );
    if campaign.keeps > 0 {
        words += &format!(", kept by {}", units::grouped(campaign.keeps));
    }
    if !since.is_empty() {
        words += &format!(", since {since}");
    }
    if campaign.disputed {
        words += ", disputed";
    }
    words
}
