//! `twicetold cluster`.

mod entries;
mod given;
mod pairs;
mod partners;
mod running;
mod spark;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use twicetold_detect::{Reach, Statistics};
use twicetold_source::LeftOut;

use super::TalkArgs;
use super::engine::{PassedOn, parse_size, refuse_if_nothing_is_there};
use super::scan::warn_of_troubles;
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::units;
use crate::terminal::talk;
use given::{Given, apart, is_url, write_manifest};
use running::{Job, STATISTICS, Scratch, fitting};
use spark::{Spark, SparkArgs};

/// Judge more mail than one machine can, on Apache Spark
///
/// Starts a Spark job that reads the mail on all executors, brings together what has to be compared, and
/// compares or judges it with the program itself, which is sent along. Only reads.
#[derive(Debug, Args)]
pub(super) struct ClusterArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Scan(ScanArgs),
    Pairs(pairs::PairsArgs),
    Entries(entries::EntriesArgs),
    Partners(partners::PartnersArgs),
}

/// Find out what may go, as scan does
///
/// Writes a folder of files with one row for each message, sorted by path: the rows that scan --format
/// jsonl writes. The paths have to be there for every executor.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
struct ScanArgs {
    /// The mailboxes, files and folders to read; URLs are read by Spark's connectors
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The folder to write, a path or a URL; it must not be there yet
    #[arg(long, short, value_name = "DIR", required = true)]
    output: PathBuf,

    /// How to write the verdicts
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// Read trash and junk folders as well
    #[arg(long)]
    with_trash: bool,

    /// Write the word statistics to this file, which scan --statistics and judge --statistics read
    #[arg(long, value_name = "FILE")]
    statistics: Option<PathBuf>,

    /// How much one task reads, more or less; larger files of many messages are read by several
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = checked_size)]
    task: String,

    /// How many bytes a part may have; the messages of a larger one stay, unjudged
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = checked_size)]
    largest: String,

    /// Up to so many ties between messages are followed in one task, more of them by all executors
    #[arg(long, value_name = "N", default_value_t = EDGES_AT_ONCE)]
    edges_at_once: u64,

    #[command(flatten)]
    spark: SparkArgs,

    #[command(flatten)]
    deciding: PassedOn,
}

/// One task follows so many ties in a few seconds.
const EDGES_AT_ONCE: u64 = 2_000_000;

/// How far keys lead: the rules that a scan goes by.
fn reach() -> Value {
    let Reach {
        few,
        first,
        many,
        shown,
        beside,
        row,
        of_the_telling,
        of_all,
    } = Reach::USUAL;
    json!({
        "few": few,
        "first": first,
        "many": many,
        "shown": shown,
        "beside": beside,
        "row": row,
        "of_the_telling": of_the_telling,
        "of_all": of_all,
    })
}

/// How many slots mail has that turns out to have less than 2⁰, 2¹, … 2⁶³ bytes.
fn slots_by_bits() -> Vec<u64> {
    (0..64).map(|bits| Statistics::slots(1 << bits)).collect()
}

/// How to write rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object a line
    #[default]
    Jsonl,
    /// Parquet, for further work with Spark
    Parquet,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

const AFTER_HELP: &str = "\
Examples:
  twicetold cluster scan --output verdicts /archive
  twicetold cluster scan --master spark://head:7077 --output verdicts /archive
  twicetold cluster scan --output s3a://bucket/verdicts s3a://bucket/mail/
  cat verdicts/part-*                        # the rows, sorted as scan sorts them

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted.

More: docs/scale.md (what is sent where, and when one machine is faster)";

pub(super) fn run(args: &ClusterArgs, how: TalkArgs) -> Result<Exit> {
    match &args.what {
        What::Scan(args) => scan(args, how),
        What::Pairs(args) => pairs::run(args, how),
        What::Entries(args) => entries::run(args),
        What::Partners(args) => partners::run(args),
    }
}

fn scan(args: &ScanArgs, how: TalkArgs) -> Result<Exit> {
    let (paths, urls) = apart(&args.paths);
    refuse_if_nothing_is_there(&paths)?;
    refuse_if_there(&args.output)?;
    let statistics = args
        .statistics
        .as_deref()
        .map(|path| Output::open(Some(path)));
    let statistics = statistics.transpose()?;
    let spark = Spark::find(&args.spark)?;
    let start = Instant::now();
    let left_out = LeftOut {
        discarded: !args.with_trash,
        ..LeftOut::default()
    };
    let scratch = Scratch::new()?;
    let room = parse_size(&args.task).unwrap_or(32 << 20).max(1);
    let given = Given::open(&paths, left_out, room);
    let manifest = write_manifest(&scratch, std::slice::from_ref(&given))?;
    // What tables and URLs hold is known when it has been read.
    let mail = given.mail.filter(|_| urls.is_empty());
    let output = absolute(&args.output);
    let job = Job {
        spark: &spark,
        args: &args.spark,
        scratch: &scratch,
        quiet: how.quiet,
        files: given.bytes(),
        fitting: fitting(urls.is_empty().then(|| given.bytes())),
        lexicon: None,
    };
    let all_read = job.run(json!({
        "manifest": manifest,
        "urls": [urls],
        "room": room,
        "output": output,
        "format": args.format.name(),
        "slots": mail.map(Statistics::slots),
        "slots_by_bits": slots_by_bits(),
        "largest": args.largest,
        "edges_at_once": args.edges_at_once,
        "checkpoints": beside(&output),
        "reach": reach(),
        "outlining": args.deciding.outlining(),
        "deciding": args.deciding.deciding(),
    }))?;
    if let Some(statistics) = statistics {
        let counted = scratch.path().join(STATISTICS);
        let counted =
            fs::read(&counted).with_context(|| format!("cannot read {}", counted.display()))?;
        statistics.write(|out| out.write_all(&counted))?;
    }
    if !how.quiet {
        warn_of_troubles(&given.troubles);
        let files = units::counted(given.files(), "file", "files");
        talk(&format!(
            "{files} in {:.1} s",
            start.elapsed().as_secs_f64()
        ));
    }
    Ok(if all_read && given.is_all() {
        Exit::Done
    } else {
        Exit::Partly
    })
}

/// What is there is not written over.
fn refuse_if_there(output: &Path) -> Result<()> {
    // What a URL names, the job looks up by Spark's connectors, before it begins.
    if !is_url(output) && output.exists() {
        return Err(Advice::new(
            format!("there is {} already", output.display()),
            "name another folder with --output, or remove that one",
        )
        .into_error());
    }
    Ok(())
}

/// A size as the user wrote it: the executors read it again, and should not be the first to find it wrong.
fn checked_size(text: &str) -> Result<String, String> {
    parse_size(text).map(|_| text.to_owned())
}

/// Where the job writes down what is half done: next to the result, which every executor can reach.
fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Executors work in folders of their own. A URL means the same everywhere.
fn absolute(path: &Path) -> PathBuf {
    if is_url(path) {
        return path.to_path_buf();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
