//! The plain words for verdicts, categories and leftovers.

use twicetold_detect::{Scan, ScannedMessage};
use twicetold_model::{Category, Standing};
pub(crate) use twicetold_review::plain::words::{leftover, meaning};

use super::escape::visible_path;

/// Where everything that a removable message says can be read: what follows "it".
pub(crate) fn reason(scan: &Scan, message: &ScannedMessage, category: Category) -> String {
    let there = witnesses(scan, message);
    match category {
        Category::Identical => format!("is word for word the same as {there}"),
        Category::AlmostIdentical => {
            format!("is the same as {there} but for a greeting, an ending or a typo")
        }
        Category::Rearranged => format!("has the same sentences as {there} in another order"),
        Category::Quoted => format!("stands unchanged inside {there}"),
        Category::QuotedChanged => format!("stands, slightly changed, inside {there}"),
        Category::Combined => format!("stands, part by part, in {there}"),
    }
}

/// The places of a message's witnesses: `a`, `a and b`, `a, b and c`.
pub(crate) fn witnesses(scan: &Scan, message: &ScannedMessage) -> String {
    let mut places: Vec<String> = message
        .verdict
        .witnesses
        .iter()
        .filter_map(|witness| scan.messages.get(witness.message as usize))
        .map(|witness| visible_path(&witness.location.to_string()))
        .collect();
    match places.pop() {
        None => "a message that is kept".to_owned(),
        Some(last) if places.is_empty() => last,
        Some(last) => format!("{} and {last}", places.join(", ")),
    }
}

/// The verdict in one sentence.
pub(crate) fn verdict(scan: &Scan, number: u32, message: &ScannedMessage) -> String {
    match message.verdict.standing {
        Standing::Redundant(category) => format!(
            "May go ({}): it {}. What is named here is kept.",
            category.name(),
            reason(scan, message, category)
        ),
        Standing::Version => format!(
            "Keep (version): it is nearly the same as {}, but a fact differs, so both stay.",
            witnesses(scan, message)
        ),
        Standing::Unreadable => {
            "Keep (unreadable): it could not be read, and what cannot be read is never removed."
                .to_owned()
        }
        Standing::Unique => unique(scan, number),
    }
}

fn unique(scan: &Scan, number: u32) -> String {
    let rests_on_it = |other: &&ScannedMessage| {
        matches!(other.verdict.standing, Standing::Redundant(_))
            && other
                .verdict
                .witnesses
                .iter()
                .any(|witness| witness.message == number)
    };
    match scan.messages.iter().filter(rests_on_it).count() {
        0 => "Keep (unique): it says something that no other message here says.".to_owned(),
        1 => "Keep (unique): one message that may go rests on it.".to_owned(),
        many => format!("Keep (unique): {many} messages that may go rest on it."),
    }
}
