//! The summary of a scan for people. It fits 80 columns and depends on nothing but the scan.

mod next;
mod problems;

use std::collections::BTreeMap;
use std::io::{self, Write};

use twicetold_detect::{Scan, ScannedMessage};
use twicetold_model::{Category, Standing};

use next::write_next;
use problems::{write_problems, write_troubles};

use super::escape::{self, visible, visible_path};
use super::units::{counted, grouped, moment_for_people, percent, size};
use super::words::{meaning, reason, witnesses};
use crate::terminal::Paint;

/// How many removable messages the summary shows.
const EXAMPLES: usize = 3;
/// How wide the longest bar is.
const BAR: u64 = 12;

/// What the summary needs to know besides the scan.
#[derive(Debug)]
pub(crate) struct View {
    /// The paths as the user gave them.
    pub(crate) paths: Vec<Looked>,
    /// The options that a command needs to find the same.
    pub(crate) options: Vec<String>,
    /// How many files hold no messages.
    pub(crate) skipped: usize,
    /// Whether accounts were read on their servers.
    pub(crate) remote: bool,
    /// Whether to list every message that may go.
    pub(crate) list: bool,
    /// The plan that was written.
    pub(crate) plan: Option<String>,
    /// The colour to use.
    pub(crate) paint: Paint,
}

/// A path the user gave and what was seen there.
#[derive(Debug)]
pub(crate) struct Looked {
    /// The path as given.
    pub(crate) path: String,
    /// What it is: "a folder", "an empty file", "not there".
    pub(crate) what: String,
}

/// Writes the summary.
pub(crate) fn write(out: &mut dyn Write, scan: &Scan, view: &View) -> io::Result<()> {
    if scan.messages.is_empty() {
        return write_nothing_found(out, scan, view);
    }
    let counts = Counts::of(scan);
    write_counts(out, &counts, view)?;
    if view.list {
        write_list(out, scan, view.paint)?;
    } else {
        write_examples(out, scan, &counts, view.paint)?;
    }
    write_problems(out, scan, view)?;
    write_troubles(out, scan, view)?;
    write_next(out, scan, view)
}

/// How many messages there are of each sort.
#[derive(Default)]
struct Counts {
    messages: u64,
    bytes: u64,
    redundant: u64,
    redundant_bytes: u64,
    by_category: BTreeMap<Category, u64>,
    versions: u64,
    unreadable: u64,
}

impl Counts {
    fn of(scan: &Scan) -> Self {
        let mut counts = Self::default();
        for message in &scan.messages {
            counts.messages += 1;
            counts.bytes = counts.bytes.saturating_add(message.bytes);
            match message.verdict.standing {
                Standing::Unique => {}
                Standing::Version => counts.versions += 1,
                Standing::Unreadable => counts.unreadable += 1,
                Standing::Redundant(category) => {
                    counts.redundant += 1;
                    counts.redundant_bytes = counts.redundant_bytes.saturating_add(message.bytes);
                    *counts.by_category.entry(category).or_default() += 1;
                }
            }
        }
        counts
    }
}

fn write_counts(out: &mut dyn Write, counts: &Counts, view: &View) -> io::Result<()> {
    let paint = view.paint;
    let read = counted(counts.messages, "message", "messages");
    writeln!(out, "{} read, {}.", paint.strong(&read), size(counts.bytes))?;
    write_skipped(out, view)?;
    writeln!(out)?;
    if counts.redundant == 0 {
        writeln!(
            out,
            "{}",
            paint.stay("Nothing to remove: no message only repeats what others say.")
        )?;
    } else {
        let says = if counts.redundant == 1 { "says" } else { "say" };
        let nothing = format!("{} {says} nothing new", grouped(counts.redundant));
        writeln!(
            out,
            "{} ({}). {} of {} could go.",
            paint.strong(&nothing),
            percent(counts.redundant, counts.messages),
            size(counts.redundant_bytes),
            size(counts.bytes),
        )?;
        let most = counts
            .by_category
            .values()
            .copied()
            .max()
            .unwrap_or(1)
            .max(1);
        for (&category, &count) in &counts.by_category {
            // At least a stub for what is there at all.
            let length = (u128::from(count) * u128::from(BAR)).div_ceil(u128::from(most)) as usize;
            let bar = "▇".repeat(length);
            let space = " ".repeat(BAR as usize - length);
            let (number, name) = (grouped(count), category.name());
            writeln!(
                out,
                "{number:>9}  {name:<16}  {}{space}  {}",
                paint.go(&bar),
                meaning(category)
            )?;
        }
    }
    let kept = counts.messages - counts.redundant;
    let stay = if kept == 1 { "stays" } else { "stay" };
    let kept = format!("{} {stay}.", counted(kept, "message", "messages"));
    writeln!(out)?;
    writeln!(out, "{}", paint.strong(&kept))?;
    if counts.versions > 0 {
        writeln!(
            out,
            "{:>9}  {:<16}  near copies in which a fact differs: you decide",
            grouped(counts.versions),
            "versions"
        )?;
    }
    if counts.unreadable > 0 {
        let number = format!("{:>9}", grouped(counts.unreadable));
        writeln!(
            out,
            "{}  {:<16}  could not be understood, and are left alone",
            paint.warn(&number),
            "unreadable"
        )?;
    }
    Ok(())
}

/// A few removable messages, of as many categories as possible.
fn write_examples(
    out: &mut dyn Write,
    scan: &Scan,
    counts: &Counts,
    paint: Paint,
) -> io::Result<()> {
    if counts.redundant == 0 {
        return Ok(());
    }
    writeln!(out, "\n{}", paint.strong("For example"))?;
    for &category in counts.by_category.keys().take(EXAMPLES) {
        let example = scan
            .messages
            .iter()
            .find(|message| message.verdict.standing == Standing::Redundant(category));
        if let Some(message) = example {
            write_entry(out, message, &reason(scan, message, category), paint)?;
        }
    }
    Ok(())
}

/// Every removable message and every version, with the reason.
fn write_list(out: &mut dyn Write, scan: &Scan, paint: Paint) -> io::Result<()> {
    let mut heading = Some("May go");
    for message in &scan.messages {
        if let Standing::Redundant(category) = message.verdict.standing {
            if let Some(heading) = heading.take() {
                writeln!(out, "\n{}", paint.strong(heading))?;
            }
            write_entry(out, message, &reason(scan, message, category), paint)?;
            if let Some(own) = message.residue.first() {
                let own = format!(
                    "only here, and no content: {}",
                    visible(own, escape::RESIDUE)
                );
                writeln!(out, "    {}", paint.faint(&own))?;
            }
        }
    }
    let mut heading = Some("Versions, which stay");
    for message in &scan.messages {
        if message.verdict.standing == Standing::Version {
            if let Some(heading) = heading.take() {
                writeln!(out, "\n{}", paint.strong(heading))?;
            }
            let reason = format!("is nearly the same as {}", witnesses(scan, message));
            write_entry(out, message, &reason, paint)?;
            if let Some(own) = message.residue.first() {
                writeln!(out, "    differs: {}", visible(own, escape::RESIDUE))?;
            }
        }
    }
    Ok(())
}

fn write_entry(
    out: &mut dyn Write,
    message: &ScannedMessage,
    reason: &str,
    paint: Paint,
) -> io::Result<()> {
    writeln!(
        out,
        "  {}",
        paint.go(&visible_path(&message.location.to_string()))
    )?;
    let about = about(message);
    if !about.is_empty() {
        writeln!(out, "    {}", paint.faint(&about))?;
    }
    writeln!(out, "    {reason}")
}

/// Subject, sender and date on one line, as far as they are known.
fn about(message: &ScannedMessage) -> String {
    let mut parts = Vec::new();
    if !message.subject.trim().is_empty() {
        parts.push(format!(
            "\"{}\"",
            visible(message.subject.trim(), escape::SUBJECT)
        ));
    }
    if !message.from.trim().is_empty() {
        parts.push(visible(message.from.trim(), escape::SENDER));
    }
    parts.extend(message.date.and_then(moment_for_people));
    parts.join(", ")
}

fn write_skipped(out: &mut dyn Write, view: &View) -> io::Result<()> {
    if view.skipped == 0 {
        return Ok(());
    }
    let files = counted(view.skipped as u64, "file", "files");
    writeln!(
        out,
        "{files} without messages passed over (empty, pictures, archives, reports)."
    )
}

fn write_nothing_found(out: &mut dyn Write, scan: &Scan, view: &View) -> io::Result<()> {
    writeln!(out, "{}", view.paint.strong("No messages were found."))?;
    let told = |looked: &&Looked| {
        scan.troubles
            .iter()
            .any(|trouble| trouble.path == looked.path)
    };
    for looked in view.paths.iter().filter(|looked| !told(looked)) {
        writeln!(out, "  {}: {}", visible_path(&looked.path), looked.what)?;
    }
    write_skipped(out, view)?;
    write_troubles(out, scan, view)?;
    writeln!(
        out,
        "\nTwicetold reads Maildir folders, mbox files, single messages (with or without\n\
         .eml), folders of them, text files and JSON lines.\n\
         Nothing was changed: scan only reads."
    )
}
