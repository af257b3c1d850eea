//! Progress of a fetch, and what is said about it in the end.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use twicetold_account::{FetchProgress, FetchReport, Skipped};

use crate::report::escape::{self, visible};
use crate::report::units;
use crate::terminal::Paint;

/// Progress on stderr: messages, bytes, the folder at hand.
#[derive(Debug)]
pub(crate) struct FetchBar {
    bar: ProgressBar,
    bytes: AtomicU64,
}

impl FetchBar {
    /// Progress for people; silent if they asked for silence or stderr is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = if quiet || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            let bar = ProgressBar::new(0);
            let template = "{spinner} Fetching  {bar:20} {human_pos} of {human_len} messages, {msg}, {eta} left  {prefix}";
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("=> "));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        };
        Self {
            bar,
            bytes: AtomicU64::new(0),
        }
    }

    /// Takes the progress line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl FetchProgress for FetchBar {
    fn expect(&self, messages: u64) {
        self.bar.inc_length(messages);
    }

    fn advance(&self, messages: u64, bytes: u64) {
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if !self.bar.is_hidden() {
            self.bar.inc(messages);
            self.bar.set_message(units::size(bytes));
        }
    }

    fn folder(&self, name: &str) {
        if !self.bar.is_hidden() {
            self.bar.set_prefix(visible(name, 40));
        }
    }
}

/// Says what was fetched: a line for the account, one for each folder in which something happened.
pub(crate) fn write(
    out: &mut dyn Write,
    account: &str,
    report: &FetchReport,
    dry_run: bool,
    paint: Paint,
) -> io::Result<()> {
    let sum = |of: fn(&twicetold_account::FolderReport) -> u64| -> u64 {
        report.folders.iter().map(of).sum()
    };
    let messages = |count| units::counted(count, "message", "messages");
    let head = if dry_run {
        format!(
            "{account}: {} would be fetched",
            messages(sum(|f| f.missing))
        )
    } else {
        let new = units::counted(report.new_messages(), "new message", "new messages");
        format!("{account}: {new}, {}", units::size(report.new_bytes()))
    };
    writeln!(out, "{}", paint.strong(&head))?;
    for folder in &report.folders {
        let mut facts = Vec::new();
        let mut fact = |count: u64, what: &str| {
            if count > 0 {
                facts.push(format!("{} {what}", HumanCount(count)));
            }
        };
        if dry_run {
            fact(folder.missing, "to fetch");
        } else {
            fact(folder.new, "new");
            fact(folder.again, "known, numbered anew by the server");
        }
        fact(folder.changed, "with other flags");
        fact(folder.elsewhere, "fetched with another folder");
        fact(folder.gone, "gone on the server, kept here");
        fact(folder.removed, "gone on the server, removed here");
        fact(folder.removed_on_server, "removed from the server");
        if !facts.is_empty() {
            let name = visible(&folder.name, escape::PATH);
            writeln!(out, "  {name}: {}", facts.join(", "))?;
        }
    }
    for (why, what) in [
        (Skipped::Excluded, "left out as you wished"),
        (
            Skipped::View,
            "left out, as it shows messages of other folders (name it with --folder to fetch it)",
        ),
        (
            Skipped::Label,
            "left out, as it is a label of Gmail and its messages came with the others",
        ),
    ] {
        let names: Vec<String> = report
            .skipped
            .iter()
            .filter(|(_, reason)| *reason == why)
            .map(|(name, _)| visible(name, 60))
            .collect();
        if !names.is_empty() {
            writeln!(
                out,
                "  {}",
                paint.faint(&format!("{}: {what}", names.join(", ")))
            )?;
        }
    }
    Ok(())
}
