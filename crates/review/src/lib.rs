//! Can I see it?
//!
//! A page on this machine, for the browser of the person at it, over a scan: how much says nothing new, why each message may go, side by side
//! with the messages that hold it, and the choice what goes. It never leaves loopback, loads nothing from elsewhere, shows text only, and
//! changes nothing by itself: scanning, removing and bringing back are done by whoever opens it, through [`Doors`].
//!
//! - `session` holds what one user sees: a scan, the `catalogue` by which messages are found, and the `choices`.
//! - `http` speaks with the browser, `routes` decides who gets in and which of `pages` answers; `pictures` draws.
//! - `export` writes the reviewer's table and the report.
//! - `plain` has the words, numbers and escapes that the command line uses as well.

mod catalogue;
mod choices;
mod doors;
mod export;
mod http;
mod lists;
mod pages;
mod pictures;
pub mod plain;
mod query;
mod routes;
mod session;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

pub use doors::{Doors, Outcome, PastRun, Scanned, Told};
pub use export::Format;

use http::Request;
use routes::Gate;
use session::{Desk, Session};

/// A page that is ready to be opened.
#[derive(Debug)]
pub struct Page {
    listener: TcpListener,
    gate: Gate,
}

impl Page {
    /// Takes a port of this machine, which nobody outside it can reach; 0 takes any that is free.
    pub fn open(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let port = listener.local_addr()?.port();
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let token = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            listener,
            gate: Gate { port, token },
        })
    }

    /// The address, which holds a secret.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.gate.port, self.gate.token)
    }

    /// Scans and answers the browser until the program ends.
    pub fn serve(self, doors: Box<dyn Doors>) {
        let session = Session::start(doors);
        let gate = self.gate;
        let handle = move |request: &Request| routes::answer(&session, &gate, request);
        http::serve(&self.listener, Arc::new(handle));
    }
}

/// Writes the table or the report of a scan, without a page.
pub fn export(format: Format, scanned: Scanned, out: &mut dyn io::Write) -> io::Result<()> {
    export::write(format, &Desk::new(scanned), out)
}
