//! `twicetold undo`.

use anyhow::Result;
use clap::Args;
use twicetold_source::act::{Action, Run, RunState, State, undo};

use super::TalkArgs;
use super::acting::{
    Count, Killed, StateArgs, SureArgs, Wanted, advice, confirm, hands, settle, shown,
};
use crate::accounts::AccountsArgs;
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::{self, visible, visible_path};
use crate::report::units::{counted, size};

/// Bring back what a run of apply removed, marked or replaced
///
/// Every message goes back to its folder with its name, flags, date and bytes, and in an mbox to its place
/// between the others. If a mailbox has changed since, nothing in it is overwritten: messages are put back
/// beside what came, and that is told.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct UndoArgs {
    /// The run, by its number in history [default: the last one that is not undone]
    run: Option<u32>,

    /// List every message that comes back
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    sure: SureArgs,

    #[command(flatten)]
    state: StateArgs,

    #[command(flatten)]
    accounts: AccountsArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold undo
  twicetold undo 3 --dry-run
  twicetold undo 3 --yes

Exit codes: 0 done, 1 nothing was done because of an error, 2 wrong usage (or nobody there to say
yes), 3 done but some messages could not be brought back, 130 interrupted.

More: docs/apply.md (what undo restores), docs/exit-codes.md";

pub(super) fn run(args: &UndoArgs, how: TalkArgs) -> Result<Exit> {
    let folder = args.state.folder()?;
    if !folder.join("runs").is_dir() {
        return Err(none(args, &shown(&folder)));
    }
    let state = State::open(&folder).map_err(advice)?;
    let watch = Killed::new();
    if !args.sure.dry_run {
        settle(&state, &args.accounts, &watch)?;
    }
    let runs = state.runs().map_err(advice)?;
    let run = choose(args, &runs).ok_or_else(|| none(args, &shown(&folder)))?;
    if run.state() == RunState::Forgotten {
        return Err(Advice::new(
            format!(
                "run {} was forgotten, and what it deleted is gone",
                run.number
            ),
            "if you have a backup, it holds the messages",
        )
        .into_error());
    }
    let (count, bytes) = run
        .out()
        .fold((0, 0), |(n, bytes), message| (n + 1, bytes + message.bytes));
    let question = format!(
        "{} ({}) of run {} will be {}.",
        counted(count, "message", "messages"),
        size(bytes),
        run.number,
        back(run.head.action)
    );
    if count == 0 {
        Output::Stdout
            .write(|out| writeln!(out, "Nothing to do: run {} is undone.", run.number))?;
        return Ok(Exit::Done);
    }
    if !args.sure.dry_run && !confirm(args.sure, &question, None)? {
        Output::Stdout.write(|out| writeln!(out, "Nothing was changed."))?;
        return Ok(Exit::Done);
    }
    let mut hands = hands(None, Wanted::usual(), &args.accounts);
    let progress = Count::new("Restoring", count, how.quiet);
    let undone = undo(
        &state,
        run,
        &mut hands,
        args.sure.dry_run,
        &watch,
        &progress,
    );
    drop(progress);
    let undone = undone.map_err(advice)?;
    Output::Stdout.write(|out| {
        let messages = counted(undone.back.len() as u64, "message", "messages");
        let verb = match (args.sure.dry_run, undone.back.len()) {
            (true, _) => "would be",
            (false, 1) => "was",
            (false, _) => "were",
        };
        let what = back(run.head.action);
        writeln!(out, "{messages} ({}) {verb} {what}.", size(undone.bytes))?;
        if args.list {
            for location in &undone.back {
                writeln!(out, "  {}", visible_path(&location.to_string()))?;
            }
        }
        for (location, failure) in &undone.failed {
            writeln!(
                out,
                "  not {}: {}; {}",
                visible_path(&location.to_string()),
                visible(&failure.what, escape::MESSAGE),
                visible(&failure.next, escape::MESSAGE)
            )?;
        }
        for line in &undone.told {
            writeln!(out, "Note: {}", visible(line, escape::MESSAGE))?;
        }
        if args.sure.dry_run {
            writeln!(out, "Nothing was changed: this was a dry run.")?;
        }
        Ok(())
    })?;
    Ok(if undone.failed.is_empty() {
        Exit::Done
    } else {
        Exit::Partly
    })
}

/// The run the user means.
fn choose<'r>(args: &UndoArgs, runs: &'r [Run]) -> Option<&'r Run> {
    match args.run {
        Some(number) => runs.iter().find(|run| run.number == number),
        None => runs.iter().rev().find(|run| {
            !matches!(run.state(), RunState::Undone | RunState::Forgotten)
                && run.out().next().is_some()
        }),
    }
}

fn none(args: &UndoArgs, folder: &str) -> anyhow::Error {
    let what = match args.run {
        Some(number) => format!("there is no run {number} in {folder}"),
        None => format!("there is no run to undo in {folder}"),
    };
    let hint = "twicetold history lists the runs; if their journals are elsewhere, name the folder with --state";
    Advice::new(what, hint).into_error()
}

fn back(action: Action) -> &'static str {
    match action {
        Action::Trash | Action::MoveTo | Action::Delete => "put back",
        Action::Flag | Action::Label => "without the mark again",
        Action::Hardlink => "files of their own again",
    }
}
