//! The part of the summary that tells what could not be read, or not well.

use std::collections::BTreeMap;
use std::io::{self, Write};

use twicetold_detect::{Scan, ScannedMessage};

use super::View;
use crate::report::escape::{self, visible, visible_path};
use crate::report::units::{counted, grouped};

/// How many kinds of problems, and how many unusable paths, the summary shows.
const PROBLEMS: usize = 8;
/// How many messages stand behind a kind of problem.
const EXAMPLES: usize = 2;

/// What was wrong with messages, the commonest first.
pub(super) fn write_problems(out: &mut dyn Write, scan: &Scan, view: &View) -> io::Result<()> {
    let mut kinds: BTreeMap<&str, Vec<&ScannedMessage>> = BTreeMap::new();
    let mut concerned = 0_u64;
    for message in &scan.messages {
        concerned += u64::from(!message.problems.is_empty());
        for problem in &message.problems {
            let messages = kinds.entry(&problem.what).or_default();
            if !messages
                .last()
                .is_some_and(|last| std::ptr::eq(*last, message))
            {
                messages.push(message);
            }
        }
    }
    if concerned == 0 {
        return Ok(());
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(what, messages)| (std::cmp::Reverse(messages.len()), *what));
    writeln!(
        out,
        "\n{}",
        view.paint.strong(&format!(
            "Problems in {} (read as well as possible)",
            counted(concerned, "message", "messages")
        ))
    )?;
    for (what, messages) in kinds.iter().take(PROBLEMS) {
        let number = format!("{:>9}", grouped(messages.len() as u64));
        writeln!(
            out,
            "{}  {}",
            view.paint.warn(&number),
            visible(what, escape::RESIDUE)
        )?;
        let places: Vec<String> = messages
            .iter()
            .take(EXAMPLES)
            .map(|message| visible_path(&message.location.to_string()))
            .collect();
        let and_more = if messages.len() > EXAMPLES {
            ", …"
        } else {
            ""
        };
        let places = format!("{}{and_more}", places.join(", "));
        writeln!(out, "           {}", view.paint.faint(&places))?;
    }
    write_rest(
        out,
        kinds.len(),
        PROBLEMS,
        "kind",
        "kinds",
        "--format jsonl shows all",
    )
}

/// The paths that could not be used as they were meant.
pub(super) fn write_troubles(out: &mut dyn Write, scan: &Scan, view: &View) -> io::Result<()> {
    if scan.troubles.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{}",
        view.paint.strong("Files and folders with trouble")
    )?;
    let most = if view.list {
        scan.troubles.len()
    } else {
        PROBLEMS
    };
    for trouble in scan.troubles.iter().take(most) {
        writeln!(
            out,
            "  {}: {}",
            view.paint.warn(&visible_path(&trouble.path)),
            visible(&trouble.problem.what, escape::RESIDUE)
        )?;
    }
    write_rest(
        out,
        scan.troubles.len(),
        most,
        "path",
        "paths",
        "--list shows all",
    )
}

fn write_rest(
    out: &mut dyn Write,
    all: usize,
    shown: usize,
    one: &str,
    many: &str,
    how: &str,
) -> io::Result<()> {
    match all.saturating_sub(shown) as u64 {
        0 => Ok(()),
        rest => writeln!(out, "  and {} more; {how}", counted(rest, one, many)),
    }
}
