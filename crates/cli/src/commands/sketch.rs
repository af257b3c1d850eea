//! `twicetold sketch`.

mod outlining;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde::Serialize;
use twicetold_cluster::{Columns, Handed, SketchColumns, SketchRow, Wanted};
use twicetold_detect::{Met, Progress, Sketcher, Stage, sketch_each};
use twicetold_methods::catalogue::{Chosen, entry};
use twicetold_model::{Form, Location, Problem, RawMessage};
use twicetold_service::Trust;
use twicetold_source::{Checksum, Collection, Severity, Trouble};

use super::TalkArgs;
use super::engine::{Outlining, refuse_if_nothing_is_there, use_threads};
use super::pairs::choose;
use super::scan::{warn_of_troubles, would_overwrite};
use crate::failure::{Advice, Exit};
use crate::feed::{Feed, From, Piece, is_stdin, is_table, size_of, warn_of_loss};
use crate::output::Output;
use crate::report::sketches::{How, Making, SPAM};
use crate::report::units;
use crate::sheet::{Ready, RowFormat, Sheet, refuse_terminal};
use crate::terminal::{Bar, talk};

/// Write the keys and sketches of texts, for an engine that finds pairs
///
/// Reads every text below the paths once and writes a row for each: where it stands, the keys by
/// which its near duplicates can be found, and the sketch by which two texts are compared. These are
/// the sketches that pairs makes. Nothing is kept, so that any number of texts can pass.
///
/// A path is whatever pairs reads, or a table: an Arrow stream or a Parquet file with an id and a text, or with an id
/// and a message. - reads rows from stdin: JSON lines (the message in base64) or an Arrow stream. With --with-message the
/// rows are what judge reads, once each has a group.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct SketchArgs {
    /// The mailboxes, files, folders and tables to read; - reads rows from stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The method: winnow, imatch, blocks, simhash, layout or edit; or spam, whose sketches the spam service takes
    #[arg(long, short, value_name = "METHOD", default_value = "winnow")]
    method: String,

    /// Set a parameter of the method, as in simhash.distance=5; may be given several times
    #[arg(long, value_name = "METHOD.PARAMETER=VALUE")]
    set: Vec<String>,

    /// The lexicon of imatch, made by lexicon build [default: the one that comes with the program]
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,

    /// What the rows are for: to find pairs, or to judge as scan does (then they are outlines)
    #[arg(long = "for", value_name = "WHAT", value_enum, default_value = "pairs")]
    purpose: Purpose,

    /// Put the message itself into each row: in base64 into JSON lines, as it is into Arrow
    #[arg(long)]
    with_message: bool,

    /// With --method spam: the name your own mail server gives itself in Authentication-Results
    #[arg(long, value_name = "NAME")]
    authserv: Option<String>,

    /// Write nothing but the sketch of the one message at the path (of stdin, if that is -), as bytes
    #[arg(long, conflicts_with_all = ["with_message", "from", "format"])]
    bare: bool,

    /// Read the paths as rows of this kind [default: by their first bytes]
    #[arg(long, value_enum, value_name = "KIND")]
    from: Option<From>,

    /// How to write the rows
    #[arg(long, short, value_enum, default_value_t)]
    format: RowFormat,

    /// Write to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,

    #[command(flatten)]
    outlining: Outlining,
}

/// The values of `--for`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Purpose {
    /// Keys and sketches of a method
    Pairs,
    /// Outlines: what decides which messages have to be judged together
    Scan,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold sketch ~/Mail
  twicetold sketch --method simhash --set simhash.distance=5 posts.jsonl
  producer | twicetold sketch --method edit - | consumer
  twicetold sketch --format arrow part-*.parquet --output rows.arrow
  twicetold sketch --method spam ~/Mail | twicetold spam check --sketches -
  twicetold sketch --with-message ~/Mail --output rows.jsonl

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted.

More: docs/scale.md (the rows, and what to do with them), docs/methods.md, docs/exit-codes.md";

/// Rows that are handed over are sketched together until they have so many bytes.
const BATCH_BYTES: u64 = 8 << 20;
/// And so many of them at the most.
const BATCH_ROWS: usize = 4096;

pub(super) fn run(args: &SketchArgs, how: TalkArgs) -> Result<Exit> {
    let stdin = args.paths.iter().any(|path| is_stdin(path));
    if stdin && args.paths.len() > 1 {
        return Err(Advice::new(
            "- reads stdin, and other paths are named besides",
            "sketch them one after the other",
        )
        .usage()
        .into_error());
    }
    if args.purpose == Purpose::Scan {
        return outlining::run(args, how);
    }
    if args.bare && args.paths.len() > 1 {
        return Err(one_message_only());
    }
    let feeds = !args.bare && (stdin || args.from.is_some() || all_are_tables(&args.paths)?);
    let making = making(args)?;
    let output = Output::open(args.output.as_deref())?;
    if args.format == RowFormat::Arrow {
        refuse_terminal(&output, "an Arrow stream")?;
    }
    if let Some(path) = args.paths.iter().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    if args.bare {
        return bare(args, &making, &output);
    }
    use_threads(args.threads)?;
    let start = Instant::now();
    let bar = Bar::new(how.quiet);
    let told = if feeds {
        from_feed(args, &making, &output, &bar)
    } else {
        from_paths(args, &making, &output, &bar)
    };
    bar.finish();
    let told = told?;
    if !how.quiet {
        told.warn();
        let texts = units::counted(told.texts, "text", "texts");
        talk(&format!(
            "{texts} in {:.1} s",
            start.elapsed().as_secs_f64()
        ));
    }
    Ok(told.exit())
}

/// What to say at the end.
#[derive(Default)]
struct Told {
    texts: u64,
    unread_rows: u64,
    /// Where tables have lost rows.
    lost: Vec<String>,
    troubles: Vec<Trouble>,
}

impl Told {
    /// Says what could not be read.
    fn warn(&self) {
        warn_of_troubles(&self.troubles);
        self.lost.iter().for_each(|what| warn_of_loss(what));
        if self.unread_rows > 0 {
            let rows = units::counted(self.unread_rows, "row", "rows");
            talk(&format!(
                "warning: {rows} could not be read; the problems in them say why"
            ));
        }
    }

    fn exit(&self) -> Exit {
        match self.unread_rows == 0 && self.lost.is_empty() {
            true => Exit::after(&self.troubles),
            false => Exit::Partly,
        }
    }
}

/// Whether the paths are tables; some of them may not be.
fn all_are_tables(paths: &[PathBuf]) -> Result<bool> {
    let (tables, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        paths.iter().partition(|path| is_table(path));
    match (tables.first(), others.first()) {
        (None, _) => Ok(false),
        (_, None) => Ok(true),
        (Some(table), Some(other)) => Err(Advice::new(
            format!(
                "{} is a table of messages, and {} is not",
                table.display(),
                other.display()
            ),
            "sketch them one after the other",
        )
        .usage()
        .into_error()),
    }
}

/// The mail below the paths; refused if the output would replace some of it.
fn opened(args: &SketchArgs, output: &Output) -> Result<Collection> {
    refuse_if_nothing_is_there(&args.paths)?;
    let collection = Collection::open(&args.paths);
    let mut files = collection.files().map(|(path, _)| PathBuf::from(path));
    let replaced = files.find(|path| output.replaces(path));
    drop(files);
    match replaced {
        Some(path) => Err(would_overwrite(&path)),
        None => Ok(collection),
    }
}

fn from_paths(args: &SketchArgs, making: &Making, output: &Output, bar: &Bar) -> Result<Told> {
    let collection = opened(args, output)?;
    let mut told = Told::default();
    let ready = |row: SketchRow| args.format.ready(vec![row]);
    let make = |met: Met<'_>| -> (io::Result<Option<Ready<SketchRow>>>, Option<Trouble>) {
        match met {
            Met::Text(sketched, message) => {
                let row = making.row(None, sketched, message);
                (ready(row).map(Some), None)
            }
            Met::Trouble(trouble) => {
                let row = match trouble.severity {
                    Severity::Note => Ok(None),
                    Severity::Unread => {
                        let location = Location {
                            path: trouble.path.as_str().into(),
                            offset: None,
                        };
                        let row = making.unread(trouble.path.clone(), location, &trouble.problem);
                        ready(row).map(Some)
                    }
                };
                (row, Some(trouble))
            }
        }
    };
    output.write(|out| {
        let mut sheet = Sheet::new(args.format, out, SketchColumns::new(args.with_message))?;
        let sketch = |raw: &RawMessage<'_>| making.sketch(raw);
        sketch_each(&collection, sketch, bar, make, |(row, trouble)| {
            told.texts += u64::from(trouble.is_none());
            told.troubles.extend(trouble);
            row?.map_or(Ok(()), |row| sheet.put(row))
        })?;
        sheet.finish()
    })?;
    Ok(told)
}

fn from_feed(args: &SketchArgs, making: &Making, output: &Output, bar: &Bar) -> Result<Told> {
    let columns = SketchColumns::new(args.with_message);
    pass_on(args, columns, output, bar, |handed| match handed.message {
        Ok(raw) => {
            let sketched = making.sketch(&raw);
            (making.row(Some(&handed.id), sketched, &raw.bytes), true)
        }
        Err(what) => {
            let problem = Problem::new(what);
            (making.unread(handed.id, handed.location, &problem), false)
        }
    })
}

/// Writes what `make` makes of each row that is handed over: another row, and whether that one could be read.
fn pass_on<C: Columns>(
    args: &SketchArgs,
    columns: C,
    output: &Output,
    bar: &Bar,
    make: impl Fn(Handed) -> (C::Row, bool) + Sync,
) -> Result<Told>
where
    C::Row: Serialize + Send,
{
    let mut feed = Feed::open(&args.paths, args.from, Wanted::Messages)?;
    let mut told = Told::default();
    bar.begin(Stage::Reading, size_of(&args.paths));
    output.pass_on(|out| {
        let mut sheet = Sheet::new(args.format, out, columns)?;
        loop {
            let pieces = batch(&mut feed, bar)?;
            if pieces.is_empty() {
                return Ok(sheet.finish()?);
            }
            for piece in &pieces {
                if let Piece::Lost(_, what) = piece {
                    told.lost.push(what.clone());
                }
            }
            let rows: Vec<(io::Result<Ready<C::Row>>, bool)> = pieces
                .into_par_iter()
                .map(|piece| {
                    let (row, read) = make(piece.handed());
                    (args.format.ready(vec![row]), read)
                })
                .collect();
            for (row, read) in rows {
                told.texts += u64::from(read);
                told.unread_rows += u64::from(!read);
                sheet.put(row?)?;
            }
            // The next program need not wait for more than has come.
            sheet.flush()?;
        }
    })?;
    told.unread_rows -= told.lost.len() as u64;
    Ok(told)
}

/// The next rows.
fn batch(feed: &mut Feed, bar: &Bar) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES && pieces.len() < BATCH_ROWS {
        let Some(piece) = feed.next()? else {
            break;
        };
        bar.advance(1, piece.len());
        bytes += piece.len();
        pieces.push(piece);
    }
    Ok(pieces)
}

/// How the sketches are to be made.
fn making(args: &SketchArgs) -> Result<Making> {
    let wrong = |what: &str, hint: &str| Err(Advice::new(what, hint).usage().into_error());
    if args.method == SPAM {
        if !args.set.is_empty() || args.lexicon.is_some() {
            return wrong(
                "--set and --lexicon are not for spam: all sketches of the service are alike",
                "leave them out",
            );
        }
        let trust = Trust {
            authentication_server: args.authserv.clone(),
        };
        let settings = args.authserv.iter().map(|name| format!("authserv={name}"));
        return Ok(Making {
            settings: settings.collect(),
            how: How::Spam(trust),
            method: SPAM,
            with_message: args.with_message,
        });
    }
    if args.authserv.is_some() {
        return wrong("--authserv is for --method spam", "leave it out");
    }
    let names = std::slice::from_ref(&args.method);
    let mut methods = choose(names, &args.set, args.lexicon.as_deref())?;
    let Some(method) = methods.pop() else {
        return wrong("no method is named", "name one with --method");
    };
    Ok(Making {
        method: method.name(),
        settings: settings(&method, args.lexicon.as_deref())?.into(),
        with_message: args.with_message,
        how: How::Method(Box::new(Sketcher::new(method))),
    })
}

/// A message on stdin may have so many bytes.
const LONGEST: u64 = 512 << 20;

/// Writes the sketch of one message, and nothing else.
fn bare(args: &SketchArgs, making: &Making, output: &Output) -> Result<Exit> {
    refuse_terminal(output, "a sketch")?;
    let mut rows: Vec<SketchRow> = Vec::new();
    if args.paths.iter().any(|path| is_stdin(path)) {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(LONGEST);
        stdin
            .read_to_end(&mut bytes)
            .context("cannot read the message from stdin")?;
        let location = Location {
            path: "-".into(),
            offset: None,
        };
        let raw = RawMessage {
            location,
            form: Form::Mail,
            bytes: bytes.into(),
        };
        rows.push(making.row(None, making.sketch(&raw), &raw.bytes));
    } else {
        refuse_if_nothing_is_there(&args.paths)?;
        let collection = Collection::open(&args.paths);
        let make = |met: Met<'_>| match met {
            Met::Text(sketched, message) => Ok(making.row(None, sketched, message)),
            Met::Trouble(trouble) => Err(trouble),
        };
        let sketch = |raw: &RawMessage<'_>| making.sketch(raw);
        let quiet = Bar::new(true);
        sketch_each(&collection, sketch, &quiet, make, |made| match made {
            Ok(_) if !rows.is_empty() => Err(one_message_only()),
            Ok(row) => {
                rows.push(row);
                Ok(())
            }
            Err(trouble) if trouble.is_note() => Ok(()),
            Err(trouble) => Err(Advice::new(
                format!("cannot read {}: {}", trouble.path, trouble.problem),
                "check that it is a message",
            )
            .into_error()),
        })?;
    }
    let Some(sketch) = rows.pop().and_then(|row| row.sketch) else {
        return Err(Advice::new(
            format!("{} has nothing to say about the message", making.method),
            "it has too few words, or none; another method may have more to say",
        )
        .into_error());
    };
    output.write(|out| out.write_all(&sketch))?;
    Ok(Exit::Done)
}

fn one_message_only() -> anyhow::Error {
    Advice::new(
        "--bare writes the sketch of one message, and there are several",
        "name one message, or leave --bare out: then each has a row",
    )
    .usage()
    .into_error()
}

/// What is set otherwise than by default: sketches made with other settings have other keys.
fn settings(method: &Chosen, lexicon: Option<&Path>) -> Result<Vec<String>> {
    let parameters = entry(method.name()).map_or(&[][..], |entry| entry.parameters);
    let mut settings: Vec<String> = parameters
        .iter()
        .filter_map(|parameter| {
            let value = method.get(parameter.name)?;
            (value != parameter.default).then(|| format!("{}={value}", parameter.name))
        })
        .collect();
    if let Some(path) = lexicon {
        let bytes = std::fs::read(path)
            .with_context(|| format!("cannot read the lexicon {}", path.display()))?;
        settings.push(format!("lexicon={}", Checksum::of(&bytes)));
    }
    Ok(settings)
}
