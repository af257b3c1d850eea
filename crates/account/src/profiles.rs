//! The file of accounts: reading it, checking it, and changing it without touching what else is in it.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::profile::{Login, Profile, Protocol, Source, Tls, is_account_name};

/// What is wrong with the file of accounts.
#[derive(Debug)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// The line, if one is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for ConfigError {}

/// The accounts of a file.
#[derive(Debug)]
pub struct Profiles {
    file: PathBuf,
    document: DocumentMut,
    profiles: Vec<Profile>,
}

/// An account as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    protocol: Option<String>,
    host: String,
    port: Option<u16>,
    user: String,
    tls: Option<String>,
    password: Option<String>,
    oauth2: Option<String>,
    ca: Option<PathBuf>,
    mail: Option<PathBuf>,
    #[serde(default)]
    folders: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    jobs: Option<usize>,
    timeout: Option<u64>,
}

impl Profiles {
    /// Reads the file. One that is not there holds no accounts.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or anything in it is not as it should be.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(ConfigError {
                    file: file.to_owned(),
                    line: None,
                    what: format!("cannot be read: {error}"),
                    hint: "check that it is a text file that you may read".into(),
                });
            }
        };
        Self::parse(file, &text)
    }

    fn parse(file: &Path, text: &str) -> Result<Self, ConfigError> {
        let wrong = |line, what| ConfigError {
            file: file.to_owned(),
            line,
            what,
            hint: "docs/accounts.md shows every setting".into(),
        };
        // The library's own message would show the line, and in the line perhaps a password.
        let parsed = toml_edit::Document::parse(text.to_owned()).map_err(|error| {
            let line = error.span().map(|span| line_of(text, span.start));
            wrong(line, error.message().to_owned())
        })?;
        let mut profiles = Vec::new();
        for (key, item) in parsed.iter() {
            let line = line_of_item(text, parsed.as_table(), key);
            if key != "accounts" {
                return Err(wrong(
                    line,
                    format!("{key} is no setting; accounts are tables such as [accounts.work]"),
                ));
            }
            let table = item.as_table_like().ok_or_else(|| {
                wrong(
                    line,
                    "accounts must be tables such as [accounts.work]".into(),
                )
            })?;
            for (name, item) in table.iter() {
                let place = table
                    .get_key_value(name)
                    .and_then(|(key, item)| item.span().or_else(|| key.span()))
                    .map(|span| line_of(text, span.start));
                profiles.push(
                    account(text, name, item, place).map_err(|(line, what)| wrong(line, what))?,
                );
            }
        }
        Ok(Self {
            file: file.to_owned(),
            document: parsed.into_mut(),
            profiles,
        })
    }

    /// The accounts, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter()
    }

    /// The account of this name.
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The file they stand in.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Adds an account and writes the file.
    ///
    /// # Errors
    ///
    /// If there is one of that name, if it is not as it should be, or if the file cannot be written.
    pub fn add(&mut self, profile: &Profile) -> Result<(), ConfigError> {
        let refuse = |what: String, hint: String| ConfigError {
            file: self.file.clone(),
            line: None,
            what,
            hint,
        };
        let name = &profile.name;
        if self.get(name).is_some() {
            return Err(refuse(
                format!("there is an account {name} already"),
                format!("choose another name, or first: twicetold account remove {name}"),
            ));
        }
        let mut document = self.document.clone();
        let accounts = document.entry("accounts").or_insert_with(|| {
            let mut accounts = Table::new();
            accounts.set_implicit(true);
            Item::Table(accounts)
        });
        if let Some(accounts) = accounts.as_table_like_mut() {
            accounts.insert(name, Item::Table(written(profile)));
        }
        // What was written is read like anything else, so that nothing wrong gets in.
        let checked =
            Self::parse(&self.file, &document.to_string()).map_err(|error| ConfigError {
                line: None,
                ..error
            })?;
        self.write(checked)
    }

    /// Takes an account out and writes the file. Its mail stays where it is.
    ///
    /// # Errors
    ///
    /// If there is no such account, or the file cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<(), ConfigError> {
        let mut document = self.document.clone();
        let removed = document
            .get_mut("accounts")
            .and_then(Item::as_table_like_mut)
            .and_then(|accounts| accounts.remove(name));
        if removed.is_none() {
            return Err(self.missing(name));
        }
        let checked = Self::parse(&self.file, &document.to_string())?;
        self.write(checked)
    }

    /// What to say about an account that is not there.
    pub fn missing(&self, name: &str) -> ConfigError {
        let names: Vec<&str> = self.iter().map(|profile| profile.name.as_str()).collect();
        ConfigError {
            file: self.file.clone(),
            line: None,
            what: format!("there is no account {name}"),
            hint: if names.is_empty() {
                "add one: twicetold account add NAME --host HOST --user USER".into()
            } else {
                format!("the accounts are: {}", names.join(", "))
            },
        }
    }

    fn write(&mut self, next: Self) -> Result<(), ConfigError> {
        write_private(&self.file, next.document.to_string().as_bytes()).map_err(|error| {
            ConfigError {
                file: self.file.clone(),
                line: None,
                what: format!("cannot be written: {error}"),
                hint: "check that the folder is there and that you may write to it".into(),
            }
        })?;
        *self = next;
        Ok(())
    }
}

/// Replaces a file as a whole; only its owner may read it.
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("."));
    if !folder.as_os_str().is_empty() {
        crate::local::create_private_folder(folder)?;
    }
    let mut draft = file.as_os_str().to_owned();
    draft.push(format!(".{}.part", std::process::id()));
    let draft = PathBuf::from(draft);
    let written = crate::local::create_private_file(&draft)
        .and_then(|mut out| {
            out.write_all(bytes)?;
            out.sync_all()
        })
        .and_then(|()| fs::rename(&draft, &file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}

fn line_of_item(text: &str, table: &Table, key: &str) -> Option<usize> {
    let (key, item) = table.get_key_value(key)?;
    let span = key.span().or_else(|| item.span())?;
    Some(line_of(text, span.start))
}

type Wrong = (Option<usize>, String);

fn account(text: &str, name: &str, item: &Item, place: Option<usize>) -> Result<Profile, Wrong> {
    if !is_account_name(name) {
        return Err((
            place,
            format!(
                "{name:?} is no name for an account: letters, digits, dots and dashes, at most 64"
            ),
        ));
    }
    let table = item
        .as_table_like()
        .ok_or((place, format!("accounts.{name} must be a table")))?;
    let line = |field: &str| {
        let found = table.get_key_value(field);
        found
            .and_then(|(key, item)| item.span().or_else(|| key.span()))
            .map(|span| line_of(text, span.start))
            .or(place)
    };
    let wrong =
        |field: &str, what: String| (line(field), format!("accounts.{name}.{field} {what}"));
    let written: Written = read_fields(table).map_err(|(field, what)| match field {
        Some(field) => wrong(&field, what),
        None => (place, format!("accounts.{name}: {what}")),
    })?;
    let protocol: Protocol =
        optional(written.protocol.as_deref()).map_err(|e| wrong("protocol", e))?;
    let tls: Tls = optional(written.tls.as_deref()).map_err(|e| wrong("tls", e))?;
    if written.host.is_empty()
        || written
            .host
            .contains(|c: char| c.is_whitespace() || c.is_control() || c == '/')
    {
        return Err(wrong(
            "host",
            "must be the name of a server, without port or protocol".into(),
        ));
    }
    if written.user.is_empty() || written.user.contains(char::is_control) {
        return Err(wrong("user", "must be the name you log in with".into()));
    }
    let login = match (&written.password, &written.oauth2) {
        (Some(_), Some(_)) => {
            return Err(wrong(
                "oauth2",
                "and password exclude each other: keep one".into(),
            ));
        }
        (Some(source), None) => {
            let source: Source = source
                .parse()
                .map_err(|e: crate::profile::Unknown| wrong("password", e.to_string()))?;
            Login::Password(source)
        }
        (None, Some(token)) => match token.parse() {
            Ok(Source::Command(command)) => Login::OAuth2(command),
            _ => {
                return Err(wrong(
                    "oauth2",
                    "must be command:COMMAND, which writes a token".into(),
                ));
            }
        },
        (None, None) => Login::Password(Source::Prompt),
    };
    let jobs = written.jobs.unwrap_or(Profile::JOBS);
    if !(1..=Profile::MOST_JOBS).contains(&jobs) {
        return Err(wrong(
            "jobs",
            format!("must be a number from 1 to {}", Profile::MOST_JOBS),
        ));
    }
    let timeout = written.timeout.unwrap_or(Profile::TIMEOUT);
    if !(1..=3600).contains(&timeout) {
        return Err(wrong(
            "timeout",
            "must be a number of seconds from 1 to 3600".into(),
        ));
    }
    Ok(Profile {
        name: name.to_owned(),
        protocol,
        port: match written.port {
            Some(0) => return Err(wrong("port", "must be a number from 1 to 65535".into())),
            Some(port) => port,
            None => protocol.port(tls),
        },
        host: written.host,
        user: written.user,
        tls,
        login,
        authorities: written.ca,
        mail: written.mail,
        folders: written.folders,
        exclude: written.exclude,
        jobs,
        timeout: Duration::from_secs(timeout),
    })
}

/// The fields of an account; what is wrong is said of the field, and never with its value.
fn read_fields(table: &dyn toml_edit::TableLike) -> Result<Written, (Option<String>, String)> {
    const FIELDS: [(&str, &str); 13] = [
        ("protocol", "text"),
        ("host", "text"),
        ("port", "number"),
        ("user", "text"),
        ("tls", "text"),
        ("password", "text"),
        ("oauth2", "text"),
        ("ca", "text"),
        ("mail", "text"),
        ("folders", "list"),
        ("exclude", "list"),
        ("jobs", "number"),
        ("timeout", "number"),
    ];
    for (field, item) in table.iter() {
        let Some((_, kind)) = FIELDS.iter().find(|(name, _)| *name == field) else {
            let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
            return Err((
                Some(field.to_owned()),
                format!("is no setting; there are {}", names.join(", ")),
            ));
        };
        let fits = match *kind {
            "text" => item.is_str(),
            "number" => item
                .as_integer()
                .is_some_and(|number| (0..=65_535).contains(&number)),
            _ => item
                .as_array()
                .is_some_and(|list| list.iter().all(toml_edit::Value::is_str)),
        };
        if !fits {
            let what = match *kind {
                "text" => "must be text in quotation marks",
                "number" => "must be a number",
                _ => "must be a list of texts, as in [\"INBOX\"]",
            };
            return Err((Some(field.to_owned()), what.to_owned()));
        }
    }
    for needed in ["host", "user"] {
        if !table.contains_key(needed) {
            return Err((None, format!("{needed} is missing")));
        }
    }
    let mut whole = Table::new();
    for (field, item) in table.iter() {
        whole.insert(field, item.clone());
    }
    toml_edit::de::from_document(DocumentMut::from(whole))
        .map_err(|error| (None, error.message().to_owned()))
}

fn optional<T: Default + std::str::FromStr<Err = crate::profile::Unknown>>(
    text: Option<&str>,
) -> Result<T, String> {
    match text {
        Some(text) => text.parse().map_err(|error: T::Err| error.to_string()),
        None => Ok(T::default()),
    }
}

/// An account as it is to stand in the file: what is usual is left out.
fn written(profile: &Profile) -> Table {
    let mut table = Table::new();
    table["protocol"] = value(profile.protocol.to_string());
    table["host"] = value(&profile.host);
    if profile.port != profile.protocol.port(profile.tls) {
        table["port"] = value(i64::from(profile.port));
    }
    table["user"] = value(&profile.user);
    table["tls"] = value(profile.tls.to_string());
    match &profile.login {
        Login::Password(source) => table["password"] = value(source.to_string()),
        Login::OAuth2(command) => table["oauth2"] = value(format!("command:{command}")),
    }
    for (field, path) in [("ca", &profile.authorities), ("mail", &profile.mail)] {
        if let Some(path) = path {
            table[field] = value(path.to_string_lossy().into_owned());
        }
    }
    for (field, list) in [("folders", &profile.folders), ("exclude", &profile.exclude)] {
        if !list.is_empty() {
            table[field] = value(list.iter().collect::<toml_edit::Array>());
        }
    }
    if profile.jobs != Profile::JOBS {
        table["jobs"] = value(profile.jobs as i64);
    }
    if profile.timeout.as_secs() != Profile::TIMEOUT {
        table["timeout"] = value(profile.timeout.as_secs() as i64);
    }
    table
}

#[cfg(test)]
#[path = "profiles_tests.rs"]
mod tests;
