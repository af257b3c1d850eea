//! `twicetold sketch --for scan`: outlines instead of sketches.

use std::io;
use std::sync::Mutex;

use anyhow::Result;
use rayon::prelude::*;
use twicetold_cluster::{OutlineColumns, OutlineRow};
use twicetold_detect::{Options, Progress, Stage};
use twicetold_model::Location;
use twicetold_source::{Task, Trouble};

use super::{SketchArgs, Told, all_are_tables, opened, pass_on};
use crate::commands::TalkArgs;
use crate::commands::engine::use_threads;
use crate::failure::Exit;
use crate::feed::is_stdin;
use crate::output::Output;
use crate::report::outlines::{row, unread};
use crate::sheet::{Ready, RowFormat, Sheet, refuse_terminal};
use crate::terminal::Bar;

/// How many tasks are read at a time for each thread.
const AT_ONCE: usize = 4;

/// Writes an outline for every message.
pub(super) fn run(args: &SketchArgs, how: TalkArgs) -> Result<Exit> {
    let options = args.outlining.options();
    let output = Output::open(args.output.as_deref())?;
    if args.format == RowFormat::Arrow {
        refuse_terminal(&output, "an Arrow stream")?;
    }
    use_threads(args.threads)?;
    let bar = Bar::new(how.quiet);
    let stdin = args.paths.iter().any(|path| is_stdin(path));
    let told = if stdin || args.from.is_some() || all_are_tables(&args.paths)? {
        from_feed(args, &options, &output, &bar)
    } else {
        from_paths(args, &options, &output, &bar)
    };
    bar.finish();
    let told = told?;
    if !how.quiet {
        told.warn();
    }
    Ok(told.exit())
}

/// Outlines of what stands below the paths.
fn from_paths(args: &SketchArgs, options: &Options, output: &Output, bar: &Bar) -> Result<Told> {
    let collection = opened(args, output)?;
    bar.begin(Stage::Reading, collection.total_bytes());
    let troubles = Mutex::new(collection.troubles().to_vec());
    output.write(|out| {
        let mut sheet = Sheet::new(args.format, out, OutlineColumns::new(args.with_message))?;
        let mut tasks = collection.tasks();
        loop {
            let some: Vec<Task> = tasks
                .by_ref()
                .take(AT_ONCE * rayon::current_num_threads())
                .collect();
            if some.is_empty() {
                return sheet.finish();
            }
            let made: Vec<io::Result<Ready<OutlineRow>>> = some
                .into_par_iter()
                .map(|task| rows(task, args, options, bar, &troubles))
                .collect();
            for rows in made {
                sheet.put(rows?)?;
            }
        }
    })?;
    Ok(Told {
        troubles: troubles.into_inner().unwrap_or_default(),
        ..Told::default()
    })
}

/// The rows of a task. What could not be read has one as well, as in a scan.
fn rows(
    task: Task,
    args: &SketchArgs,
    options: &Options,
    bar: &Bar,
    troubles: &Mutex<Vec<Trouble>>,
) -> io::Result<Ready<OutlineRow>> {
    let mut rows = Vec::new();
    let mut met = Vec::new();
    task.run(
        &mut |raw| {
            rows.push(row(None, &raw, options, args.with_message));
            bar.advance(1, raw.bytes.len() as u64);
        },
        &mut |trouble| met.push(trouble),
    );
    for trouble in &met {
        let location = Location {
            path: trouble.path.as_str().into(),
            offset: None,
        };
        rows.push(unread(
            None,
            &location,
            vec![trouble.problem.what.to_string()],
        ));
    }
    if let Ok(mut all) = troubles.lock() {
        all.extend(met);
    }
    args.format.ready(rows)
}

/// Outlines of rows that are handed over.
fn from_feed(args: &SketchArgs, options: &Options, output: &Output, bar: &Bar) -> Result<Told> {
    let columns = OutlineColumns::new(args.with_message);
    pass_on(args, columns, output, bar, |handed| {
        let id = Some(handed.id.as_str());
        match handed.message {
            Ok(raw) => (row(id, &raw, options, args.with_message), true),
            Err(what) => {
                let row = unread(id, &handed.location, vec![what.into_owned()]);
                (row, false)
            }
        }
    })
}
