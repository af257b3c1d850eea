//! `twicetold account`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use indicatif::HumanCount;
use twicetold_account::{
    Error, Login, Profile, Protocol, Source, Tls, is_account_name, overview, store_in_keyring,
};

use super::TalkArgs;
use crate::accounts::{AccountsArgs, advice, config_advice, login, mail_folder};
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::{self, visible, visible_path};
use crate::terminal::{Paint, talk};

/// Add, list, test and remove mail accounts
///
/// Accounts stand in a file of their own, which you may also write yourself. It never holds a password:
/// only where the password comes from.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct AccountArgs {
    #[command(subcommand)]
    command: AccountCommand,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold account add work --host imap.example.org --user anna@example.org --password keyring
  twicetold account add old --protocol pop3 --host pop.example.org --user anna \\
      --password 'command:pass show mail/old'
  twicetold account test work
  twicetold fetch work

More: docs/accounts.md";

#[derive(Debug, Subcommand)]
enum AccountCommand {
    Add(Box<AddArgs>),
    List(ListArgs),
    Test(TestArgs),
    Remove(RemoveArgs),
}

/// Add an account to the file of accounts
#[derive(Debug, Args)]
struct AddArgs {
    /// What to call it
    name: String,

    /// The server
    #[arg(long)]
    host: String,

    /// The name you log in with
    #[arg(long)]
    user: String,

    /// imap or pop3
    #[arg(long, default_value_t)]
    protocol: Protocol,

    /// implicit (from the first byte), starttls, or none (everybody on the way can read the password)
    #[arg(long, default_value_t)]
    tls: Tls,

    /// The port [default: 993 or 143 for IMAP, 995 or 110 for POP3]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,

    /// Where the password comes from: keyring, prompt, env:NAME or command:COMMAND [default: prompt]
    // Not parsed by clap: its error would repeat what may be a password.
    #[arg(long, value_name = "SOURCE", conflicts_with = "oauth2")]
    password: Option<String>,

    /// A command that writes an OAuth 2 token
    #[arg(long, value_name = "COMMAND")]
    oauth2: Option<String>,

    /// A PEM file of certificate authorities to trust instead of the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Where its mail is kept [default: NAME in twicetold's folder for data]
    #[arg(long, value_name = "FOLDER")]
    mail: Option<PathBuf>,

    /// Folders to fetch; * stands for anything [default: all but views of others]
    #[arg(long, value_name = "PATTERN")]
    folder: Vec<String>,

    /// Folders not to fetch
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// How many connections to use at a time
    #[arg(long, value_name = "N", default_value_t = Profile::JOBS)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=Profile::MOST_JOBS as u64))]
    jobs: usize,

    /// How many seconds to wait for the server
    #[arg(long, value_name = "SECONDS", default_value_t = Profile::TIMEOUT)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,

    #[command(flatten)]
    accounts: AccountsArgs,
}

/// List the accounts
#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    accounts: AccountsArgs,
}

/// Connect, log in and show what the server offers and which folders there are
#[derive(Debug, Args)]
struct TestArgs {
    /// The account
    name: String,

    #[command(flatten)]
    accounts: AccountsArgs,
}

/// Take an account out of the file of accounts; its mail stays
#[derive(Debug, Args)]
struct RemoveArgs {
    /// The account
    name: String,

    #[command(flatten)]
    accounts: AccountsArgs,
}

pub(super) fn run(args: &AccountArgs, how: TalkArgs) -> Result<Exit> {
    match &args.command {
        AccountCommand::Add(args) => add(args, how),
        AccountCommand::List(args) => list(args, how),
        AccountCommand::Test(args) => test(args, how),
        AccountCommand::Remove(args) => remove(args, how),
    }
}

fn add(args: &AddArgs, how: TalkArgs) -> Result<Exit> {
    if !is_account_name(&args.name) {
        return Err(Advice::new(
            "this is no name for an account",
            "use letters, digits, dots and dashes, at most 64, beginning with a letter or digit",
        )
        .usage()
        .into_error());
    }
    let mut profiles = args.accounts.read()?;
    let profile = profile(args)?;
    profiles.add(&profile).map_err(config_advice)?;
    let name = &profile.name;
    if profile.login == Login::Password(Source::Keyring)
        && let Err(fault) = store_in_keyring(name)
    {
        // The account stands; the password can be stored later.
        return Err(advice(&Error::new(name, fault)));
    }
    if !how.quiet {
        let file = visible_path(&profiles.file().to_string_lossy());
        talk(&format!(
            "Added {name} to {file}. Next: twicetold account test {name}"
        ));
        if profile.tls == Tls::None {
            talk("warning: without TLS, everybody on the way can read the password and the mail");
        }
    }
    Ok(Exit::Done)
}

fn profile(args: &AddArgs) -> Result<Profile> {
    let login = match (&args.password, &args.oauth2) {
        (_, Some(command)) => Login::OAuth2(
            command
                .strip_prefix("command:")
                .unwrap_or(command)
                .to_owned(),
        ),
        (None, None) => Login::Password(Source::Prompt),
        (Some(source), None) => match source.parse() {
            Ok(source) => Login::Password(source),
            Err(_) => {
                return Err(Advice::new(
                    "--password takes no password, but where it comes from",
                    "--password keyring, prompt, env:NAME or command:COMMAND; if that was your password, it is now in your shell's history",
                )
                .usage()
                .into_error());
            }
        },
    };
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    Ok(Profile {
        name: args.name.clone(),
        protocol: args.protocol,
        host: args.host.clone(),
        port: args.port.unwrap_or(args.protocol.port(args.tls)),
        user: args.user.clone(),
        tls: args.tls,
        login,
        authorities: args.ca.as_ref().map(absolute),
        mail: args.mail.as_ref().map(absolute),
        folders: args.folder.clone(),
        exclude: args.exclude.clone(),
        jobs: args.jobs,
        timeout: Duration::from_secs(args.timeout),
    })
}

fn list(args: &ListArgs, how: TalkArgs) -> Result<Exit> {
    let profiles = args.accounts.read()?;
    let mut lines = Vec::new();
    for profile in profiles.iter() {
        let profile = args.accounts.account(&profile.name)?;
        let from = match &profile.login {
            Login::Password(source) => format!("password from {source}"),
            Login::OAuth2(command) => format!("token from command:{command}"),
        };
        let (host, port) = (&profile.host, profile.port);
        let line = format!(
            "{}\t{}\t{}@{host}:{port}\ttls {}\t{from}\t{}",
            profile.name,
            profile.protocol,
            profile.user,
            profile.tls,
            mail_folder(&profile)?.to_string_lossy(),
        );
        let cells: Vec<String> = line.split('\t').map(visible_path).collect();
        lines.push(cells.join("\t"));
    }
    if lines.is_empty() && !how.quiet {
        let file = visible_path(&profiles.file().to_string_lossy());
        talk(&format!(
            "No accounts in {file}. Add one: twicetold account add NAME --host HOST --user USER"
        ));
    }
    Output::Stdout.write(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok(Exit::Done)
}

fn test(args: &TestArgs, how: TalkArgs) -> Result<Exit> {
    let profile = args.accounts.account(&args.name)?;
    let secrets = login(&profile)?;
    let found = overview(&profile, &secrets).map_err(|error| advice(&error))?;
    let paint = Paint::for_stdout(how.color);
    let head = format!(
        "{}: {} at {}:{} works",
        profile.name, profile.protocol, profile.host, profile.port
    );
    let security = match found.tls {
        Some(version) => format!("TLS {version}, certificate checked"),
        None => "no TLS: everybody on the way can read along".to_owned(),
    };
    let offers: Vec<String> = found
        .capabilities
        .iter()
        .map(|name| visible(name, 60))
        .collect();
    Output::Stdout.write(|out| {
        writeln!(out, "{}", paint.strong(&head))?;
        writeln!(out, "  security  {security}")?;
        writeln!(
            out,
            "  login     {} with {}",
            visible(&profile.user, escape::SENDER),
            found.mechanism
        )?;
        writeln!(out, "  offers    {}", offers.join(" "))?;
        writeln!(out, "  folders")?;
        for (name, messages) in &found.folders {
            let count = messages.map_or_else(
                || "?".to_owned(),
                |count| HumanCount(count.into()).to_string(),
            );
            writeln!(out, "    {count:>9}  {}", visible(name, escape::PATH))?;
        }
        Ok(())
    })?;
    for alert in found.alerts.iter().filter(|_| !how.quiet) {
        talk(&format!(
            "the server says: {}",
            visible(alert, escape::MESSAGE)
        ));
    }
    Ok(Exit::Done)
}

fn remove(args: &RemoveArgs, how: TalkArgs) -> Result<Exit> {
    let mut profiles = args.accounts.read()?;
    let kept = args.accounts.account(&args.name)?;
    profiles.remove(&kept.name).map_err(config_advice)?;
    if !how.quiet {
        let mail = mail_folder(&kept)?;
        talk(&format!(
            "Removed {} from {}.",
            kept.name,
            visible_path(&profiles.file().to_string_lossy())
        ));
        if mail.exists() {
            talk(&format!(
                "Its mail stays in {}.",
                visible_path(&mail.to_string_lossy())
            ));
        }
        if kept.login == Login::Password(Source::Keyring) {
            talk(&format!(
                "Its password stays in the keyring (service twicetold, account {}).",
                kept.name
            ));
        }
    }
    Ok(Exit::Done)
}
