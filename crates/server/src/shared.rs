//! What every connection shares: the engine behind its queues, the settings of the moment, counters.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use twicetold_model::Form;
use twicetold_service::{
    Answer, CampaignId, Engine, Receipt, Sketches, Standing, StateError, Summary, Trust,
};

use crate::keys::{KeyHash, claimed_reporter};
use crate::log::Log;
use crate::metrics::{Metrics, Now};
use crate::rate::Rates;
use crate::settings::{Known, Settings};
use crate::work::{Pool, Refused};

/// Memory for messages is counted in pieces of so many bytes.
const PIECE: usize = 4096;

/// What every connection shares.
pub(crate) struct Shared {
    engine: Arc<Engine>,
    current: RwLock<Arc<Current>>,
    /// Threads that check.
    checks: Pool,
    /// Threads that change something, and wait for the disk together.
    changes: Pool,
    /// Room for messages in memory.
    room: Arc<Semaphore>,
    pieces: usize,
    /// Who may take an export at the moment.
    pub(crate) exports: Arc<Semaphore>,
    pub(crate) rates: Rates,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) connections: AtomicUsize,
    pub(crate) sessions: AtomicUsize,
}

/// What a reload replaces.
pub(crate) struct Current {
    pub(crate) settings: Settings,
    pub(crate) tls: Option<TlsAcceptor>,
    trust: Trust,
}

impl Current {
    pub(crate) fn new(settings: Settings, tls: Option<TlsAcceptor>) -> Self {
        let trust = Trust {
            authentication_server: settings.authserv.clone(),
        };
        Self {
            settings,
            tls,
            trust,
        }
    }
}

/// A message as somebody sent it.
#[derive(Debug)]
pub(crate) enum Given {
    /// The whole message.
    Mail(Vec<u8>),
    /// What is needed of it.
    Sketch(Box<Sketches>),
}

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Failed {
    /// A limit, or the end.
    Refused(Refused),
    /// The state.
    State(StateError),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// A reporter who has shown a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) known: Known,
}

/// Room for a message, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Room(OwnedSemaphorePermit, usize);

impl Shared {
    pub(crate) fn new(
        engine: Engine,
        current: Current,
        log: Log,
        is_remote: bool,
    ) -> std::io::Result<Self> {
        let limits = &current.settings.limits;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let checks = match limits.threads {
            // Whoever waits for a server over the network uses no core meanwhile.
            0 if is_remote => 8 * cores,
            0 => cores,
            threads => threads,
        };
        let pieces = (limits.memory_bytes / PIECE).clamp(1, Semaphore::MAX_PERMITS >> 1);
        Ok(Self {
            engine: Arc::new(engine),
            checks: Pool::start("check", checks, limits.queue)?,
            // Those who wait for the disk at the same time wait for it once.
            changes: Pool::start("change", 16, limits.queue)?,
            room: Arc::new(Semaphore::new(pieces)),
            pieces,
            current: RwLock::new(Arc::new(current)),
            exports: Arc::new(Semaphore::new(1)),
            rates: Rates::default(),
            metrics: Metrics::default(),
            log,
            connections: AtomicUsize::new(0),
            sessions: AtomicUsize::new(0),
        })
    }

    pub(crate) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, current: Current) {
        let mut held = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(current);
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether checks are as quick as they will be.
    pub(crate) fn is_warm(&self) -> bool {
        self.engine.state().is_warm()
    }

    /// Room for so many bytes, if there is any.
    pub(crate) fn room(&self, bytes: usize) -> Option<Room> {
        let pieces = u32::try_from(bytes.div_ceil(PIECE).max(1)).ok()?;
        let permit = Arc::clone(&self.room).try_acquire_many_owned(pieces).ok()?;
        Some(Room(permit, pieces as usize * PIECE))
    }

    /// Makes sure that there is room for so many bytes.
    pub(crate) fn grow(&self, room: &mut Room, bytes: usize) -> bool {
        if bytes <= room.1 {
            return true;
        }
        // A little more than needed, so that a message in small pieces asks rarely.
        let wanted = bytes - room.1 + bytes / 4;
        let Some(more) = self.room(wanted) else {
            return false;
        };
        room.0.merge(more.0);
        room.1 += more.1;
        true
    }

    /// Checks a message. The thread that does it gives the message's memory back.
    pub(crate) async fn check(&self, given: Given, room: Option<Room>) -> Result<Answer, Failed> {
        let (engine, current) = (Arc::clone(&self.engine), self.current());
        let answer = self
            .checks
            .run(move || {
                let sketches = sketch(given, &current.trust);
                drop(room);
                engine.check(&sketches, now())
            })
            .await?;
        let answer = self.told(answer)?;
        self.metrics.checked(answer.class);
        Ok(answer)
    }

    /// Files a report, or takes one back; when it returns, that is durable.
    pub(crate) async fn change(
        &self,
        given: Given,
        room: Option<Room>,
        reporter: String,
        introduce: Option<Standing>,
        revoke: bool,
    ) -> Result<Receipt, Failed> {
        let (engine, current) = (Arc::clone(&self.engine), self.current());
        let receipt = self
            .changes
            .run(move || {
                let sketches = sketch(given, &current.trust);
                drop(room);
                if let Some(standing) = introduce
                    && engine.state().reporters(&[&reporter])? == [None]
                {
                    engine.set_standing(&reporter, standing)?;
                }
                if revoke {
                    engine.revoke(&sketches, &reporter, now())
                } else {
                    engine.report(&sketches, &reporter, now())
                }
            })
            .await?;
        self.told(receipt)
    }

    pub(crate) async fn campaign(&self, id: CampaignId) -> Result<Option<Summary>, Failed> {
        let engine = Arc::clone(&self.engine);
        let found = self.checks.run(move || engine.campaign(id)).await?;
        self.told(found)
    }

    /// Who shows this key; `None` if it is nobody's.
    pub(crate) async fn caller(&self, key: &str) -> Result<Option<Caller>, Failed> {
        let Some(name) = claimed_reporter(key) else {
            return Ok(None);
        };
        let current = self.current();
        let known = current.settings.reporters.get(&name);
        if let Some(known) = known
            && let Some(hash) = &known.key
        {
            let known = known.clone();
            return Ok(hash.fits(key).then_some(Caller { name, known }));
        }
        // Not in the file: perhaps in the state.
        let engine = Arc::clone(&self.engine);
        let asked = name.clone();
        let found = self
            .checks
            .run(move || engine.state().reporters(&[&asked]))
            .await?;
        let hash = self
            .told(found)?
            .into_iter()
            .flatten()
            .next()
            .and_then(|reporter| KeyHash::try_from(reporter.key?).ok());
        let known = known.cloned().unwrap_or_default();
        Ok(hash
            .filter(|hash| hash.fits(key))
            .map(|_| Caller { name, known }))
    }

    fn told<T>(&self, outcome: Result<T, StateError>) -> Result<T, Failed> {
        outcome.map_err(|error| {
            self.metrics.state_errors.fetch_add(1, Ordering::Relaxed);
            self.problem("state", &error.to_string());
            Failed::State(error)
        })
    }

    /// Regards reporters as the settings say.
    pub(crate) fn apply_standings(&self) -> Result<(), StateError> {
        let current = self.current();
        for (name, known) in &current.settings.reporters {
            if let Some(standing) = known.standing
                && self.engine.reporter(name)?.standing != standing
            {
                self.engine.set_standing(name, standing)?;
            }
        }
        Ok(())
    }

    pub(crate) fn problem(&self, event: &str, what: &str) {
        self.log.line("error", event, &[("what", what.into())]);
    }

    pub(crate) fn now(&self) -> Now {
        Now {
            connections: self.connections.load(Ordering::Relaxed),
            sessions: self.sessions.load(Ordering::Relaxed),
            checks_waiting: self.checks.waiting(),
            changes_waiting: self.changes.waiting(),
            bytes_held: self.pieces.saturating_sub(self.room.available_permits()) * PIECE,
            log_lines_left_out: self.log.left_out(),
        }
    }

    /// Finishes what waits and ends the threads.
    pub(crate) fn stop(&self) {
        self.checks.stop();
        self.changes.stop();
    }
}

fn sketch(given: Given, trust: &Trust) -> Sketches {
    match given {
        Given::Mail(bytes) => Sketches::of(Form::Mail, &bytes, trust),
        Given::Sketch(sketches) => *sketches,
    }
}

/// Now, in seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

/// Counts something down when it ends, however that happens.
pub(crate) struct Counted<'c>(pub(crate) &'c AtomicUsize);

impl<'c> Counted<'c> {
    pub(crate) fn new(counter: &'c AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
