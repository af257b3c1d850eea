//! Looking after campaigns and reporters.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use twicetold_service::{Engine, ExchangeError, Standing, short};

use super::super::TalkArgs;
use super::Format;
use super::place::{PlaceArgs, advise, now};
use super::rows;
use super::server::WayArgs;
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::visible_path;
use crate::report::units;
use crate::terminal::talk;

/// Campaigns that are read in one go.
const AT_ONCE: usize = 500;

/// List the campaigns that are known
#[derive(Debug, Args)]
pub(super) struct CampaignsArgs {
    /// Only these, by any name they ever had
    #[arg(value_name = "CAMPAIGN")]
    names: Vec<String>,

    #[command(flatten)]
    place: PlaceArgs,

    /// How to show the result
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

/// List reporters and what their word counts, or change how they are regarded
///
/// What a reporter's word counts, and how it changes, is told in docs/spam.md.
#[derive(Debug, Args)]
pub(super) struct ReportersArgs {
    /// Trust this reporter: a report by a trusted reporter makes a campaign spam
    #[arg(long, value_name = "NAME")]
    trust: Vec<String>,

    /// Trust this reporter no longer; reports count as those of a stranger
    #[arg(long, value_name = "NAME")]
    distrust: Vec<String>,

    /// Let the reports of this reporter count nothing
    #[arg(long, value_name = "NAME")]
    block: Vec<String>,

    #[command(flatten)]
    place: PlaceArgs,

    /// How to show the result
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

/// Forget campaigns that have not been seen for long
///
/// Checks and reports can go on meanwhile. Room in the file is used again.
#[derive(Debug, Args)]
pub(super) struct TidyArgs {
    /// Forget what was neither reported nor recognised for so many days
    #[arg(long, value_name = "DAYS", default_value_t = 180)]
    days: u32,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Write all campaigns and reporters as JSON lines
///
/// A folder that a server has open is exported by asking the server, with a key that may (export = true in its
/// configuration). Checks and reports go on meanwhile; what is written is how things stood at one moment.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Write to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    way: WayArgs,
}

/// Add campaigns and reporters from an export
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file that export wrote; - reads stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,

    #[command(flatten)]
    place: PlaceArgs,
}

pub(super) fn run_campaigns(args: &CampaignsArgs) -> Result<Exit> {
    let engine = args.place.look()?.engine;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let show = |out: &mut dyn Write, campaign: &twicetold_service::Summary| {
        match args.format {
            Format::Jsonl => rows::campaign(out, campaign),
            Format::Text => writeln!(
                out,
                "{}, believed {:.2}",
                rows::in_words(campaign),
                campaign.belief
            ),
        }
        .context("cannot write to stdout")
    };
    for name in &args.names {
        let id = name.parse().map_err(|_| {
            Advice::new(
                format!("{name} is no name of a campaign"),
                "a name has sixteen hexadecimal digits, as `check` and `report` show it",
            )
            .usage()
            .into_error()
        })?;
        let found = engine.campaign(id).map_err(advise)?.ok_or_else(|| {
            Advice::new(
                format!("there is no campaign {name}"),
                "list all of them: twicetold spam campaigns",
            )
            .into_error()
        })?;
        show(&mut out, &found)?;
    }
    let (mut after, mut more) = (None, args.names.is_empty());
    while more {
        let (campaigns, next) = engine.campaigns(after, AT_ONCE).map_err(advise)?;
        for campaign in &campaigns {
            show(&mut out, campaign)?;
        }
        after = next;
        more = next.is_some();
    }
    out.flush().context("cannot write to stdout")?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct ReporterRow<'a> {
    schema: u32,
    reporter: &'a str,
    standing: Standing,
    weight: f64,
    counts_alone: bool,
    reports: u64,
    confirmed: u64,
    disputed: u64,
}

pub(super) fn run_reporters(args: &ReportersArgs) -> Result<Exit> {
    let changes = [
        (&args.trust, Standing::Trusted),
        (&args.distrust, Standing::Unknown),
        (&args.block, Standing::Blocked),
    ];
    let changing = changes.iter().any(|(names, _)| !names.is_empty());
    let engine = if changing {
        args.place.open()?.engine
    } else {
        args.place.look()?.engine
    };
    for (names, standing) in changes {
        for name in names {
            engine.set_standing(name, standing).map_err(advise)?;
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (name, reporter) in engine.state().all_reporters().map_err(advise)? {
        let row = ReporterRow {
            schema: 1,
            reporter: &name,
            standing: reporter.standing,
            weight: short(reporter.weight()),
            counts_alone: reporter.counts_alone(),
            reports: reporter.reports,
            confirmed: reporter.confirmed,
            disputed: reporter.disputed,
        };
        match args.format {
            Format::Jsonl => rows::line(&mut out, &row),
            Format::Text => {
                let standing = match reporter.standing {
                    Standing::Trusted => "trusted",
                    Standing::Blocked => "blocked",
                    Standing::Unknown if reporter.counts_alone() => "established",
                    Standing::Unknown => "unknown",
                };
                writeln!(
                    out,
                    "{standing:11} {:.2}  {}  {} reported, {} confirmed, {} disputed",
                    row.weight,
                    visible_path(&name),
                    units::counted(row.reports, "campaign", "campaigns"),
                    units::grouped(row.confirmed),
                    units::grouped(row.disputed)
                )
            }
        }
        .context("cannot write to stdout")?;
    }
    out.flush().context("cannot write to stdout")?;
    Ok(Exit::Done)
}

pub(super) fn run_tidy(args: &TidyArgs, how: TalkArgs) -> Result<Exit> {
    let engine = args.place.open()?.engine;
    let moment = now()?;
    let (mut after, mut looked_at, mut forgotten) = (None, 0, 0);
    loop {
        let tidied = engine.tidy(moment, args.days, after).map_err(advise)?;
        looked_at += tidied.looked_at as u64;
        forgotten += tidied.forgotten as u64;
        after = tidied.next;
        if after.is_none() {
            break;
        }
    }
    if !how.quiet {
        talk(&format!(
            "{} looked at, {} forgotten",
            units::counted(looked_at, "campaign", "campaigns"),
            units::grouped(forgotten)
        ));
    }
    Ok(Exit::Done)
}

pub(super) fn run_export(args: &ExportArgs, how: TalkArgs) -> Result<Exit> {
    let output = Output::open(args.output.as_deref())?;
    let mut wrong = None;
    // A file that lacks something must not take the name of one that is complete.
    let mut part = |error: anyhow::Error| {
        let told = io::Error::other(error.to_string());
        wrong = Some(error);
        told
    };
    let mut exported = String::new();
    let written = if let Some(server) = args.way.open(None, false, how.quiet)? {
        output.write(|out| {
            let bytes = server.export(out).map_err(&mut part)?;
            exported = units::size(bytes);
            Ok(())
        })
    } else {
        let engine = args.place.look()?.engine;
        output.write(|out| match engine.export(out) {
            Ok(campaigns) => {
                exported = units::counted(campaigns, "campaign", "campaigns");
                Ok(())
            }
            Err(ExchangeError::File(error)) => Err(error),
            Err(error) => Err(part(told(error, Path::new("-")))),
        })
    };
    written.map_err(|error| wrong.take().unwrap_or(error))?;
    if !how.quiet {
        talk(&format!("{exported} exported"));
    }
    Ok(Exit::Done)
}

pub(super) fn run_import(args: &ImportArgs, how: TalkArgs) -> Result<Exit> {
    let mut lines: Box<dyn BufRead> = if args.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.file).context(Advice::new(
            format!("cannot read {}", args.file.display()),
            "name a file that twicetold spam export wrote",
        ))?;
        Box::new(BufReader::new(file))
    };
    let engine: Engine = args.place.open()?.engine;
    let count = engine
        .import(&mut lines)
        .map_err(|error| told(error, &args.file))?;
    if !how.quiet {
        talk(&format!(
            "{} imported",
            units::counted(count, "campaign", "campaigns")
        ));
    }
    Ok(Exit::Done)
}

fn told(error: ExchangeError, file: &Path) -> anyhow::Error {
    match error {
        ExchangeError::State(error) => advise(error),
        error => Advice::new(
            format!("{}: {error}", file.display()),
            "name a file that twicetold spam export wrote",
        )
        .into_error(),
    }
}
