//! `twicetold scan`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use twicetold_detect::plan;
use twicetold_source::{Severity, Trouble};

use super::TalkArgs;
use super::engine::{EngineArgs, Scanned};
use super::find::distinct_paths;
use super::stats;
use crate::accounts::Places;
use crate::failure::{Advice, Exit};
use crate::on_server;
use crate::output::Output;
use crate::report::escape::{self, SafeJson, visible, visible_path};
use crate::report::text::{Looked, View};
use crate::report::{csv, jsonl, text, units};
use crate::terminal::{Paint, talk};

/// Find the messages that say nothing new
///
/// Reads every message below the paths once and tells which of them say nothing that the others do
/// not say. A message may go only if every sentence of it stands in messages that are kept, with no
/// number, date, address or "not" more or less. Nothing is changed: scan only reads. With --plan, what
/// may go is written down for apply.
///
/// A path is a Maildir, an mbox, a single message, a folder of them, a text file or a file of JSON
/// lines; several may be given, and the same mailbox given twice counts once. The mail that was
/// fetched from an account is account:NAME, or account:NAME/FOLDER.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ScanArgs {
    /// The mailboxes, files and folders to read
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// How to show the result
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// Write the result to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a plan of what may go to this file, for twicetold apply
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Make the plan for the servers of the accounts named, not for what was fetched from them
    #[arg(long, requires = "plan")]
    on_server: bool,

    /// List every message that may go and every version, with the reason (text format)
    #[arg(long)]
    list: bool,

    /// Say on stderr how long each stage took, and how much was read
    #[arg(long)]
    stats: bool,

    /// Read accounts on the server: their mail is fetched for this scan alone, and removed after it;
    /// messages are named, and planned to go, as they are on the server
    #[arg(long)]
    remote: bool,

    /// Word statistics that were counted before on this mail, or on more than this, as cluster scan
    /// writes them; nothing is remembered of such a scan
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cache", "verify"])]
    statistics: Option<PathBuf>,

    #[command(flatten)]
    engine: EngineArgs,
}

/// How to show the result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A summary for people
    #[default]
    Text,
    /// One JSON object a line for each message
    Jsonl,
    /// A table for spreadsheets
    Csv,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold scan ~/Maildir
  twicetold scan --list inbox.mbox archive.mbox
  twicetold scan --keep folder:Archive,newest ~/Mail
  twicetold scan --format csv --output report.csv ~/Mail
  twicetold scan account:work account:old/INBOX
  twicetold scan ~/Mail --plan mail.plan
  twicetold scan account:work --remote --plan work.plan

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted.

More: docs/scan.md (how it decides), docs/output.md (the formats), docs/exit-codes.md";

pub(super) fn run(args: &ScanArgs, how: TalkArgs) -> Result<Exit> {
    if args.list && args.format != Format::Text {
        return Err(Advice::new(
            "--list belongs to the text format",
            "leave --list out: the other formats show every message anyway",
        )
        .usage()
        .into_error());
    }
    let output = Output::open(args.output.as_deref())?;
    let places = args.engine.resolve(&args.paths, args.remote, how.quiet)?;
    let paths = places.paths.as_slice();
    if let Some(path) = paths.iter().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    let plan_file = args.plan.as_deref().map(|path| Output::open(Some(path)));
    let plan_file = plan_file.transpose()?;
    let plan_replaces = |path: &Path| plan_file.as_ref().is_some_and(|plan| plan.replaces(path));
    if let Some(path) = paths.iter().find(|path| plan_replaces(path)) {
        return Err(would_overwrite(path));
    }
    if let (Some(output), Some(plan)) = (&args.output, &args.plan)
        && std::path::absolute(output)? == std::path::absolute(plan)?
    {
        return Err(Advice::new(
            "--output and --plan name the same file",
            "choose another name for one of them",
        )
        .usage()
        .into_error());
    }
    if args.plan.is_some() {
        refuse_pop3(args, &places)?;
    }
    let start = Instant::now();
    let mut scanned = match &args.statistics {
        Some(statistics) => args.engine.scan_counted(&places, statistics, how.quiet)?,
        None => args.engine.scan(&places, how.quiet)?,
    };
    let took = start.elapsed();
    if let Some(path) = distinct_paths(&scanned.scan)
        .map(Path::new)
        .find(|path| output.replaces(path) || plan_replaces(path))
    {
        return Err(would_overwrite(path));
    }
    if let Some(plan_file) = &plan_file {
        write_plan(args, &scanned, &places, plan_file, how)?;
    }
    if args.remote {
        on_server::move_scan(&mut scanned.scan, &places.accounts);
    }
    let scan = &scanned.scan;

    match args.format {
        Format::Text => {
            let view = View {
                paths: std::iter::zip(&args.paths, paths)
                    .map(|(named, path)| look(named, path))
                    .collect(),
                options: args.engine.repeated(),
                remote: args.remote,
                skipped: scanned.collection.skipped(),
                list: args.list,
                plan: args
                    .plan
                    .as_ref()
                    .map(|plan| plan.to_string_lossy().into_owned()),
                paint: match output {
                    Output::Stdout => Paint::for_stdout(how.color),
                    Output::File(_) | Output::Device(_) => Paint::PLAIN,
                },
            };
            output.write(|out| text::write(out, scan, &view))?;
        }
        Format::Jsonl => output.write(|out| jsonl::write(out, scan))?,
        Format::Csv => output.write(|out| csv::write(out, scan))?,
    }
    if args.stats {
        stats::say(&scanned);
    }
    if !how.quiet {
        // The text summary names them itself.
        if args.format != Format::Text {
            warn_of_troubles(&scan.troubles);
        }
        let read = units::counted(scan.messages.len() as u64, "message", "messages");
        let known = match scan.remembered {
            0 => String::new(),
            all if all == scan.messages.len() as u64 => {
                ", all of them known from an earlier scan".to_owned()
            }
            some => format!(
                ", {} of them known from an earlier scan",
                units::grouped(some)
            ),
        };
        talk(&format!("{read} in {:.1} s{known}", took.as_secs_f64()));
    }
    let exit = scanned.exit();
    // The program ends here: the system takes everything back at once, which would take longer piece by piece.
    std::mem::forget(scanned.scan);
    Ok(exit)
}

/// A plan for a server needs one on which messages can be moved.
fn refuse_pop3(args: &ScanArgs, places: &Places) -> Result<()> {
    let server = args.remote || args.on_server;
    if args.on_server && places.accounts.is_empty() {
        return Err(Advice::new(
            "--on-server is about accounts, and none is named",
            "name one: account:NAME",
        )
        .usage()
        .into_error());
    }
    if server && places.accounts.iter().any(|account| account.pop3) {
        return Err(Advice::new(
            "a plan cannot be carried out on a POP3 server, which has no folders",
            "fetch the account, and plan for what was fetched: twicetold scan account:NAME --plan FILE",
        )
        .usage()
        .into_error());
    }
    Ok(())
}

/// Writes down what may go. The report comes afterwards, so that it can be believed.
fn write_plan(
    args: &ScanArgs,
    scanned: &Scanned,
    places: &Places,
    file: &Output,
    how: TalkArgs,
) -> Result<()> {
    let folder = std::env::current_dir().context(Advice::new(
        "the folder you are in cannot be told",
        "change to a folder that is there",
    ))?;
    let mut plan = plan(
        &scanned.collection,
        &scanned.scan,
        &scanned.options,
        &folder,
        &args.paths,
    );
    let changed = scanned.redundant() - plan.removals.len() as u64;
    let not_there = if args.remote || args.on_server {
        on_server::move_plan(&mut plan, &places.accounts)
    } else {
        0
    };
    file.write(|out| plan.write(out, SafeJson))?;
    if how.quiet {
        return Ok(());
    }
    if changed > 0 {
        let left_out = units::counted(changed, "message", "messages");
        talk(&format!(
            "warning: {left_out} changed during the scan and are not in the plan; scan again"
        ));
    }
    if not_there > 0 {
        let left_out = units::counted(not_there, "message", "messages");
        talk(&format!(
            "note: {left_out} left out of the plan: they, or what holds them, are not known to be on the server"
        ));
    }
    Ok(())
}

pub(super) fn would_overwrite(path: &Path) -> anyhow::Error {
    Advice::new(
        format!(
            "the report or the plan would overwrite {}, which holds mail that is read",
            path.display()
        ),
        "choose another name for --output or --plan",
    )
    .into_error()
}

fn look(named: &Path, path: &Path) -> Looked {
    let what = match fs::metadata(path) {
        Err(error) => error.to_string(),
        Ok(found) if found.is_dir() => match fs::read_dir(path).map(|mut below| below.next()) {
            Ok(None) => "an empty folder".to_owned(),
            Ok(Some(_)) => "a folder without messages".to_owned(),
            Err(error) => format!("a folder that cannot be opened ({error})"),
        },
        Ok(found) if found.len() == 0 => "an empty file".to_owned(),
        Ok(found) => format!("a file of {} without messages", units::size(found.len())),
    };
    Looked {
        path: named.to_string_lossy().into_owned(),
        what,
    }
}

pub(super) fn warn_of_troubles(troubles: &[Trouble]) {
    const MOST: usize = 20;
    for trouble in troubles.iter().take(MOST) {
        let what = visible(&trouble.problem.what, escape::MESSAGE);
        let word = match trouble.severity {
            Severity::Note => "note",
            Severity::Unread => "warning",
        };
        talk(&format!("{word}: {}: {what}", visible_path(&trouble.path)));
    }
    if let Some(rest @ 1..) = troubles.len().checked_sub(MOST) {
        talk(&format!("warning: {rest} more paths could not be read"));
    }
}
