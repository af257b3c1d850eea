//! `twicetold fetch`.

use std::time::Instant;

use anyhow::Result;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use twicetold_account::{FetchOptions, Profile, fetch};

use super::TalkArgs;
use crate::accounts::{AccountsArgs, advice, login, mail_folder};
use crate::failure::Exit;
use crate::fetching::{self, FetchBar};
use crate::output::Output;
use crate::report::escape::{self, visible, visible_path};
use crate::terminal::{Paint, talk};

/// Fetch the mail of an account into a local Maildir
///
/// Brings what is on the server and not here, folder by folder, with flags and dates. The server is
/// only read. Run it again at any time: only what is new is fetched, changed flags are taken over, and
/// a fetch that was cut goes on where it stopped. What is gone on the server stays here.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct FetchArgs {
    /// The account, as twicetold account list shows it
    #[arg(value_name = "ACCOUNT")]
    account: String,

    /// Fetch only folders that fit; * stands for anything, ? for one character
    #[arg(long, short, value_name = "PATTERN")]
    folder: Vec<String>,

    /// Leave out folders that fit
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// How many connections to use [default: what the account says, or 4]
    #[arg(long, short, value_name = "N")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=Profile::MOST_JOBS as u64))]
    jobs: Option<usize>,

    /// Only tell what would be fetched
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Remove here what is gone on the server
    #[arg(long)]
    mirror: bool,

    /// POP3: remove from the server what is safely here
    #[arg(long)]
    delete_after_fetch: bool,

    #[command(flatten)]
    accounts: AccountsArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold fetch work
  twicetold fetch work --folder INBOX --folder 'Archive/*'
  twicetold fetch work --dry-run
  twicetold scan account:work

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something was not handed out,
130 interrupted (start again: it goes on where it stopped).

More: docs/accounts.md";

pub(super) fn run(args: &FetchArgs, how: TalkArgs) -> Result<Exit> {
    let profile = args.accounts.account(&args.account)?;
    let root = mail_folder(&profile)?;
    let secrets = login(&profile)?;
    let options = FetchOptions {
        folders: args.folder.clone(),
        exclude: args.exclude.clone(),
        jobs: args.jobs,
        dry_run: args.dry_run,
        mirror: args.mirror,
        delete_after_fetch: args.delete_after_fetch,
        ..FetchOptions::default()
    };
    let start = Instant::now();
    let bar = FetchBar::new(how.quiet);
    let report = fetch(&profile, &secrets, &root, &options, &bar);
    bar.finish();
    let report = report.map_err(|error| advice(&error))?;
    let paint = Paint::for_stdout(how.color);
    Output::Stdout
        .write(|out| fetching::write(out, &profile.name, &report, args.dry_run, paint))?;
    if !how.quiet {
        for alert in &report.alerts {
            talk(&format!(
                "the server says: {}",
                visible(alert, escape::MESSAGE)
            ));
        }
        for problem in &report.problems {
            talk(&format!("warning: {}", visible(problem, escape::MESSAGE)));
        }
    }
    if let Some(failure) = &report.failure {
        return Err(advice(failure));
    }
    if !how.quiet {
        let seconds = start.elapsed().as_secs_f64();
        if args.dry_run {
            talk(&format!("Nothing was written; {seconds:.1} s"));
        } else {
            let root = visible_path(&root.to_string_lossy());
            talk(&format!("The mail is in {root}; {seconds:.1} s"));
        }
    }
    if report.problems.is_empty() {
        Ok(Exit::Done)
    } else {
        Ok(Exit::Partly)
    }
}
