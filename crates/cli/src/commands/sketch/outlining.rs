//! `twicetold sketch --for scan`: outlines instead of sketches.

use std::io::{self, Write};
use std::sync::Mutex;

use anyhow::Result;
use rayon::prelude::*;
use twicetold_cluster::Wanted;
use twicetold_detect::{Options, Progress, Stage};
use twicetold_model::Location;
use twicetold_source::{Severity, Task, Trouble};

use super::{SketchArgs, all_are_tables, batch, opened};
use crate::commands::TalkArgs;
use crate::commands::engine::use_threads;
use crate::commands::scan::warn_of_troubles;
use crate::failure::Exit;
use crate::feed::{Feed, Piece, is_stdin};
use crate::output::Output;
use crate::report::outlines::{write, write_unread};
use crate::terminal::Bar;

/// How many tasks are read at a time for each thread.
const AT_ONCE: usize = 4;

/// Writes an outline for every message.
pub(super) fn run(args: &SketchArgs, how: TalkArgs) -> Result<Exit> {
    let options = args.outlining.options();
    let output = Output::open(args.output.as_deref())?;
    use_threads(args.threads)?;
    let bar = Bar::new(how.quiet);
    let stdin = args.paths.iter().any(|path| is_stdin(path));
    let all_read = if stdin || args.from.is_some() || all_are_tables(&args.paths)? {
        from_feed(args, &options, &output, &bar)
    } else {
        from_paths(args, &options, &output, &bar, how)
    };
    bar.finish();
    Ok(match all_read? {
        true => Exit::Done,
        false => Exit::Partly,
    })
}

/// Outlines of what stands below the paths; whether everything could be read.
fn from_paths(
    args: &SketchArgs,
    options: &Options,
    output: &Output,
    bar: &Bar,
    how: TalkArgs,
) -> Result<bool> {
    let collection = opened(args, output)?;
    bar.begin(Stage::Reading, collection.total_bytes());
    let troubles = Mutex::new(collection.troubles().to_vec());
    output.write(|out| {
        let mut tasks = collection.tasks();
        loop {
            let some: Vec<Task> = tasks
                .by_ref()
                .take(AT_ONCE * rayon::current_num_threads())
                .collect();
            if some.is_empty() {
                return out.flush();
            }
            let made: Vec<io::Result<Vec<u8>>> = some
                .into_par_iter()
                .map(|task| rows(task, args, options, bar, &troubles))
                .collect();
            for rows in made {
                out.write_all(&rows?)?;
            }
        }
    })?;
    let troubles = troubles.into_inner().unwrap_or_default();
    if !how.quiet {
        warn_of_troubles(&troubles);
    }
    Ok(troubles.iter().all(|t| t.severity == Severity::Note))
}

/// The rows of a task.
fn rows(
    task: Task,
    args: &SketchArgs,
    options: &Options,
    bar: &Bar,
    troubles: &Mutex<Vec<Trouble>>,
) -> io::Result<Vec<u8>> {
    let mut rows = Vec::new();
    let mut failed = Ok(());
    let mut met = Vec::new();
    task.run(
        &mut |raw| {
            let written = write(&mut rows, None, &raw, options, args.with_message);
            bar.advance(1, raw.bytes.len() as u64);
            if written.is_err() {
                failed = written;
            }
        },
        &mut |trouble| met.push(trouble),
    );
    for trouble in &met {
        unread(&mut rows, trouble)?;
    }
    if let Ok(mut all) = troubles.lock() {
        all.extend(met);
    }
    failed.map(|()| rows)
}

/// The row of what could not be read: a scan has one for it as well.
fn unread(out: &mut dyn Write, trouble: &Trouble) -> io::Result<()> {
    let location = Location {
        path: trouble.path.clone(),
        offset: None,
    };
    write_unread(out, None, &location, &trouble.problem.what)
}

/// Outlines of rows that are handed over; whether all could be read.
fn from_feed(args: &SketchArgs, options: &Options, output: &Output, bar: &Bar) -> Result<bool> {
    let mut feed = Feed::open(&args.paths, args.from, Wanted::Messages)?;
    bar.begin(Stage::Reading, 0);
    let (mut all_read, mut failed) = (true, None);
    let written = output.write(|out| {
        loop {
            let pieces = match batch(&mut feed, bar) {
                Ok(pieces) => pieces,
                Err(error) => {
                    failed = Some(error);
                    return Err(io::ErrorKind::Other.into());
                }
            };
            if pieces.is_empty() {
                return Ok(());
            }
            let rows: Vec<io::Result<(Vec<u8>, bool)>> = pieces
                .into_par_iter()
                .map(|piece| of_piece(piece, args, options))
                .collect();
            for row in rows {
                let (row, read) = row?;
                all_read &= read;
                out.write_all(&row)?;
            }
            // The next program need not wait for more than has come.
            out.flush()?;
        }
    });
    match failed {
        Some(error) => Err(error),
        None => written.map(|()| all_read),
    }
}

/// The row about what was handed over, and whether that could be read.
fn of_piece(piece: Piece, args: &SketchArgs, options: &Options) -> io::Result<(Vec<u8>, bool)> {
    let handed = piece.handed();
    let id = Some(handed.id.as_str());
    let mut row = Vec::new();
    let read = match handed.message {
        Ok(raw) => {
            write(&mut row, id, &raw, options, args.with_message)?;
            true
        }
        Err(what) => {
            write_unread(&mut row, id, &handed.location, &what)?;
            false
        }
    };
    Ok((row, read))
}
