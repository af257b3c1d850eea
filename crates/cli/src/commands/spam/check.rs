//! `twicetold spam check`.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use rayon::prelude::*;
use twicetold_server::{Said, Verb};
use twicetold_service::{Answer, Class};

use super::super::TalkArgs;
use super::Format;
use super::place::{Place, PlaceArgs, advise, now};
use super::reading::{MailArgs, Sketched, not_taken};
use super::rows;
use super::server::{Asked, ServerArgs};
use crate::failure::Exit;
use crate::report::escape::visible_path;
use crate::report::units;
use crate::terminal::{Paint, talk};

/// Say whether messages are variants of reported spam
///
/// Each message is spam (it belongs to a campaign that reporters whose word counts called spam), unsure (it
/// belongs to a campaign, but that is not enough to block it) or unknown. The score is the belief that the
/// campaign is spam times the certainty that the message belongs to it; spam from 0.8 on.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    mail: MailArgs,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    server: ServerArgs,

    /// How to show the result
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// End with 10 if a message is spam, else with 11 if one is unsure
    #[arg(long)]
    exit_class: bool,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold spam check mail.eml
  twicetold spam check --exit-class - < mail.eml
  twicetold spam check --server http://localhost:8520 mail.eml
  twicetold spam check --format jsonl ~/Maildir | jq -r 'select(.class == \"spam\") | .path'

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted; with --exit-class also 10 spam, 11 unsure.

More: docs/spam.md, docs/serve.md (servers), docs/exit-codes.md";

#[derive(Default)]
struct Counts {
    spam: u64,
    unsure: u64,
    unknown: u64,
}

/// Who answers.
enum Oracle {
    Here(Place),
    There(Asked),
}

impl Oracle {
    /// Answers to a batch; a message that a server does not take has none.
    fn ask(&self, batch: &mut [Sketched], moment: i64) -> Result<Vec<Result<Answer, String>>> {
        match self {
            Self::Here(place) => batch
                .par_iter()
                .map(|one| {
                    let answer = place.engine.check(&one.sketches, moment);
                    answer.map(Ok).map_err(advise)
                })
                .collect(),
            Self::There(server) => {
                let heard = server.ask(Verb::Check, batch)?;
                Ok(heard
                    .into_iter()
                    .map(|heard| match heard {
                        Ok(Said::Checked(answer)) => Ok(answer),
                        Ok(Said::Receipt(_)) => Err("the server answers something else".to_owned()),
                        Err(error) => Err(error.to_string()),
                    })
                    .collect())
            }
        }
    }
}

pub(super) fn run(args: &CheckArgs, how: TalkArgs) -> Result<Exit> {
    let start = Instant::now();
    let oracle = match args.server.open(None, how.quiet)? {
        Some(server) => Oracle::There(server),
        None => Oracle::Here(args.place.look()?),
    };
    if let Oracle::Here(place) = &oracle
        && place.empty
        && !how.quiet
    {
        talk("Nothing has been reported yet, so nothing is known: twicetold spam report FILE");
    }
    let moment = now()?;
    let paint = Paint::for_stdout(how.color);
    let (mut counts, mut refused) = (Counts::default(), false);
    let whole = args.server.sends_messages();
    let exit = args.mail.read(how, whole, |batch| {
        let answers = oracle.ask(batch, moment)?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        for (one, answer) in batch.iter().zip(&answers) {
            let answer = match answer {
                Ok(answer) => answer,
                Err(what) => {
                    refused = true;
                    not_taken(&one.location, what);
                    continue;
                }
            };
            match answer.class {
                Class::Spam => counts.spam += 1,
                Class::Unsure => counts.unsure += 1,
                Class::Unknown => counts.unknown += 1,
            }
            match args.format {
                Format::Jsonl => rows::check(&mut out, &one.location, answer),
                Format::Text => writeln!(out, "{}", in_words(&one.location, answer, paint)),
            }
            .context("cannot write to stdout")?;
        }
        out.flush().context("cannot write to stdout")
    })?;
    if let Oracle::Here(place) = &oracle {
        // What was recognised is not forgotten for being old.
        place.engine.note_seen().map_err(advise)?;
    }
    let exit = if refused { Exit::Partly } else { exit };
    if !how.quiet {
        talk(&format!(
            "{}: {} spam, {} unsure, {} unknown; {:.1} s",
            units::counted(
                counts.spam + counts.unsure + counts.unknown,
                "message",
                "messages"
            ),
            units::grouped(counts.spam),
            units::grouped(counts.unsure),
            units::grouped(counts.unknown),
            start.elapsed().as_secs_f64()
        ));
    }
    Ok(match exit {
        Exit::Done if args.exit_class && counts.spam > 0 => Exit::Spam,
        Exit::Done if args.exit_class && counts.unsure > 0 => Exit::Unsure,
        exit => exit,
    })
}

fn in_words(location: &twicetold_model::Location, answer: &Answer, paint: Paint) -> String {
    let path = visible_path(&location.to_string());
    let class = match answer.class {
        Class::Spam => paint.go("spam   "),
        Class::Unsure => paint.warn("unsure "),
        Class::Unknown => paint.faint("unknown"),
    };
    match &answer.campaign {
        None => format!("{class}       {path}"),
        Some(campaign) => format!(
            "{class} {:.2}  {path}  {}",
            answer.score,
            paint.faint(&format!("({})", rows::in_words(campaign)))
        ),
    }
}
