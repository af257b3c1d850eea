//! `twicetold pairs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use twicetold_detect::{Check, Looking, MOST, Pairs, Sought, Verify, pairs};
use twicetold_methods::catalogue::Chosen;
use twicetold_methods::imatch::Lexicon;
use twicetold_source::Collection;

use super::TalkArgs;
use super::engine::{refuse_if_nothing_is_there, use_threads};
use super::scan::{warn_of_troubles, would_overwrite};
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::pairs::{Report, csv, jsonl, text};
use crate::report::units;
use crate::terminal::{Bar, Paint, talk};

/// Find texts that are nearly the same
///
/// Compares every text below the paths with all others, by one method or several, and lists the pairs
/// that are alike, or with --groups everything that is connected through pairs. It only reads. That
/// two messages are alike is no reason to remove one of them: for that, ask scan.
///
/// A path is mail in every form that scan reads, a folder of text files, a file of JSON lines with an
/// id and a text, or a file of the Reuters-21578 collection. `twicetold methods` tells which method
/// is good for what.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct PairsArgs {
    /// The mailboxes, files and folders to read
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Compare with the texts of this path instead of with each other; may be given several times
    #[arg(long, value_name = "PATH")]
    against: Vec<PathBuf>,

    #[command(flatten)]
    methods: MethodArgs,

    /// Read the texts of every pair again and compare them directly
    #[arg(long, value_name = "HOW", value_enum)]
    verify: Option<How>,

    /// From which number on a pair counts as verified [default: 0.9; for edit 0.85]
    #[arg(long, value_name = "T", value_parser = parse_share, requires = "verify")]
    verify_threshold: Option<f64>,

    /// Show groups of connected texts instead of pairs; with --verify only verified pairs connect
    #[arg(long)]
    groups: bool,

    /// How many partners of one text are listed; 0 for all, however many pairs that makes
    #[arg(long, value_name = "N", default_value_t = MOST)]
    most: usize,

    /// How to show the result
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,

    /// Write the result to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
}

/// Which methods, and from which score on a pair counts.
#[derive(Debug, Args)]
pub(super) struct MethodArgs {
    /// The methods to use: winnow, imatch, blocks, simhash, layout, edit
    #[arg(long, short, value_name = "METHOD[,METHOD]...", value_delimiter = ',')]
    #[arg(default_value = "winnow")]
    method: Vec<String>,

    /// The least score of a pair, 0 to 1, for every method [default: each method's own]
    #[arg(long, short, value_name = "T", value_parser = parse_share)]
    threshold: Option<f64>,

    /// Set a parameter of a method, as in simhash.distance=5; may be given several times
    #[arg(long, value_name = "METHOD.PARAMETER=VALUE")]
    set: Vec<String>,

    /// The lexicon of imatch, made by lexicon build [default: the one that comes with the program]
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
}

/// How to show pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A list for people
    #[default]
    Text,
    /// One JSON object a line for each pair and method, or for each group
    Jsonl,
    /// A table for spreadsheets
    Csv,
}

/// The values of `--verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    /// The words that both have
    Cosine,
    /// How much of the shorter text stands in the longer one
    Containment,
    /// Edit distance of letters and digits
    Edit,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold pairs ~/Mail
  twicetold pairs --method winnow,simhash --format jsonl notes/
  twicetold pairs --method edit --groups --verify cosine posts.jsonl
  twicetold pairs --set simhash.distance=5 --method simhash inbox.mbox --against archive.mbox

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but something could not be read,
130 interrupted.

More: docs/pairs.md, docs/methods.md, docs/exit-codes.md";

pub(super) fn run(args: &PairsArgs, how: TalkArgs) -> Result<Exit> {
    let looking = args.looking()?;
    let output = Output::open(args.output.as_deref())?;
    let named = args.paths.iter().chain(&args.against);
    if let Some(path) = named.clone().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    refuse_if_nothing_is_there(&args.paths)?;
    refuse_if_nothing_is_there(&args.against)?;
    use_threads(args.threads)?;
    let start = Instant::now();
    let collection = Collection::open(&args.paths);
    let against = (!args.against.is_empty()).then(|| Collection::open(&args.against));
    let bar = Bar::new(how.quiet);
    let found = pairs(&collection, against.as_ref(), &looking, &bar);
    bar.finish();
    let took = start.elapsed();
    if let Some(path) = found
        .paths()
        .map(Path::new)
        .find(|path| output.replaces(path))
    {
        return Err(would_overwrite(path));
    }
    let report = Report {
        pairs: &found,
        looking: &looking,
        groups: args.groups,
    };
    match args.format {
        Format::Text => {
            let paint = match output {
                Output::Stdout => Paint::for_stdout(how.color),
                Output::File(_) | Output::Device(_) => Paint::PLAIN,
            };
            output.write(|out| text::write(out, &report, paint))?;
        }
        Format::Jsonl => output.write(|out| jsonl::write(out, &report))?,
        Format::Csv => output.write(|out| csv::write(out, &report))?,
    }
    if !how.quiet {
        tell(&found, &looking);
        let read = units::counted(found.len() as u64, "text", "texts");
        talk(&format!("{read} in {:.1} s", took.as_secs_f64()));
    }
    Ok(Exit::after(&found.troubles))
}

/// What the user should know besides the result.
fn tell(found: &Pairs, looking: &Looking) {
    warn_of_troubles(&found.troubles);
    for (sought, &sketched) in looking.methods.iter().zip(&found.sketched) {
        if sketched == 0 && !found.is_empty() {
            talk(&format!(
                "warning: {} has nothing to say about any of these texts (see twicetold methods)",
                sought.method.name()
            ));
        }
    }
    if found.cut > 0 {
        let texts = units::counted(found.cut as u64, "text has", "texts have");
        talk(&format!(
            "note: {texts} more partners than are listed; --most sets how many are, --most 0 lists all"
        ));
    }
}

impl PairsArgs {
    /// What the command line asks for.
    fn looking(&self) -> Result<Looking> {
        Ok(Looking {
            methods: self.methods.sought()?,
            most: (self.most > 0).then_some(self.most),
            verify: self.verify.map(|how| {
                let check = match how {
                    How::Cosine => Check::Cosine,
                    How::Containment => Check::Containment,
                    How::Edit => Check::Edit,
                };
                Verify {
                    check,
                    threshold: self.verify_threshold.unwrap_or_else(|| check.threshold()),
                }
            }),
        })
    }
}

impl MethodArgs {
    /// The methods that are asked for, in order.
    pub(super) fn sought(&self) -> Result<Vec<Sought>> {
        let methods = choose(&self.method, &self.set, self.lexicon.as_deref())?;
        let sought = methods.into_iter().map(|method| Sought {
            threshold: self.threshold.unwrap_or_else(|| method.threshold()),
            method,
        });
        Ok(sought.collect())
    }

    /// The lexicon that was named.
    pub(super) fn lexicon(&self) -> Option<&Path> {
        self.lexicon.as_deref()
    }

    /// The same as arguments; the lexicon is for whoever passes them on to name.
    pub(super) fn passed_on(&self) -> Vec<String> {
        let mut arguments = vec!["--method".to_owned(), self.method.join(",")];
        for setting in &self.set {
            arguments.extend(["--set".to_owned(), setting.clone()]);
        }
        if let Some(threshold) = self.threshold {
            arguments.extend(["--threshold".to_owned(), threshold.to_string()]);
        }
        arguments
    }
}

/// The methods of these names, with what is set and the lexicon given.
pub(super) fn choose(
    names: &[String],
    set: &[String],
    lexicon: Option<&Path>,
) -> Result<Vec<Chosen>> {
    let mut methods: Vec<Chosen> = Vec::new();
    for name in names {
        let chosen = Chosen::new(name).map_err(wrong)?;
        if methods.iter().any(|known| known.name() == chosen.name()) {
            return Err(wrong(format!("the method {name} is named twice")));
        }
        methods.push(chosen);
    }
    for setting in set {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let (name, parameter) = name.split_once('.').unwrap_or((name, ""));
        let Some(chosen) = methods.iter_mut().find(|method| method.name() == name) else {
            Chosen::new(name).map_err(wrong)?;
            return Err(wrong(format!(
                "--set {setting} is for {name}, which is not among the methods"
            )));
        };
        chosen.set(parameter, value).map_err(wrong)?;
    }
    if let Some(path) = lexicon {
        let lexicon = read_lexicon(path)?;
        if !methods
            .iter()
            .any(|method| matches!(method, Chosen::Imatch(_)))
        {
            return Err(wrong(
                "--lexicon is for imatch, which is not among the methods".to_owned(),
            ));
        }
        methods
            .iter_mut()
            .for_each(|method| method.take_lexicon(&lexicon));
    }
    Ok(methods)
}

/// Reads a lexicon file.
pub(super) fn read_lexicon(path: &Path) -> Result<Arc<Lexicon>> {
    let shown = path.display();
    let bytes = fs::read(path).with_context(|| {
        Advice::new(
            format!("cannot read the lexicon {shown}"),
            "make one with twicetold lexicon build PATH... --output FILE",
        )
    })?;
    let lexicon = Lexicon::from_bytes(&bytes).with_context(|| {
        Advice::new(
            format!("cannot use {shown} as a lexicon"),
            "make one with twicetold lexicon build PATH... --output FILE",
        )
    })?;
    Ok(Arc::new(lexicon))
}

fn wrong(what: impl ToString) -> anyhow::Error {
    Advice::new(
        what.to_string(),
        "twicetold methods lists the methods and what can be set",
    )
    .usage()
    .into_error()
}

fn parse_share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a number from 0 to 1, as in 0.8".to_owned())
}
