//! The runs there were, and the folder in which their journals lie.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::disk::Kept;
use super::journal::{Entry, JOURNAL_VERSION, Journal, ReadJournal, RunHead};
use super::on_server::Place;
use super::step::{Step, Touched};
use super::{Action, Failure, Watch};
use crate::plan::Plan;

/// How the names of files begin in which copies of messages on servers are kept.
pub const SERVER_COPIES: &str = "server-";

/// The folder with the journals. Whoever has it open is the only one who changes mailboxes.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    _lock: File,
}

/// A run, as its journal tells it.
#[derive(Debug)]
pub struct Run {
    /// Its number.
    pub number: u32,
    /// What it is.
    pub head: RunHead,
    /// What it did, step by step.
    pub steps: Vec<RunStep>,
    /// How many messages were to go and stayed.
    pub refused: u64,
    /// It came to its end.
    pub ended: bool,
    /// Undoing it was begun.
    pub undo_begun: bool,
    /// Undoing it came to its end.
    pub undo_ended: bool,
    /// What it deleted is gone for good.
    pub forgotten: bool,
    /// Its journal was changed by somebody; only what stands before that is known.
    pub damaged: bool,
    /// It was killed, and it is known how far it came.
    settled: bool,
    pub(super) locks: Vec<(Kept, String)>,
    pub(super) journal: ReadJournal,
}

/// A step of a run.
#[derive(Debug)]
pub struct RunStep {
    /// What was to be done.
    pub step: Step,
    /// Which of its messages are out now; meaningless while it is not settled.
    pub out: Vec<usize>,
    /// Where they are, if the step does not say it.
    pub places: Vec<Place>,
    /// Whether it is known how far it came.
    pub settled: bool,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// All was done.
    Complete,
    /// It was killed before its end; what it had done stays done.
    Interrupted,
    /// All of it is undone.
    Undone,
    /// Some of it is undone.
    PartlyUndone,
    /// What it deleted cannot come back.
    Forgotten,
}

impl RunState {
    /// The word for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Undone => "undone",
            Self::PartlyUndone => "partly undone",
            Self::Forgotten => "forgotten",
        }
    }
}

impl Run {
    fn new(number: u32, journal: ReadJournal) -> Option<Self> {
        let Some(Entry::Run(head)) = journal.entries.first() else {
            return None;
        };
        let mut run = Self {
            number,
            head: head.clone(),
            steps: Vec::new(),
            refused: 0,
            ended: false,
            undo_begun: false,
            undo_ended: false,
            forgotten: false,
            damaged: journal.damaged,
            settled: false,
            locks: Vec::new(),
            journal: ReadJournal::default(),
        };
        for entry in &journal.entries {
            run.replay(entry);
        }
        run.journal = journal;
        Some(run)
    }

    fn replay(&mut self, entry: &Entry) {
        match entry {
            Entry::Run(_) => {}
            Entry::Lock { path, token } => self.locks.push((path.clone(), token.clone())),
            Entry::Begin { step } => self.steps.push(RunStep {
                step: step.clone(),
                out: Vec::new(),
                places: Vec::new(),
                settled: false,
            }),
            Entry::Out { step, out, places } => {
                if let Some(step) = self.steps.get_mut(*step) {
                    step.out.clone_from(out);
                    step.places.clone_from(places);
                    step.settled = true;
                }
            }
            Entry::Refused { messages } => self.refused += messages.len() as u64,
            Entry::End => {
                self.ended = true;
                self.locks.clear();
            }
            Entry::Settled => {
                self.settled = true;
                self.locks.clear();
            }
            Entry::Undo { step } => {
                (self.undo_begun, self.undo_ended) = (true, false);
                if let Some(step) = self.steps.get_mut(*step) {
                    step.settled = false;
                }
            }
            Entry::UndoEnd => {
                (self.undo_begun, self.undo_ended, self.settled) = (true, true, true);
                self.locks.clear();
            }
            Entry::Forgotten => self.forgotten = true,
        }
    }

    /// The messages that are out because of it.
    pub fn out(&self) -> impl Iterator<Item = &Touched> {
        self.steps.iter().flat_map(|step| {
            let messages = step.step.messages();
            step.out
                .iter()
                .filter_map(move |&n| messages.get(n).copied())
                .filter(|message| !message.carried)
        })
    }

    /// How it stands.
    pub fn state(&self) -> RunState {
        let out = self.out().next().is_some();
        match () {
            () if self.forgotten && self.head.action == Action::Delete => RunState::Forgotten,
            () if self.undo_begun && out => RunState::PartlyUndone,
            () if self.undo_begun => RunState::Undone,
            () if self.ended => RunState::Complete,
            () => RunState::Interrupted,
        }
    }

    /// Whether it was killed, so that somebody has to look how far it came.
    pub(super) fn is_unsettled(&self) -> bool {
        self.steps.iter().any(|step| !step.settled)
            || !self.ended && !self.settled
            || self.undo_begun && !self.undo_ended
            || !self.locks.is_empty()
    }
}

impl State {
    /// Opens the folder, and makes it if need be.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let fail = |error: &io::Error| {
            Failure::new(
                format!(
                    "the folder for journals, {}, cannot be used: {error}",
                    folder.display()
                ),
                "check that you may write there and that the disk is not full, or name another folder with --state",
            )
        };
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700);
        private
            .create(folder.join("runs"))
            .map_err(|error| fail(&error))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))
            .map_err(|error| fail(&error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                folder: folder.to_path_buf(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(Failure::new(
                format!(
                    "another twicetold is changing mailboxes (it holds {})",
                    folder.join("lock").display()
                ),
                "wait until it has ended, then start again",
            )),
            Err(TryLockError::Error(error)) => Err(fail(&error)),
        }
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The runs recorded in a folder, the first one first, without claiming the folder.
    pub fn list(folder: &Path) -> io::Result<Vec<Run>> {
        let mut runs = Vec::new();
        let entries = match fs::read_dir(folder.join("runs")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(runs),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            let Some(number) = number_of(&path) else {
                continue;
            };
            runs.extend(Run::new(number, ReadJournal::open(&path)?));
        }
        runs.sort_by_key(|run| run.number);
        Ok(runs)
    }

    /// The runs there were, the first one first.
    pub fn runs(&self) -> Result<Vec<Run>, Failure> {
        Self::list(&self.folder).map_err(|error| {
            Failure::new(
                format!(
                    "the journals in {} cannot be read: {error}",
                    self.folder.join("runs").display()
                ),
                "check the rights of that folder, or name another one with --state",
            )
        })
    }

    /// Begins a run.
    pub fn begin<'w>(
        &self,
        action: Action,
        plan: &Plan,
        plan_file: &Path,
        watch: &'w dyn Watch,
    ) -> Result<(u32, Journal<'w>), Failure> {
        let began = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
        // A journal without a single good line is no run, but its number is taken.
        let taken = fs::read_dir(self.folder.join("runs"))
            .map_err(|error| journal_failure(&self.folder, &error))?
            .filter_map(|entry| number_of(&entry.ok()?.path()))
            .max()
            .unwrap_or(0);
        let number = taken + 1;
        let head = RunHead {
            twicetold_journal: JOURNAL_VERSION,
            began,
            action,
            plan: Kept(plan_file.to_path_buf()),
            seal: plan.seal,
        };
        let journal = Journal::create(&self.journal_path(number), head, watch)
            .map_err(|error| journal_failure(&self.folder, &error))?;
        Ok((number, journal))
    }

    /// Goes on with the journal of a run.
    pub(super) fn resume<'w>(
        &self,
        run: &Run,
        watch: &'w dyn Watch,
    ) -> Result<Journal<'w>, Failure> {
        Journal::resume(&self.journal_path(run.number), &run.journal, watch)
            .map_err(|error| journal_failure(&self.folder, &error))
    }

    fn journal_path(&self, number: u32) -> PathBuf {
        self.folder
            .join("runs")
            .join(format!("{number:06}.journal"))
    }

    /// Where the messages that a run deletes are kept until it is forgotten.
    pub fn store(&self, number: u32) -> PathBuf {
        self.folder.join("store").join(format!("{number:06}"))
    }

    /// Removes copies of messages that are back on their server.
    pub(super) fn drop_copies(&self, number: u32) {
        let store = self.store(number);
        for entry in fs::read_dir(&store).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name
                .as_encoded_bytes()
                .starts_with(SERVER_COPIES.as_bytes())
            {
                let _ = fs::remove_file(entry.path());
            }
        }
        // It stays if there is something else in it.
        let _ = fs::remove_dir(&store);
    }

    /// Lets go of what a run deleted, for good.
    pub fn forget(&self, run: &Run, watch: &dyn Watch) -> Result<(), Failure> {
        let store = self.store(run.number);
        let gone = self
            .resume(run, watch)?
            .append(&Entry::Forgotten)
            .and_then(|()| match fs::remove_dir_all(&store) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            });
        gone.map_err(|error| {
            Failure::new(
                format!("{} cannot be removed: {error}", store.display()),
                "check the rights of that folder, then forget the run again",
            )
        })
    }
}

pub(super) fn journal_failure(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!(
            "the journal in {} cannot be written: {error}",
            folder.join("runs").display()
        ),
        "nothing more was changed; make room on the disk or check the rights of that folder, or name another one with --state",
    )
}

fn number_of(path: &Path) -> Option<u32> {
    path.file_name()?
        .to_str()?
        .strip_suffix(".journal")?
        .parse()
        .ok()
}
