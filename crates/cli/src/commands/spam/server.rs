//! Asking a server instead of a folder.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use twicetold_server::{Client, ClientError, Heard, Sent, Target, Verb};

use super::reading::Sketched;
use crate::failure::Advice;
use crate::terminal::talk;

/// Which server to ask, and how.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    #[command(flatten)]
    way: WayArgs,

    /// What is sent to the server
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t,
        requires = "server"
    )]
    send: Send,
}

/// Which server to ask.
#[derive(Debug, Args)]
pub(super) struct WayArgs {
    /// Ask this server: http://HOST:PORT, https://HOST or unix:/PATH
    #[arg(long, value_name = "URL", conflicts_with_all = ["db", "prefix", "wait"])]
    server: Option<String>,

    /// A file with the key to show to the server [default: $TWICETOLD_KEY]
    #[arg(long, value_name = "FILE", requires = "server")]
    key_file: Option<PathBuf>,

    /// A file with the authority that signed the certificate of the server (PEM)
    #[arg(long, value_name = "FILE", requires = "server")]
    ca: Option<PathBuf>,
}

/// What is sent to a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Send {
    /// Fingerprints: the text stays here
    #[default]
    Sketch,
    /// Whole messages
    Message,
}

/// A server that is asked.
pub(super) struct Asked {
    client: Client,
}

impl ServerArgs {
    /// Whether whole messages are sent.
    pub(super) fn sends_messages(&self) -> bool {
        self.way.server.is_some() && self.send == Send::Message
    }

    /// The server, if one is to be asked; `member` is in whose name.
    pub(super) fn open(&self, member: Option<&str>, quiet: bool) -> Result<Option<Asked>> {
        self.way.open(member, self.sends_messages(), quiet)
    }
}

impl WayArgs {
    /// The server, if one is to be asked; `bares` says that what is sent should not be read on the way.
    pub(super) fn open(
        &self,
        member: Option<&str>,
        bares: bool,
        quiet: bool,
    ) -> Result<Option<Asked>> {
        let Some(server) = &self.server else {
            return Ok(None);
        };
        let target: Target = server.parse().map_err(|what: String| {
            Advice::new(what, "as the administrator of the server tells")
                .usage()
                .into_error()
        })?;
        let key = match &self.key_file {
            Some(file) => Some(fs::read_to_string(file).with_context(|| {
                Advice::new(
                    format!("cannot read {}", file.display()),
                    "name the file with the key that the administrator gave you",
                )
            })?),
            None => env::var("TWICETOLD_KEY").ok(),
        };
        let key = key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        if target.is_readable_on_the_way() && (key.is_some() || bares) && !quiet {
            talk("warning: this is sent without encryption; use https:// if the server can");
        }
        let client = Client::new(target, key, member, self.ca.as_deref()).context(Advice::new(
            "cannot begin to ask the server",
            "check --ca and the key",
        ))?;
        Ok(Some(Asked { client }))
    }
}

impl Asked {
    /// Writes down everything the server knows.
    pub(super) fn export(&self, out: &mut dyn io::Write) -> Result<u64> {
        self.client.export(out).map_err(|error| advise(&error))
    }

    /// Asks about messages. What concerns one message alone stays its own affair; all else ends the run.
    pub(super) fn ask(&self, verb: Verb, batch: &mut [Sketched]) -> Result<Vec<Heard>> {
        let sent = batch
            .iter_mut()
            .map(|one| match one.bytes.take() {
                Some(bytes) => Sent::Message(bytes),
                None => Sent::Sketch(Box::new(one.sketches.clone())),
            })
            .collect();
        let heard = self.client.ask(verb, sent);
        let is_fatal = |heard: &Heard| {
            heard
                .as_ref()
                .is_err_and(|error| !matches!(error, ClientError::Message { .. }))
        };
        match heard.iter().position(is_fatal) {
            None => Ok(heard),
            Some(at) => match heard.into_iter().nth(at) {
                Some(Err(error)) => Err(advise(&error)),
                _ => Ok(Vec::new()),
            },
        }
    }
}

fn advise(error: &ClientError) -> anyhow::Error {
    let hint = match error {
        ClientError::Unreachable { .. } => {
            "check the address, that the server runs, and --ca if its certificate is your own"
        }
        ClientError::Forbidden { .. } => {
            "give the key with --key-file FILE or $TWICETOLD_KEY; the administrator makes one with twicetold spam key NAME"
        }
        ClientError::Busy { .. } => "try again later",
        ClientError::Unwritten { .. } => "check that there is room, and start again",
        ClientError::Message { .. } => "send sketches: --send sketch",
        ClientError::Strange { .. } => {
            "check the address, and that both sides have the same version"
        }
    };
    Advice::new(error.to_string(), hint).into_error()
}
