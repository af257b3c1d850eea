//! `twicetold serve`.

use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use twicetold_server::{Action, Log, Place, ServeError, Server, Settings};
use twicetold_service::Redis;

use super::TalkArgs;
use super::spam::place::{PlaceArgs, advise};
use crate::failure::{Advice, Exit};
use crate::terminal::talk;

/// Serve spam checks and reports over HTTP, and to mail servers as a milter
///
/// Answers POST /v1/check, /v1/report and /v1/revoke (a message or a sketch of it), GET /v1/campaigns/NAME,
/// /healthz, /metrics and /openapi.json. Reports need a key, made with twicetold spam key. With --milter,
/// Postfix and Sendmail can ask about each message while it comes in; headers are added, forged ones removed.
/// The log goes to stderr, as JSON lines, without anything of a message.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ServeArgs {
    /// The configuration file; read again on SIGHUP
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Where to serve HTTP: HOST:PORT or unix:/PATH [default: 127.0.0.1:8520]
    #[arg(long, value_name = "PLACE")]
    http: Vec<Place>,

    /// Where to serve the milter: unix:/PATH or inet:HOST:PORT
    #[arg(long, value_name = "PLACE")]
    milter: Vec<Place>,

    /// What the milter does with spam [default: tag]
    #[arg(long, value_name = "ACTION", value_parser = ["tag", "reject", "quarantine"])]
    spam: Option<String>,

    /// Look whether the configuration is right, and serve nothing
    #[arg(long)]
    check_config: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold serve --db /var/lib/twicetold
  twicetold serve --config /etc/twicetold/serve.toml
  twicetold serve --milter unix:/run/twicetold/milter.sock --spam reject

Signals: SIGTERM and SIGINT finish what was begun and end; SIGHUP reads the configuration and the
certificate again.

Exit codes: 0 ended as told, 1 error, 2 wrong usage.

More: docs/serve.md (keys, limits, TLS, Postfix, Dovecot, systemd), docs/spam.md";

pub(super) fn run(args: &ServeArgs, how: TalkArgs) -> Result<Exit> {
    let settings = args.settings().map_err(|what| {
        Advice::new(what, "correct it; docs/serve.md explains every setting").into_error()
    })?;
    if args.check_config {
        if !how.quiet {
            talk("The configuration is right.");
        }
        return Ok(Exit::Done);
    }
    let place = PlaceArgs {
        db: args.place.db.clone().or_else(|| settings.db.clone()),
        prefix: settings
            .prefix
            .clone()
            .unwrap_or_else(|| args.place.prefix.clone()),
        wait: args.place.wait,
    };
    let is_remote = Redis::is_address(&place.chosen()?);
    let engine = place.open()?.engine;
    let log = Log::to(io::stderr()).context("cannot begin to write a log")?;
    let server = Server::start(settings, engine, log, is_remote).map_err(told)?;
    let reread = || args.settings();
    server.until_told(reread).map_err(told)?;
    Ok(Exit::Done)
}

impl ServeArgs {
    /// The settings of the file, and what the command line says otherwise.
    fn settings(&self) -> Result<Settings, String> {
        let mut settings = match &self.config {
            Some(file) => Settings::read(file).map_err(|error| error.to_string())?,
            None => Settings::default(),
        };
        if !self.http.is_empty() {
            settings.http.listen.clone_from(&self.http);
        }
        if !self.milter.is_empty() {
            settings.milter.listen.clone_from(&self.milter);
        }
        match self.spam.as_deref() {
            Some("reject") => settings.milter.spam = Action::Reject,
            Some("quarantine") => settings.milter.spam = Action::Quarantine,
            Some(_) => settings.milter.spam = Action::Tag,
            None => {}
        }
        settings.check()?;
        Ok(settings)
    }
}

fn told(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::State(error) => advise(error),
        ServeError::Settings(what) => {
            Advice::new(what, "correct it; docs/serve.md explains every setting").into_error()
        }
        ServeError::System(error) => Advice::new(
            error.to_string(),
            "choose another place with --http or --milter, end what uses it, or check the file",
        )
        .into_error(),
    }
}
