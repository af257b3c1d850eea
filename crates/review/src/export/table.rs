//! A message as a reviewer wants to know it.

use serde::Serialize;
use twicetold_detect::Scan;
use twicetold_model::{Category, Standing, Witness};

use crate::catalogue::Kind;
use crate::choices::Basis;
use crate::plain::units::moment;
use crate::session::Desk;

/// The version of the table. It changes when a column changes its meaning or goes away.
const TABLE: u32 = 1;

/// One message; the order of the fields is the order of the columns.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    pub(super) table: u32,
    pub(super) path: &'a str,
    pub(super) offset: Option<u64>,
    pub(super) message_id: Option<&'a str>,
    pub(super) date: Option<String>,
    pub(super) from: &'a str,
    pub(super) subject: &'a str,
    pub(super) bytes: u64,
    pub(super) verdict: &'static str,
    /// What the user decided: keep or remove.
    pub(super) choice: &'static str,
    pub(super) thread_group: Option<&'a str>,
    /// Whether it has to be read to know everything that was said.
    pub(super) inclusive: bool,
    pub(super) reason: String,
    /// The message that stands for all that are the same but for a greeting or the order.
    pub(super) duplicate_group: Option<String>,
    pub(super) near_duplicate_of: Option<String>,
    pub(super) near_duplicate_percent: Option<f64>,
    pub(super) contained_in: Vec<String>,
    pub(super) problems: Vec<&'a str>,
}

impl<'a> Row<'a> {
    pub(super) fn new(desk: &'a Desk, number: u32) -> Option<Self> {
        let scan = &desk.scanned.scan;
        let message = desk.message(number)?;
        let basis = desk.choices.basis(scan, number);
        let version = message.verdict.standing == Standing::Version;
        let principal = principal(desk, number, basis.as_ref());
        let near = match &basis {
            Some(basis) => basis
                .witnesses
                .first()
                .filter(|_| is_duplicate(basis.category)),
            None => message.verdict.witnesses.first().filter(|_| version),
        };
        let contained = basis.iter().filter(|b| !is_duplicate(b.category));
        Some(Self {
            table: TABLE,
            path: &message.location.path,
            offset: message.location.offset,
            message_id: message.message_id.as_deref(),
            date: message.date.and_then(moment),
            from: &message.from,
            subject: &message.subject,
            bytes: message.bytes,
            verdict: Kind::of(message.verdict.standing).name(),
            choice: if basis.is_some() { "remove" } else { "keep" },
            thread_group: message.thread.as_deref(),
            inclusive: basis.is_none(),
            reason: reason(desk, number, basis.as_ref()),
            duplicate_group: principal.map(|p| name(scan, p)),
            near_duplicate_of: near.map(|w| name(scan, w.message)),
            near_duplicate_percent: near.map(percent),
            contained_in: contained
                .flat_map(|b| &b.witnesses)
                .map(|w| name(scan, w.message))
                .collect(),
            problems: message.problems.iter().map(|p| p.what.as_ref()).collect(),
        })
    }
}

fn is_duplicate(category: Category) -> bool {
    matches!(
        category,
        Category::Identical | Category::AlmostIdentical | Category::Rearranged
    )
}

/// The message that stands for the duplicates to which this one belongs; itself if others are its duplicates.
fn principal(desk: &Desk, number: u32, basis: Option<&Basis>) -> Option<u32> {
    let scan = &desk.scanned.scan;
    match basis {
        Some(basis) => {
            let first = basis
                .witnesses
                .first()
                .filter(|_| is_duplicate(basis.category));
            first.map(|w| w.message)
        }
        None => {
            let mut resting = desk.choices.resting_on(number);
            let duplicate = |m| {
                desk.choices
                    .basis(scan, m)
                    .is_some_and(|b| is_duplicate(b.category))
            };
            resting.any(duplicate).then_some(number)
        }
    }
}

fn reason(desk: &Desk, number: u32, basis: Option<&Basis>) -> String {
    if let Some(basis) = basis {
        return crate::plain::words::meaning(basis.category).to_owned();
    }
    let standing = desk.message(number).map(|m| m.verdict.standing);
    let resting = desk.choices.resting_on(number).count() as u64;
    match standing {
        Some(Standing::Unreadable) => "could not be read".to_owned(),
        Some(Standing::Version) => {
            "nearly the same as another message, but a fact differs".to_owned()
        }
        Some(Standing::Redundant(_)) => "says nothing new, kept by choice".to_owned(),
        _ if resting > 0 => {
            let others = crate::plain::units::counted(
                resting,
                "message that goes rests",
                "messages that go rest",
            );
            format!("{others} on it")
        }
        _ => "says something that no other message says".to_owned(),
    }
}

/// To a tenth of a percent.
fn percent(witness: &Witness) -> f64 {
    (witness.containment.clamp(0.0, 1.0) * 1000.0).round() / 10.0
}

/// What a message is called where another one refers to it: its place.
fn name(scan: &Scan, number: u32) -> String {
    let message = scan.messages.get(number as usize);
    message.map(|m| m.location.to_string()).unwrap_or_default()
}
