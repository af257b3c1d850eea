//! Who asks about spam, and how?
//!
//! [`Server`] serves an [`Engine`](twicetold_service::Engine) over HTTP and as a milter; [`Client`] asks
//! one from elsewhere. The network's side is asynchronous and thinks little; threads behind bounded queues do
//! the work. Everything that others can make grow has a limit, and whoever meets one is told at once.
//!
//! Never: decides about a message; logs anything of one; lets a report in without a key; stops mail
//! because of trouble of its own.

mod client;
#[cfg(unix)]
mod http;
mod keys;
#[cfg(unix)]
mod listen;
#[cfg(unix)]
mod log;
#[cfg(unix)]
mod metrics;
#[cfg(unix)]
mod milter;
#[cfg(unix)]
mod notify;
#[cfg(unix)]
mod patient;
mod place;
#[cfg(unix)]
mod rate;
#[cfg(unix)]
mod server;
mod settings;
#[cfg(unix)]
mod shared;
mod tls;
#[cfg(unix)]
mod work;

pub use client::{Client, ClientError, Heard, Said, Sent, Target, Verb};
pub use keys::{KeyHash, claimed_reporter, make_key};
#[cfg(unix)]
pub use log::Log;
pub use place::Place;
#[cfg(unix)]
pub use server::{ServeError, Server};
pub use settings::{
    Action, Http, Known, Limits, LogLevel, Milter, Mode, Settings, SettingsError, is_reporter_name,
};
