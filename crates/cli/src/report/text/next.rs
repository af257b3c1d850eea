//! The part of the summary that tells what to do next.

use std::io::{self, Write};

use twicetold_detect::{Scan, ScannedMessage};
use twicetold_model::Standing;

use super::View;
use crate::report::escape::{self, shell_word};

/// Commands to copy, with a message of this very scan.
pub(super) fn write_next(out: &mut dyn Write, scan: &Scan, view: &View) -> io::Result<()> {
    writeln!(out, "\n{}", view.paint.strong("Next"))?;
    let paths: Option<Vec<String>> = view
        .paths
        .iter()
        .map(|looked| shell_word(&looked.path))
        .collect();
    // A glob can name a thousand mailboxes; a command to copy is short.
    let paths = paths
        .map(|paths| paths.join(" "))
        .filter(|paths| paths.chars().count() <= escape::PATH)
        .unwrap_or_else(|| "PATH...".to_owned());
    let separate = if view.paths.iter().any(|looked| looked.path.starts_with('-')) {
        "-- "
    } else {
        ""
    };
    let removable =
        |message: &&ScannedMessage| matches!(message.verdict.standing, Standing::Redundant(_));
    let version = |message: &&ScannedMessage| message.verdict.standing == Standing::Version;
    let place = |message: &ScannedMessage| {
        shell_word(&message.location.to_string()).filter(|place| !place.starts_with('-'))
    };
    let mut steps = Vec::new();
    // A command that goes to the server as well; explaining needs the mail here.
    let separate = match view.remote {
        true => format!("--remote {separate}"),
        false => separate.to_owned(),
    };
    // What was found with other options than usual is found again with them.
    let words: Option<Vec<String>> = view.options.iter().map(|word| shell_word(word)).collect();
    let options = words.map_or_else(
        || "OPTIONS... ".to_owned(),
        |words| words.iter().map(|word| format!("{word} ")).collect(),
    );
    let separate = options + &separate;
    if !view.remote
        && let Some(place) = scan
            .messages
            .iter()
            .filter(removable)
            .chain(scan.messages.iter().filter(version))
            .find_map(place)
    {
        steps.push((
            format!("twicetold explain {separate}{place} {paths}"),
            "why, passage by passage",
        ));
    }
    if !view.list && scan.messages.iter().any(|m| removable(&m) || version(&m)) {
        steps.push((
            format!("twicetold scan --list {separate}{paths}"),
            "every message that may go, and every version",
        ));
    }
    if scan.messages.iter().any(|message| removable(&message)) {
        let written = view.plan.as_ref().map(|plan| shell_word(plan));
        steps.push(match written {
            None => (
                format!("twicetold scan --plan mail.plan {separate}{paths}"),
                "write down what may go, for twicetold apply",
            ),
            Some(plan) => (
                format!(
                    "twicetold apply --dry-run {}",
                    plan.unwrap_or_else(|| "PLAN".to_owned())
                ),
                "check the plan; without --dry-run, carry it out",
            ),
        });
    }
    steps.push((
        format!("twicetold scan --format jsonl {separate}{paths}"),
        "a line per message, for programs",
    ));
    for (command, why) in steps {
        writeln!(out, "  {}", view.paint.go(&command))?;
        writeln!(out, "      {}", view.paint.faint(why))?;
    }
    writeln!(out, "Nothing was changed: scan only reads.")
}
