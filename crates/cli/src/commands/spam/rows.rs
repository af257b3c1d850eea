//! Lines for programs; the schema is told in `docs/spam.md`.

use std::io::{self, Write};

use serde::Serialize;
use twicetold_model::Location;
use twicetold_service::{
    Answer, CampaignTold, CheckTold, Receipt, ReceiptTold, SCHEMA, Summary, short,
};

use crate::report::escape::SafeJson;
use crate::report::units;

#[derive(Serialize)]
struct Row<'a, T> {
    schema: u32,
    path: &'a str,
    offset: Option<u64>,
    #[serde(flatten)]
    told: T,
}

#[derive(Serialize)]
struct CampaignRow {
    schema: u32,
    belief: f64,
    #[serde(flatten)]
    campaign: CampaignTold,
}

/// Writes the answer to a check.
pub(super) fn check(out: &mut dyn Write, location: &Location, answer: &Answer) -> io::Result<()> {
    line(out, &row(location, CheckTold::from(answer)))
}

/// Writes the answer to a report or a revocation.
pub(super) fn receipt(
    out: &mut dyn Write,
    location: &Location,
    receipt: &Receipt,
) -> io::Result<()> {
    line(out, &row(location, ReceiptTold::from(receipt)))
}

fn row<T>(location: &Location, told: T) -> Row<'_, T> {
    Row {
        schema: SCHEMA,
        path: &location.path,
        offset: location.offset,
        told,
    }
}

/// Writes what is known of a campaign.
pub(super) fn campaign(out: &mut dyn Write, campaign: &Summary) -> io::Result<()> {
    line(
        out,
        &CampaignRow {
            schema: SCHEMA,
            belief: short(campaign.belief),
            campaign: CampaignTold::new(Some(campaign)),
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
