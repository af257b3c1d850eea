//! Fetching: what is on the server and not here comes here, once, and stays.

pub(crate) mod arrival;
mod plan;
mod pop3;
pub(crate) mod select;
mod work;

use std::path::{Path, PathBuf};

use crate::fault::{Error, Fault};
use crate::imap::session::Session;
use crate::local::LocalAccount;
use crate::profile::{Profile, Protocol};
use crate::secret::Credentials;

use select::Kind;
pub use select::Skipped;

/// How to fetch.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The folders, as patterns; empty for those of the profile, or else the usual ones.
    pub folders: Vec<String>,
    /// Folders to leave out, as patterns, besides those of the profile.
    pub exclude: Vec<String>,
    /// How many connections at a time, if not what the profile says.
    pub jobs: Option<usize>,
    /// Only tell what would be fetched.
    pub dry_run: bool,
    /// Remove here what the server no longer has.
    pub mirror: bool,
    /// POP3: remove from the server what is safely here.
    pub delete_after_fetch: bool,
    /// Leave out folders that the server calls trash or junk.
    pub without_discarded: bool,
    /// How often a cut connection is taken up again without anything having arrived meanwhile.
    pub retries: u32,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            exclude: Vec::new(),
            jobs: None,
            dry_run: false,
            mirror: false,
            delete_after_fetch: false,
            without_discarded: false,
            retries: 3,
        }
    }
}

/// Is told how far the work is. Called from several threads.
pub trait FetchProgress: Sync {
    /// So many messages more are to be fetched.
    fn expect(&self, messages: u64);
    /// So many messages and bytes more have arrived.
    fn advance(&self, messages: u64, bytes: u64);
    /// A folder is being looked at.
    fn folder(&self, name: &str);
}

/// No progress is shown.
impl FetchProgress for () {
    fn expect(&self, _: u64) {}
    fn advance(&self, _: u64, _: u64) {}
    fn folder(&self, _: &str) {}
}

/// What was fetched.
#[derive(Debug, Default)]
pub struct FetchReport {
    /// Each folder that was looked at.
    pub folders: Vec<FolderReport>,
    /// Folders that were left out, and why.
    pub skipped: Vec<(String, Skipped)>,
    /// What did not go as it should: folders and messages that were not handed out, patterns that
    /// fit nothing.
    pub problems: Vec<String>,
    /// What the server wants its users to read.
    pub alerts: Vec<String>,
    /// What ended the work before its end. What is in the folders is kept.
    pub failure: Option<Error>,
}

impl FetchReport {
    /// How many new messages there are.
    pub fn new_messages(&self) -> u64 {
        self.folders.iter().map(|folder| folder.new).sum()
    }

    /// How many bytes the new messages have.
    pub fn new_bytes(&self) -> u64 {
        self.folders.iter().map(|folder| folder.bytes).sum()
    }
}

/// What was fetched from a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderReport {
    /// The folder on the server.
    pub name: String,
    /// The Maildir here.
    pub path: PathBuf,
    /// Messages on the server that were not here when the work began.
    pub missing: u64,
    /// Messages that are new here.
    pub new: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that were here already, and were recognised when the server numbered them anew.
    pub again: u64,
    /// Messages whose flags or labels changed.
    pub changed: u64,
    /// Messages that the server no longer has, and that stay here.
    pub gone: u64,
    /// Messages that were removed here because the server no longer has them.
    pub removed: u64,
    /// POP3: messages that were removed from the server because they are safely here.
    pub removed_on_server: u64,
    /// Messages that are left out because they came with another folder (Gmail).
    pub elsewhere: u64,
}

/// Fetches the mail of an account into the folder `root`.
///
/// What arrived stays, whatever happens later; the next call goes on from there.
///
/// # Errors
///
/// If nothing could be begun. What ends the work later is part of the report.
pub fn fetch(
    profile: &Profile,
    credentials: &Credentials,
    root: &Path,
    options: &FetchOptions,
    progress: &dyn FetchProgress,
) -> Result<FetchReport, Error> {
    let named = |fault| Error::new(&profile.name, fault);
    refuse_wishes_that_do_not_fit(profile, options).map_err(named)?;
    let job = Job {
        profile,
        credentials,
        root,
        options,
        progress,
    };
    // Held until the end.
    let local = if options.dry_run {
        None
    } else {
        Some(LocalAccount::open(root).map_err(named)?)
    };
    let root = local.as_ref().map_or(root, |local| &local.root);
    let job = Job { root, ..job };
    match profile.protocol {
        Protocol::Imap => fetch_imap(&job),
        Protocol::Pop3 => pop3::fetch(&job),
    }
    .map_err(named)
}

/// What is to be done, and for whom.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) credentials: &'a Credentials,
    pub(crate) root: &'a Path,
    pub(crate) options: &'a FetchOptions,
    pub(crate) progress: &'a dyn FetchProgress,
}

fn refuse_wishes_that_do_not_fit(profile: &Profile, options: &FetchOptions) -> Result<(), Fault> {
    let refuse = |what: &str, hint: &str| {
        Err(Fault::Wish {
            what: what.into(),
            hint: hint.into(),
        })
    };
    match profile.protocol {
        Protocol::Imap if options.delete_after_fetch => refuse(
            "mail is removed from the server after fetching with POP3 only",
            "leave --delete-after-fetch out",
        ),
        Protocol::Pop3 if !options.folders.is_empty() || !options.exclude.is_empty() => {
            refuse("POP3 has no folders", "leave --folder and --exclude out")
        }
        Protocol::Pop3 if options.mirror => refuse(
            "a POP3 server cannot be mirrored: it is meant to be emptied",
            "leave --mirror out",
        ),
        _ => Ok(()),
    }
}

fn fetch_imap(job: &Job<'_>) -> Result<FetchReport, Fault> {
    let mut session = Session::connect(job.profile, job.credentials)?;
    let (folders, unnamed) = session.folders()?;
    let patterns = if job.options.folders.is_empty() {
        &job.profile.folders
    } else {
        &job.options.folders
    };
    let exclude = [&job.profile.exclude[..], &job.options.exclude[..]].concat();
    let gmail = session.has("X-GM-EXT-1");
    let kind = Kind {
        gmail,
        without_discarded: job.options.without_discarded,
    };
    let selection = select::select(folders, patterns, &exclude, kind);
    let mut report = FetchReport {
        skipped: selection.skipped,
        ..FetchReport::default()
    };
    for pattern in selection.idle {
        report.problems.push(format!("no folder fits {pattern}"));
    }
    if unnamed > 0 {
        report.problems.push(format!(
            "{unnamed} folders were left out: their names are not text"
        ));
    }
    let plan = plan::plan(job, &mut session, &selection.chosen, gmail, &mut report);
    report.alerts = session.alerts().to_vec();
    match plan {
        Ok(plan) => work::work(job, session, plan, &mut report),
        Err(fault) => report.failure = Some(Error::new(&job.profile.name, fault)),
    }
    Ok(report)
}
