//! `twicetold eval cases`.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::{told, watch};
use crate::commands::TalkArgs;
use crate::commands::engine::refuse_if_nothing_is_there;
use crate::failure::Exit;
use crate::report::units;
use crate::terminal::talk;

/// Make labelled cases out of any mailbox
///
/// Puts the sentences of real messages together anew: copies, almost copies, other orders, quotations,
/// messages that two others cover together, and traps in which nothing may go. What is true is known by
/// construction and written beside the messages. The folder holds sentences of your mail: treat it so.
#[derive(Debug, Args)]
pub(super) struct CasesArgs {
    /// The mailboxes, files and folders whose sentences are used
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The folder to write; new or empty
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// How many cases of every kind; fewer if the sentences do not suffice
    #[arg(long, value_name = "N", default_value_t = 30)]
    count: usize,

    /// The number that every random choice follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &CasesArgs, how: TalkArgs) -> Result<Exit> {
    refuse_if_nothing_is_there(&args.paths)?;
    let bar = watch::Steps::new(how.quiet);
    let written = twicetold_eval::cases::write(&args.paths, &args.out, args.count, args.seed, &bar);
    bar.finish();
    let written = written.map_err(told)?;
    let mut out = io::stdout().lock();
    let mut line = |name: &str, count: usize| {
        writeln!(out, "{name:16} {count:>6}").context("cannot write to stdout")
    };
    for (kind, count) in &written.cases {
        line(kind, *count)?;
    }
    line("messages", written.messages)?;
    if !how.quiet {
        if written.cases.iter().any(|(_, count)| *count < args.count) {
            let sources = units::counted(written.sources as u64, "message has", "messages have");
            talk(&format!(
                "note: only {sources} sentences to use; a larger mailbox gives more cases"
            ));
        }
        let folder = args.out.display();
        talk(&format!("next: twicetold eval redundancy {folder}"));
    }
    Ok(Exit::Done)
}
