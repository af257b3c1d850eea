//! Mail accounts: who they are ([`Profiles`]), and how their mail gets here ([`fetch()`]).
//!
//! The client speaks IMAP and POP3, over TLS unless told otherwise. Messages pass from the
//! connection to a file without being held in memory; everything else that a server sends has a limit
//! in length and in time. A server that lies or fails costs a clear error, never a message: what
//! arrived stays, and the next call goes on from there.
//!
//! For changing a mailbox on the server there is [`Session`]: moving by UID, flags, putting a message
//! back. It never sends a bare EXPUNGE. [`Servers`] carries out plans with it, and undoes them.
//!
//! Nothing here prints, asks, or looks into the user's home folder.

#[cfg(unix)]
mod act;
mod fault;
mod fetch;
mod imap;
mod local;
mod overview;
mod pop3;
mod profile;
mod profiles;
mod secret;
mod tls;
mod uids;
mod wire;

#[cfg(unix)]
pub use act::{Address, Connect, Fetched, ServerSpot, ServerWishes, Servers};
pub use fault::{Error, Fault};
pub use fetch::{FetchOptions, FetchProgress, FetchReport, FolderReport, Skipped, fetch};
pub use imap::actions::{Appended, FlagChange, Moved};
pub use imap::folders::{Folder, FolderCounts, Opened, Purpose};
pub use imap::reading::ServerMessage;
pub use imap::session::Session;
pub use local::fetched_folders;
pub use overview::{Overview, overview};
pub use pop3::Pop3Session;
pub use profile::{Login, Profile, Protocol, Source, Tls, Unknown, is_account_name};
pub use profiles::{ConfigError, Profiles};
pub use secret::{Credentials, Secret, credentials, store_in_keyring};
pub use uids::{NoUidSet, UidSet};
