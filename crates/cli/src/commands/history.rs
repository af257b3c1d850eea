//! `twicetold history`.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;
use twicetold_source::act::{Action, Run, State};

use super::acting::{Killed, StateArgs, SureArgs, advice, confirm, settle, shown};
use crate::accounts::AccountsArgs;
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::{SafeJson, visible_path};
use crate::report::units::{counted, moment, moment_for_people, size};
use crate::terminal::talk;

/// List the runs of apply, and forget what they deleted
///
/// Each run has a number, by which undo knows it. What apply --action delete took out of mailboxes, and a copy of
/// what it took out of folders on servers, is kept beside the journals until the run is forgotten with --forget;
/// messages in the trash are not touched by that.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct HistoryArgs {
    /// How to show the runs
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// Let go, for good, of what this run deleted
    #[arg(long, value_name = "RUN")]
    forget: Option<u32>,

    #[command(flatten)]
    sure: SureArgs,

    #[command(flatten)]
    state: StateArgs,

    #[command(flatten)]
    accounts: AccountsArgs,
}

/// How to show the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    #[default]
    Text,
    /// One JSON object a line for each run
    Jsonl,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold history
  twicetold history --format jsonl
  twicetold history --forget 3

Exit codes: 0 done, 1 nothing was done because of an error, 2 wrong usage (or nobody there to say
yes), 130 interrupted.

More: docs/apply.md (runs and journals), docs/exit-codes.md";

pub(super) fn run(args: &HistoryArgs) -> Result<Exit> {
    let folder = args.state.folder()?;
    if !folder.join("runs").is_dir() {
        if let Some(number) = args.forget {
            return Err(no_run(number, &shown(&folder)));
        }
        return show(args, &[], &shown(&folder));
    }
    let watch = Killed::new();
    let state = match State::open(&folder) {
        Ok(state) if !args.sure.dry_run => {
            settle(&state, &args.accounts, &watch)?;
            Some(state)
        }
        Ok(state) => Some(state),
        Err(failure) if args.forget.is_some() => return Err(advice(failure)),
        // Looking is always possible.
        Err(failure) => {
            talk(&format!("note: {}", failure.what));
            None
        }
    };
    let runs = State::list(&folder).with_context(|| {
        Advice::new(
            format!("the journals in {} cannot be read", shown(&folder)),
            "check the rights of that folder, or name another one with --state",
        )
    })?;
    match (args.forget, state) {
        (Some(number), Some(state)) => {
            let run = runs.iter().find(|run| run.number == number);
            let run = run.ok_or_else(|| no_run(number, &shown(&folder)))?;
            forget(args, &state, run, &watch)
        }
        _ => show(args, &runs, &shown(&folder)),
    }
}

fn no_run(number: u32, folder: &str) -> anyhow::Error {
    Advice::new(
        format!("there is no run {number} in {folder}"),
        "twicetold history lists the runs",
    )
    .into_error()
}

fn forget(args: &HistoryArgs, state: &State, run: &Run, watch: &Killed) -> Result<Exit> {
    let (count, bytes) = totals(run);
    let keeps = run.head.action == Action::Delete || state.store(run.number).is_dir();
    if !keeps || run.forgotten || count == 0 {
        return Err(Advice::new(
            format!("run {} keeps nothing that could be forgotten", run.number),
            "only what apply --action delete took out, and what it took from servers, is kept beside the journals; trash folders are yours to empty",
        )
        .into_error());
    }
    let messages = counted(count, "message", "messages");
    let question = if run.head.action == Action::Delete {
        format!(
            "{messages} ({}) that run {} deleted will be gone for good.",
            size(bytes),
            run.number
        )
    } else {
        format!(
            "The copies of {messages} ({}) that run {} moved on a server will be gone for good; the messages stay where they are.",
            size(bytes),
            run.number
        )
    };
    if args.sure.dry_run {
        Output::Stdout
            .write(|out| writeln!(out, "{question}\nNothing was changed: this was a dry run."))?;
        return Ok(Exit::Done);
    }
    if !confirm(args.sure, &question, Some("forget"))? {
        Output::Stdout.write(|out| writeln!(out, "Nothing was changed."))?;
        return Ok(Exit::Done);
    }
    state.forget(run, watch).map_err(advice)?;
    Output::Stdout.write(|out| {
        let what = if run.head.action == Action::Delete {
            messages.clone()
        } else {
            format!("The copies of {messages}")
        };
        writeln!(
            out,
            "{what} ({}) of run {} are gone for good.",
            size(bytes),
            run.number
        )
    })?;
    Ok(Exit::Done)
}

fn totals(run: &Run) -> (u64, u64) {
    run.out()
        .fold((0, 0), |(n, bytes), message| (n + 1, bytes + message.bytes))
}

#[derive(Serialize)]
struct Row {
    schema: u32,
    run: u32,
    began: Option<String>,
    action: &'static str,
    plan: String,
    state: &'static str,
    out: u64,
    bytes: u64,
    refused: u64,
    damaged: bool,
}

fn show(args: &HistoryArgs, runs: &[Run], folder: &str) -> Result<Exit> {
    Output::Stdout.write(|out| match args.format {
        Format::Jsonl => runs.iter().try_for_each(|run| write_row(out, run)),
        Format::Text if runs.is_empty() => {
            writeln!(out, "No run of apply is recorded in {folder}.")
        }
        Format::Text => {
            writeln!(
                out,
                "{:>4}  {:<20}  {:<8}  {:>8}  {:>9}  {:<13}  plan",
                "run", "when", "action", "out", "size", "state"
            )?;
            for run in runs {
                let (count, bytes) = totals(run);
                let state = if run.damaged { "damaged" } else { run.state().name() };
                writeln!(
                    out,
                    "{:>4}  {:<20}  {:<8}  {count:>8}  {:>9}  {state:<13}  {}",
                    run.number,
                    moment_for_people(run.head.began).unwrap_or_default(),
                    run.head.action.name(),
                    size(bytes),
                    visible_path(&run.head.plan.to_string_lossy())
                )?;
            }
            writeln!(out, "\"out\" counts messages that are out of their mailbox, or marked, because of the run.")
        }
    })?;
    Ok(Exit::Done)
}

fn write_row(out: &mut dyn Write, run: &Run) -> io::Result<()> {
    let (count, bytes) = totals(run);
    let row = Row {
        schema: 1,
        run: run.number,
        began: moment(run.head.began),
        action: run.head.action.name(),
        plan: run.head.plan.to_string_lossy().into_owned(),
        state: run.state().name(),
        out: count,
        bytes,
        refused: run.refused,
        damaged: run.damaged,
    };
    row.serialize(&mut serde_json::Serializer::with_formatter(
        &mut *out, SafeJson,
    ))?;
    out.write_all(b"\n")
}
