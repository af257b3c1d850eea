//! `twicetold eval filter`.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use twicetold_eval::spam::trec;

use super::told;
use crate::failure::Exit;

/// Be the filter that the TREC spam filter evaluation tool kit calls
///
/// The tool kit wants four programs of these names in one folder; each is a script of one line, such as
/// `exec twicetold eval filter classify --state state "$@"`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct FilterArgs {
    #[command(subcommand)]
    command: FilterCommand,

    /// The folder of the filter's state
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "twicetold-filter"
    )]
    state: PathBuf,
}

#[derive(Debug, Subcommand)]
enum FilterCommand {
    Initialize(InitializeArgs),
    Classify(ClassifyArgs),
    Train(TrainArgs),
    Finalize(FinalizeArgs),
}

/// Begin with a filter that knows nothing
#[derive(Debug, Args)]
struct InitializeArgs {
    /// What the tool kit adds; not used
    #[arg(value_name = "MORE", hide = true)]
    more: Vec<String>,
}

/// Say what a message is: class=spam|ham score=S tfile=
#[derive(Debug, Args)]
struct ClassifyArgs {
    /// The message
    message: PathBuf,

    /// What the tool kit adds; not used
    #[arg(value_name = "MORE", hide = true)]
    more: Vec<String>,
}

/// Learn what a message was
#[derive(Debug, Args)]
struct TrainArgs {
    /// What it was
    #[arg(value_enum, ignore_case = true)]
    label: Label,

    /// The message
    message: PathBuf,

    /// What the tool kit adds; not used
    #[arg(value_name = "MORE", hide = true)]
    more: Vec<String>,
}

/// Remove the filter's state
#[derive(Debug, Args)]
struct FinalizeArgs {
    /// What the tool kit adds; not used
    #[arg(value_name = "MORE", hide = true)]
    more: Vec<String>,
}

/// What a message was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Label {
    /// Spam
    Spam,
    /// Legitimate mail
    Ham,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold eval filter initialize
  twicetold eval filter classify message.eml
  twicetold eval filter train spam message.eml
  twicetold eval filter finalize

More: docs/eval.md";

pub(super) fn run(args: &FilterArgs) -> Result<Exit> {
    let state = &args.state;
    match &args.command {
        FilterCommand::Initialize(_) => trec::initialize(state).map_err(told)?,
        FilterCommand::Classify(asked) => {
            let line = trec::classify(state, &asked.message).map_err(told)?;
            writeln!(io::stdout().lock(), "{line}").context("cannot write to stdout")?;
        }
        FilterCommand::Train(known) => {
            trec::train(state, known.label == Label::Spam, &known.message).map_err(told)?;
        }
        FilterCommand::Finalize(_) => trec::finalize(state).map_err(told)?,
    }
    Ok(Exit::Done)
}
