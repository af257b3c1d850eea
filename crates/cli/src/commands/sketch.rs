//! `twicetold sketch`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use rayon::prelude::*;
use twicetold_detect::{Met, Progress, Sketcher, Stage, sketch_each};
use twicetold_methods::catalogue::{Chosen, entry};
use twicetold_model::{Location, Problem};
use twicetold_source::{Checksum, Collection, Severity, Trouble};

use super::TalkArgs;
use super::engine::{refuse_if_nothing_is_there, use_threads};
use super::pairs::choose;
use super::scan::{warn_of_troubles, would_overwrite};
use crate::failure::{Advice, Exit};
use crate::feed::{Feed, Line, is_stdin};
use crate::output::Output;
use crate::report::sketches::{Making, write, write_unread};
use crate::report::units;
use crate::terminal::{Bar, talk};

/// Write the keys and sketches of texts, for an engine that finds pairs
///
/// Reads every text below the paths once and writes a JSON line for each: where it stands, the keys by
/// which its near duplicates can be found, and the sketch by which two texts are compared. These are
/// the sketches that pairs makes. Nothing is kept, so that any number of texts can pass.
///
/// A path is whatever pairs reads. - reads JSON lines from stdin, each with an id and a text, or with an id
/// and a message in base64. With --with-message the rows are what judge reads, once each has a group.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct SketchArgs {
    /// The mailboxes, files and folders to read; - reads JSON lines from stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The method: winnow, imatch, blocks, simhash, layout or edit
    #[arg(long, short, value_name = "METHOD", default_value = "winnow")]
    method: String,

    /// Set a parameter of the method, as in simhash.distance=5; may be given several times
    #[arg(long, value_name = "METHOD.PARAMETER=VALUE")]
    set: Vec<String>,

    /// The lexicon of imatch, made by lexicon build [default: the one that comes with the program]
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,

    /// Put the message itself into each row, in base64
    #[arg(long)]
    with_message: bool,

    /// Write to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold sketch ~/Mail
  twicetold sketch --method simhash --set simhash.distance=5 posts.jsonl
  producer | twicetold sketch --method edit - | consumer
  twicetold sketch --with-message ~/Mail --output rows.jsonl

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted.

More: docs/scale.md (the rows, and what to do with them), docs/methods.md, docs/exit-codes.md";

/// Lines of stdin are sketched together until they have so many bytes.
const BATCH_BYTES: u64 = 8 << 20;
/// And so many lines at the most.
const BATCH_LINES: usize = 4096;

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
    let methods = choose(
        std::slice::from_ref(&args.method),
        &args.set,
        args.lexicon.as_deref(),
    )?;
    let Some(method) = methods.into_iter().next() else {
        return Ok(Exit::Usage);
    };
    let making = Making {
        method: method.name(),
        settings: settings(&method, args.lexicon.as_deref())?,
        with_message: args.with_message,
    };
    let sketcher = Sketcher::new(method);
    let output = Output::open(args.output.as_deref())?;
    use_threads(args.threads)?;
    let start = Instant::now();
    let bar = Bar::new(how.quiet);
    let told = if stdin {
        from_stdin(args, &sketcher, &making, &output, &bar)
    } else {
        from_paths(args, &sketcher, &making, &output, &bar)
    };
    bar.finish();
    let told = told?;
    if !how.quiet {
        warn_of_troubles(&told.troubles);
        if told.unread_lines > 0 {
            let lines = units::counted(told.unread_lines, "line", "lines");
            talk(&format!(
                "warning: {lines} could not be read; the problems in their rows say why"
            ));
        }
        let texts = units::counted(told.texts, "text", "texts");
        talk(&format!(
            "{texts} in {:.1} s",
            start.elapsed().as_secs_f64()
        ));
    }
    let note = |trouble: &Trouble| trouble.severity == Severity::Note;
    Ok(
        if told.unread_lines == 0 && told.troubles.iter().all(note) {
            Exit::Done
        } else {
            Exit::Partly
        },
    )
}

/// What to say at the end.
#[derive(Default)]
struct Told {
    texts: u64,
    unread_lines: u64,
    troubles: Vec<Trouble>,
}

fn from_paths(
    args: &SketchArgs,
    sketcher: &Sketcher,
    making: &Making,
    output: &Output,
    bar: &Bar,
) -> Result<Told> {
    if let Some(path) = args.paths.iter().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    refuse_if_nothing_is_there(&args.paths)?;
    let collection = Collection::open(&args.paths);
    let mut files = collection.files().map(|(path, _)| PathBuf::from(path));
    if let Some(path) = files.find(|path| output.replaces(path)) {
        return Err(would_overwrite(&path));
    }
    let mut told = Told::default();
    let make = |met: Met<'_>| -> (io::Result<Vec<u8>>, Option<Trouble>) {
        let mut row = Vec::new();
        match met {
            Met::Text(sketched, message) => {
                let written = write(&mut row, making, None, &sketched, message);
                (written.map(|()| row), None)
            }
            Met::Trouble(trouble) => {
                let written = match trouble.severity {
                    Severity::Note => Ok(()),
                    Severity::Unread => {
                        let location = Location {
                            path: trouble.path.clone(),
                            offset: None,
                        };
                        write_unread(&mut row, making, &trouble.path, &location, &trouble.problem)
                    }
                };
                (written.map(|()| row), Some(trouble))
            }
        }
    };
    output.write(|out| {
        sketch_each(&collection, sketcher, bar, make, |(row, trouble)| {
            told.texts += u64::from(trouble.is_none());
            told.troubles.extend(trouble);
            out.write_all(&row?)
        })
    })?;
    Ok(told)
}

fn from_stdin(
    args: &SketchArgs,
    sketcher: &Sketcher,
    making: &Making,
    output: &Output,
    bar: &Bar,
) -> Result<Told> {
    let mut feed = Feed::open(&args.paths)?;
    let mut told = Told::default();
    let mut failed = None;
    bar.begin(Stage::Reading, 0);
    let written = output.write(|out| {
        loop {
            let lines = match batch(&mut feed, bar) {
                Ok(lines) => lines,
                Err(error) => {
                    failed = Some(error);
                    return Err(io::ErrorKind::Other.into());
                }
            };
            if lines.is_empty() {
                return Ok(());
            }
            let rows: Vec<(io::Result<Vec<u8>>, bool)> = lines
                .into_par_iter()
                .map(|line| row(line, sketcher, making))
                .collect();
            for (row, read) in rows {
                told.texts += u64::from(read);
                told.unread_lines += u64::from(!read);
                out.write_all(&row?)?;
            }
            // The next program need not wait for more than has come.
            out.flush()?;
        }
    });
    match failed {
        Some(error) => Err(error),
        None => written.map(|()| told),
    }
}

/// The next lines.
fn batch(feed: &mut Feed, bar: &Bar) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES && lines.len() < BATCH_LINES {
        let Some(line) = feed.next()? else {
            break;
        };
        bar.advance(1, line.len());
        bytes += line.len();
        lines.push(line);
    }
    Ok(lines)
}

/// The row of a line, and whether the line could be read.
fn row(line: Line, sketcher: &Sketcher, making: &Making) -> (io::Result<Vec<u8>>, bool) {
    let handed = line.handed();
    let mut row = Vec::new();
    let (written, read) = match handed.message {
        Ok(raw) => {
            let sketched = sketcher.sketch(&raw);
            let id = Some(handed.id.as_str());
            (write(&mut row, making, id, &sketched, &raw.bytes), true)
        }
        Err(what) => {
            let problem = Problem::new(what);
            let written = write_unread(&mut row, making, &handed.id, &handed.location, &problem);
            (written, false)
        }
    };
    (written.map(|()| row), read)
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
