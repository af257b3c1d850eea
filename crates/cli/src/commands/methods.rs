//! `twicetold methods`.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use twicetold_methods::catalogue::{Entry, METHODS, entry, page};

use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::jsonl::write_line;

/// List the methods that find near duplicates
///
/// Tells for each method what it is good and bad at, what its score means, what can be set, and what a
/// message costs.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct MethodsArgs {
    /// Only this method
    #[arg(value_name = "METHOD")]
    method: Option<String>,

    /// How to show them
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

/// How to show the methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object a line for each method
    Jsonl,
    /// The page docs/methods.md
    Markdown,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold methods
  twicetold methods simhash
  twicetold methods --format jsonl

More: docs/methods.md, docs/pairs.md";

pub(super) fn run(args: &MethodsArgs) -> Result<Exit> {
    let chosen: Vec<&Entry> = match &args.method {
        None => METHODS.iter().collect(),
        Some(name) => vec![entry(name).ok_or_else(|| unknown(name))?],
    };
    Output::Stdout.write(|out| match args.format {
        Format::Text => chosen.iter().try_for_each(|entry| text(out, entry)),
        Format::Jsonl => chosen
            .iter()
            .try_for_each(|entry| write_line(out, &Row::new(entry))),
        Format::Markdown => out.write_all(page().as_bytes()),
    })?;
    Ok(Exit::Done)
}

fn unknown(name: &str) -> anyhow::Error {
    let known: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
    let what = format!("there is no method {name}");
    Advice::new(what, format!("there are {}", known.join(", ")))
        .usage()
        .into_error()
}

fn text(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    writeln!(out, "{}  {}", entry.name, entry.what)?;
    for (label, what) in [
        ("paper", entry.paper),
        ("good at", entry.good),
        ("bad at", entry.bad),
        ("score", entry.score),
        ("threshold", entry.threshold),
        ("finds", entry.finds),
    ] {
        writeln!(out, "  {label:<9}  {what}")?;
    }
    writeln!(
        out,
        "  cost       {} µs and {} bytes for a text of a kilobyte",
        entry.cost.microseconds, entry.cost.bytes
    )?;
    for row in entry.parameters {
        let name = format!("{}.{}={}", entry.name, row.name, row.default);
        writeln!(out, "  --set {name:<28} ({}) {}", row.values, row.what)?;
    }
    writeln!(out)
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    what: &'static str,
    paper: &'static str,
    good_at: &'static str,
    bad_at: &'static str,
    score: &'static str,
    threshold: f64,
    finds: &'static str,
    microseconds: f64,
    bytes: u32,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    default: &'static str,
    values: &'static str,
    what: &'static str,
}

impl Row {
    fn new(entry: &Entry) -> Self {
        Self {
            name: entry.name,
            what: entry.what,
            paper: entry.paper,
            good_at: entry.good,
            bad_at: entry.bad,
            score: entry.score,
            threshold: entry.threshold.parse().unwrap_or_default(),
            finds: entry.finds,
            microseconds: entry.cost.microseconds,
            bytes: entry.cost.bytes,
            parameters: entry
                .parameters
                .iter()
                .map(|row| Parameter {
                    name: row.name,
                    default: row.default,
                    values: row.values,
                    what: row.what,
                })
                .collect(),
        }
    }
}
