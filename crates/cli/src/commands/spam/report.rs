//! `twicetold spam report` and `twicetold spam revoke`.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use twicetold_server::{Said, Verb};
use twicetold_service::{Outcome, Receipt, Sketches};

use super::super::TalkArgs;
use super::Format;
use super::place::{OWNER, Place, PlaceArgs, advise, now};
use super::reading::{MailArgs, Sketched, not_taken};
use super::rows;
use super::server::{Asked, ServerArgs};
use crate::failure::{Advice, Exit};
use crate::report::escape::visible_path;
use crate::report::units;
use crate::terminal::talk;

/// Report messages as spam
///
/// Each message is filed under the campaign it is a variant of, or begins a new one. Reporting a campaign
/// again changes nothing but its counts. When the command ends, the reports are on disk.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_REPORT)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    said: SaidArgs,
}

/// Take reports back, or dispute those of others
///
/// If you reported the campaign of a message, your report is withdrawn. If others did, you are noted as
/// someone who keeps such mail, which counts against them.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_REVOKE)]
pub(super) struct RevokeArgs {
    #[command(flatten)]
    said: SaidArgs,
}

/// Who says what about which messages.
#[derive(Debug, Args)]
struct SaidArgs {
    #[command(flatten)]
    mail: MailArgs,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    server: ServerArgs,

    /// In whose name [default: local, who is trusted in a folder of yours]
    ///
    /// Other names are unknown until `twicetold spam reporters --trust NAME`; unknown reporters alone
    /// never make a message spam. With --server the key says who you are; a name can be given only if
    /// the key may speak for others.
    #[arg(long, value_name = "NAME")]
    reporter: Option<String>,

    /// How to show the result
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

const AFTER_REPORT: &str = "\
Examples:
  twicetold spam report ~/Maildir/.Junk
  twicetold spam report --reporter anna - < mail.eml
  twicetold spam report --server https://spam.example.org --key-file anna.key mail.eml

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read.

More: docs/spam.md, docs/exit-codes.md";

const AFTER_REVOKE: &str = "\
Examples:
  twicetold spam revoke wanted.eml
  twicetold spam revoke --reporter anna - < mail.eml

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read.

More: docs/spam.md, docs/exit-codes.md";

pub(super) fn run_report(args: &ReportArgs, how: TalkArgs) -> Result<Exit> {
    args.said.run(how, Verb::Report)
}

pub(super) fn run_revoke(args: &RevokeArgs, how: TalkArgs) -> Result<Exit> {
    args.said.run(how, Verb::Revoke)
}

/// Who is told.
enum Ear {
    Here(Place),
    There(Asked),
}

impl SaidArgs {
    fn ear(&self, quiet: bool) -> Result<Ear> {
        let reporter = self.reporter()?;
        if let Some(server) = self.server.open(self.reporter.as_deref(), quiet)? {
            return Ok(Ear::There(server));
        }
        let place = self.place.open()?;
        if reporter == OWNER && self.place.is_own()? {
            place.engine.introduce(OWNER).map_err(advise)?;
        }
        Ok(Ear::Here(place))
    }

    /// Receipts for a batch; a message that a server does not take has none.
    fn tell(
        &self,
        ear: &Ear,
        verb: Verb,
        batch: &mut [Sketched],
        moment: i64,
    ) -> Result<Vec<Result<Receipt, String>>> {
        match ear {
            Ear::Here(place) => {
                let sketches: Vec<Sketches> =
                    batch.iter().map(|one| one.sketches.clone()).collect();
                let (engine, reporter) = (&place.engine, self.reporter()?);
                let receipts = if verb == Verb::Revoke {
                    engine.revoke_all(&sketches, reporter, moment)
                } else {
                    engine.report_all(&sketches, reporter, moment)
                };
                Ok(receipts.map_err(advise)?.into_iter().map(Ok).collect())
            }
            Ear::There(server) => Ok(server
                .ask(verb, batch)?
                .into_iter()
                .map(|heard| match heard {
                    Ok(Said::Receipt(receipt)) => Ok(receipt),
                    Ok(Said::Checked(_)) => Err("the server answers something else".to_owned()),
                    Err(error) => Err(error.to_string()),
                })
                .collect()),
        }
    }

    fn run(&self, how: TalkArgs, verb: Verb) -> Result<Exit> {
        let start = Instant::now();
        let ear = self.ear(how.quiet)?;
        let moment = now()?;
        let (mut counts, mut refused) = ([0_u64; 7], false);
        let whole = self.server.sends_messages();
        let exit = self.mail.read(how, whole, |batch| {
            let receipts = self.tell(&ear, verb, batch, moment)?;
            for receipt in receipts.iter().flatten() {
                counts[receipt.outcome as usize] += 1;
            }
            refused |= receipts.iter().any(Result::is_err);
            self.show(batch, &receipts)
        })?;
        let exit = if refused { Exit::Partly } else { exit };
        if !how.quiet {
            let told: Vec<String> = OUTCOMES
                .iter()
                .filter(|(outcome, _)| counts[*outcome as usize] > 0)
                .map(|(outcome, words)| {
                    format!("{} {words}", units::grouped(counts[*outcome as usize]))
                })
                .collect();
            talk(&format!(
                "{}: {}; {:.1} s",
                units::counted(counts.iter().sum(), "message", "messages"),
                told.join(", "),
                start.elapsed().as_secs_f64()
            ));
        }
        Ok(exit)
    }

    fn reporter(&self) -> Result<&str> {
        let name = self.reporter.as_deref().unwrap_or(OWNER);
        if name.is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
            return Err(Advice::new(
                "a reporter's name is 1 to 200 bytes long and has no control characters",
                "choose another name for --reporter",
            )
            .usage()
            .into_error());
        }
        Ok(name)
    }

    fn show(&self, batch: &[Sketched], receipts: &[Result<Receipt, String>]) -> Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        for (one, receipt) in batch.iter().zip(receipts) {
            let receipt = match receipt {
                Ok(receipt) => receipt,
                Err(what) => {
                    not_taken(&one.location, what);
                    continue;
                }
            };
            match self.format {
                Format::Jsonl => rows::receipt(&mut out, &one.location, receipt),
                Format::Text => {
                    let path = visible_path(&one.location.to_string());
                    let campaign = receipt.campaign.as_ref().map(rows::in_words);
                    let campaign =
                        campaign.map_or_else(String::new, |words| format!("  ({words})"));
                    let words = OUTCOMES
                        .iter()
                        .find(|(outcome, _)| *outcome == receipt.outcome);
                    let words = words.map_or("", |(_, words)| words);
                    writeln!(out, "{words:20} {path}{campaign}")
                }
            }
            .context("cannot write to stdout")?;
        }
        out.flush().context("cannot write to stdout")
    }
}

/// Outcomes in words.
const OUTCOMES: [(Outcome, &str); 7] = [
    (Outcome::New, "new campaign"),
    (Outcome::Added, "known campaign"),
    (Outcome::Again, "reported before"),
    (Outcome::Withdrawn, "withdrawn"),
    (Outcome::Disputed, "disputed"),
    (Outcome::Nothing, "nothing to revoke"),
    (Outcome::Blank, "nothing to go by"),
];
