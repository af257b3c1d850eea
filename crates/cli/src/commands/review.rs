//! `twicetold review`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use clap::Args;
use twicetold_detect::{Progress, Stage};
use twicetold_memory::use_any;
use twicetold_review::{Doors, Format, Outcome, Page, PastRun, Scanned, Told, export};
use twicetold_source::Plan;
use twicetold_source::act::{self, Run, RunState, State, undo};

use super::TalkArgs;
use super::acting::{Killed, StateArgs, Wanted, hands, settle};
use super::apply::{carry_out, earlier};
use super::engine::EngineArgs;
use super::find::distinct_paths;
use crate::accounts::Places;
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::SafeJson;
use crate::terminal::{Bar, talk};

/// Look at a scan in the browser, decide, and let go
///
/// Scans the paths and shows the result as a page of this machine: how much says nothing new, each message beside the
/// messages that hold what it says, conversations, versions. There you keep or let go, message by message or
/// by folder, sender and category; a choice that would lose content is refused. Nothing is changed before you press
/// "Let go", and undo is on the same page.
///
/// The page can be reached from this machine only, by an address with a secret that is printed on stderr. It loads nothing from
/// elsewhere and never shows mail as anything but text. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ReviewArgs {
    /// The mailboxes, files, folders and accounts (account:NAME) to read
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The port of the page [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Do not open the browser
    #[arg(long)]
    no_open: bool,

    /// Write the reviewer's table (.csv, .jsonl) or a report (.html) to this file instead of opening a page
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    state: StateArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold review ~/Maildir
  twicetold review --keep folder:Archive,newest ~/Mail
  twicetold review --no-open --port 8025 inbox.mbox
  twicetold review --export report.html ~/Mail

Exit codes: 0 done, 1 error, 2 wrong usage, 3 exported but something could not be read,
130 interrupted.

More: docs/review.md (the page and the table), docs/exit-codes.md";

pub(super) fn run(args: ReviewArgs, how: TalkArgs) -> Result<Exit> {
    if let Some(file) = &args.export {
        return write_export(&args, file, how);
    }
    let places = args.engine.resolve(&args.paths, false, how.quiet)?;
    args.engine.prepare(&places.paths)?;
    let state = args.state.folder()?;
    let page = Page::open(args.port).with_context(|| {
        Advice::new(
            format!("port {} of this machine cannot be used", args.port),
            "choose another one with --port, or leave --port out",
        )
    })?;
    let address = page.address();
    talk(&format!("Review at {address} (Ctrl-C ends it)"));
    if !args.no_open && !open_browser(&address) {
        talk("No browser could be started: open the address yourself.");
    }
    page.serve(Box::new(Machine {
        places,
        engine: args.engine,
        state,
        quiet: how.quiet,
    }));
    Ok(Exit::Done)
}

fn write_export(args: &ReviewArgs, file: &Path, how: TalkArgs) -> Result<Exit> {
    let Some(format) = file.to_str().and_then(Format::of_file) else {
        return Err(Advice::new(
            format!("{} does not say what to write", file.display()),
            "name a file that ends in .csv, .jsonl or .html",
        )
        .usage()
        .into_error());
    };
    let output = Output::open(Some(file))?;
    let places = args.engine.resolve(&args.paths, false, how.quiet)?;
    let scanned = args.engine.scan(&places, how.quiet)?;
    let exit = scanned.exit();
    if let Some(path) = distinct_paths(&scanned.scan)
        .map(Path::new)
        .find(|path| output.replaces(path))
    {
        return Err(Advice::new(
            format!("{} holds mail that is read", path.display()),
            "choose another name for --export",
        )
        .into_error());
    }
    let scanned = Scanned {
        collection: scanned.collection,
        scan: scanned.scan,
        options: scanned.options,
        folder: here()?,
        roots: places.paths,
    };
    output.write(|out| export(format, scanned, out))?;
    Ok(exit)
}

fn here() -> Result<PathBuf> {
    std::env::current_dir().context(Advice::new(
        "the folder you are in cannot be told",
        "change to a folder that is there",
    ))
}

/// Starts the user's browser, if there is a screen to show it on.
fn open_browser(address: &str) -> bool {
    let set = |name: &str| {
        std::env::var_os(name).is_some_and(|value: std::ffi::OsString| !value.is_empty())
    };
    let opener = if cfg!(target_os = "macos") {
        OsStr::new("open")
    } else if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        OsStr::new("xdg-open")
    } else {
        return false;
    };
    Command::new(opener)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

/// What the page may ask for.
struct Machine {
    places: Places,
    engine: EngineArgs,
    state: PathBuf,
    quiet: bool,
}

/// Progress on the page and in the terminal.
struct Both<'a>(&'a dyn Progress, &'a Bar);

impl Progress for Both<'_> {
    fn begin(&self, stage: Stage, total: u64) {
        self.0.begin(stage, total);
        self.1.begin(stage, total);
    }

    fn advance(&self, messages: u64, bytes: u64) {
        self.0.advance(messages, bytes);
        self.1.advance(messages, bytes);
    }
}

struct Count<'a>(&'a dyn Fn(u64));

impl act::Progress for Count<'_> {
    fn advance(&self, messages: u64) {
        (self.0)(messages);
    }
}

impl Doors for Machine {
    fn scan(&self, progress: &dyn Progress) -> Result<Scanned, Told> {
        let folder = here().map_err(|error| told(&error))?;
        let bar = Bar::new(self.quiet);
        let scanned = self.engine.scan_again(&self.places, &Both(progress, &bar));
        bar.finish();
        let scanned = scanned.map_err(|error| told(&error))?;
        self.engine.tell_if_too_much();
        // Pages take little, and nothing of what is done from here on is to stand on a disk.
        use_any();
        Ok(Scanned {
            collection: scanned.collection,
            scan: scanned.scan,
            options: scanned.options,
            folder,
            roots: self.places.paths.clone(),
        })
    }

    fn apply(&self, plan: &Plan, count: &dyn Fn(u64)) -> Result<Outcome, Told> {
        self.apply_plan(plan, count).map_err(|error| told(&error))
    }

    fn undo(&self, run: u32, count: &dyn Fn(u64)) -> Result<Outcome, Told> {
        self.undo_run(run, count).map_err(|error| told(&error))
    }

    fn runs(&self) -> Result<Vec<PastRun>, Told> {
        let runs = State::list(&self.state).map_err(|error| Told {
            what: format!(
                "the journals in {} cannot be read: {error}",
                self.state.display()
            ),
            next: "check the rights of that folder, or name another one with --state".to_owned(),
        })?;
        Ok(runs.iter().map(past).collect())
    }
}

impl Machine {
    fn apply_plan(&self, plan: &Plan, count: &dyn Fn(u64)) -> Result<Outcome> {
        let state = State::open(&self.state).map_err(super::acting::advice)?;
        let watch = Killed::new();
        settle(&state, self.engine.accounts(), &watch)?;
        let (plan, file) = self.write_plan(plan)?;
        let runs = state.runs().map_err(super::acting::advice)?;
        let chosen: Vec<usize> = (0..plan.removals.len()).collect();
        let (run, applied) = carry_out(
            &state,
            &plan,
            &file,
            &chosen,
            &earlier(&runs, &plan),
            Wanted::usual(),
            self.engine.accounts(),
            &watch,
            &Count(count),
        )?;
        let mut outcome = Outcome {
            run,
            done: applied.done.len() as u64,
            bytes: applied.bytes,
            stayed: stayed(applied.refused),
            told: applied.told,
        };
        outcome
            .told
            .extend(applied.stopped.map(|why| why.to_string()));
        Ok(outcome)
    }

    /// Writes the plan beside the journals, so that history can name it, and reads it as `apply` would.
    fn write_plan(&self, plan: &Plan) -> Result<(Plan, PathBuf)> {
        let mut text = Vec::new();
        plan.write(&mut text, SafeJson)?;
        let plan = Plan::parse(&text)?;
        let folder = self.state.join("plans");
        let mut name = plan.seal.to_string();
        name.truncate(16);
        let file = std::path::absolute(folder.join(name + ".plan"))?;
        let write = || fs::create_dir_all(&folder).and_then(|()| fs::write(&file, &text));
        write().with_context(|| {
            Advice::new(
                format!("the plan cannot be written to {}", file.display()),
                "check that you may write there and that the disk is not full, or name another folder with --state",
            )
        })?;
        Ok((plan, file))
    }

    fn undo_run(&self, number: u32, count: &dyn Fn(u64)) -> Result<Outcome> {
        let state = State::open(&self.state).map_err(super::acting::advice)?;
        let watch = Killed::new();
        settle(&state, self.engine.accounts(), &watch)?;
        let runs = state.runs().map_err(super::acting::advice)?;
        let run = runs
            .iter()
            .find(|run| run.number == number && past(run).undoable)
            .ok_or_else(|| {
                let what = format!("run {number} cannot be undone");
                Advice::new(what, "it is undone or forgotten already").into_error()
            })?;
        let mut hands = hands(None, Wanted::usual(), self.engine.accounts());
        let undone = undo(&state, run, &mut hands, false, &watch, &Count(count));
        let undone = undone.map_err(super::acting::advice)?;
        Ok(Outcome {
            run: number,
            done: undone.back.len() as u64,
            bytes: undone.bytes,
            stayed: stayed(undone.failed),
            told: undone.told,
        })
    }
}

fn past(run: &Run) -> PastRun {
    let (out, bytes) = run
        .out()
        .fold((0, 0), |(n, bytes), message| (n + 1, bytes + message.bytes));
    PastRun {
        number: run.number,
        began: run.head.began,
        action: run.head.action.name().to_owned(),
        state: if run.damaged {
            "damaged"
        } else {
            run.state().name()
        }
        .to_owned(),
        out,
        bytes,
        undoable: out > 0 && run.state() != RunState::Forgotten,
    }
}

fn stayed(refused: Vec<(twicetold_model::Location, act::Failure)>) -> Vec<(String, Told)> {
    let tell = |(location, failure): (twicetold_model::Location, act::Failure)| {
        let told = Told {
            what: failure.what,
            next: failure.next,
        };
        (location.to_string(), told)
    };
    refused.into_iter().map(tell).collect()
}

fn told(error: &anyhow::Error) -> Told {
    let next = error.downcast_ref::<Advice>().map(Advice::hint);
    Told {
        what: format!("{error:#}"),
        next: next.unwrap_or("nothing was changed").to_owned(),
    }
}
