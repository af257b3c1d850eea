//! The configuration file, checked.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use twicetold_service::Standing;

use crate::keys::KeyHash;
use crate::place::Place;

/// What is wrong with the configuration file.
#[derive(Debug)]
pub struct SettingsError {
    /// The file.
    pub file: PathBuf,
    /// The line, if one is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for SettingsError {}

/// Everything that can be set; `contrib/serve.toml` shows all of it with its defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Settings {
    /// Where campaigns are kept: a folder or the address of a Redis server or cluster.
    pub db: Option<String>,
    /// What all keys on a Redis server begin with.
    pub prefix: Option<String>,
    /// The name the own mail server gives itself in `Authentication-Results`.
    pub authserv: Option<String>,
    /// Campaigns unseen for so many days are forgotten; 0 keeps them.
    pub forget_days: Option<u32>,
    /// What is written into the log.
    pub log: LogLevel,
    /// What is served at all, and how much at once.
    pub limits: Limits,
    /// HTTP.
    pub http: Http,
    /// The milter.
    pub milter: Milter,
    /// Who may report, by name.
    pub reporters: BTreeMap<String, Known>,
}

/// What is written into the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// Only what went wrong, and starting and stopping.
    Problems,
    /// Also reports, revocations, and messages that were not simply let through.
    #[default]
    Changes,
    /// Every request.
    Requests,
}

/// How much is taken on at once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Limits {
    /// Threads that look at messages; 0 for as many as fit the machine and the place of the campaigns.
    pub threads: usize,
    /// Requests that may wait for a thread.
    pub queue: usize,
    /// The longest message, in bytes.
    pub message_bytes: usize,
    /// Messages held in memory at the same time, in bytes together.
    pub memory_bytes: usize,
    /// The index of a folder in memory, in bytes; if it would take more, a smaller filter does, and checks take longer.
    pub index_bytes: usize,
    /// How long a graceful stop waits for requests that are being answered.
    pub stop_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            threads: 0,
            queue: 512,
            message_bytes: 32 << 20,
            memory_bytes: 256 << 20,
            index_bytes: 1 << 30,
            stop_seconds: 10,
        }
    }
}

/// How HTTP is served.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Http {
    /// Where: `HOST:PORT` or `unix:/PATH`.
    pub listen: Vec<Place>,
    /// A file with the certificate and its chain (PEM); with it everything but unix sockets is TLS.
    pub certificate: Option<PathBuf>,
    /// A file with its key (PEM).
    pub key: Option<PathBuf>,
    /// Whether checks, campaigns and metrics need a key, too.
    pub checks_need_key: bool,
    /// Connections at the same time.
    pub connections: usize,
    /// How long a connection may do nothing, or take for the head of a request.
    pub idle_seconds: u64,
    /// How long the body of a request may take to arrive.
    pub request_seconds: u64,
    /// Checks per minute without a key, for each address; 0 for any number.
    pub checks_per_minute: u32,
    /// Who may write to a unix socket, as in `chmod`.
    pub mode: Mode,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: vec![Place::default_http()],
            certificate: None,
            key: None,
            checks_need_key: false,
            connections: 1024,
            idle_seconds: 60,
            request_seconds: 30,
            checks_per_minute: 0,
            mode: Mode::default(),
        }
    }
}

/// What becomes of a message that is spam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Headers say so.
    #[default]
    Tag,
    /// The mail server refuses it.
    Reject,
    /// The mail server holds it in its queue.
    Quarantine,
}

/// How the milter is served.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Milter {
    /// Where: `unix:/PATH` or `HOST:PORT`; not at all without.
    pub listen: Vec<Place>,
    /// What becomes of spam.
    pub spam: Action,
    /// What the sender of refused spam is told.
    pub reject_text: String,
    /// Whether `X-Spam-Flag: YES` is added to spam as well, for programs that look for it.
    pub spam_flag: bool,
    /// Whether mail of users who have logged in is checked, too.
    pub check_authenticated: bool,
    /// How long a check may take; then the message goes through unchecked.
    pub check_seconds: u64,
    /// How long a session may do nothing.
    pub idle_seconds: u64,
    /// Sessions at the same time; more are let through unchecked.
    pub sessions: usize,
    /// Who may write to a unix socket, as in `chmod`.
    pub mode: Mode,
}

impl Default for Milter {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            spam: Action::Tag,
            reject_text: "This message is a variant of reported spam".to_owned(),
            spam_flag: false,
            check_authenticated: false,
            check_seconds: 5,
            idle_seconds: 600,
            sessions: 200,
            mode: Mode::default(),
        }
    }
}

/// Who may use a unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Mode(pub u32);

impl Default for Mode {
    fn default() -> Self {
        Self(0o660)
    }
}

impl TryFrom<String> for Mode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        u32::from_str_radix(&text, 8)
            .ok()
            .filter(|mode| *mode <= 0o777)
            .map(Self)
            .ok_or_else(|| format!("mode is an octal number such as \"0660\", not {text:?}"))
    }
}

/// A reporter of the configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Known {
    /// A checksum of the key, as `twicetold spam key` prints it.
    pub key: Option<KeyHash>,
    /// How the reporter is regarded; without it, as the state says.
    pub standing: Option<Standing>,
    /// Whether the key may also report in the names of others, who are called `NAME/OTHER`.
    pub members: bool,
    /// How such others are regarded when they are first heard of.
    pub members_standing: Option<Standing>,
    /// Requests per minute; 0 for any number.
    pub per_minute: u32,
    /// Whether the key may take an export of everything.
    pub export: bool,
}

impl Settings {
    /// Reads a configuration file.
    pub fn read(file: &Path) -> Result<Self, SettingsError> {
        let wrong = |line, what: String| SettingsError {
            file: file.to_owned(),
            line,
            what,
        };
        let text = fs::read_to_string(file).map_err(|error| wrong(None, error.to_string()))?;
        Self::parse(&text).map_err(|(line, what)| wrong(line, what))
    }

    /// Understands the text of a configuration file; or says in which line it is wrong, and how.
    pub fn parse(text: &str) -> Result<Self, (Option<usize>, String)> {
        let settings: Self = toml_edit::de::from_str(text).map_err(|error| {
            let line = error
                .span()
                .and_then(|span| text.get(..span.start))
                .map(|before| before.matches('\n').count() + 1);
            (line, error.message().to_owned())
        })?;
        settings.check().map_err(|what| (None, what))?;
        Ok(settings)
    }

    /// What no file can be told by its form alone.
    pub fn check(&self) -> Result<(), String> {
        let (limits, http, milter) = (&self.limits, &self.http, &self.milter);
        for (name, number) in [
            ("limits.queue", limits.queue),
            ("limits.message-bytes", limits.message_bytes),
            ("http.connections", http.connections),
            ("milter.sessions", milter.sessions),
            ("http.idle-seconds", http.idle_seconds as usize),
            ("http.request-seconds", http.request_seconds as usize),
            ("milter.check-seconds", milter.check_seconds as usize),
            ("milter.idle-seconds", milter.idle_seconds as usize),
        ] {
            if number == 0 {
                return Err(format!("{name} must be at least 1"));
            }
        }
        if limits.threads > 1024 {
            return Err("limits.threads must be at most 1024".to_owned());
        }
        if limits.memory_bytes < limits.message_bytes {
            return Err("limits.memory-bytes must be at least limits.message-bytes".to_owned());
        }
        if http.certificate.is_some() != http.key.is_some() {
            return Err(
                "http.certificate and http.key are needed together: one is missing".to_owned(),
            );
        }
        if http.listen.is_empty() && milter.listen.is_empty() {
            return Err(
                "there is nothing to serve: http.listen and milter.listen are empty".into(),
            );
        }
        if milter.reject_text.chars().any(char::is_control) || milter.reject_text.len() > 400 {
            return Err(
                "milter.reject-text is one line of at most 400 bytes without control characters"
                    .to_owned(),
            );
        }
        match self
            .reporters
            .keys()
            .find(|name| !is_reporter_name(name) || name.contains('/'))
        {
            Some(name) => Err(format!(
                "reporters.{name:?}: a name is 1 to 200 bytes long, without slashes and control characters"
            )),
            None => Ok(()),
        }
    }

    /// What is different and takes effect only after a restart.
    pub(crate) fn needs_restart(&self, new: &Self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for (name, same) in [
            ("db", self.db == new.db && self.prefix == new.prefix),
            ("http.listen", self.http.listen == new.http.listen),
            ("http.mode", self.http.mode == new.http.mode),
            (
                "http.certificate",
                self.http.certificate.is_some() == new.http.certificate.is_some(),
            ),
            (
                "http.connections",
                self.http.connections == new.http.connections,
            ),
            ("milter.listen", self.milter.listen == new.milter.listen),
            ("milter.mode", self.milter.mode == new.milter.mode),
            (
                "milter.sessions",
                self.milter.sessions == new.milter.sessions,
            ),
            ("limits.threads", self.limits.threads == new.limits.threads),
            ("limits.queue", self.limits.queue == new.limits.queue),
            (
                "limits.memory-bytes",
                self.limits.memory_bytes == new.limits.memory_bytes,
            ),
            (
                "limits.index-bytes",
                self.limits.index_bytes == new.limits.index_bytes,
            ),
        ] {
            if !same {
                names.push(name);
            }
        }
        names
    }
}

impl Http {
    pub(crate) fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_seconds)
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }
}

/// Whether a reporter can be called that.
pub fn is_reporter_name(name: &str) -> bool {
    (1..=200).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_is_understood_and_is_the_default() {
        let shipped = include_str!("../../../contrib/serve.toml");
        let settings = Settings::parse(shipped).unwrap();
        assert_eq!(settings.limits, Limits::default());
        let http = Http {
            listen: settings.http.listen.clone(),
            ..Http::default()
        };
        assert_eq!(settings.http, http);
        // Every setting that is commented out is one, and has its default.
        let all: String = shipped
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .map(|line| format!("{line}\n"))
            .collect();
        let all = Settings::parse(&all).unwrap();
        assert!(all.http.certificate.is_some() && all.reporters.len() == 2);
        assert_eq!(all.limits, Limits::default());
        let milter = Milter {
            listen: all.milter.listen.clone(),
            ..Milter::default()
        };
        assert_eq!(all.milter, milter);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, what) in [
            ("\n[http]\nlisen = []", Some(3), "unknown field `lisen`"),
            (
                "[limits]\nqueue = 0",
                None,
                "limits.queue must be at least 1",
            ),
            (
                "[http]\ncertificate = \"a\"",
                None,
                "http.certificate and http.key are needed together",
            ),
            (
                "[http]\nlisten = [\"x\"]",
                Some(2),
                "\"x\" is no place to listen",
            ),
            ("[milter]\nmode = \"9\"", Some(2), "mode is an octal number"),
            ("[reporters.\"a/b\"]", None, "without slashes"),
            (
                "[reporters.a]\nkey = \"x\"",
                Some(2),
                "is no checksum of a key",
            ),
            ("[http]\nlisten = []", None, "nothing to serve"),
        ] {
            let (found, told) = Settings::parse(text).unwrap_err();
            assert!(told.contains(what), "{text}: {told}");
            assert_eq!(found, line, "{text}: {told}");
        }
    }
}
