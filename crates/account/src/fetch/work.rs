//! Several connections that fetch at the same time, until nothing is left.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::fault::{Error, Fault};
use crate::imap::session::{Session, Tag};
use crate::uids::UidSet;

use super::arrival::{Arrival, Arrived, locked};
use super::plan::{Plan, Planned};
use super::{FetchReport, Job};

/// A command asks for at most so many messages. More of them would mean more to fetch again after a cut.
const MOST_AT_ONCE: u64 = 500;
/// And for at least so many: each is an answer to wait for, and a note to write.
const LEAST_AT_ONCE: u64 = 50;

/// Messages to be fetched with one command.
#[derive(Debug)]
struct Portion {
    folder: usize,
    uids: UidSet,
}

/// What all connections share.
struct Shared<'a> {
    job: &'a Job<'a>,
    folders: &'a [Planned],
    waiting: Mutex<VecDeque<Portion>>,
    told: Mutex<Told>,
    /// Something happened that more connections will not make better.
    stop: AtomicBool,
}

#[derive(Default)]
struct Told {
    arrived: Vec<Arrived>,
    withheld: Vec<UidSet>,
    alerts: Vec<String>,
    failure: Option<Fault>,
}

fn hold<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Fetches what was planned.
pub(crate) fn work(job: &Job<'_>, session: Session, plan: Plan, report: &mut FetchReport) {
    let jobs = job.options.jobs.unwrap_or(job.profile.jobs).max(1);
    let total: u64 = plan.folders.iter().map(|folder| folder.missing.len()).sum();
    let at_once = (total / (4 * jobs as u64)).clamp(LEAST_AT_ONCE, MOST_AT_ONCE);
    let waiting: VecDeque<Portion> = plan
        .folders
        .iter()
        .enumerate()
        .flat_map(|(folder, planned)| {
            let parts = planned
                .missing
                .parts(u32::try_from(at_once).unwrap_or(u32::MAX));
            parts.into_iter().map(move |uids| Portion { folder, uids })
        })
        .collect();
    let portions = waiting.len();
    let none = || plan.folders.iter();
    let shared = Shared {
        job,
        folders: &plan.folders,
        waiting: Mutex::new(waiting),
        told: Mutex::new(Told {
            arrived: none().map(|_| Arrived::default()).collect(),
            withheld: none().map(|_| UidSet::default()).collect(),
            ..Told::default()
        }),
        stop: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        for _ in 1..jobs.min(portions) {
            scope.spawn(|| Connection::new(&shared, None).run(true));
        }
        Connection::new(&shared, Some(session)).run(false);
    });
    // A connection that gave up may have left something behind when the others had ended.
    if !hold(&shared.waiting).is_empty() && !shared.stop.load(Ordering::Relaxed) {
        Connection::new(&shared, None).run(false);
    }
    let left: Vec<Portion> = hold(&shared.waiting).drain(..).collect();
    let told = std::mem::take(&mut *hold(&shared.told));
    finish(job, &plan.folders, told, &left, report);
}

fn finish(
    job: &Job<'_>,
    folders: &[Planned],
    told: Told,
    left: &[Portion],
    report: &mut FetchReport,
) {
    let mut failure = told.failure;
    for (place, planned) in folders.iter().enumerate() {
        let entry = &mut report.folders[planned.report];
        entry.new = told.arrived[place].new;
        entry.bytes = told.arrived[place].bytes;
        entry.again = told.arrived[place].again;
        let withheld = &told.withheld[place];
        if !withheld.is_empty() {
            report.problems.push(format!(
                "the server did not hand out {} of {} (UID {}); the next fetch asks again",
                if withheld.len() == 1 {
                    "a message".to_owned()
                } else {
                    format!("{} messages", withheld.len())
                },
                planned.folder.name,
                withheld
                    .parts(u32::MAX)
                    .first()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ));
        }
        let unfinished = left.iter().any(|portion| portion.folder == place);
        if unfinished || !withheld.is_empty() || failure.is_some() {
            continue;
        }
        let mut local = locked(&planned.local);
        local.state.complete_to = planned.complete_to;
        let mut done = local.note();
        if job.options.mirror && done.is_ok() {
            done = local
                .remove_earlier()
                .map(|removed| entry.removed += removed);
        }
        failure = done.err();
    }
    report.alerts.extend(told.alerts);
    report.alerts.dedup();
    report.failure = failure.map(|fault| Error::new(&job.profile.name, fault));
}

/// One connection at work.
///
/// It has one command under way at a time: some servers work on several at once, and mix the answers.
/// The next one is sent before the disk has taken the last one's messages, so that nobody waits.
struct Connection<'a> {
    shared: &'a Shared<'a>,
    session: Option<Session>,
    open: Option<usize>,
    under_way: Option<(Tag, Portion)>,
    doubtful: UidSet,
}

impl<'a> Connection<'a> {
    fn new(shared: &'a Shared<'a>, session: Option<Session>) -> Self {
        Self {
            shared,
            session,
            open: None,
            under_way: None,
            doubtful: UidSet::default(),
        }
    }

    /// Works until nothing is left. One that is only there for speed gives up if it is not let in.
    fn run(mut self, extra: bool) {
        let mut failures = 0;
        let mut was_in = self.session.is_some();
        while !self.shared.stop.load(Ordering::Relaxed) {
            let mut arrived = 0;
            let Err(fault) = self.go_on(&mut arrived) else {
                break;
            };
            was_in |= self.session.is_some();
            self.hand_back();
            self.session = None;
            self.open = None;
            if extra && !was_in {
                return;
            }
            // What arrived before the cut counts as getting on.
            failures = if arrived > 0 { 1 } else { failures + 1 };
            if !fault.is_passing() || failures > self.shared.job.options.retries {
                hold(&self.shared.told).failure.get_or_insert(fault);
                self.shared.stop.store(true, Ordering::Relaxed);
                return;
            }
            thread::sleep(Duration::from_millis(50 << failures.min(6)));
        }
        self.hand_back();
        if let Some(session) = self.session.take() {
            hold(&self.shared.told)
                .alerts
                .extend(session.alerts().iter().cloned());
            session.log_out();
        }
    }

    fn go_on(&mut self, arrived: &mut u64) -> Result<(), Fault> {
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.ask()?;
            let Some((tag, portion)) = self.under_way.take() else {
                if self.doubtful.is_empty() {
                    return Ok(());
                }
                self.settle_doubts()?;
                continue;
            };
            self.take_in(&tag, portion, arrived)?;
        }
        Ok(())
    }

    /// Asks for what is next; of another folder only when nothing of this one is in doubt.
    fn ask(&mut self) -> Result<(), Fault> {
        if self.under_way.is_some() {
            return Ok(());
        }
        let next = {
            let mut waiting = hold(&self.shared.waiting);
            let folder = waiting.front().map(|portion| portion.folder);
            if !self.doubtful.is_empty() && self.open != folder {
                return Ok(());
            }
            waiting.pop_front()
        };
        let Some(portion) = next else { return Ok(()) };
        match self.send(&portion) {
            Ok(tag) => {
                self.under_way = Some((tag, portion));
                Ok(())
            }
            Err(fault) => {
                hold(&self.shared.waiting).push_front(portion);
                Err(fault)
            }
        }
    }

    fn send(&mut self, portion: &Portion) -> Result<Tag, Fault> {
        let job = self.shared.job;
        let planned = &self.shared.folders[portion.folder];
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(Session::connect(job.profile, job.credentials)?),
        };
        if self.open != Some(portion.folder) {
            job.progress.folder(&planned.folder.name);
            let opened = session.examine(&planned.folder)?;
            if opened.uid_validity != planned.validity {
                return Err(Fault::Refused {
                    asked: format!("go on with the folder {}", planned.folder.name),
                    said: "it was replaced meanwhile; start again".into(),
                });
            }
            self.open = Some(portion.folder);
        }
        session.ask_messages(&portion.uids)
    }

    /// Takes in the messages of a portion. Whatever ends it, what has arrived is noted.
    fn take_in(&mut self, tag: &Tag, portion: Portion, arrived: &mut u64) -> Result<(), Fault> {
        let planned = &self.shared.folders[portion.folder];
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        let progress = self.shared.job.progress;
        let mut arrival = Arrival::new(&planned.local, planned.validity, portion.uids, progress);
        let mut outcome = session.take_messages(tag, &mut arrival).map(drop);
        if outcome.is_ok() {
            self.doubtful.extend(&arrival.missing());
            outcome = self.ask();
        } else {
            let uids = arrival.missing();
            if !uids.is_empty() {
                let folder = portion.folder;
                hold(&self.shared.waiting).push_front(Portion { folder, uids });
            }
        }
        let counts = arrival.settle()?;
        *arrived += counts.new + counts.again;
        let mut told = hold(&self.shared.told);
        let all = &mut told.arrived[portion.folder];
        all.new += counts.new;
        all.bytes += counts.bytes;
        all.again += counts.again;
        outcome
    }

    /// Messages that did not come: are they gone, or does the server withhold them?
    fn settle_doubts(&mut self) -> Result<(), Fault> {
        if let (Some(session), Some(folder)) = (&mut self.session, self.open) {
            let there = session.uids_among(&self.doubtful)?;
            hold(&self.shared.told).withheld[folder].extend(&there);
        }
        self.doubtful = UidSet::default();
        Ok(())
    }

    fn hand_back(&mut self) {
        let mut waiting = hold(&self.shared.waiting);
        waiting.extend(self.under_way.take().map(|(_, portion)| portion));
        if let (Some(folder), false) = (self.open, self.doubtful.is_empty()) {
            let uids = std::mem::take(&mut self.doubtful);
            waiting.push_front(Portion { folder, uids });
        }
    }
}
