//! `twicetold lexicon`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use twicetold_detect::count_words;
use twicetold_methods::imatch::{Lexicon, Part, Range};
use twicetold_source::Collection;

use super::TalkArgs;
use super::engine::{refuse_if_nothing_is_there, use_threads};
use super::pairs::read_lexicon;
use super::scan::{warn_of_troubles, would_overwrite};
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::visible;
use crate::report::units;
use crate::terminal::{Bar, talk};

/// Make and show the lexicons of the method imatch
///
/// A lexicon says which words count: those that are neither in nearly every text nor in nearly none.
/// One for English mail comes with the program. A lexicon made from other texts, in your language or of
/// your trade, lets imatch see texts it would else abstain from.
#[derive(Debug, Args)]
pub(super) struct LexiconArgs {
    #[command(subcommand)]
    command: LexiconCommand,
}

#[derive(Debug, Subcommand)]
enum LexiconCommand {
    Build(BuildArgs),
    Show(ShowArgs),
}

/// Make a lexicon from the texts below some paths
#[derive(Debug, Args)]
#[command(after_long_help = BUILD_HELP)]
struct BuildArgs {
    /// The mailboxes, files and folders to count the words of
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The file to write; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// How common a word may be: 0 lets words of every text in, 1 only words of a single text
    #[arg(long, value_name = "NIDF", default_value_t = Range::MAIL.low)]
    low: f64,

    /// How rare a word may be; the paper has 0.3 for mail and 0.8 for web pages
    #[arg(long, value_name = "NIDF", default_value_t = Range::MAIL.high)]
    high: f64,

    /// How many rarer words are kept for texts that have too few others
    #[arg(long, value_name = "WORDS", default_value_t = 200_000)]
    secondary: usize,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
}

const BUILD_HELP: &str = "\
Examples:
  twicetold lexicon build ~/Mail --output mail.lexicon
  twicetold lexicon build news/ --low 0.2 --high 0.8 --output news.lexicon
  twicetold pairs --method imatch --lexicon mail.lexicon ~/Mail

More: docs/pairs.md";

/// Show what is in a lexicon
#[derive(Debug, Args)]
#[command(after_long_help = SHOW_HELP)]
struct ShowArgs {
    /// The lexicon file [default: the lexicon that comes with the program]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// List every word: in how many texts it was, its part, the word
    #[arg(long)]
    words: bool,
}

const SHOW_HELP: &str = "\
Examples:
  twicetold lexicon show
  twicetold lexicon show mail.lexicon
  twicetold lexicon show --words | grep meeting

More: docs/pairs.md";

/// How many words of each part are shown as examples.
const EXAMPLES: usize = 12;

pub(super) fn run(args: &LexiconArgs, how: TalkArgs) -> Result<Exit> {
    match &args.command {
        LexiconCommand::Build(args) => build(args, how),
        LexiconCommand::Show(args) => show(args),
    }
}

fn build(args: &BuildArgs, how: TalkArgs) -> Result<Exit> {
    let range = Range {
        low: args.low,
        high: args.high,
    };
    if !(0.0 <= range.low && range.low <= range.high && range.high <= 1.0) {
        return Err(Advice::new(
            format!("the range from {} to {} is none", range.low, range.high),
            "--low and --high lie between 0 and 1, and --low is not above --high",
        )
        .usage()
        .into_error());
    }
    let output = Output::open(Some(&args.output))?;
    if let Some(path) = args.paths.iter().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    refuse_if_nothing_is_there(&args.paths)?;
    use_threads(args.threads)?;
    let collection = Collection::open(&args.paths);
    let bar = Bar::new(how.quiet);
    let (counted, troubles) = count_words(&collection, &bar);
    bar.finish();
    let lexicon = counted.build(range, args.secondary);
    if lexicon.primary() == 0 {
        return Err(Advice::new(
            format!(
                "no word is as common as a lexicon from {} to {} needs, in {}",
                range.low,
                range.high,
                units::counted(lexicon.documents().into(), "text", "texts")
            ),
            "name more texts, or widen the range with --low and --high",
        )
        .into_error());
    }
    output.write(|out| out.write_all(&lexicon.to_bytes()))?;
    if !how.quiet {
        warn_of_troubles(&troubles);
        talk(&summary(&lexicon));
    }
    Ok(Exit::after(&troubles))
}

fn show(args: &ShowArgs) -> Result<Exit> {
    let lexicon = match &args.file {
        Some(path) => read_lexicon(path)?,
        None => Lexicon::shipped(),
    };
    Output::Stdout.write(|out| write(out, &lexicon, args.words))?;
    Ok(Exit::Done)
}

fn summary(lexicon: &Lexicon) -> String {
    format!(
        "{} counted; {} and {}",
        units::counted(lexicon.documents().into(), "text", "texts"),
        units::counted(lexicon.primary() as u64, "primary word", "primary words"),
        units::counted(
            lexicon.secondary() as u64,
            "secondary word",
            "secondary words"
        ),
    )
}

fn write(out: &mut dyn Write, lexicon: &Arc<Lexicon>, words: bool) -> io::Result<()> {
    if words {
        return lexicon.words().try_for_each(|(word, df, part)| {
            let part = match part {
                Part::Primary => "primary",
                Part::Secondary => "secondary",
            };
            // Words hold letters and digits only, but letters can turn the direction of writing.
            writeln!(out, "{df}\t{part}\t{}", visible(word, word.len()))
        });
    }
    let Range { low, high } = lexicon.range();
    writeln!(out, "{}", summary(lexicon))?;
    writeln!(
        out,
        "range: {low} to {high} (0: a word of every text, 1: of one text only)"
    )?;
    for (label, wanted) in [("primary", Part::Primary), ("secondary", Part::Secondary)] {
        let all: Vec<&str> = lexicon
            .words()
            .filter(|&(_, _, part)| part == wanted)
            .map(|(word, _, _)| word)
            .collect();
        let examples = |words: &[&str]| -> String {
            let shown: Vec<String> = words.iter().map(|word| visible(word, 40)).collect();
            shown.join(" ")
        };
        if !all.is_empty() {
            writeln!(
                out,
                "{label}, commonest: {}",
                examples(&all[..all.len().min(EXAMPLES)])
            )?;
            writeln!(
                out,
                "{label}, rarest: {}",
                examples(&all[all.len().saturating_sub(EXAMPLES)..])
            )?;
        }
    }
    Ok(())
}
