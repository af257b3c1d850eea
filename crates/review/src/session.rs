//! One user looking at one collection.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use twicetold_detect::{Cover, Lost, Progress, ScannedMessage, Stage, cover, plan};
use twicetold_source::Plan;

use crate::catalogue::{Catalogue, folder_of};
use crate::choices::{Choices, Refusal};
use crate::doors::{Doors, Outcome, Scanned, Told};

/// Everything about a finished scan.
pub(crate) struct Desk {
    pub(crate) scanned: Scanned,
    pub(crate) catalogue: Catalogue,
    pub(crate) choices: Choices,
}

impl Desk {
    pub(crate) fn new(scanned: Scanned) -> Self {
        Self {
            catalogue: Catalogue::new(&scanned.scan),
            choices: Choices::of(&scanned.scan),
            scanned,
        }
    }

    /// The message with this number.
    pub(crate) fn message(&self, number: u32) -> Option<&ScannedMessage> {
        self.scanned.scan.messages.get(number as usize)
    }

    /// Changes the choices; whoever is asked reads messages again.
    pub(crate) fn choose<T>(
        &mut self,
        with: impl FnOnce(&mut Choices, &Scanned, &Catalogue, crate::choices::Ask<'_>) -> T,
    ) -> T {
        let scanned = &self.scanned;
        let ask = |message: u32, asked: &[u32]| -> Result<Cover, Lost> {
            cover(
                &scanned.collection,
                &scanned.scan,
                &scanned.options,
                message,
                asked,
            )
        };
        with(&mut self.choices, scanned, &self.catalogue, &ask)
    }

    /// The plan of the choices as they are.
    pub(crate) fn plan(&self) -> Plan {
        let chosen = self.choices.applied_to(&self.scanned.scan);
        let Scanned {
            collection,
            options,
            folder,
            roots,
            ..
        } = &self.scanned;
        plan(collection, &chosen, options, folder, roots)
    }

    /// What the user wants kept though it could go, told so that it is recognised after mailboxes have changed.
    fn wanted(&self) -> BTreeSet<Recognised> {
        let all = (0..self.catalogue.len() as u32)
            .filter(|&m| !self.choices.goes(m) && self.choices.differs(&self.scanned.scan, m));
        all.filter_map(|m| self.message(m))
            .map(recognised)
            .collect()
    }
}

type Recognised = (String, Option<String>, u64, Option<i64>);

fn recognised(message: &ScannedMessage) -> Recognised {
    let folder = folder_of(&message.location);
    (
        folder,
        message.message_id.clone(),
        message.bytes,
        message.date,
    )
}

/// How far something is.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) what: Mutex<&'static str>,
    pub(crate) done: AtomicU64,
    pub(crate) total: AtomicU64,
    reading: std::sync::atomic::AtomicBool,
}

impl Meter {
    fn new(what: &'static str, total: u64) -> Arc<Self> {
        Arc::new(Self {
            what: Mutex::new(what),
            done: AtomicU64::new(0),
            total: AtomicU64::new(total),
            reading: false.into(),
        })
    }

    /// What is done, how much of how much.
    pub(crate) fn read(&self) -> (&'static str, u64, u64) {
        let done = self.done.load(Ordering::Relaxed);
        (*lock(&self.what), done, self.total.load(Ordering::Relaxed))
    }
}

impl Progress for Meter {
    fn begin(&self, stage: Stage, total: u64) {
        *lock(&self.what) = match stage {
            Stage::Reading => "Reading",
            Stage::Relating => "Looking for what messages share",
            Stage::Proving => "Comparing",
            Stage::Combining => "Looking for messages that several others hold together",
            Stage::Versions => "Looking for versions",
            Stage::Copies => "Comparing copies",
        };
        self.reading
            .store(stage == Stage::Reading, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, messages: u64, bytes: u64) {
        let reading = self.reading.load(Ordering::Relaxed);
        self.done
            .fetch_add(if reading { bytes } else { messages }, Ordering::Relaxed);
    }
}

/// What the session is busy with, or what there is to see.
pub(crate) enum Phase {
    /// Something takes its time.
    Busy(Arc<Meter>),
    /// The scan is there.
    Ready(Box<Desk>),
    /// There is no scan, because of this.
    Failed(Told),
}

/// Something to be told once, on the next page.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// It was done.
    Done(String),
    /// A choice would lose content; how many more were refused, and how many were not asked about.
    Refused(Refusal, usize, usize),
    /// Something went wrong.
    Wrong(Told),
    /// What became of applying, or of undoing.
    Outcome(Outcome, bool),
}

/// One user, one collection.
pub(crate) struct Session {
    pub(crate) doors: Box<dyn Doors>,
    phase: RwLock<Phase>,
    notice: Mutex<Vec<Notice>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session that begins to scan at once.
    pub(crate) fn start(doors: Box<dyn Doors>) -> Arc<Self> {
        let meter = Meter::new("Looking for mailboxes", 0);
        let session = Arc::new(Self {
            doors,
            phase: RwLock::new(Phase::Busy(Arc::clone(&meter))),
            notice: Mutex::default(),
        });
        session.in_background(move |session| session.scan(&meter, &BTreeSet::new()));
        session
    }

    pub(crate) fn look(&self) -> RwLockReadGuard<'_, Phase> {
        self.phase.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change(&self) -> RwLockWriteGuard<'_, Phase> {
        self.phase.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers something to be told on the next page.
    pub(crate) fn tell(&self, notice: Notice) {
        lock(&self.notice).push(notice);
    }

    /// What is to be told now.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut lock(&self.notice))
    }

    /// Scans once more. Says no while something else goes on.
    pub(crate) fn scan_again(self: &Arc<Self>) -> bool {
        let meter = Meter::new("Looking for mailboxes", 0);
        let mut phase = self.change();
        let wanted = match &*phase {
            Phase::Busy(_) => return false,
            Phase::Ready(desk) => desk.wanted(),
            Phase::Failed(_) => BTreeSet::new(),
        };
        *phase = Phase::Busy(Arc::clone(&meter));
        drop(phase);
        self.in_background(move |session| session.scan(&meter, &wanted));
        true
    }

    /// Lets go of what is chosen, then scans again: places in mailboxes have changed.
    pub(crate) fn apply(self: &Arc<Self>) -> bool {
        self.act("Writing the plan", |session, desk, meter| {
            let plan = desk.plan();
            *lock(&meter.what) = "Moving messages to the trash";
            meter
                .total
                .store(plan.removals.len() as u64, Ordering::Relaxed);
            let count = |more| meter.advance(more, 0);
            let outcome = session.doors.apply(&plan, &count)?;
            Ok(Notice::Outcome(outcome, false))
        })
    }

    /// Brings back what a run removed, then scans again.
    pub(crate) fn undo(self: &Arc<Self>, run: u32, total: u64) -> bool {
        self.act("Bringing messages back", move |session, _, meter| {
            meter.total.store(total, Ordering::Relaxed);
            let count = |more| meter.advance(more, 0);
            let outcome = session.doors.undo(run, &count)?;
            Ok(Notice::Outcome(outcome, true))
        })
    }

    fn act(
        self: &Arc<Self>,
        what: &'static str,
        deed: impl FnOnce(&Self, &Desk, &Meter) -> Result<Notice, Told> + Send + 'static,
    ) -> bool {
        let meter = Meter::new(what, 0);
        let mut phase = self.change();
        if !matches!(&*phase, Phase::Ready(_)) {
            return false;
        }
        let before = std::mem::replace(&mut *phase, Phase::Busy(Arc::clone(&meter)));
        drop(phase);
        let Phase::Ready(desk) = before else {
            return false;
        };
        self.in_background(move |session| match deed(session, &desk, &meter) {
            Ok(notice) => {
                session.tell(notice);
                let wanted = desk.wanted();
                drop(desk);
                session.scan(&meter, &wanted);
            }
            Err(told) => {
                session.tell(Notice::Wrong(told));
                *session.change() = Phase::Ready(desk);
            }
        });
        true
    }

    fn scan(&self, meter: &Arc<Meter>, wanted: &BTreeSet<Recognised>) {
        let phase = match self.doors.scan(meter.as_ref()) {
            Err(told) => Phase::Failed(told),
            Ok(scanned) => {
                let mut desk = Desk::new(scanned);
                let Desk {
                    scanned, choices, ..
                } = &mut desk;
                if !wanted.is_empty() {
                    let all = &scanned.scan.messages;
                    let kept: Vec<u32> = (0..all.len() as u32)
                        .filter(|&m| wanted.contains(&recognised(&all[m as usize])))
                        .collect();
                    choices.keep(&scanned.scan, kept);
                }
                Phase::Ready(Box::new(desk))
            }
        };
        *self.change() = phase;
    }

    /// Work that a page waits for. If no thread can be had, it is done at once.
    fn in_background(self: &Arc<Self>, work: impl FnOnce(&Self) + Send + 'static) {
        let session = Arc::clone(self);
        let work = Arc::new(Mutex::new(Some(work)));
        let later = Arc::clone(&work);
        let run = move || {
            if let Some(work) = lock(&later).take() {
                work(&session);
            }
        };
        let started = std::thread::Builder::new()
            .name("work".to_owned())
            .spawn(run);
        if started.is_err()
            && let Some(work) = lock(&work).take()
        {
            work(self);
        }
    }
}
