//! `twicetold statistics`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;
use twicetold_cluster::{AnswerColumns, AnswerRow, Columns, SketchColumns, SketchRow, Wanted};
use twicetold_detect::{Counting, NotStatistics, Statistics, Unfit};

use super::TalkArgs;
use crate::failure::{Advice, Exit};
use crate::feed::{Feed, Piece};
use crate::output::Output;
use crate::report::escape::{self, visible};
use crate::sheet::{RowFormat, Sheet, refuse_terminal};
use crate::terminal::talk;

/// Count which words several messages have, on many machines
///
/// Before messages are judged in parts, it has to be known which word pairs and facts occur in more than
/// one message of the whole. Each machine counts its share of what sketch --for scan has written, the counts are
/// merged, and every message can be asked about: one that says something nobody else says stays in any case.
/// This is what cluster scan does; another engine can do the same.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct StatisticsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Count a share: rows with the method words, and the words of an outline as their sketch
    Count(CountArgs),
    /// Bring counts together: rows with the method slots, as count writes them
    Merge(CountArgs),
    /// Ask which messages say something new: rows with the method news, and the news of an outline as their sketch
    Ask(AskArgs),
}

#[derive(Debug, Args)]
struct CountArgs {
    /// How many slots there are: a power of two, 512 to 4294967296, the same in every share
    #[arg(long, value_name = "N")]
    slots: u64,

    #[command(flatten)]
    rows: RowArgs,
}

#[derive(Debug, Args)]
struct AskArgs {
    /// The statistics: the line "twicetold statistics 1", and the second half of every chunk
    #[arg(long, value_name = "FILE")]
    statistics: PathBuf,

    #[command(flatten)]
    rows: RowArgs,
}

#[derive(Debug, Args)]
struct RowArgs {
    /// Files of rows, read one after the other; - is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,

    /// How to write the rows
    #[arg(long, short, value_enum, default_value_t)]
    format: RowFormat,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but some rows could not be read.

More: docs/scale.md (the rows, and how a cluster uses them)";

pub(super) fn run(args: &StatisticsArgs, how: TalkArgs) -> Result<Exit> {
    match &args.what {
        What::Count(args) => count(args, how, "words", |counting, _, bytes| {
            counting.count(bytes)
        }),
        What::Merge(args) => count(args, how, SLOTS, |counting, id, bytes| {
            let number = id.parse().map_err(|_| NotStatistics)?;
            counting.merge(number, bytes)
        }),
        What::Ask(args) => ask(args, how),
    }
}

/// The method of rows that hold counts.
const SLOTS: &str = "slots";

/// Reads rows made by `method`, counts them, and writes the chunks.
fn count(
    args: &CountArgs,
    how: TalkArgs,
    method: &'static str,
    mut take: impl FnMut(&mut Counting, &str, &[u8]) -> Result<(), NotStatistics>,
) -> Result<Exit> {
    let mut counting = Counting::new(args.slots).ok_or_else(|| {
        Advice::new(
            format!("there cannot be {} slots", args.slots),
            "name a power of two from 512 to 4294967296; cluster scan has one for every 2 bytes of mail or so",
        )
        .usage()
        .into_error()
    })?;
    let output = Output::open(None)?;
    refuse_bytes(&args.rows, &output)?;
    let mut feed = Feed::open(&args.rows.files, None, Wanted::Sketches(method))?;
    let mut unread = 0;
    while let Some(piece) = feed.next()? {
        let (id, bytes) = handed(piece);
        let taken = bytes.and_then(|bytes| {
            let taken = take(&mut counting, &id, &bytes);
            taken.map_err(|NotStatistics| format!("{id} has no {method} of so many slots"))
        });
        if let Err(what) = taken {
            unread += 1;
            warn(how, &what);
        }
    }
    let rows = counting.chunks().map(|(number, bits)| SketchRow {
        id: number.to_string(),
        method: SLOTS,
        sketch: Some(bits.into_vec()),
        ..SketchRow::default()
    });
    write(&args.rows, &output, SketchColumns::new(false), rows)?;
    Ok(exit(unread))
}

fn ask(args: &AskArgs, how: TalkArgs) -> Result<Exit> {
    let statistics = read(&args.statistics)?;
    let output = Output::open(None)?;
    refuse_bytes(&args.rows, &output)?;
    let mut feed = Feed::open(&args.rows.files, None, Wanted::Sketches("news"))?;
    let (mut unread, mut failed) = (0, None);
    let rows = std::iter::from_fn(|| {
        let piece = feed.next().unwrap_or_else(|error| {
            failed = Some(error);
            None
        })?;
        let (id, bytes) = handed(piece);
        let new = bytes.and_then(|bytes| {
            let new = statistics.is_new(&bytes);
            new.map_err(|NotStatistics| format!("{id} has no news of an outline"))
        });
        let (new, problem) = match new {
            Ok(new) => (Some(new), None),
            Err(what) => {
                unread += 1;
                warn(how, &what);
                (None, Some(what))
            }
        };
        Some(AnswerRow { id, new, problem })
    });
    write(&args.rows, &output, AnswerColumns::default(), rows)?;
    failed.map_or(Ok(exit(unread)), Err)
}

/// What a row is called, and its bytes.
fn handed(piece: Piece) -> (String, Result<Vec<u8>, String>) {
    let handed = piece.handed();
    let bytes = handed.message.map(|raw| raw.bytes.into_owned());
    (handed.id, bytes.map_err(|what| what.into_owned()))
}

fn warn(how: TalkArgs, what: &str) {
    if !how.quiet {
        talk(&format!("warning: {}", visible(what, escape::MESSAGE)));
    }
}

fn refuse_bytes(args: &RowArgs, output: &Output) -> Result<()> {
    match args.format {
        RowFormat::Arrow => refuse_terminal(output, "an Arrow stream"),
        RowFormat::Jsonl => Ok(()),
    }
}

fn write<C: Columns<Row: Serialize>>(
    args: &RowArgs,
    output: &Output,
    columns: C,
    mut rows: impl Iterator<Item = C::Row>,
) -> Result<()> {
    output.write(|out| {
        let mut sheet = Sheet::new(args.format, out, columns)?;
        rows.try_for_each(|row| sheet.put(args.format.ready(vec![row])?))?;
        sheet.finish()
    })
}

fn exit(unread: u64) -> Exit {
    match unread {
        0 => Exit::Done,
        _ => Exit::Partly,
    }
}

/// Why mail cannot be scanned with these statistics.
pub(super) fn refuse(path: &Path, unfit: Unfit) -> anyhow::Error {
    let shown = path.display();
    let (what, hint) = match unfit {
        Unfit::Numbering => (
            format!("{shown} holds statistics of stable numbers, and --numbers asks for others"),
            "leave out --numbers, or --statistics",
        ),
        Unfit::Small => (
            format!("the statistics in {shown} were counted for less mail than this"),
            "count them again on all of it, or leave out --statistics",
        ),
        Unfit::Foreign(missing, all) => (
            format!(
                "the statistics in {shown} were counted on other mail: of {all} things that several messages have, {missing} are not in them"
            ),
            "count them again on all of this mail, or leave out --statistics",
        ),
    };
    Advice::new(what, hint).into_error()
}

/// Reads a file of statistics.
pub(super) fn read(path: &Path) -> Result<Statistics> {
    let shown = path.display();
    let hint = "the statistics are made by twicetold cluster scan, and sent to every host";
    let bytes = std::fs::read(path)
        .with_context(|| Advice::new(format!("cannot read the statistics {shown}"), hint))?;
    Statistics::from_bytes(&bytes).map_err(|NotStatistics| {
        Advice::new(format!("{shown} does not hold statistics"), hint).into_error()
    })
}
