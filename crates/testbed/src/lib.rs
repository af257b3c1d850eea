//! Real and hostile mail servers for tests: a Dovecot or a Postfix of one's own, certificates for it, a proxy that
//! cuts connections, and a listener that says whatever a test wants; and a mailbox of thousands of messages.
//!
//! Everything listens on the loopback interface, on ports that the system chose, writes into a folder
//! of its own, and is gone when it is dropped, or when the test's process ends, however that happens.
//!
//! Only tests depend on this crate. A step that fails fails the test that asked for it.

// What goes wrong here is to fail the test, loudly and at once.
#![allow(clippy::unwrap_used)]
// Dovecot is at home on Unix alone.
#![cfg(unix)]

mod certificates;
mod dovecot;
mod fake;
mod folder;
mod mail;
mod postfix;
mod proxy;

pub use certificates::Certificates;
pub use dovecot::{Dovecot, PASSWORD, Setup, USERS};
pub use fake::{Fake, Line};
pub use folder::Folder;
pub use mail::busy_mailbox;
pub use postfix::Postfix;
pub use proxy::Proxy;
