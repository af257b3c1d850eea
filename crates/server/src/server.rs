//! The server: started, told to read its settings again, stopped.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use twicetold_service::{Engine, StateError};

use crate::listen::Listener;
use crate::log::Log;
use crate::notify::Manager;
use crate::place::Place;
use crate::settings::Settings;
use crate::shared::{Current, Shared, now};
use crate::{http, milter, tls};

/// How often it is noted which campaigns were recognised.
const NOTED: Duration = Duration::from_secs(60);
/// How often old campaigns are looked for.
const TIDIED: Duration = Duration::from_secs(6 * 3600);
/// The shortest pause between two steps of that.
const BREATH: Duration = Duration::from_millis(50);
/// How long a start waits for the index to be in memory; if that takes longer, checks are answered meanwhile, only later.
const SHORT_WAIT: Duration = Duration::from_secs(2);
/// How often it is looked whether it is.
const LOOK: Duration = Duration::from_millis(50);
/// How long a service manager is asked to wait meanwhile, each second anew, in microseconds.
const PATIENCE: u32 = 30_000_000;
/// Campaigns unseen for so many days are forgotten, unless the settings say otherwise.
const FORGET: u32 = 180;

/// Why it cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// A socket or a thread is not to be had, or a file not to be read.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The campaigns cannot be reached.
    #[error("{0}")]
    State(#[from] StateError),
    /// The settings contradict themselves.
    #[error("{0}")]
    Settings(String),
}

/// A running server.
pub struct Server {
    runtime: Runtime,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    listening: Vec<JoinHandle<()>>,
    places: (Vec<Place>, Vec<Place>),
    manager: Arc<Manager>,
}

impl Server {
    /// Binds all sockets and begins to serve. With `is_remote` the state is on another machine.
    pub fn start(
        settings: Settings,
        engine: Engine,
        log: Log,
        is_remote: bool,
    ) -> Result<Self, ServeError> {
        settings.check().map_err(ServeError::Settings)?;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        // Without TLS the network takes a fifth of the time that checks take, and threads that wake each other for it
        // take more.
        let network = match settings.http.certificate {
            Some(_) => cores.min(4),
            None => cores.div_ceil(4).min(4),
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(network)
            .thread_name("network")
            .enable_all()
            .build()?;
        let tls = encryption(&settings)?;
        let (listeners, places) = runtime.block_on(bind(&settings))?;
        let current = Current::new(settings, tls);
        let shared = Arc::new(Shared::new(engine, current, log, is_remote)?);
        shared.apply_standings()?;
        let bytes = shared.current().settings.limits.index_bytes;
        shared.engine().state().warm(bytes as u64)?;
        // Small stores are at full speed before the first request; large ones say so when they are.
        let began = Instant::now();
        while !shared.is_warm() && began.elapsed() < SHORT_WAIT {
            std::thread::sleep(Duration::from_millis(2));
        }
        let (stop, stopped) = watch::channel(false);
        let manager = Arc::new(Manager::from_environment());
        let mut listening = Vec::new();
        for listener in listeners.0 {
            listening.push(runtime.spawn(http::serve(
                listener,
                Arc::clone(&shared),
                stopped.clone(),
            )));
        }
        for listener in listeners.1 {
            listening.push(runtime.spawn(milter::serve(
                listener,
                Arc::clone(&shared),
                stopped.clone(),
            )));
        }
        runtime.spawn(look_after(Arc::clone(&shared), stopped.clone()));
        runtime.spawn(forget(Arc::clone(&shared), stopped));
        if let Some(every) = manager.watchdog() {
            let manager = Arc::clone(&manager);
            runtime.spawn(async move {
                loop {
                    manager.alive();
                    tokio::time::sleep(every).await;
                }
            });
        }
        let server = Self {
            runtime,
            shared,
            stop,
            listening,
            places,
            manager,
        };
        let list =
            |places: &[Place]| json!(places.iter().map(Place::to_string).collect::<Vec<_>>());
        server.shared.log.line(
            "info",
            "started",
            &[
                ("version", env!("CARGO_PKG_VERSION").into()),
                ("http", list(&server.places.0)),
                ("milter", list(&server.places.1)),
                ("campaigns", server.shared.engine().state().place().into()),
            ],
        );
        Ok(server)
    }

    /// Where HTTP is served, with the ports that the system chose.
    pub fn http(&self) -> &[Place] {
        &self.places.0
    }

    /// Where the milter is served.
    pub fn milter(&self) -> &[Place] {
        &self.places.1
    }

    /// Takes other settings. Requests that are being answered are not disturbed. Names what needs a
    /// restart.
    pub fn reload(&self, settings: Settings) -> Result<Vec<&'static str>, ServeError> {
        settings.check().map_err(ServeError::Settings)?;
        let tls = encryption(&settings)?;
        let old = self.shared.current();
        let restart = old.settings.needs_restart(&settings);
        let tls = if old.tls.is_some() == tls.is_some() {
            tls
        } else {
            old.tls.clone()
        };
        self.shared.replace(Current::new(settings, tls));
        self.shared.apply_standings()?;
        Ok(restart)
    }

    /// Serves until the process is told to end (SIGTERM, SIGINT); reads the settings again when it is
    /// told to (SIGHUP).
    pub fn until_told(self, read: impl Fn() -> Result<Settings, String>) -> Result<(), ServeError> {
        let (mut term, mut interrupt, mut hangup) = {
            let _context = self.runtime.enter();
            (
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::hangup())?,
            )
        };
        let mut ready = self.shared.is_warm();
        if ready {
            self.manager.ready("Serving");
        } else {
            self.manager.getting_ready(PATIENCE);
        }
        loop {
            let again = self.runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = term.recv() => return false,
                        _ = interrupt.recv() => return false,
                        _ = hangup.recv() => return true,
                        () = warm(&self.shared, &self.manager), if !ready => {
                            ready = true;
                            self.manager.ready("Serving");
                        }
                    }
                }
            });
            if !again {
                break;
            }
            if ready {
                self.manager.reloading();
            }
            let outcome =
                read().and_then(|new| self.reload(new).map_err(|error| error.to_string()));
            match outcome {
                Ok(restart) => self.shared.log.line(
                    if restart.is_empty() {
                        "info"
                    } else {
                        "warning"
                    },
                    "reloaded",
                    &[(
                        "needs_restart",
                        if restart.is_empty() {
                            serde_json::Value::Null
                        } else {
                            json!(restart)
                        },
                    )],
                ),
                Err(what) => self.shared.log.line(
                    "error",
                    "reload",
                    &[
                        ("what", what.into()),
                        ("kept", "the settings of before".into()),
                    ],
                ),
            }
            // Whoever was told that all is ready must hear it again.
            if ready {
                self.manager.ready("Serving");
            }
        }
        self.stop()
    }

    /// Takes no more requests, answers those that have begun, and ends.
    pub fn stop(self) -> Result<(), ServeError> {
        self.manager.stopping();
        self.shared.log.line("info", "stopping", &[]);
        // Nobody listens any more if all have ended already.
        let _ = self.stop.send(true);
        self.runtime.block_on(async {
            for task in self.listening {
                let _ = task.await;
            }
        });
        self.shared.stop();
        let noted = self.shared.engine().note_seen();
        self.shared.log.line("info", "stopped", &[]);
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        noted?;
        Ok(())
    }
}

/// Returns when checks are as quick as they will be; tells the manager that this takes its time.
async fn warm(shared: &Shared, manager: &Manager) {
    let mut told = Instant::now();
    while !shared.is_warm() {
        tokio::time::sleep(LOOK).await;
        if told.elapsed() >= Duration::from_secs(1) {
            manager.getting_ready(PATIENCE);
            told = Instant::now();
        }
    }
    shared.log.line("info", "warm", &[]);
}

/// Returns when the server is to stop.
pub(crate) async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    // If nobody can tell any more, it is over as well.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn encryption(settings: &Settings) -> io::Result<Option<TlsAcceptor>> {
    match (&settings.http.certificate, &settings.http.key) {
        (Some(certificate), Some(key)) => tls::acceptor(certificate, key).map(Some),
        _ => Ok(None),
    }
}

type Bound = ((Vec<Listener>, Vec<Listener>), (Vec<Place>, Vec<Place>));

async fn bind(settings: &Settings) -> io::Result<Bound> {
    let mut bound = Bound::default();
    for place in &settings.http.listen {
        let listener = Listener::bind(place, settings.http.mode).await?;
        bound.1.0.push(listener.place()?);
        bound.0.0.push(listener);
    }
    for place in &settings.milter.listen {
        let listener = Listener::bind(place, settings.milter.mode).await?;
        bound.1.1.push(listener.place()?);
        bound.0.1.push(listener);
    }
    Ok(bound)
}

/// Notes which campaigns were recognised, so that they do not age.
async fn look_after(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(NOTED) => {}
            () = told_to_stop(&mut stop) => return,
        }
        let worker = Arc::clone(&shared);
        let noted = tokio::task::spawn_blocking(move || worker.engine().note_seen()).await;
        if let Ok(Err(error)) = noted {
            shared.problem("state", &error.to_string());
        }
    }
}

/// Forgets campaigns that have not been seen for long, now and then.
async fn forget(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    // What is old can wait until checks are quick.
    while !shared.is_warm() {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = told_to_stop(&mut stop) => return,
        }
    }
    loop {
        let days = shared.current().settings.forget_days.unwrap_or(FORGET);
        if days > 0 {
            match forget_once(&shared, days, &stop).await {
                Ok(0) => {}
                Ok(count) => shared
                    .log
                    .line("info", "forgotten", &[("campaigns", count.into())]),
                Err(error) => shared.problem("state", &error.to_string()),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(TIDIED) => {}
            () = told_to_stop(&mut stop) => return,
        }
    }
}

/// Looks through all campaigns, a few at a time, and counts those that were forgotten.
async fn forget_once(
    shared: &Arc<Shared>,
    days: u32,
    stop: &watch::Receiver<bool>,
) -> Result<usize, StateError> {
    let (mut after, mut forgotten) = (None, 0);
    loop {
        let (worker, began) = (Arc::clone(shared), Instant::now());
        let step = tokio::task::spawn_blocking(move || worker.engine().tidy(now(), days, after));
        let Ok(tidied) = step.await else { break };
        let tidied = tidied?;
        forgotten += tidied.forgotten;
        after = tidied.next;
        if after.is_none() || *stop.borrow() {
            break;
        }
        // So that it never takes more than a tenth of a core from those who ask.
        tokio::time::sleep(BREATH.max(began.elapsed() * 9)).await;
    }
    Ok(forgotten)
}
