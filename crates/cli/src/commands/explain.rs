//! `twicetold explain`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use twicetold_detect::{Scan, explain};

use super::TalkArgs;
use super::engine::EngineArgs;
use super::find::{Found, find, split_offset};
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::{explanation, jsonl, units};
use crate::terminal::{Paint, talk};

/// Show why a message may go or stays, passage by passage
///
/// Scans the paths as scan does, with the same options, and shows the proof for one message: each
/// passage of it, where that passage stands in a message that is kept, and what is its own.
///
/// MESSAGE is a path, a path and an offset inside an mbox (inbox.mbox@2048), or a Message-ID. Without
/// PATH, the mailbox is scanned in which the message lies.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ExplainArgs {
    /// The message: a path, path@offset, or a Message-ID with or without <>
    message: String,

    /// The mailboxes, files and folders to compare it with
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// How to show the proof
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    engine: EngineArgs,
}

/// How to show a proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Jsonl,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold explain inbox.mbox@2048 inbox.mbox archive.mbox
  twicetold explain '<20010514.1234@example.org>' ~/Maildir
  twicetold explain ~/Mail/notes/17.eml

Exit codes: 0 done, 1 error (no such message, or several), 2 wrong usage, 3 done but something
could not be read, 130 interrupted.

More: docs/scan.md (how it decides), docs/output.md (the formats), docs/exit-codes.md";

/// How many messages are listed if the name fits several.
const CANDIDATES: usize = 20;

pub(super) fn run(args: &ExplainArgs, how: TalkArgs) -> Result<Exit> {
    let home = if args.paths.is_empty() {
        Some(mailbox_of(&args.message)?)
    } else {
        None
    };
    let paths = home
        .as_ref()
        .map_or(args.paths.as_slice(), std::slice::from_ref);
    if let (Some(home), false) = (&home, how.quiet) {
        let home = crate::report::escape::visible_path(&home.to_string_lossy());
        talk(&format!(
            "Comparing with {home}; name more paths to look further."
        ));
    }
    let places = args.engine.resolve(paths, false, how.quiet)?;
    let scanned = args.engine.scan(&places, how.quiet)?;
    let scan = &scanned.scan;
    let message = match find(scan, &args.message) {
        Found::One(message) => message,
        Found::Several(messages) => return Err(several(scan, &args.message, &messages)),
        Found::None(close) => return Err(none(scan, &args.message, &close)),
    };
    let shown = explain(&scanned.collection, scan, message);
    Output::Stdout.write(|out| match args.format {
        Format::Text => {
            explanation::write(out, scan, message, &shown, Paint::for_stdout(how.color))
        }
        Format::Jsonl => jsonl::write_explanation(out, scan, message, &shown),
    })?;
    Ok(scanned.exit())
}

/// What to scan for a message given by its path alone: the mbox itself, or the folder around it.
fn mailbox_of(message: &str) -> Result<PathBuf> {
    let path = Path::new(message);
    if path.is_dir() {
        return Ok(path.to_path_buf());
    }
    if !path.is_file() {
        let (file, offset) = split_offset(message);
        if offset.is_some() && Path::new(file).is_file() {
            return Ok(PathBuf::from(file));
        }
        return Err(Advice::new(
            format!("no path to look in for {message}"),
            "name the mailboxes after the message: twicetold explain MESSAGE PATH...",
        )
        .usage()
        .into_error());
    }
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    };
    // A Maildir keeps its messages one floor down.
    let in_maildir = folder
        .file_name()
        .is_some_and(|name| name == "cur" || name == "new");
    Ok(match folder.parent() {
        Some(maildir) if in_maildir && maildir.as_os_str().is_empty() => PathBuf::from("."),
        Some(maildir) if in_maildir => maildir.to_path_buf(),
        _ => folder.to_path_buf(),
    })
}

fn several(scan: &Scan, wanted: &str, messages: &[u32]) -> anyhow::Error {
    let mut list = lines(scan, &messages[..messages.len().min(CANDIDATES)]);
    if messages.len() > CANDIDATES {
        list.push(format!("and {} more", messages.len() - CANDIDATES));
    }
    Advice::new(
        format!(
            "{wanted} could be any of {}",
            units::counted(messages.len() as u64, "message", "messages")
        ),
        "name one of them by its place, as listed",
    )
    .listing(list)
    .into_error()
}

fn none(scan: &Scan, wanted: &str, close: &[u32]) -> anyhow::Error {
    let count = units::counted(scan.messages.len() as u64, "message", "messages");
    let what = format!("{wanted} is none of the {count} found");
    if close.is_empty() {
        let hint = "name the message as scan --list or --format jsonl shows it, and give the paths \
                    it is in after it";
        Advice::new(what, hint).into_error()
    } else {
        Advice::new(what, "did you mean one of these?")
            .listing(lines(scan, close))
            .into_error()
    }
}

fn lines(scan: &Scan, messages: &[u32]) -> Vec<String> {
    messages
        .iter()
        .filter_map(|&number| scan.messages.get(number as usize))
        .map(|message| match &message.message_id {
            Some(id) => format!("{}  {id}", message.location),
            None => message.location.to_string(),
        })
        .collect()
}
