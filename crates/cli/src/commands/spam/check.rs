//! `twicetold spam check`.

use std::io::{self, Write};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use rayon::prelude::*;
use twicetold_service::{Answer, Class};

use super::super::TalkArgs;
use super::Format;
use super::place::{PlaceArgs, advise, now};
use super::reading::MailArgs;
use super::rows;
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
  twicetold spam check --format jsonl ~/Maildir | jq -r 'select(.class == \"spam\") | .path'

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted; with --exit-class also 10 spam, 11 unsure.

More: docs/spam.md, docs/exit-codes.md";

#[derive(Default)]
struct Counts {
    spam: u64,
    unsure: u64,
    unknown: u64,
}

pub(super) fn run(args: &CheckArgs, how: TalkArgs) -> Result<Exit> {
    let start = Instant::now();
    let place = args.place.look()?;
    if place.empty && !how.quiet {
        talk("Nothing has been reported yet, so nothing is known: twicetold spam report FILE");
    }
    let (engine, moment) = (&place.engine, now()?);
    let paint = Paint::for_stdout(how.color);
    let mut counts = Counts::default();
    let exit = args.mail.read(how, |batch| {
        let answers: Vec<Answer> = batch
            .par_iter()
            .map(|one| engine.check(&one.sketches, moment).map_err(advise))
            .collect::<Result<_>>()?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        for (one, answer) in batch.iter().zip(&answers) {
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
    // What was recognised is not forgotten for being old.
    engine.note_seen().map_err(advise)?;
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
