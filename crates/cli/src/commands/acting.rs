//! What the commands share that change mailboxes: where journals lie, who judges, who is asked.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use twicetold_account::{ServerWishes, Servers};
use twicetold_detect::{Doubt, recheck};
use twicetold_model::Problem;
use twicetold_source::act::{
    Action, Both, Case, Failure, Judge, Local, Progress, Recovered, State, Watch, Wishes, recover,
};
use twicetold_source::{Plan, TRASH};

use crate::accounts::AccountsArgs;
use crate::failure::Advice;
use crate::report::escape::{self, shell_word, visible};
use crate::report::units::counted;
use crate::terminal::talk;

/// Where runs are recorded.
#[derive(Debug, Args)]
pub(super) struct StateArgs {
    /// The folder with the journals of all runs [default: $XDG_STATE_HOME/twicetold, or else
    /// ~/.local/state/twicetold]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

/// Whether the user is sure.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct SureArgs {
    /// Do not ask
    #[arg(long, short)]
    pub(super) yes: bool,

    /// Change nothing, only tell what would be done
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl StateArgs {
    /// What a command has to say besides to find the same journals.
    pub(super) fn repeated(&self) -> String {
        let folder = self.state.as_ref().map(|state| state.to_string_lossy());
        folder.map_or_else(String::new, |folder| {
            let word = shell_word(&folder).unwrap_or_else(|| "DIR".to_owned());
            format!(" --state {word}")
        })
    }

    /// The folder with the journals, which may not be there yet.
    pub(super) fn folder(&self) -> Result<PathBuf> {
        let set = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
        if let Some(folder) = self
            .state
            .clone()
            .or_else(|| set("TWICETOLD_STATE").map(PathBuf::from))
        {
            return Ok(folder);
        }
        let state = set("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute());
        let home = || {
            let below = if cfg!(target_os = "macos") {
                "Library/Application Support"
            } else {
                ".local/state"
            };
            set("HOME").map(|home| PathBuf::from(home).join(below))
        };
        state
            .or_else(home)
            .map(|folder| folder.join("twicetold"))
            .ok_or_else(|| {
                Advice::new(
                    "there is no place for the journal: neither XDG_STATE_HOME nor HOME is set",
                    "name a folder with --state",
                )
                .into_error()
            })
    }
}

/// What is wanted of mailboxes here, and of those on servers.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) local: Wishes,
    pub(super) server: ServerWishes,
}

impl Wanted {
    /// What is wanted if nothing is said.
    pub(super) fn usual() -> Self {
        let local = usual_wishes();
        let server = ServerWishes {
            action: local.action,
            trash: None,
            to: None,
            label: local.label.clone(),
            store: PathBuf::new(),
        };
        Self { local, server }
    }

    /// Says where what is deleted is kept.
    pub(super) fn keep_in(&mut self, store: PathBuf) {
        self.local.store.clone_from(&store);
        self.server.store = store;
    }
}

/// Hands that reach files and servers.
pub(super) fn hands<'p>(
    plan: Option<&'p Plan>,
    wanted: Wanted,
    accounts: &'p AccountsArgs,
) -> Both<'p, Servers<'p>> {
    let connect = accounts.connector();
    let (local, server) = match plan {
        Some(plan) => (
            Local::new(plan, wanted.local),
            Servers::new(plan, wanted.server, connect),
        ),
        None => (
            Local::without_plan(wanted.local),
            Servers::without_plan(wanted.server, connect),
        ),
    };
    Both::new(plan, local, server)
}

fn usual_wishes() -> Wishes {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    Wishes {
        action: Action::Trash,
        trash: TRASH.into(),
        to: None,
        label: "twicetold".to_owned(),
        store: PathBuf::new(),
        patience: Duration::from_secs(10),
        token: format!("{} twicetold {now}\n", std::process::id()),
    }
}

/// Settles what killed runs left, and tells it.
pub(super) fn settle(
    state: &State,
    accounts: &AccountsArgs,
    watch: &dyn Watch,
) -> Result<Vec<Recovered>> {
    let mut hands = hands(None, Wanted::usual(), accounts);
    let recovered = recover(state, &mut hands, watch).map_err(advice)?;
    for one in &recovered {
        let what = if one.undoing { "undoing run" } else { "run" };
        let out = counted(one.out, "message is", "messages are");
        let back = match one.back {
            0 => String::new(),
            back => format!(
                "; {} begun with and left as before",
                counted(back, "message was", "messages were")
            ),
        };
        let (head, unknown) = match one.unknown {
            0 => ("recovered", String::new()),
            unknown => (
                "warning",
                format!(
                    " Of {} it cannot be told yet.",
                    counted(unknown, "message", "messages")
                ),
            ),
        };
        talk(&format!(
            "{head}: {what} {} was interrupted. {out} out of the mailbox because of it{back}.{unknown}",
            one.run
        ));
        for line in &one.told {
            talk(&format!("  {}", visible(line, escape::MESSAGE)));
        }
    }
    Ok(recovered)
}

/// A failure of the library as this program tells it.
pub(super) fn advice(failure: Failure) -> anyhow::Error {
    Advice::new(failure.what, failure.next).into_error()
}

/// Asks before something happens. Who cannot be asked must have said yes.
pub(super) fn confirm(sure: SureArgs, question: &str, word: Option<&str>) -> Result<bool> {
    if sure.yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Advice::new(
            format!("{question} Nobody can be asked: this is no terminal"),
            "add --yes to do it, or --dry-run to look first",
        )
        .usage()
        .into_error());
    }
    let expected = word.unwrap_or("yes");
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question} Type {expected} to go on: ");
    let _ = stderr.flush();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let answer = answer.trim().to_lowercase();
    Ok(answer == expected || word.is_none() && answer == "y")
}

/// Asks the engine once more.
pub(super) struct Proofs {
    /// As in the scan.
    pub(super) short: usize,
}

impl Judge for Proofs {
    fn check(&self, cases: &[Case<'_>]) -> Vec<std::result::Result<(), Problem>> {
        cases
            .par_iter()
            .map(|case| {
                let thread = &case.removal.message.thread;
                let named = &case.removal.witnesses;
                recheck(&Doubt {
                    message: &case.message,
                    witnesses: case
                        .witnesses
                        .iter()
                        .zip(named)
                        .map(|(raw, named)| (raw, thread.is_some() && named.thread == *thread))
                        .collect(),
                    short: self.short,
                })
            })
            .collect()
    }
}

/// Progress on stderr, if somebody looks.
pub(super) struct Count(ProgressBar);

impl Count {
    pub(super) fn new(what: &str, total: u64, quiet: bool) -> Self {
        let bar = if quiet || !io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(total)
        };
        let style = format!(
            "{{spinner}} {what} {{bar:20}} {{human_pos}} of {{human_len}} messages, {{eta}} left"
        );
        bar.set_style(
            ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Self(bar)
    }
}

impl Progress for Count {
    fn advance(&self, messages: u64) {
        self.0.inc(messages);
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Watches the points at which a kill would matter. In builds for testing, `TWICETOLD_KILL_AT=N` kills the program at the
/// N-th of them, so that tests can see what is left; others ignore it.
pub(super) struct Killed {
    left: Cell<u64>,
}

impl Killed {
    pub(super) fn new() -> Self {
        let at = if cfg!(debug_assertions) {
            std::env::var("TWICETOLD_KILL_AT").ok()
        } else {
            None
        };
        Self {
            left: Cell::new(at.and_then(|at| at.parse().ok()).unwrap_or(0)),
        }
    }
}

impl Watch for Killed {
    fn reached(&self, _point: &'static str) {
        match self.left.get() {
            0 => {}
            1 => {
                use rustix::process::{Signal, getpid, kill_process};
                let _ = kill_process(getpid(), Signal::KILL);
            }
            left => self.left.set(left - 1),
        }
    }
}

/// What a folder that may not be there yet is called in a message.
pub(super) fn shown(path: &Path) -> String {
    escape::visible_path(&path.to_string_lossy())
}
