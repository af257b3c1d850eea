//! The options of the engine, which `scan`, `explain`, `review` and `judge` share, and the way to it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use twicetold_detect::{
    Cache, FolderRule, KeepRule, Numbering, Options, Progress, Scan, Stage, scan, scan_counted,
    scan_with, temporary_folders,
};
use twicetold_memory::{is_full, keep_to};
use twicetold_model::Standing;
use twicetold_source::{Collection, LeftOut, plan_path};

use super::acting::shown;
use super::statistics;
use crate::accounts::{AccountsArgs, Places, Remote, cache_folder};
use crate::failure::{Advice, Exit};
use crate::terminal::{Bar, talk};

/// How to decide, wherever the messages come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to decide")]
pub(super) struct DecidingArgs {
    /// Which of several messages that say the same is kept
    ///
    /// Rules are oldest, newest, largest, smallest and folder:NAME; the first one that tells two
    /// messages apart decides. A folder is named as your mail program shows it (Archive/2019), in
    /// capitals or not. Several folder: rules in a row are a list, the most important first:
    /// --keep folder:Archive,folder:Inbox,newest. A comma inside a name is written \,
    ///
    /// Mail that is marked deleted, drafts, trash and junk are never kept before other mail.
    #[arg(long, value_name = "RULE[,RULE]...", default_value = "oldest")]
    #[arg(value_parser = parse_keep)]
    keep: Vec<KeepList>,

    /// How many threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,

    /// How many word pairs share one fingerprint: more needs less memory, fewer finds more
    #[arg(long, value_name = "N", default_value_t = Options::default().window)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
    window: usize,

    /// Which numbers stand for words in fingerprints; verdicts are proved on the text either way
    #[arg(long, value_name = "NUMBERS", default_value = "stable", value_enum)]
    numbers: Numbers,

    /// Texts with fewer content words than this are compared inside their thread only
    #[arg(long, value_name = "WORDS", default_value_t = Options::default().short)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(0..=1000))]
    short: usize,

    #[command(flatten)]
    weighing: Weighing,
}

/// When others cover a message, and when it is a version of another.
#[derive(Clone, Copy, Debug, Args)]
struct Weighing {
    /// How many messages together may cover another one
    #[arg(long, value_name = "N", default_value_t = Options::default().max_witnesses)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
    max_witnesses: usize,

    /// How alike two messages with different facts must be to be shown as versions, in percent
    #[arg(long, value_name = "P", default_value_t = Options::default().version_percent)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    version_percent: u32,
}

/// How texts are cut into what is looked up, where that is not scan itself.
#[derive(Clone, Copy, Debug, Args)]
struct Cutting {
    /// How many word pairs share one fingerprint, as for scan
    #[arg(long, value_name = "N", default_value_t = Options::default().window)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
    window: usize,

    /// Texts with fewer content words than this are compared inside their thread only
    #[arg(long, value_name = "WORDS", default_value_t = Options::default().short)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(0..=1000))]
    short: usize,
}

/// How scan would decide, as far as outlines depend on it.
#[derive(Debug, Args)]
#[command(next_help_heading = "How scan decides (with --for scan)")]
pub(super) struct Outlining {
    /// Which copy survives, as for scan
    #[arg(long, value_name = "RULE[,RULE]...", default_value = "oldest")]
    #[arg(value_parser = parse_keep)]
    keep: Vec<KeepList>,

    #[command(flatten)]
    cutting: Cutting,
}

impl Outlining {
    /// The options as the engine knows them.
    pub(super) fn options(&self) -> Options {
        Options {
            keep: merged(self.keep.iter().flat_map(|list| list.rules.iter().cloned())),
            window: self.cutting.window,
            short: self.cutting.short,
            ..Options::default()
        }
    }
}

/// How to decide, as it is passed on to the program on other machines.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to decide")]
pub(super) struct PassedOn {
    /// Which of several messages that say the same is kept, as for scan
    #[arg(long, value_name = "RULE[,RULE]...", default_value = "oldest")]
    #[arg(value_parser = checked_keep)]
    keep: Vec<String>,

    #[command(flatten)]
    cutting: Cutting,

    #[command(flatten)]
    weighing: Weighing,
}

impl PassedOn {
    /// The options of `sketch --for scan`.
    pub(super) fn outlining(&self) -> Vec<String> {
        let mut options: Vec<String> = self
            .keep
            .iter()
            .flat_map(|rules| ["--keep".to_owned(), rules.clone()])
            .collect();
        options.extend(["--window".to_owned(), self.cutting.window.to_string()]);
        options.extend(["--short".to_owned(), self.cutting.short.to_string()]);
        options
    }

    /// The options of `judge`.
    pub(super) fn deciding(&self) -> Vec<String> {
        let mut options = self.outlining();
        let more = [
            ("--max-witnesses", self.weighing.max_witnesses.to_string()),
            (
                "--version-percent",
                self.weighing.version_percent.to_string(),
            ),
        ];
        options.extend(
            more.into_iter()
                .flat_map(|(name, value)| [name.to_owned(), value]),
        );
        options
    }
}

fn checked_keep(text: &str) -> Result<String, String> {
    parse_keep(text).map(|_| text.to_owned())
}

/// How to scan.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to decide")]
pub(super) struct EngineArgs {
    #[command(flatten)]
    deciding: DecidingArgs,

    /// How much memory to use, as in 500M or 2G: what exceeds it stands in temporary files, or in the
    /// cache [default: half of the mail, and 256M at least]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,

    /// Where to remember what has been read and compared, so that the next scan need not [default:
    /// the user's cache folder, for mail of more than 4 MB]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    #[arg(help_heading = "What is remembered")]
    cache: Option<PathBuf>,

    /// Remember nothing, and read everything
    #[arg(long, help_heading = "What is remembered")]
    no_cache: bool,

    /// Read every byte again; only what has the same checksum counts as known
    #[arg(long, help_heading = "What is remembered")]
    verify: bool,

    /// Read trash and junk folders as well: what is in them counts as kept, though it may be emptied
    #[arg(long)]
    with_trash: bool,

    #[command(flatten)]
    accounts: AccountsArgs,
}

/// Mail of less than this is read as soon as remembered.
const WORTH_REMEMBERING: u64 = 4_000_000;

/// The values of `--numbers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Numbers {
    /// A stable hash of each Unicode word: the same numbers everywhere
    Stable,
    /// The paper's words, numbered by first appearance, mixed before winnowing; one thread
    Dictionary,
    /// The paper to the letter, for reproducing its tables; one thread
    Paper,
}

impl From<Numbers> for Numbering {
    fn from(numbers: Numbers) -> Self {
        match numbers {
            Numbers::Stable => Self::Stable,
            Numbers::Dictionary => Self::Dictionary,
            Numbers::Paper => Self::Paper,
        }
    }
}

/// One value of `--keep`, a type of its own so that clap takes it as one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeepList {
    rules: Vec<KeepRule>,
    /// As the user wrote it.
    text: String,
}

impl EngineArgs {
    /// Where the accounts stand.
    pub(super) fn accounts(&self) -> &AccountsArgs {
        &self.accounts
    }

    /// The options that make a difference to what is found, as words of a command that finds the same.
    pub(super) fn repeated(&self) -> Vec<String> {
        let mut words = self.deciding.repeated();
        if self.with_trash {
            words.push("--with-trash".to_owned());
        }
        if self.no_cache {
            words.push("--no-cache".to_owned());
        }
        if let Some(cache) = &self.cache {
            words.extend(["--cache".to_owned(), cache.to_string_lossy().into_owned()]);
        }
        words
    }

    /// The paths, with accounts replaced by where their mail is.
    pub(super) fn resolve(&self, paths: &[PathBuf], remote: bool, quiet: bool) -> Result<Places> {
        let remote = remote.then_some(Remote {
            with_trash: self.with_trash,
        });
        self.accounts.resolve(paths, remote, quiet)
    }

    /// Opens the paths and scans what is below them, with progress.
    pub(super) fn scan(&self, places: &Places, quiet: bool) -> Result<Scanned> {
        self.scan_by(places, quiet, |bar| self.scan_again(places, bar))
    }

    /// The same with statistics that were counted before. Nothing is remembered: what was found with other statistics, or without, is not what
    /// these lead to.
    pub(super) fn scan_counted(
        &self,
        places: &Places,
        statistics: &Path,
        quiet: bool,
    ) -> Result<Scanned> {
        let counted = statistics::read(statistics)?;
        self.scan_by(places, quiet, |bar| {
            let (collection, options) = self.open(places)?;
            let scan = scan_counted(&collection, &options, &counted, bar)
                .map_err(|unfit| statistics::refuse(statistics, unfit))?;
            Ok(Scanned::of(collection, scan, options))
        })
    }

    fn scan_by(
        &self,
        places: &Places,
        quiet: bool,
        scan: impl FnOnce(&Bar) -> Result<Scanned> + Send,
    ) -> Result<Scanned> {
        self.prepare(&places.paths)?;
        let bar = Bar::new(quiet);
        // All of it on the threads that share the work: a scan has many short stretches that several of them go, and whoever came from elsewhere would have to be
        // woken after each. Nobody else wants them now.
        let scanned = rayon::scope(|_| scan(&bar));
        bar.finish();
        self.tell_if_too_much();
        let mut scanned = scanned?;
        scanned.stages = bar.stages();
        Ok(scanned)
    }

    /// What has to be done once, before the first scan.
    pub(super) fn prepare(&self, paths: &[PathBuf]) -> Result<()> {
        refuse_if_nothing_is_there(paths)?;
        use_threads(self.deciding.threads)
    }

    /// Scans, as often as it is asked to.
    pub(super) fn scan_again(&self, places: &Places, progress: &dyn Progress) -> Result<Scanned> {
        let (collection, options) = self.open(places)?;
        let scan = match self.cache(&places.paths, &collection, &options) {
            Some(cache) => scan_with(&cache, &collection, &options, progress),
            None => scan(&collection, &options, progress),
        };
        Ok(Scanned::of(collection, scan, options))
    }

    /// What is below the paths, and how to decide about it.
    fn open(&self, places: &Places) -> Result<(Collection, Options)> {
        let mut options = self.deciding.options();
        options.memory = self.memory;
        let left_out = if self.with_trash {
            LeftOut::default()
        } else {
            LeftOut {
                discarded: true,
                folders: places.discarded(),
                elsewhere: places.left_there.clone(),
            }
        };
        let collection = Collection::open_without(&places.paths, left_out);
        for rule in &mut options.keep {
            find_folders(rule, places, &collection)?;
        }
        self.keep_to_memory(&collection, &options);
        Ok((collection, options))
    }

    /// Uses no more memory than the user allows.
    fn keep_to_memory(&self, collection: &Collection, options: &Options) {
        let memory = options.memory_for(collection.total_bytes());
        let mut failed = None;
        for folder in temporary_folders() {
            match keep_to(memory, &folder) {
                Ok(()) => return,
                Err(error) => failed = failed.or(Some((folder, error))),
            }
        }
        // The scan is the same without: who has not asked for a limit need not know.
        if let Some((folder, error)) = failed.filter(|_| self.memory.is_some()) {
            talk(&format!(
                "note: more memory than --memory allows may be used, since the rest cannot stand in a file in {}: {error}; TMPDIR may name another folder",
                shown(&folder)
            ));
        }
    }

    /// Says if more memory was used than the user allows.
    pub(super) fn tell_if_too_much(&self) {
        if self.memory.is_some() && is_full() {
            talk(
                "note: more memory than --memory allows was used, since there is no room on the disk for the rest; TMPDIR may name another folder",
            );
        }
    }

    /// Where to remember, if it is worth it.
    fn cache(
        &self,
        paths: &[PathBuf],
        collection: &Collection,
        options: &Options,
    ) -> Option<Cache> {
        let usual = cache_folder();
        // Mail that was fetched for this scan alone is gone after it.
        let fleeting = usual.as_ref().map(|usual| usual.join("remote"));
        let is_fleeting = |path: &PathBuf| fleeting.as_ref().is_some_and(|f| path.starts_with(f));
        if self.no_cache || paths.iter().any(is_fleeting) {
            return None;
        }
        let worth = collection.total_bytes() >= WORTH_REMEMBERING;
        let usual = usual.filter(|_| worth).map(|usual| usual.join("scans"));
        let cache = Cache::new(&self.cache.clone().or(usual)?, paths, options);
        Some(match self.verify {
            true => cache.verifying(),
            false => cache,
        })
    }
}

impl DecidingArgs {
    /// Those that are not as they are by default, as words of a command.
    fn repeated(&self) -> Vec<String> {
        let usual = Options::default();
        let mut words = Vec::new();
        if self.options().keep != usual.keep {
            let rules = self.keep.iter().map(|list| list.text.clone());
            words.extend(rules.flat_map(|rules| ["--keep".to_owned(), rules]));
        }
        let numbers = self.numbers.to_possible_value();
        let numbers = numbers.map_or_else(String::new, |value| value.get_name().to_owned());
        let Weighing {
            max_witnesses,
            version_percent,
        } = self.weighing;
        let others = [
            (
                "--window",
                self.window != usual.window,
                self.window.to_string(),
            ),
            ("--numbers", self.numbers != Numbers::Stable, numbers),
            ("--short", self.short != usual.short, self.short.to_string()),
            (
                "--max-witnesses",
                max_witnesses != usual.max_witnesses,
                max_witnesses.to_string(),
            ),
            (
                "--version-percent",
                version_percent != usual.version_percent,
                version_percent.to_string(),
            ),
        ];
        let others = others.into_iter().filter(|(_, differs, _)| *differs);
        words.extend(others.flat_map(|(name, _, value)| [name.to_owned(), value]));
        words
    }

    /// How many threads to use, if the user cares.
    pub(super) fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// The options as the engine knows them.
    pub(super) fn options(&self) -> Options {
        Options {
            keep: merged(self.keep.iter().flat_map(|list| list.rules.iter().cloned())),
            window: self.window,
            numbering: self.numbers.into(),
            short: self.short,
            max_witnesses: self.weighing.max_witnesses,
            version_percent: self.weighing.version_percent,
            ..Options::default()
        }
    }
}

/// What was scanned, how, and what came out.
#[derive(Debug)]
pub(super) struct Scanned {
    pub(super) collection: Collection,
    pub(super) scan: Scan,
    /// How long each stage took.
    pub(super) stages: Vec<(Stage, Duration)>,
    pub(super) options: Options,
}

impl Scanned {
    fn of(collection: Collection, scan: Scan, options: Options) -> Self {
        Self {
            collection,
            scan,
            stages: Vec::new(),
            options,
        }
    }

    /// How many messages may go.
    pub(super) fn redundant(&self) -> u64 {
        let messages = self.scan.messages.iter();
        messages
            .filter(|message| matches!(message.verdict.standing, Standing::Redundant(_)))
            .count() as u64
    }

    /// Whether everything could be read. Problems of decoding do not count: such mail was read.
    pub(super) fn exit(&self) -> Exit {
        let mut standings = self.scan.messages.iter().map(|m| m.verdict.standing);
        match standings.any(|standing| standing == Standing::Unreadable) {
            true => Exit::Partly,
            false => Exit::after(&self.scan.troubles),
        }
    }
}

/// Finds the folders that a rule is about. One about a folder of an account means where its mail
/// is here.
fn find_folders(rule: &mut KeepRule, places: &Places, collection: &Collection) -> Result<()> {
    let KeepRule::Folders(folders) = rule else {
        return Ok(());
    };
    for folder in folders {
        let found = match places.place(&folder.name) {
            Some(path) => {
                folder.name = plan_path(&path);
                collection.folders_below(&folder.name)
            }
            None => collection.folders_called(&folder.name),
        };
        let there = || collection.folder_list();
        if found.is_empty() && !there().is_empty() {
            return Err(no_such_folder("--keep folder:", &folder.name, there()));
        }
        folder.places = Some(found.into());
    }
    Ok(())
}

/// How many folders a message about one that is not there names.
const NAMED_FOLDERS: usize = 20;

/// Says that an option names no folder there is, and which there are.
pub(super) fn no_such_folder(option: &str, name: &str, mut there: Vec<String>) -> anyhow::Error {
    let count = there.len();
    there.truncate(NAMED_FOLDERS);
    if count > NAMED_FOLDERS {
        there.push(format!("and {} more", count - NAMED_FOLDERS));
    }
    Advice::new(
        format!("{option}{name} matches none of the folders that were read"),
        "name one of these, or a part of its path such as Archive/2019",
    )
    .listing(there)
    .usage()
    .into_error()
}

/// Starts as many threads as the user asked for.
pub(super) fn use_threads(threads: Option<usize>) -> Result<()> {
    let Some(threads) = threads else {
        return Ok(());
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .context(Advice::new(
            format!("cannot start {threads} threads"),
            "use a smaller number for --threads, or leave it out",
        ))
}

/// One missing path among others is reported with the result; if all are missing, it is a mistake.
pub(super) fn refuse_if_nothing_is_there(paths: &[PathBuf]) -> Result<()> {
    let missing =
        |path: &PathBuf| fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    match paths {
        [path, rest @ ..] if paths.iter().all(missing) => {
            let others = if rest.is_empty() {
                ""
            } else {
                ", nor any of the other paths"
            };
            Err(Advice::new(
                format!("there is no file or folder {}{others}", path.display()),
                "check the spelling, and the folder you are in",
            )
            .into_error())
        }
        _ => Ok(()),
    }
}

/// A number of bytes, with K, M, G or T behind it or not.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || "a size is a number with K, M or G behind it, as in 500M".to_owned();
    let lower = text.trim().to_ascii_lowercase();
    let plain = lower.trim_end_matches('b').trim_end_matches('i');
    let (digits, power) = match plain.strip_suffix(['k', 'm', 'g', 't']) {
        Some(digits) => match plain.as_bytes().last() {
            Some(b'k') => (digits, 1),
            Some(b'm') => (digits, 2),
            Some(b'g') => (digits, 3),
            _ => (digits, 4),
        },
        None => (plain, 0),
    };
    let number: u64 = digits.trim().parse().map_err(|_| wrong())?;
    let size = number.checked_mul(1_000_u64.pow(power)).ok_or_else(wrong)?;
    match size {
        0..1_000_000 => Err("less than 1M is too little to work with".to_owned()),
        size => Ok(size),
    }
}

fn parse_keep(text: &str) -> Result<KeepList, String> {
    let mut rules = Vec::new();
    let mut rule = String::new();
    let mut chars = text.chars().peekable();
    loop {
        match chars.next() {
            Some('\\') if chars.peek() == Some(&',') => rule.extend(chars.next()),
            Some(',') => rules.push(parse_rule(&std::mem::take(&mut rule))?),
            Some(c) => rule.push(c),
            None => break,
        }
    }
    rules.push(parse_rule(&rule)?);
    Ok(KeepList {
        rules,
        text: text.to_owned(),
    })
}

fn parse_rule(text: &str) -> Result<KeepRule, String> {
    match text {
        "oldest" => Ok(KeepRule::Oldest),
        "newest" => Ok(KeepRule::Newest),
        "largest" => Ok(KeepRule::Largest),
        "smallest" => Ok(KeepRule::Smallest),
        _ => match text.strip_prefix("folder:") {
            Some("") => Err("folder: needs the name of a folder, as in folder:Archive".into()),
            Some(name) => Ok(KeepRule::Folders(vec![FolderRule::called(name)])),
            None => Err("a rule is oldest, newest, largest, smallest or folder:NAME".to_owned()),
        },
    }
}

/// Neighbouring folders become one list of priorities.
fn merged(rules: impl Iterator<Item = KeepRule>) -> Vec<KeepRule> {
    let mut merged: Vec<KeepRule> = Vec::new();
    for rule in rules {
        match (merged.last_mut(), rule) {
            (Some(KeepRule::Folders(before)), KeepRule::Folders(more)) => before.extend(more),
            (_, rule) => merged.push(rule),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(names: &[&str]) -> KeepRule {
        KeepRule::Folders(names.iter().map(|name| FolderRule::called(*name)).collect())
    }

    #[test]
    fn keep_rules_are_understood() {
        let cases: &[(&str, Vec<KeepRule>)] = &[
            ("oldest", vec![KeepRule::Oldest]),
            ("largest,newest", vec![KeepRule::Largest, KeepRule::Newest]),
            (
                "folder:a,folder:b,smallest",
                vec![folders(&["a", "b"]), KeepRule::Smallest],
            ),
            (
                "folder:a,newest,folder:b",
                vec![folders(&["a"]), KeepRule::Newest, folders(&["b"])],
            ),
            ("folder:a\\,b", vec![folders(&["a,b"])]),
            ("folder:a\\b", vec![folders(&["a\\b"])]),
        ];
        for (text, expected) in cases {
            assert_eq!(
                merged(parse_keep(text).unwrap().rules.into_iter()),
                *expected,
                "{text}"
            );
        }
    }

    #[test]
    fn sizes_are_understood() {
        for (text, size) in [
            ("500M", 500_000_000),
            ("2G", 2_000_000_000),
            ("1500 kb", 1_500_000),
            ("3GiB", 3_000_000_000),
            ("4000000", 4_000_000),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in [
            "",
            "M",
            "-1G",
            "1.5G",
            "12",
            "999K",
            "99999999999999999999",
            "9999999999T",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn wrong_keep_rules_are_refused() {
        for text in ["", "eldest", "oldest,", ",", "folder:", "Oldest", "folder"] {
            assert!(parse_keep(text).is_err(), "{text}");
        }
    }
}
