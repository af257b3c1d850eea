//! What can go wrong with an account, in words, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What went wrong, with which account.
#[derive(Debug)]
pub struct Error {
    account: String,
    fault: Fault,
}

impl Error {
    /// A fault that befell this account.
    pub fn new(account: impl Into<String>, fault: Fault) -> Self {
        Self {
            account: account.into(),
            fault,
        }
    }

    /// What went wrong.
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        self.fault.hint(&self.account)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "account {}: {}", self.account, self.fault)
    }
}

impl std::error::Error for Error {}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// No connection came about.
    Unreachable {
        /// Host and port.
        server: String,
        /// Why.
        cause: io::Error,
    },
    /// The server's certificate is not to be trusted.
    Certificate {
        /// Host and port.
        server: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The file of certificate authorities cannot be used.
    Authorities {
        /// The file, or "the system's certificates".
        place: String,
        /// Why.
        cause: String,
    },
    /// TLS could not be agreed on.
    Tls {
        /// Host and port.
        server: String,
        /// Why.
        cause: String,
    },
    /// The server does not offer to switch to TLS.
    NoStartTls {
        /// Host and port.
        server: String,
    },
    /// The server does not accept the password or token.
    Login {
        /// What it said.
        said: String,
    },
    /// The server offers no way of logging in that the account could use.
    NoMechanism {
        /// What the server offers.
        offered: String,
    },
    /// Nothing came for too long.
    Silent {
        /// For how many seconds.
        seconds: u64,
    },
    /// The connection ended.
    Cut {
        /// What the server or the system said about it.
        said: String,
    },
    /// The server sent what is not part of the protocol.
    Garbage {
        /// What was expected, or what is wrong.
        what: String,
    },
    /// The server sent, or announced, more than there is room for.
    TooLarge {
        /// What is too large.
        what: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The server refused a command.
    Refused {
        /// What it was asked.
        asked: String,
        /// What it said.
        said: String,
    },
    /// The server lacks an extension without which the wish cannot be fulfilled safely.
    Lacks {
        /// The extension.
        extension: &'static str,
        /// What it is needed for.
        purpose: &'static str,
    },
    /// A file or folder on this machine.
    Local {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        cause: io::Error,
    },
    /// Another program is at work in the folder.
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// There is no password or token.
    NoSecret {
        /// Why.
        what: String,
        /// What to do.
        hint: String,
    },
    /// Something in the wish itself.
    Wish {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
}

impl Fault {
    pub(crate) fn local(doing: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Local {
            doing,
            path: path.to_owned(),
            cause,
        }
    }

    pub(crate) fn garbage(what: impl Into<String>) -> Self {
        Self::Garbage { what: what.into() }
    }

    /// Whether trying again, on a new connection, may help.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Silent { .. } | Self::Cut { .. })
    }

    /// What the user of the account can do about it.
    pub fn hint(&self, account: &str) -> String {
        match self {
            Self::Unreachable { .. } => {
                format!("check host and port (twicetold account list) and the network, then: twicetold account test {account}")
            }
            Self::Certificate { .. } => "if it is your own server, name its authority: ca = \"FILE.pem\" in the account; otherwise do not go on".into(),
            Self::Authorities { .. } => "name a readable PEM file: ca = \"FILE.pem\" in the account".into(),
            Self::Tls { .. } => "check the port and the account's tls setting: implicit (993, 995) or starttls (143, 110)".into(),
            Self::NoStartTls { .. } => "use tls = \"implicit\" with port 993 (IMAP) or 995 (POP3); tls = \"none\" sends the password in the clear".into(),
            Self::Login { .. } => "check the user name, and where the password comes from; some providers want an app password or oauth2".into(),
            Self::NoMechanism { .. } => "use TLS, or oauth2 if the provider asks for it".into(),
            Self::Silent { .. } | Self::Cut { .. } => {
                "what was fetched is kept; start again, and it goes on from there".into()
            }
            Self::Garbage { .. } | Self::TooLarge { .. } => {
                "what was fetched is kept, nothing else was stored; check that host, port and protocol belong together, then start again".into()
            }
            Self::Refused { .. } => "what was fetched is kept; see what the server says".into(),
            Self::Lacks { .. } => "nothing was changed; use a mail program for this server".into(),
            Self::Local { cause, .. } => match cause.kind() {
                io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::FileTooLarge => {
                    "make room, then start again: it goes on from there".into()
                }
                _ => "check that the folder is there and that you may write to it; mail = \"FOLDER\" in the account moves it".into(),
            },
            Self::Busy { .. } => "wait until it has ended, then start again".into(),
            Self::NoSecret { hint, .. } | Self::Wish { hint, .. } => hint.clone(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { server, cause } => write!(f, "cannot connect to {server}: {cause}"),
            Self::Certificate { server, cause } => {
                write!(
                    f,
                    "the certificate of {server} is not to be trusted: {cause}"
                )
            }
            Self::Authorities { place, cause } => {
                write!(f, "no certificate authorities from {place}: {cause}")
            }
            Self::Tls { server, cause } => write!(f, "no TLS with {server}: {cause}"),
            Self::NoStartTls { server } => write!(f, "{server} does not offer STARTTLS"),
            Self::Login { said } => write!(f, "the server refused the login: {said}"),
            Self::NoMechanism { offered } => {
                write!(f, "no way to log in: the server offers {offered}")
            }
            Self::Silent { seconds } => {
                write!(f, "the server did not answer for {seconds} seconds")
            }
            Self::Cut { said } => write!(f, "the connection was cut: {said}"),
            Self::Garbage { what } => write!(f, "the server does not keep to the protocol: {what}"),
            Self::TooLarge { what, limit } => {
                write!(f, "the server sent {what} of more than {limit} bytes")
            }
            Self::Refused { asked, said } => write!(f, "the server refused to {asked}: {said}"),
            Self::Lacks { extension, purpose } => {
                write!(
                    f,
                    "the server lacks {extension}, which is needed to {purpose}"
                )
            }
            Self::Local { doing, path, cause } => {
                write!(f, "cannot {doing} {}: {cause}", path.display())
            }
            Self::Busy { path } => {
                write!(f, "another twicetold is at work in {}", path.display())
            }
            Self::NoSecret { what, .. } | Self::Wish { what, .. } => f.write_str(what),
        }
    }
}

impl std::error::Error for Fault {}
