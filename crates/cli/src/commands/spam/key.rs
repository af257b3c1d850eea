//! `twicetold spam key`.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;
use twicetold_server::{is_reporter_name, make_key};

use super::super::TalkArgs;
use super::place::{PlaceArgs, advise};
use crate::failure::{Advice, Exit};
use crate::terminal::talk;

/// Make a key with which a reporter can report to a server
///
/// The key goes to stdout, once: only a checksum of it is kept. Give the key to the reporter, and the lines
/// that are shown to the configuration file of the server. With --store the checksum goes where campaigns
/// are kept instead, and all servers that share the place know it at once.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct KeyArgs {
    /// Whose key it is
    #[arg(value_name = "NAME")]
    reporter: String,

    /// Keep the checksum where campaigns are kept, not in a configuration file
    #[arg(long)]
    store: bool,

    /// Make no key, and let the one that was stored count no more
    #[arg(long, conflicts_with = "store")]
    revoke: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold spam key anna > anna.key         and copy the lines into serve.toml
  twicetold spam key --store --db redis://spam.example.org:6379 anna > anna.key
  twicetold spam report --server https://spam.example.org --key-file anna.key ~/Maildir/.Junk

More: docs/serve.md";

pub(super) fn run(args: &KeyArgs, how: TalkArgs) -> Result<Exit> {
    let name = args.reporter.as_str();
    if !is_reporter_name(name) || name.contains('/') {
        return Err(Advice::new(
            "a reporter's name is 1 to 200 bytes long and has no slashes and no control characters",
            "choose another name",
        )
        .usage()
        .into_error());
    }
    if args.revoke {
        let engine = args.place.open()?.engine;
        let mut reporter = engine.reporter(name).map_err(advise)?;
        reporter.key = None;
        engine
            .state()
            .set_reporter(name, Some(&reporter))
            .map_err(advise)?;
        if !how.quiet {
            talk("The key that was stored counts no more. One in a configuration file still does.");
        }
        return Ok(Exit::Done);
    }
    let (key, hash) = make_key(name).context("the system has no random numbers")?;
    if args.store {
        let engine = args.place.open()?.engine;
        let mut reporter = engine.reporter(name).map_err(advise)?;
        reporter.key = Some(hash.to_string());
        engine
            .state()
            .set_reporter(name, Some(&reporter))
            .map_err(advise)?;
    }
    writeln!(io::stdout(), "{key}").context("cannot write to stdout")?;
    if !how.quiet {
        if args.store {
            talk("The key is above, and known to all servers that use this place.");
        } else {
            talk(
                "The key is above. Put these lines into the configuration file of the server and reload it:",
            );
            // As a string of JSON a name is a quoted key of TOML, whatever it contains.
            let quoted = serde_json::to_string(name).unwrap_or_default();
            talk(&format!("\n[reporters.{quoted}]\nkey = \"{hash}\""));
        }
    }
    Ok(Exit::Done)
}
