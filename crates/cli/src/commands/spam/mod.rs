//! `twicetold spam <verb>`.

mod check;
mod key;
pub(super) mod place;
mod reading;
mod report;
mod rows;
mod server;
mod store;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};

use super::TalkArgs;
use crate::failure::Exit;

/// Recognise new variants of spam that was reported before
///
/// Reported messages are put into campaigns: clusters of variants of one text. `check` says whether a
/// message belongs to one of them, however its words, letters, links or layout were changed, or whatever
/// was put around it. Only fingerprints are kept, never text.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct SpamArgs {
    #[command(subcommand)]
    command: SpamCommand,
}

#[derive(Debug, Subcommand)]
enum SpamCommand {
    Check(check::CheckArgs),
    Report(report::ReportArgs),
    Revoke(report::RevokeArgs),
    Campaigns(store::CampaignsArgs),
    Reporters(store::ReportersArgs),
    Key(key::KeyArgs),
    Tidy(store::TidyArgs),
    Export(store::ExportArgs),
    Import(store::ImportArgs),
}

/// How to show the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object a line
    Jsonl,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold spam report ~/Maildir/.Junk      these are spam
  twicetold spam check new.eml               is this a variant of one of them?
  twicetold spam check --format jsonl ~/Maildir/new
  twicetold spam revoke wanted.eml           this is not spam

More: docs/spam.md (campaigns, scores, reporters, formats), docs/exit-codes.md";

pub(super) fn run(args: &SpamArgs, how: TalkArgs) -> Result<Exit> {
    match &args.command {
        SpamCommand::Check(args) => check::run(args, how),
        SpamCommand::Report(args) => report::run_report(args, how),
        SpamCommand::Revoke(args) => report::run_revoke(args, how),
        SpamCommand::Campaigns(args) => store::run_campaigns(args),
        SpamCommand::Reporters(args) => store::run_reporters(args),
        SpamCommand::Key(args) => key::run(args, how),
        SpamCommand::Tidy(args) => store::run_tidy(args, how),
        SpamCommand::Export(args) => store::run_export(args, how),
        SpamCommand::Import(args) => store::run_import(args, how),
    }
}
