//! Telling systemd how it goes (`sd_notify`), without its library.

use std::env;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

/// The service manager that started us, if there is one that wants to know.
#[derive(Debug, Default)]
pub(crate) struct Manager {
    socket: Option<UnixDatagram>,
}

impl Manager {
    /// The one that `NOTIFY_SOCKET` names.
    pub(crate) fn from_environment() -> Self {
        let socket = env::var("NOTIFY_SOCKET")
            .ok()
            .and_then(|name| connect(&name));
        Self { socket }
    }

    /// All is ready.
    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}"));
    }

    /// It is not ready yet, and not stuck either: so many microseconds more may be needed.
    pub(crate) fn getting_ready(&self, microseconds: u32) {
        self.tell(&format!(
            "EXTEND_TIMEOUT_USEC={microseconds}\nSTATUS=Reading the index into memory"
        ));
    }

    /// The configuration is being read again; [`Self::ready`] follows.
    pub(crate) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }

    /// It is ending.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=Finishing what was begun");
    }

    /// It is alive.
    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    /// How often the manager wants to hear that, twice as often to be sure.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.socket.as_ref()?;
        let micros: u64 = env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
        (micros > 0).then(|| Duration::from_micros(micros / 2).max(Duration::from_millis(100)))
    }

    fn tell(&self, what: &str) {
        if let Some(socket) = &self.socket {
            // A manager that does not listen is no reason to stop.
            let _ = socket.send(what.as_bytes());
        }
    }
}

fn connect(name: &str) -> Option<UnixDatagram> {
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    match name.strip_prefix('@') {
        #[cfg(target_os = "linux")]
        Some(hidden) => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(hidden).ok()?;
            socket.connect_addr(&address).ok()?;
        }
        #[cfg(not(target_os = "linux"))]
        Some(_) => return None,
        None => socket.connect(name).ok()?,
    }
    Some(socket)
}
