//! Accounts as the commands meet them: the file they stand in, where their mail is kept, their
//! passwords, and `account:NAME` where a path can stand.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use twicetold_account::{
    ConfigError, Connect, Credentials, Error, Fault, FetchOptions, FetchReport, Fetched, Profile,
    Profiles, Protocol, Secret, Session, Skipped, credentials, fetch, fetched_folders,
};
use twicetold_source::act::Failure;

use crate::failure::Advice;
use crate::fetching::FetchBar;
use crate::terminal::talk;

/// Where the accounts stand.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AccountsArgs {
    /// The file of mail accounts [default: accounts.toml in the folder for settings]
    ///
    /// Without it, the environment variable TWICETOLD_CONFIG is looked at.
    #[arg(long, value_name = "FILE", help_heading = "Accounts")]
    config: Option<PathBuf>,
}

impl AccountsArgs {
    /// Reads the accounts.
    pub(crate) fn read(&self) -> Result<Profiles> {
        Profiles::read(&self.file()?).map_err(config_advice)
    }

    /// The account of this name, with or without `account:` before it.
    pub(crate) fn account(&self, name: &str) -> Result<Profile> {
        let name = name.strip_prefix("account:").unwrap_or(name);
        let profiles = self.read()?;
        match profiles.get(name) {
            Some(profile) => self.settled(profile.clone()),
            None => Err(config_advice(profiles.missing(name))),
        }
    }

    fn file(&self) -> Result<PathBuf> {
        if let Some(file) = &self.config {
            return Ok(file.clone());
        }
        if let Some(file) = set("TWICETOLD_CONFIG") {
            return Ok(file.into());
        }
        Ok(place(Place::Config)?.join("twicetold/accounts.toml"))
    }

    /// The account with its paths as they are meant: from home, or from the file of accounts.
    fn settled(&self, mut profile: Profile) -> Result<Profile> {
        let file = self.file()?;
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let meant = |path: PathBuf| -> Result<PathBuf> {
            match path.strip_prefix("~") {
                Ok(rest) => Ok(home()?.join(rest)),
                Err(_) => Ok(folder.join(path)),
            }
        };
        profile.mail = profile.mail.map(meant).transpose()?;
        profile.authorities = profile.authorities.map(meant).transpose()?;
        Ok(profile)
    }

    /// Connects to accounts by their names; each is logged in to with what was asked for once.
    pub(crate) fn connector(&self) -> Connect<'_> {
        let mut known: HashMap<String, (Profile, Credentials)> = HashMap::new();
        Box::new(move |name| {
            if !known.contains_key(name) {
                let found = self.account(name).and_then(|profile| {
                    if profile.protocol == Protocol::Pop3 {
                        return Err(no_folders(name));
                    }
                    let secrets = login(&profile)?;
                    Ok((profile, secrets))
                });
                known.insert(name.to_owned(), found.map_err(|error| as_failure(&error))?);
            }
            let (profile, secrets) = &known[name];
            Session::connect(profile, secrets).map_err(|fault| {
                let error = Error::new(name, fault);
                Failure::new(error.to_string(), error.hint())
            })
        })
    }

    /// The paths, with `account:NAME` and `account:NAME/FOLDER` replaced by where their mail is: on the server, if `remote`
    /// says so.
    pub(crate) fn resolve(
        &self,
        paths: &[PathBuf],
        remote: Option<Remote>,
        quiet: bool,
    ) -> Result<Places> {
        let mut places = Places::default();
        let mut accounts = 0;
        for path in paths {
            let Some(name) = path.to_str().and_then(|path| path.strip_prefix("account:")) else {
                places.paths.push(path.clone());
                continue;
            };
            accounts += 1;
            let (name, folder) = match name.split_once('/') {
                Some((name, folder)) if !folder.is_empty() => (name, Some(folder)),
                Some((name, _)) => (name, None),
                None => (name, None),
            };
            let profile = self.account(name)?;
            let root = if let Some(remote) = remote {
                let temporary = Temporary::new(&profile.name)?;
                let left = fetch_for_once(&profile, folder, remote, &temporary.0, quiet)?;
                let place = |folder: String| format!("account:{name}/{folder}");
                places.left_there.extend(left.into_iter().map(place));
                let root = temporary.0.clone();
                places.temporary.push(temporary);
                root
            } else {
                mail_folder(&profile)?
            };
            places.paths.push(place_of(&profile, &root, folder)?);
            let fetched = Fetched::open(&profile.name, &root)
                .map_err(|fault| advice(&Error::new(&profile.name, fault)))?;
            places.accounts.push(AccountMail {
                fetched,
                pop3: profile.protocol == Protocol::Pop3,
            });
        }
        if remote.is_some() && accounts == 0 {
            return Err(Advice::new(
                "--remote is about accounts, and none is named",
                "name one: account:NAME",
            )
            .usage()
            .into_error());
        }
        Ok(places)
    }
}

/// Mail is read as it is on the server now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remote {
    /// Trash and junk are read as well.
    pub(crate) with_trash: bool,
}

/// Paths to read; what is only there for this run goes when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) paths: Vec<PathBuf>,
    /// The mail of accounts among them.
    pub(crate) accounts: Vec<AccountMail>,
    /// Trash and junk that stayed on their servers, since nobody wants to read it.
    pub(crate) left_there: Vec<String>,
    temporary: Vec<Temporary>,
}

impl Places {
    /// The folders of accounts that their servers call trash or junk.
    pub(crate) fn discarded(&self) -> Vec<PathBuf> {
        let fetched = self.accounts.iter().map(|account| &account.fetched);
        fetched.flat_map(Fetched::discarded).collect()
    }

    /// Where the mail is that `account:NAME/FOLDER` means.
    pub(crate) fn place(&self, name: &str) -> Option<PathBuf> {
        self.accounts
            .iter()
            .find_map(|account| account.fetched.place(name))
    }
}

/// The mail of an account on this machine, for now or for longer.
#[derive(Debug)]
pub(crate) struct AccountMail {
    /// Which file is which message on the server.
    pub(crate) fetched: Fetched,
    /// It came by POP3, which has no way to move messages.
    pub(crate) pop3: bool,
}

/// What is said when something is to be changed on a POP3 server.
fn no_folders(account: &str) -> anyhow::Error {
    Advice::new(
        format!("account {account}: POP3 has no folders, so messages cannot be moved there"),
        "use IMAP for this account, or apply a plan of what was fetched: twicetold scan account:NAME --plan FILE",
    )
    .into_error()
}

/// An error as the library tells it.
fn as_failure(error: &anyhow::Error) -> Failure {
    let next = error.downcast_ref::<Advice>().map_or(
        "check the account with twicetold account test",
        Advice::hint,
    );
    Failure::new(format!("{error:#}"), next)
}

fn place_of(profile: &Profile, root: &Path, folder: Option<&str>) -> Result<PathBuf> {
    let folders =
        fetched_folders(root).map_err(|fault| advice(&Error::new(&profile.name, fault)))?;
    let name = &profile.name;
    if folders.is_empty() {
        return Err(Advice::new(
            format!("nothing has been fetched from the account {name}"),
            format!("first: twicetold fetch {name}"),
        )
        .into_error());
    }
    let Some(wanted) = folder else {
        return Ok(root.to_owned());
    };
    match folders.iter().find(|(folder, _)| folder == wanted) {
        // The inbox is the root, and holds the others: its own messages are one floor down.
        Some((_, path)) if path == root => Ok(root.join("cur")),
        Some((_, path)) => Ok(path.clone()),
        None => Err(Advice::new(
            format!("the folder {wanted} has not been fetched from the account {name}"),
            "these have been:",
        )
        .listing(folders.into_iter().map(|(folder, _)| folder).collect())
        .into_error()),
    }
}

/// Fetches, and names the folders of trash and junk that were left where they are.
fn fetch_for_once(
    profile: &Profile,
    folder: Option<&str>,
    remote: Remote,
    root: &Path,
    quiet: bool,
) -> Result<Vec<String>> {
    let options = FetchOptions {
        folders: folder.map(str::to_owned).into_iter().collect(),
        // A folder that is named is read, whatever it is for.
        without_discarded: folder.is_none() && !remote.with_trash,
        ..FetchOptions::default()
    };
    let secrets = login(profile)?;
    let bar = FetchBar::new(quiet);
    let report = fetch(profile, &secrets, root, &options, &bar);
    bar.finish();
    let report: FetchReport = report.map_err(|error| advice(&error))?;
    match report.failure {
        Some(failure) => Err(advice(&failure)),
        None => Ok(discarded(report.skipped)),
    }
}

fn discarded(skipped: Vec<(String, Skipped)>) -> Vec<String> {
    let discarded = |(name, why)| (why == Skipped::Discarded).then_some(name);
    skipped.into_iter().filter_map(discarded).collect()
}

/// Where an account's mail is kept.
pub(crate) fn mail_folder(profile: &Profile) -> Result<PathBuf> {
    match &profile.mail {
        Some(path) => Ok(path.clone()),
        None => Ok(place(Place::Data)?.join("twicetold").join(&profile.name)),
    }
}

/// Gets what an account logs in with; asks for it if that is what the account says.
pub(crate) fn login(profile: &Profile) -> Result<Credentials> {
    let mut prompt = || {
        let question = format!("Password of {} at {}: ", profile.user, profile.host);
        match rpassword::prompt_password(question) {
            Ok(password) => Ok(Secret::new(password)),
            Err(error) => Err(Fault::NoSecret {
                what: format!("the password cannot be asked for: {error}"),
                hint: "without a terminal, use --password keyring, command:… or env:NAME with account add".into(),
            }),
        }
    };
    credentials(profile, &mut prompt).map_err(|fault| advice(&Error::new(&profile.name, fault)))
}

/// What went wrong with an account, for the user.
pub(crate) fn advice(error: &Error) -> anyhow::Error {
    Advice::new(error.to_string(), error.hint()).into_error()
}

/// What is wrong with the file of accounts, for the user.
pub(crate) fn config_advice(error: ConfigError) -> anyhow::Error {
    Advice::new(error.to_string(), error.hint).into_error()
}

/// A folder that is removed when this is dropped.
///
/// A run that is killed leaves its folder; the next one that needs such a folder removes it.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Temporary {
    fn new(account: &str) -> Result<Self> {
        let parent = place(Place::Cache)?.join("twicetold/remote");
        for entry in fs::read_dir(&parent).into_iter().flatten().flatten() {
            let lock = fs::File::open(entry.path().join(".twicetold-lock"));
            if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(Self(
            parent.join(format!("{account}-{}", std::process::id())),
        ))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0)
            && self.0.exists()
        {
            let path = self.0.display();
            talk(&format!(
                "warning: {path} could not be removed ({error}); remove it yourself"
            ));
        }
    }
}

/// The user's folder for what can be found out again, if there is one.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    Some(place(Place::Cache).ok()?.join("twicetold"))
}

#[derive(Clone, Copy)]
enum Place {
    Config,
    Data,
    Cache,
}

/// The user's folder for such things, as the platform has it.
fn place(place: Place) -> Result<PathBuf> {
    if cfg!(windows) {
        let name = match place {
            Place::Config => "APPDATA",
            Place::Data | Place::Cache => "LOCALAPPDATA",
        };
        return set(name).map(PathBuf::from).ok_or_else(|| homeless(name));
    }
    let (variable, here, mac) = match place {
        Place::Config => ("XDG_CONFIG_HOME", ".config", "Library/Application Support"),
        Place::Data => (
            "XDG_DATA_HOME",
            ".local/share",
            "Library/Application Support",
        ),
        Place::Cache => ("XDG_CACHE_HOME", ".cache", "Library/Caches"),
    };
    // A relative path is to be ignored, says the standard.
    match set(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
    {
        Some(path) => Ok(path),
        None if cfg!(target_os = "macos") => Ok(home()?.join(mac)),
        None => Ok(home()?.join(here)),
    }
}

fn home() -> Result<PathBuf> {
    env::home_dir()
        .filter(|home| !home.as_os_str().is_empty())
        .ok_or_else(|| homeless("HOME"))
}

fn homeless(variable: &str) -> anyhow::Error {
    Advice::new(
        format!("there is no home folder: {variable} is not set"),
        "set it, or name the file of accounts with --config and a mail folder in it",
    )
    .into_error()
}

fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}
