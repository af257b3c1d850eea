//! `twicetold cluster pairs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};
use twicetold_detect::{MOST, farthest, walk_limit};
use twicetold_source::{Collection, Portion, Severity, Trouble};

use super::entries::TABLE;
use super::running::{Job, LEXICON, Scratch};
use super::spark::{Spark, SparkArgs};
use super::{Format, absolute, checked_size, refuse_if_there};
use crate::commands::TalkArgs;
use crate::commands::engine::{parse_size, refuse_if_nothing_is_there};
use crate::commands::pairs::MethodArgs;
use crate::commands::scan::warn_of_troubles;
use crate::failure::Exit;
use crate::feed::is_table;
use crate::terminal::talk;

/// Find texts that are nearly the same, as pairs does
///
/// Writes a folder of files with one row for each pair, sorted as pairs sorts them: the rows that pairs --format
/// jsonl writes. A path is whatever pairs reads, a Parquet or Arrow file of messages or texts, or a
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

    /// The folder to write; it must not be there yet
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
    let mut troubles = Vec::new();
    let manifest = scratch.path().join("portions.jsonl");
    let mut lines = String::new();
    for (side, paths) in [&paths, &against].into_iter().enumerate() {
        let (portions, met) = portions(paths, room);
        troubles.extend(met);
        for portion in portions {
            lines.push_str(&line(side, &portion).to_string());
            lines.push('\n');
        }
    }
    fs::write(&manifest, lines).with_context(|| format!("cannot write {}", manifest.display()))?;
    let methods = sought.iter().map(|sought| {
        let distance = farthest(sought);
        json!({
            "name": sought.method.name(),
            "bits": distance.is_some(),
            "farthest": distance.flatten(),
        })
    });
    let job = Job {
        spark: &spark,
        args: &args.spark,
        scratch: &scratch,
        quiet: how.quiet,
        bytes: None,
        lexicon: args.methods.lexicon(),
    };
    let all_read = job.run(json!({
        "what": "pairs",
        "manifest": manifest,
        "urls": [urls, urls_against],
        "two": !args.against.is_empty(),
        "room": room,
        "output": absolute(&args.output),
        "format": args.format.name(),
        "entering": args.methods.passed_on(),
        "lexicon_name": args.methods.lexicon().map(|_| LEXICON),
        "methods": methods.collect::<Vec<Value>>(),
        "most": args.most,
        "walk": walk_limit(),
    }))?;
    if !how.quiet {
        warn_of_troubles(&troubles);
        talk(&format!("done in {:.1} s", start.elapsed().as_secs_f64()));
    }
    let read = troubles.iter().all(|t| t.severity == Severity::Note);
    Ok(match all_read && read {
        true => Exit::Done,
        false => Exit::Partly,
    })
}

/// Paths, and what Spark is to read for itself.
fn apart(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_path = |path: &PathBuf| !path.to_string_lossy().contains("://");
    paths.iter().cloned().partition(is_path)
}

/// What stands below the paths, sorted, in portions that tasks can read.
fn portions(paths: &[PathBuf], room: u64) -> (Vec<Portion>, Vec<Trouble>) {
    let (mut tables, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let inside = tables_in(path);
        if is_table(path) {
            tables.push(path.clone());
        } else if inside.is_empty() {
            others.push(path.clone());
        } else {
            tables.extend(inside);
        }
    }
    let collection = Collection::open(&others);
    let (mut portions, mut troubles) = collection.portions(room);
    troubles.extend(collection.troubles().iter().cloned());
    portions.extend(tables.into_iter().map(|file| {
        let bytes = file.metadata().map_or(0, |found| found.len());
        let path = file.to_string_lossy().into_owned();
        let kind = TABLE.to_owned();
        Portion {
            kind,
            ..Portion::named(path, file, bytes)
        }
    }));
    portions.sort_by(|a, b| {
        let start = |portion: &Portion| portion.range.as_ref().map(|range| range.start);
        (&a.path, start(a)).cmp(&(&b.path, start(b)))
    });
    (portions, troubles)
}

/// The Parquet files of a folder that holds some: an engine wrote it.
fn tables_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "parquet"))
        .collect();
    found.sort();
    found
}

/// The line about a portion that the job reads, and passes on.
fn line(side: usize, portion: &Portion) -> Value {
    let file = twicetold_source::shown_path(&absolute(&portion.file));
    json!({
        "side": side,
        "path": portion.path,
        "file": file,
        "bytes": portion.bytes,
        "kind": portion.kind,
        "start": portion.range.as_ref().map(|range| range.start),
        "end": portion.range.as_ref().map(|range| range.end),
    })
}
