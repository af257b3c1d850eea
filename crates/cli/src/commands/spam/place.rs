//! Where the campaigns are kept.

use std::env;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use clap::Args;
use twicetold_service::{Embedded, Engine, Redis, StateError};

use crate::failure::Advice;

/// The reporter who needs no name: whoever owns the folder.
pub(super) const OWNER: &str = "local";

/// What keys on a Redis server begin with.
const PREFIX: &str = "twicetold:";

/// Where the campaigns are kept.
#[derive(Debug, Args)]
pub(in crate::commands) struct PlaceArgs {
    /// Where campaigns are kept: a folder, redis://HOST:PORT or redis-cluster://HOST:PORT[,HOST:PORT...]
    ///
    /// Without it, a folder of yours: $TWICETOLD_SPAM_DB, or twicetold/spam in the data folder of the
    /// platform ($XDG_DATA_HOME, ~/.local/share, ~/Library/Application Support, %LOCALAPPDATA%).
    #[arg(long, value_name = "DIR|URL")]
    pub(in crate::commands) db: Option<String>,

    /// What all keys on a Redis server begin with
    #[arg(long, value_name = "PREFIX", default_value = PREFIX)]
    pub(in crate::commands) prefix: String,

    /// How many seconds to wait for another process that has the folder open
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(in crate::commands) wait: u64,
}

/// The engine, and what is special about where it stands.
pub(in crate::commands) struct Place {
    pub(in crate::commands) engine: Engine,
    /// Whether nothing is there yet.
    pub(super) empty: bool,
}

impl PlaceArgs {
    /// The place as the user would write it.
    pub(in crate::commands) fn chosen(&self) -> Result<String> {
        if let Some(db) = &self.db {
            return Ok(db.clone());
        }
        if let Ok(db) = env::var("TWICETOLD_SPAM_DB")
            && !db.is_empty()
        {
            return Ok(db);
        }
        data_folder()
            .map(|folder| folder.join("twicetold/spam").to_string_lossy().into_owned())
            .ok_or_else(|| {
                Advice::new(
                    "there is no folder of yours to keep campaigns in",
                    "name one with --db DIR",
                )
                .into_error()
            })
    }

    /// Opens the place to change it.
    pub(in crate::commands) fn open(&self) -> Result<Place> {
        let chosen = self.chosen()?;
        let state: Box<dyn twicetold_service::State> = if Redis::is_address(&chosen) {
            Box::new(Redis::open(&chosen, &self.prefix).map_err(advise)?)
        } else {
            let patience = Duration::from_secs(self.wait);
            Box::new(Embedded::open(chosen.as_ref(), patience).map_err(advise)?)
        };
        Ok(Place {
            engine: Engine::new(state),
            empty: false,
        })
    }

    /// Opens the place to look; nothing is made if nothing is there.
    pub(super) fn look(&self) -> Result<Place> {
        let chosen = self.chosen()?;
        if Redis::is_address(&chosen) || PathBuf::from(&chosen).is_dir() {
            return self.open();
        }
        let state = Embedded::in_memory().map_err(advise)?;
        Ok(Place {
            engine: Engine::new(Box::new(state)),
            empty: true,
        })
    }

    /// Whether it is a folder, whose owner's word counts.
    pub(super) fn is_own(&self) -> Result<bool> {
        Ok(!Redis::is_address(&self.chosen()?))
    }
}

fn data_folder() -> Option<PathBuf> {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if cfg!(windows) {
        return set("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return set("HOME").map(|home| home.join("Library/Application Support"));
    }
    set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))
}

/// What to do about trouble with the state.
pub(in crate::commands) fn advise(error: StateError) -> anyhow::Error {
    let hint = match &error {
        StateError::InUse { .. } => {
            "wait until the other twicetold has finished, or give --wait more seconds; if that is a server, ask it with --server URL (check, report, revoke, export) or stop it first"
        }
        StateError::Format { .. } => {
            "use the version of twicetold that wrote it to export it, then import it here"
        }
        StateError::Damaged { .. } => "restore it from a backup or an export",
        StateError::Failed { .. } => "check that it can be reached and that you may write there",
        StateError::Contended { .. } => "start again",
    };
    Advice::new(error.to_string(), hint).into_error()
}

/// Now, in seconds since 1970.
pub(super) fn now() -> Result<i64> {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .context("the clock of this machine stands before 1970")?;
    Ok(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
