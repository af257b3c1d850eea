//! `twicetold <verb>`: one file per command, whose doc comment is its help.

mod account;
#[cfg(unix)]
mod acting;
#[cfg(unix)]
mod apply;
mod cluster;
mod completions;
mod engine;
mod eval;
mod explain;
mod fetch;
mod find;
#[cfg(unix)]
mod history;
mod judge;
mod lexicon;
mod man;
mod methods;
mod pairs;
#[cfg(unix)]
mod review;
mod scan;
#[cfg(unix)]
mod serve;
mod sketch;
mod spam;
mod statistics;
mod stats;
#[cfg(unix)]
mod undo;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::failure::Exit;
use crate::terminal::Color;

/// Finds e-mail that tells you nothing new, proves it, and lets you let go of it safely.
///
/// Twicetold reads mailboxes (Maildir, mbox, single messages, folders of text, JSON lines) and finds
/// the messages whose every sentence can be read in another message that is kept: copies, quoted
/// originals, texts that were sent again. It shows the proof for each of them. Only apply and undo change
/// anything, and undo takes back what apply did.
#[derive(Debug, Parser)]
#[command(name = "twicetold", version, after_long_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    talk: TalkArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scan(scan::ScanArgs),
    Explain(explain::ExplainArgs),
    Pairs(pairs::PairsArgs),
    Lexicon(lexicon::LexiconArgs),
    Methods(methods::MethodsArgs),
    Sketch(sketch::SketchArgs),
    Judge(judge::JudgeArgs),
    Cluster(cluster::ClusterArgs),
    Statistics(statistics::StatisticsArgs),
    Account(account::AccountArgs),
    Fetch(fetch::FetchArgs),
    #[cfg(unix)]
    Review(review::ReviewArgs),
    #[cfg(unix)]
    Apply(apply::ApplyArgs),
    #[cfg(unix)]
    Undo(undo::UndoArgs),
    #[cfg(unix)]
    History(history::HistoryArgs),
    Spam(spam::SpamArgs),
    #[cfg(unix)]
    Serve(serve::ServeArgs),
    Eval(eval::EvalArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// How to talk to the user; the same for every command.
#[derive(Clone, Copy, Debug, Args)]
struct TalkArgs {
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    quiet: bool,

    /// When to use colour; NO_COLOR is honoured
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value_t)]
    color: Color,
}

/// Does what the command line asks for.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    match cli.command {
        Command::Scan(args) => scan::run(&args, cli.talk),
        Command::Explain(args) => explain::run(&args, cli.talk),
        Command::Pairs(args) => pairs::run(&args, cli.talk),
        Command::Lexicon(args) => lexicon::run(&args, cli.talk),
        Command::Methods(args) => methods::run(&args),
        Command::Sketch(args) => sketch::run(&args, cli.talk),
        Command::Judge(args) => judge::run(&args, cli.talk),
        Command::Cluster(args) => cluster::run(&args, cli.talk),
        Command::Statistics(args) => statistics::run(&args, cli.talk),
        Command::Account(args) => account::run(&args, cli.talk),
        Command::Fetch(args) => fetch::run(&args, cli.talk),
        #[cfg(unix)]
        Command::Review(args) => review::run(args, cli.talk),
        #[cfg(unix)]
        Command::Apply(args) => apply::run(&args, cli.talk),
        #[cfg(unix)]
        Command::Undo(args) => undo::run(&args, cli.talk),
        #[cfg(unix)]
        Command::History(args) => history::run(&args),
        Command::Spam(args) => spam::run(&args, cli.talk),
        #[cfg(unix)]
        Command::Serve(args) => serve::run(&args, cli.talk),
        Command::Eval(args) => eval::run(&args, cli.talk),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

const AFTER_HELP: &str = "\
Examples:
  twicetold scan ~/Maildir                 what could go, and why
  twicetold scan --list inbox.mbox         every message that may go
  twicetold explain inbox.mbox@2048 inbox.mbox
                                           the proof of one verdict
  twicetold review ~/Maildir               look, decide and let go in the browser
  twicetold scan --format jsonl --output report.jsonl ~/Mail
                                           a line per message, for programs
  twicetold pairs --method winnow,simhash ~/Mail
                                           texts that are nearly the same
  twicetold fetch work                     the mail of an account, into a local Maildir
  twicetold scan account:work              what was fetched
  twicetold scan ~/Mail --plan mail.plan   write down what may go,
  twicetold apply mail.plan                move it to the trash,
  twicetold undo                           and bring it back

Exit codes:
  0    done
  1    nothing was done because of an error
  2    the command line is wrong
  3    done, but some paths or messages could not be read, moved or brought back
  130  interrupted

More: docs/scan.md (how it decides), docs/apply.md (removing and undoing), docs/accounts.md (mail
accounts), docs/spam.md (variants of reported spam), docs/serve.md (beside a mail server),
docs/scale.md (past one machine), docs/output.md (the formats), docs/exit-codes.md";
