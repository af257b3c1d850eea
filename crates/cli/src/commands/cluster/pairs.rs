//! `twicetold cluster pairs`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use twicetold_detect::{MOST, farthest, walk_limit};
use twicetold_source::LeftOut;

use super::given::{Given, apart, write_manifest};
use super::running::{Job, LEXICON, Scratch};
use super::spark::{Spark, SparkArgs};
use super::{EDGES_AT_ONCE, Format, absolute, beside, checked_size, refuse_if_there};
use crate::commands::TalkArgs;
use crate::commands::engine::{parse_size, refuse_if_nothing_is_there};
use crate::commands::pairs::MethodArgs;
use crate::commands::scan::warn_of_troubles;
use crate::failure::Exit;
use crate::terminal::talk;

/// Find texts that are nearly the same, as pairs does
///
/// Writes a folder of files with one row for each pair or group, sorted as pairs sorts them: the rows that pairs
/// --format jsonl writes. A path is whatever pairs reads, a Parquet or Arrow file of messages or texts, or a
/// folder of Parquet files. It has to be there for every executor; a URL (hdfs://, s3a://, file://) is read by
/// Spark's own connectors instead.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct PairsArgs {
    /// The mailboxes, files, folders and URLs to read
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Compare with the texts of this path instead of with each other; may be given several times
    #[arg(long, value_name = "PATH")]
    against: Vec<PathBuf>,

    #[command(flatten)]
    methods: MethodArgs,

    /// How many partners of one text are listed; 0 for all, however many pairs that makes
    #[arg(long, value_name = "N", default_value_t = MOST)]
    most: usize,

    /// Write groups of connected texts instead of pairs
    #[arg(long)]
    groups: bool,

    /// The folder to write, a path or a URL; it must not be there yet
    #[arg(long, short, value_name = "DIR", required = true)]
    output: PathBuf,

    /// How to write the pairs
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// How much one task reads, more or less; larger files of many messages are read by several
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = checked_size)]
    task: String,

    #[command(flatten)]
    spark: SparkArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold cluster pairs --output pairs /archive
  twicetold cluster pairs --method simhash --output pairs s3a://bucket/mail/
  twicetold cluster pairs --against /archive --output pairs new.parquet
  twicetold cluster pairs --groups --output groups /archive
  cat pairs/part-*                           # the rows, sorted as pairs sorts them

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted.

More: docs/scale.md (what is sent where, and when one machine is faster), docs/pairs.md";

pub(super) fn run(args: &PairsArgs, how: TalkArgs) -> Result<Exit> {
    let sought = args.methods.sought()?;
    let (paths, urls) = apart(&args.paths);
    let (against, urls_against) = apart(&args.against);
    refuse_if_nothing_is_there(&paths)?;
    refuse_if_nothing_is_there(&against)?;
    refuse_if_there(&args.output)?;
    let spark = Spark::find(&args.spark)?;
    let start = Instant::now();
    let room = parse_size(&args.task).unwrap_or(32 << 20).max(1);
    let scratch = Scratch::new()?;
    let sides = [&paths, &against].map(|paths| Given::open(paths, LeftOut::default(), room));
    let manifest = write_manifest(&scratch, &sides)?;
    let methods = sought.iter().map(|sought| {
        let distance = farthest(sought);
        json!({
            "name": sought.method.name(),
            "bits": distance.is_some(),
            "farthest": distance.flatten(),
        })
    });
    let output = absolute(&args.output);
    let job = Job {
        spark: &spark,
        args: &args.spark,
        scratch: &scratch,
        quiet: how.quiet,
        files: sides.iter().map(Given::bytes).sum(),
        fitting: &[],
        lexicon: args.methods.lexicon(),
    };
    let all_read = job.run(json!({
        "what": "pairs",
        "manifest": manifest,
        "urls": [urls, urls_against],
        "two": !args.against.is_empty(),
        "room": room,
        "output": output,
        "format": args.format.name(),
        "entering": args.methods.passed_on(),
        "lexicon_name": args.methods.lexicon().map(|_| LEXICON),
        "methods": methods.collect::<Vec<Value>>(),
        "most": args.most,
        "groups": args.groups,
        "edges_at_once": EDGES_AT_ONCE,
        "checkpoints": beside(&output),
        "walk": walk_limit(),
    }))?;
    if !how.quiet {
        sides
            .iter()
            .for_each(|side| warn_of_troubles(&side.troubles));
        talk(&format!("done in {:.1} s", start.elapsed().as_secs_f64()));
    }
    Ok(match all_read && sides.iter().all(Given::is_all) {
        true => Exit::Done,
        false => Exit::Partly,
    })
}
