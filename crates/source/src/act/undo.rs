//! Takes back what a run did, and settles what a killed run left.

use twicetold_model::Location;

use super::disk::Kept;
use super::journal::Entry;
use super::state::{Run, State, journal_failure};
use super::{Failure, Hands, Progress, Watch};

/// What was found of a run that was killed.
#[derive(Debug)]
pub struct Recovered {
    /// The run.
    pub run: u32,
    /// Whether it was its undoing that was killed.
    pub undoing: bool,
    /// How many of its messages are out.
    pub out: u64,
    /// How many messages that it had begun with are where they were before.
    pub back: u64,
    /// How many messages cannot be told about, because their server cannot be asked now.
    pub unknown: u64,
    /// What people should know.
    pub told: Vec<String>,
}

/// What was brought back.
#[derive(Debug, Default)]
pub struct Undone {
    /// The messages that are back (or would be, in a dry run).
    pub back: Vec<Location>,
    /// How many bytes they have.
    pub bytes: u64,
    /// The messages that could not be brought back, and why.
    pub failed: Vec<(Location, Failure)>,
    /// What people should know besides.
    pub told: Vec<String>,
}

/// Settles every run that was killed: each of its messages is then either where it was, or where the run put it.
pub fn recover<H: Hands>(
    state: &State,
    hands: &mut H,
    watch: &dyn Watch,
) -> Result<Vec<Recovered>, Failure> {
    let mut recovered = Vec::new();
    for run in state.runs()?.iter().filter(|run| run.is_unsettled()) {
        let mut journal = state.resume(run, watch)?;
        let mut write = |entry: &Entry| {
            journal
                .append(entry)
                .map_err(|error| journal_failure(state.folder(), &error))
        };
        let mut found = Recovered {
            run: run.number,
            undoing: run.undo_begun,
            out: 0,
            back: 0,
            unknown: 0,
            told: Vec::new(),
        };
        for (path, token) in &run.locks {
            hands.unlock(path, token);
        }
        for (number, step) in run.steps.iter().enumerate() {
            let counted = |out: &[usize]| {
                let messages = step.step.messages();
                out.iter()
                    .filter(|&&n| messages.get(n).is_some_and(|m| !m.carried))
                    .count() as u64
            };
            if step.settled {
                found.out += counted(&step.out);
                continue;
            }
            let settled = hands.settle(&step.step, &step.places);
            if let Some(failure) = settled.unknown {
                found.told.push(failure.to_string());
                found.unknown += counted(&(0..step.step.messages().len()).collect::<Vec<_>>());
                continue;
            }
            let all: Vec<usize> = (0..step.step.messages().len()).collect();
            found.out += counted(&settled.out);
            found.back += counted(&all) - counted(&settled.out);
            found.told.extend(settled.told);
            write(&Entry::Out {
                step: number,
                out: settled.out,
                places: settled.places,
            })?;
        }
        if found.unknown > 0 {
            recovered.push(found);
            continue;
        }
        write(if run.undo_begun {
            &Entry::UndoEnd
        } else {
            &Entry::Settled
        })?;
        recovered.push(found);
    }
    Ok(recovered)
}

/// Brings back every message that a run removed, marked or replaced, the last one first.
///
/// In a dry run nothing is changed, and everything that is out is told.
pub fn undo<H: Hands>(
    state: &State,
    run: &Run,
    hands: &mut H,
    dry_run: bool,
    watch: &dyn Watch,
    progress: &dyn Progress,
) -> Result<Undone, Failure> {
    let mut undone = Undone::default();
    if !dry_run && run.steps.iter().any(|step| !step.settled) {
        return Err(Failure::new(
            format!(
                "run {} was interrupted, and it is not known yet how far it came",
                run.number
            ),
            "see that the server of its account can be reached, then start again",
        ));
    }
    if dry_run {
        for message in run.out() {
            undone.back.push(message.location.clone());
            undone.bytes += message.bytes;
        }
        return Ok(undone);
    }
    let mut journal = state.resume(run, watch)?;
    let mut write = |entry: &Entry| {
        journal
            .append(entry)
            .map_err(|error| journal_failure(state.folder(), &error))
    };
    for (number, step) in run.steps.iter().enumerate().rev() {
        if step.out.is_empty() {
            continue;
        }
        if let Some((path, token)) = hands.lock_file_of(&step.step) {
            let path = Kept(path);
            write(&Entry::Lock { path, token })?;
        }
        write(&Entry::Undo { step: number })?;
        let settled = hands.take_back(&step.step, &step.out, &step.places, watch);
        if let Some(failure) = settled.unknown {
            return Err(failure);
        }
        let messages = step.step.messages();
        for &n in step.out.iter().filter(|n| !settled.out.contains(n)) {
            if let Some(message) = messages.get(n).filter(|m| !m.carried) {
                undone.back.push(message.location.clone());
                undone.bytes += message.bytes;
            }
        }
        for (n, failure) in settled.failed {
            if let Some(message) = messages.get(n) {
                undone.failed.push((message.location.clone(), failure));
            }
        }
        undone.told.extend(settled.told);
        progress.advance(step.out.len() as u64);
        write(&Entry::Out {
            step: number,
            out: settled.out,
            places: settled.places,
        })?;
    }
    undone.told.extend(hands.finish());
    write(&Entry::UndoEnd)?;
    if undone.failed.is_empty() {
        state.drop_copies(run.number);
    }
    Ok(undone)
}
