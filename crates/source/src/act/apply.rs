//! Carries out a plan, group by group: hold, read again, judge again, write down, do, write down.

use std::collections::HashSet;

use twicetold_model::Location;

use super::journal::{Entry, Journal, Stayed};
use super::step::Step;
use super::{Case, Failure, Hands, Judge, Prepared, Ready, Settled, Watch};
use crate::checksum::Checksum;
use crate::plan::{Named, Plan, Removal};

/// How many removals are read and judged at once.
pub const BATCH: usize = 64;
/// How many bytes the messages may have that are read and judged at once, more or less.
pub const BATCH_BYTES: u64 = 32 << 20;

/// Somebody who wants to know how far it is.
pub trait Progress {
    /// So many more messages are dealt with.
    fn advance(&self, messages: u64);
}

/// What became of a plan.
#[derive(Debug, Default)]
pub struct Applied {
    /// The messages that are out or marked (or would be, without a journal).
    pub done: Vec<Location>,
    /// How many bytes they have.
    pub bytes: u64,
    /// The messages that stay though the plan names them, and why.
    pub refused: Vec<(Location, Failure)>,
    /// How many an earlier run of the same plan had removed.
    pub already: u64,
    /// What people should know besides.
    pub told: Vec<String>,
    /// Why the run stopped before its end.
    pub stopped: Option<Failure>,
}

/// Everything an applying needs.
struct Applying<'a, 'p, 'w, H> {
    plan: &'p Plan,
    hands: &'a mut H,
    judge: &'a dyn Judge,
    journal: Option<&'a mut Journal<'w>>,
    watch: &'a dyn Watch,
    /// What the plan removes: none of it may be a witness.
    going: HashSet<&'p Location>,
    earlier: &'a HashSet<Location>,
    steps: usize,
    applied: Applied,
}

/// Carries out the removals of a plan with these numbers. Without a journal nothing is changed: it is only looked and told.
///
/// `earlier` are the places of messages that earlier runs of the same plan removed.
#[allow(clippy::too_many_arguments)]
pub fn apply<H: Hands>(
    plan: &Plan,
    chosen: &[usize],
    earlier: &HashSet<Location>,
    hands: &mut H,
    judge: &dyn Judge,
    journal: Option<&mut Journal<'_>>,
    watch: &dyn Watch,
    progress: &dyn Progress,
) -> Applied {
    let going = plan
        .removals
        .iter()
        .map(|removal| &removal.message.location)
        .collect();
    let mut applying = Applying {
        plan,
        hands,
        judge,
        journal,
        watch,
        going,
        earlier,
        steps: 0,
        applied: Applied::default(),
    };
    let stopped = applying.run(chosen, progress);
    let told = applying.hands.finish();
    applying.applied.told.extend(told);
    applying.applied.stopped = stopped.err();
    applying.applied
}

impl<'p, H: Hands> Applying<'_, 'p, '_, H> {
    fn run(&mut self, chosen: &[usize], progress: &dyn Progress) -> Result<(), Failure> {
        for group in self.hands.groups(chosen) {
            let group: Vec<&'p Removal> = group
                .iter()
                .filter_map(|&n| self.plan.removals.get(n))
                .collect();
            let done = self.group(&group);
            self.hands.release();
            done?;
            progress.advance(group.len() as u64);
        }
        while let (Some(lock), Some(_)) = (self.hands.owes(), &self.journal) {
            if let Some((path, token)) = lock {
                let path = super::Kept(path);
                self.write(&Entry::Lock { path, token })?;
            }
            let done = match self.hands.remainder() {
                None => Ok(Settled::default()),
                Some(step) => step.and_then(|step| self.carry_out(step)),
            };
            self.hands.release();
            match done {
                Ok(settled) => {
                    let failed = settled
                        .failed
                        .iter()
                        .map(|(_, failure)| failure.to_string());
                    self.applied.told.extend(failed);
                    self.told(settled);
                }
                // Only flags are left to carry: the messages are where they should be.
                Err(failure) => self.applied.told.push(failure.to_string()),
            }
        }
        self.write(&Entry::End)
    }

    fn group(&mut self, group: &[&'p Removal]) -> Result<(), Failure> {
        let only_looking = self.journal.is_none();
        if let Some((path, token)) = self.hands.lock_file(group) {
            let path = super::Kept(path);
            self.write(&Entry::Lock { path, token })?;
        }
        let before = self.applied.refused.len();
        match self.hands.hold(group, only_looking) {
            Err(failure) => group
                .iter()
                .for_each(|removal| self.refuse_or_skip(removal, failure.clone())),
            Ok(()) => {
                let ready = self.ready(group);
                match self.hands.prepare(ready) {
                    Err(failure) => {
                        let refused: HashSet<&Location> = self.applied.refused[before..]
                            .iter()
                            .map(|(location, _)| location)
                            .collect();
                        let rest: Vec<&Removal> = group
                            .iter()
                            .copied()
                            .filter(|removal| !refused.contains(&removal.message.location))
                            .collect();
                        rest.iter()
                            .for_each(|removal| self.refuse(removal, failure.clone()));
                    }
                    Ok(prepared) => self.prepared(prepared)?,
                }
            }
        }
        let messages: Vec<Stayed> = self.applied.refused[before..]
            .iter()
            .map(|(location, failure)| Stayed {
                location: location.clone(),
                why: failure.what.clone(),
            })
            .collect();
        if messages.is_empty() {
            return Ok(());
        }
        self.write(&Entry::Refused { messages })
    }

    /// Reads and judges again; what passes may go.
    fn ready(&mut self, group: &[&'p Removal]) -> Vec<Ready<'p, H::Spot>> {
        let mut ready = Vec::new();
        let mut rest = group;
        while !rest.is_empty() {
            let mut bytes = 0;
            let mut cases = Vec::new();
            let mut spots = Vec::new();
            while let [removal, others @ ..] = rest
                && cases.len() < BATCH
                && bytes < BATCH_BYTES
            {
                rest = others;
                match self.read(removal) {
                    Ok((case, spot, witnesses)) => {
                        bytes += case.message.bytes.len() as u64
                            + case
                                .witnesses
                                .iter()
                                .map(|w| w.bytes.len() as u64)
                                .sum::<u64>();
                        cases.push(case);
                        spots.push((spot, witnesses));
                    }
                    Err(failure) => self.refuse_or_skip(removal, failure),
                }
            }
            let judged = self.judge.check(&cases);
            for ((case, (spot, witnesses)), judged) in cases.into_iter().zip(spots).zip(judged) {
                match judged {
                    Ok(()) => ready.push(Ready {
                        removal: case.removal,
                        spot,
                        witnesses,
                    }),
                    Err(problem) => self.refuse(
                        case.removal,
                        Failure::new(
                            format!("the proof does not hold: {problem}"),
                            "it stays; scan again for a new plan",
                        ),
                    ),
                }
            }
        }
        ready
    }

    #[allow(clippy::type_complexity)]
    fn read(&mut self, removal: &'p Removal) -> Result<(Case<'p>, H::Spot, Vec<H::Spot>), Failure> {
        let (message, spot) = self.recognise(&removal.message)?;
        let (mut witnesses, mut spots) = (Vec::new(), Vec::new());
        for witness in &removal.witnesses {
            if self.going.contains(&witness.location) {
                return Err(Failure::new(
                    format!(
                        "the plan removes {} too, which holds what it says",
                        witness.location
                    ),
                    "scan again for a new plan",
                ));
            }
            let (raw, spot) = self.recognise(witness).map_err(|failure| {
                Failure::new(
                    format!(
                        "{} holds what it says, but {}",
                        witness.location, failure.what
                    ),
                    failure.next,
                )
            })?;
            witnesses.push(raw);
            spots.push(spot);
        }
        let case = Case {
            removal,
            message,
            witnesses,
        };
        Ok((case, spot, spots))
    }

    fn recognise(
        &mut self,
        named: &Named,
    ) -> Result<(twicetold_model::RawMessage<'static>, H::Spot), Failure> {
        let (raw, spot) = self.hands.read(named)?;
        if raw.form != named.form || Checksum::of_message(&raw) != named.checksum {
            return Err(Failure::new(
                "it has changed since the scan",
                "scan again for a new plan",
            ));
        }
        Ok((raw, spot))
    }

    fn prepared(&mut self, prepared: Prepared<'p>) -> Result<(), Failure> {
        self.applied.told.extend(prepared.told);
        for (removal, failure) in prepared.refused {
            // In a file of many messages, its copy that is kept may be found in its stead.
            self.refuse_or_skip(removal, failure);
        }
        let Some(step) = prepared.step else {
            return Ok(());
        };
        let touched: Vec<_> = step.messages().into_iter().cloned().collect();
        let settled = self.carry_out(step)?;
        for &n in &settled.out {
            if let Some(message) = touched.get(n) {
                self.applied.bytes += message.bytes;
                self.applied.done.push(message.location.clone());
            }
        }
        for (n, failure) in &settled.failed {
            if let Some(message) = touched.get(*n) {
                let refused = (message.location.clone(), failure.clone());
                self.applied.refused.push(refused);
            }
        }
        self.told(settled);
        Ok(())
    }

    /// Writes a step down, carries it out, and writes down how far it came.
    fn carry_out(&mut self, step: Step) -> Result<Settled, Failure> {
        if self.journal.is_none() {
            return Ok(Settled {
                out: (0..step.messages().len()).collect(),
                ..Settled::default()
            });
        }
        let number = self.steps;
        let entry = Entry::Begin { step };
        self.write(&entry)?;
        self.steps += 1;
        let Entry::Begin { step } = entry else {
            return Ok(Settled::default());
        };
        let settled = self.hands.carry_out(&step, self.watch);
        if let Some(failure) = settled.unknown {
            return Err(failure);
        }
        self.write(&Entry::Out {
            step: number,
            out: settled.out.clone(),
            places: settled.places.clone(),
        })?;
        Ok(settled)
    }

    fn told(&mut self, settled: Settled) {
        self.applied.told.extend(settled.told);
    }

    /// What an earlier run of the same plan removed is not there, and need not be.
    fn refuse_or_skip(&mut self, removal: &Removal, failure: Failure) {
        if self.earlier.contains(&removal.message.location) {
            self.applied.already += 1;
        } else {
            self.refuse(removal, failure);
        }
    }

    fn refuse(&mut self, removal: &Removal, failure: Failure) {
        let location = removal.message.location.clone();
        self.applied.refused.push((location, failure));
    }

    fn write(&mut self, entry: &Entry) -> Result<(), Failure> {
        match &mut self.journal {
            None => Ok(()),
            Some(journal) => journal.append(entry).map_err(|error| {
                Failure::new(
                    format!("the journal cannot be written: {error}"),
                    "make room on the disk or name another folder with --state, then start again",
                )
            }),
        }
    }
}
