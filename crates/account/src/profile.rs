//! A profile: one mail account, and how to reach it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::wire::Server;

/// A mail account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What the user calls it.
    pub name: String,
    /// The protocol of its server.
    pub protocol: Protocol,
    /// The server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Who logs in.
    pub user: String,
    /// How the connection is encrypted.
    pub tls: Tls,
    /// What is shown at the door.
    pub login: Login,
    /// A file of certificate authorities to use instead of the system's.
    pub authorities: Option<PathBuf>,
    /// Where its mail is kept, if not in the usual place.
    pub mail: Option<PathBuf>,
    /// The folders to fetch, as patterns; empty for the usual ones.
    pub folders: Vec<String>,
    /// The folders to leave out, as patterns.
    pub exclude: Vec<String>,
    /// How many connections are used at a time.
    pub jobs: usize,
    /// How long to wait for the server.
    pub timeout: Duration,
}

impl Profile {
    /// How many connections are used unless told otherwise.
    pub const JOBS: usize = 4;
    /// The most connections an account may use.
    pub const MOST_JOBS: usize = 32;
    /// How many seconds to wait for the server unless told otherwise.
    pub const TIMEOUT: u64 = 60;

    pub(crate) fn server(&self) -> Server {
        Server {
            host: self.host.clone(),
            port: self.port,
            authorities: self.authorities.clone(),
            timeout: self.timeout,
        }
    }
}

/// Whether this can be the name of an account: it is used in paths and on command lines.
pub fn is_account_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// The protocol of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// IMAP: folders, flags, several programs at once.
    #[default]
    Imap,
    /// POP3: one heap of messages.
    Pop3,
}

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// From the first byte.
    #[default]
    Implicit,
    /// After a command in the clear; without it, there is no login.
    StartTls,
    /// Not at all. Everybody on the way can read the password.
    None,
}

/// What is shown at the door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// A password.
    Password(Source),
    /// A token that this command writes.
    OAuth2(String),
}

/// Where a password comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The system's keyring.
    Keyring,
    /// The user, who is asked.
    Prompt,
    /// An environment variable.
    Env(String),
    /// The first line that a command writes.
    Command(String),
}

impl Protocol {
    /// The port that is usual for the protocol.
    pub fn port(self, tls: Tls) -> u16 {
        match (self, tls) {
            (Self::Imap, Tls::Implicit) => 993,
            (Self::Imap, _) => 143,
            (Self::Pop3, Tls::Implicit) => 995,
            (Self::Pop3, _) => 110,
        }
    }
}

/// What was given is none of the values that are possible; which those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown(pub &'static str);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unknown {}

impl FromStr for Protocol {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text {
            "imap" => Ok(Self::Imap),
            "pop3" => Ok(Self::Pop3),
            _ => Err(Unknown("must be imap or pop3")),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Imap => "imap",
            Self::Pop3 => "pop3",
        })
    }
}

impl FromStr for Tls {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text {
            "implicit" => Ok(Self::Implicit),
            "starttls" => Ok(Self::StartTls),
            "none" => Ok(Self::None),
            _ => Err(Unknown("must be implicit, starttls or none")),
        }
    }
}

impl fmt::Display for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Implicit => "implicit",
            Self::StartTls => "starttls",
            Self::None => "none",
        })
    }
}

impl FromStr for Source {
    type Err = Unknown;

    /// The text may be a password that somebody put in the wrong place: it is not repeated.
    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text.split_once(':') {
            None if text == "keyring" => Ok(Self::Keyring),
            None if text == "prompt" => Ok(Self::Prompt),
            Some(("env", name)) if !name.is_empty() && !name.contains(['=', '\0']) => {
                Ok(Self::Env(name.to_owned()))
            }
            Some(("command", command)) if !command.trim().is_empty() => {
                Ok(Self::Command(command.trim().to_owned()))
            }
            _ => Err(Unknown(
                "must say where the password comes from: keyring, prompt, env:NAME or command:COMMAND; a password itself has no place here",
            )),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring => f.write_str("keyring"),
            Self::Prompt => f.write_str("prompt"),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::Command(command) => write!(f, "command:{command}"),
        }
    }
}
