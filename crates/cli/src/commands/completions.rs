//! `twicetold completions`.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::failure::Exit;
use crate::output::Output;

/// Write a completion script for your shell to stdout
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct CompletionsArgs {
    /// The shell to write it for
    #[arg(value_enum)]
    shell: Shell,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold completions bash > ~/.local/share/bash-completion/completions/twicetold
  twicetold completions zsh > ~/.zfunc/_twicetold
  twicetold completions fish > ~/.config/fish/completions/twicetold.fish";

pub(super) fn run(args: &CompletionsArgs) -> Result<Exit> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "twicetold", &mut script);
    Output::Stdout.write(|out| out.write_all(&script))?;
    Ok(Exit::Done)
}
