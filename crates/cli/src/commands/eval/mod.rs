//! `twicetold eval <experiment>`.

mod all;
mod cases;
mod filter;
mod watch;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use twicetold_eval::{Bench, EXPERIMENTS, EvalError, Experiment, Findings, Labelled, Notebook};

use super::TalkArgs;
use super::engine::{refuse_if_nothing_is_there, use_threads};
use crate::failure::{Advice, Exit};
use crate::report::escape::visible;
use crate::terminal::talk;

/// Measure how good the detection is, on known corpora or on your own mail
///
/// Each experiment asks what a paper asked, with the engine that scan, pairs and spam use, prints tables
/// with the paper's figures beside ours, and writes them as CSV, with pictures as SVG, into a folder.
/// What is finished is kept there: the same command goes on where it was interrupted. It only reads mail.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    Redundancy(RedundancyArgs),
    Collisions(CollisionsArgs),
    Imatch(ImatchArgs),
    Blocks(BlocksArgs),
    Simhash(SimhashArgs),
    Edit(EditArgs),
    Spam(SpamArgs),
    All(all::AllArgs),
    Cases(cases::CasesArgs),
    Filter(filter::FilterArgs),
}

const AFTER_HELP: &str = "\
Examples:
  twicetold eval cases ~/Mail --out my-cases   labelled cases out of your own mail,
  twicetold eval redundancy my-cases           and how scan does on them
  twicetold eval spam --spam Junk --ham Inbox  is new spam recognised by what was reported before?
  twicetold eval all --data corpora            every experiment for which there is a corpus

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but some corpora are not there, 130 interrupted.

More: docs/eval.md";

/// Which messages tell nothing new? (paper 000)
///
/// Takes a labelled mailbox, made by `eval cases` or by hand, and compares the paper's method and scan
/// with the truth: by window, by threshold, by category, within conversations.
#[derive(Debug, Args)]
pub(super) struct RedundancyArgs {
    /// The folder of a labelled mailbox: mail/ and truth.jsonl or classification.txt [default: redundancy-dev in --data]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

/// Do two different word pairs ever get the same number? (paper 000)
///
/// Counts words, pairs and hashes over a collection of documents, with the paper's numbers and with ours.
#[derive(Debug, Args)]
pub(super) struct CollisionsArgs {
    /// The documents to count [default: rfc or rfc-tenth in --data]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

/// What do randomised lexicons bring? (paper 001)
///
/// Recall, precision, pure answers and utility of I-Match as lexicons are added, with lexicons of the same
/// and of another collection, against all texts that are alike by the cosine of their words; other methods
/// on the same texts; stability, measured and predicted.
#[derive(Debug, Args)]
pub(super) struct ImatchArgs {
    #[command(flatten)]
    folders: FolderArgs,

    #[command(flatten)]
    common: CommonArgs,
}

/// Are copies found by the hashes of their sentences? (paper 002)
///
/// Plants changed copies among messages and looks for them, by threshold, by share of copies, by how much
/// was changed and where; counts duplicates in real mail.
#[derive(Debug, Args)]
pub(super) struct BlocksArgs {
    /// The messages to use [default: spamassassin in --data]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

/// How many changed copies does SimHash find within k bits? (paper 003)
///
/// Changes characters and words of short and long texts, and counts strangers that look alike.
#[derive(Debug, Args)]
pub(super) struct SimhashArgs {
    /// The texts to use [default: spamassassin in --data]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

/// Does the embedding keep edit distances, and does the forest find what is close? (paper 004)
///
/// Random strings for the theory; a collection of texts for duplicates and the gold standard.
#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// The texts to use [default: reuters21578 in --data]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

/// Is new spam recognised by what was reported before? (papers 003, 004)
///
/// Sends labelled mail through the spam service in the order in which it came, as the TREC spam track
/// does; by method; with the filter of paper 004; and with changed copies of reported spam.
#[derive(Debug, Args)]
pub(super) struct SpamArgs {
    #[command(flatten)]
    folders: FolderArgs,

    /// A file of the TREC spam track: a label (spam, ham) and a path a line, in the order of arrival
    #[arg(long, value_name = "FILE", conflicts_with_all = ["spam", "ham"])]
    index: Option<PathBuf>,

    #[command(flatten)]
    common: CommonArgs,
}

/// Spam and legitimate mail of one's own.
#[derive(Clone, Debug, Args)]
struct FolderArgs {
    /// Spam, instead of the corpus; may be given several times
    #[arg(long, value_name = "PATH", requires = "ham")]
    spam: Vec<PathBuf>,

    /// Legitimate mail, instead of the corpus; may be given several times
    #[arg(long, value_name = "PATH", requires = "spam")]
    ham: Vec<PathBuf>,
}

/// What every experiment can be told.
#[derive(Clone, Debug, Args)]
struct CommonArgs {
    /// The folder of the corpora, each under its own name
    #[arg(long, value_name = "DIR", default_value = "corpora")]
    data: PathBuf,

    /// The folder for tables, pictures and finished measurements
    #[arg(long, value_name = "DIR", default_value = "twicetold-eval")]
    out: PathBuf,

    /// Measure again what was finished before
    #[arg(long)]
    fresh: bool,

    /// The number that every random choice follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
}

pub(super) fn run(args: &EvalArgs, how: TalkArgs) -> Result<Exit> {
    match &args.command {
        EvalCommand::Redundancy(args) => {
            let texts: Vec<PathBuf> = args.folder.clone().into_iter().collect();
            one("redundancy", &args.common, texts, Labelled::default(), how)
        }
        EvalCommand::Collisions(args) => on_texts("collisions", &args.common, &args.paths, how),
        EvalCommand::Blocks(args) => on_texts("blocks", &args.common, &args.paths, how),
        EvalCommand::Simhash(args) => on_texts("simhash", &args.common, &args.paths, how),
        EvalCommand::Edit(args) => on_texts("edit", &args.common, &args.paths, how),
        EvalCommand::Imatch(args) => {
            let labelled = args.folders.labelled(None)?;
            one("imatch", &args.common, Vec::new(), labelled, how)
        }
        EvalCommand::Spam(args) => {
            let labelled = args.folders.labelled(args.index.as_ref())?;
            one("spam", &args.common, Vec::new(), labelled, how)
        }
        EvalCommand::Filter(args) => filter::run(args),
        EvalCommand::All(args) => all::run(args, how),
        EvalCommand::Cases(args) => cases::run(args, how),
    }
}

impl FolderArgs {
    /// The labelled mail that was named, all of which must be there.
    fn labelled(&self, index: Option<&PathBuf>) -> Result<Labelled> {
        for paths in [&self.spam, &self.ham, &index.cloned().into_iter().collect()] {
            refuse_if_nothing_is_there(paths)?;
        }
        Ok(Labelled {
            spam: self.spam.clone(),
            ham: self.ham.clone(),
            index: index.cloned(),
        })
    }
}

/// An experiment on texts that may be named.
fn on_texts(name: &str, common: &CommonArgs, paths: &[PathBuf], how: TalkArgs) -> Result<Exit> {
    one(name, common, paths.to_vec(), Labelled::default(), how)
}

/// Makes one experiment, prints what it found and writes it down.
fn one(
    name: &str,
    common: &CommonArgs,
    texts: Vec<PathBuf>,
    labelled: Labelled,
    how: TalkArgs,
) -> Result<Exit> {
    if texts.is_empty() {
        refuse_if_nothing_is_there_for(common, &labelled)?;
    }
    refuse_if_nothing_is_there(&texts)?;
    let known = EXPERIMENTS.iter().find(|known| known.name == name);
    let experiment = known.context("there is no such experiment")?;
    use_threads(common.threads)?;
    let bar = watch::Steps::new(how.quiet);
    let mut bench = bench(common, &bar)?;
    bench.texts = texts;
    bench.labelled = labelled;
    let findings = make(experiment, &mut bench, how)?;
    bar.finish();
    findings.write(&common.out).map_err(told)?;
    print(&findings)?;
    if !how.quiet {
        let out = common.out.display().to_string();
        talk(&format!(
            "tables and pictures are in {}",
            visible(&out, 240)
        ));
    }
    Ok(Exit::Done)
}

fn bench<'a>(common: &CommonArgs, bar: &'a watch::Steps) -> Result<Bench<'a>> {
    Ok(Bench {
        notebook: Notebook::open(&common.out, common.fresh).map_err(told)?,
        watch: bar,
        seed: common.seed,
        ..Bench::new(common.data.clone())
    })
}

/// Makes an experiment and says how long it took.
fn make(experiment: &Experiment, bench: &mut Bench<'_>, how: TalkArgs) -> Result<Findings> {
    let start = Instant::now();
    let before = (bench.notebook.made, bench.notebook.reused);
    let findings = (experiment.run)(bench).map_err(told)?;
    if !how.quiet {
        let (made, reused) = (
            bench.notebook.made - before.0,
            bench.notebook.reused - before.1,
        );
        let reused = match reused {
            0 => String::new(),
            some => format!(", {some} known from before (--fresh measures again)"),
        };
        let took = start.elapsed().as_secs_f64();
        talk(&format!(
            "{}: {made} measurements{reused} in {took:.1} s",
            experiment.name
        ));
    }
    Ok(findings)
}

/// No line of a table is longer than that.
const WIDEST: usize = 10_000;

fn print(findings: &Findings) -> Result<()> {
    let mut out = io::stdout().lock();
    // Names of categories and files come from whoever made the corpus.
    for line in findings.text().lines() {
        writeln!(out, "{}", visible(line, WIDEST)).context("cannot write to stdout")?;
    }
    Ok(())
}

fn refuse_if_nothing_is_there_for(common: &CommonArgs, labelled: &Labelled) -> Result<()> {
    let own = !labelled.spam.is_empty() || labelled.index.is_some();
    if own || common.data.is_dir() {
        return Ok(());
    }
    Err(Advice::new(
        format!("there is no folder of corpora {}", common.data.display()),
        "name it with --data, or name mail of your own to measure on (see --help)",
    )
    .usage()
    .into_error())
}

/// An error of an experiment with what can be done about it.
fn told(error: EvalError) -> anyhow::Error {
    let hint = match &error {
        EvalError::Nothing { .. } => {
            "docs/eval.md says which corpus each experiment needs and how it is laid out"
        }
        EvalError::Refused { .. } => "name another folder or other mail; see --help",
        EvalError::Line { .. } => {
            "mend the line, or leave it out; docs/eval.md describes the format"
        }
        EvalError::File { .. } => "check that it exists and that you may read or write it",
        EvalError::Chart { .. } | EvalError::State(_) => {
            "this should not happen; please report it with the command"
        }
    };
    let what = error.to_string();
    match error {
        EvalError::File { source, .. } => {
            anyhow::Error::new(source).context(Advice::new(what, hint))
        }
        _ => Advice::new(what, hint).into_error(),
    }
}
