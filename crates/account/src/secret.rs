//! Where a password or token comes from. It is never written down here, and wiped after use.

use std::fmt;
use std::process::{Command, Stdio};

use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::profile::{Login, Profile, Source};

/// A password or token. It shows itself nowhere, and is wiped from memory when it is dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a secret over.
    pub fn new(secret: String) -> Self {
        Self(Zeroizing::new(secret))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What the server is to be shown.
#[derive(Clone, Debug)]
pub enum Credentials {
    /// A password.
    Password(Secret),
    /// A token for XOAUTH2 or OAUTHBEARER.
    Token(Secret),
}

/// Gets what the account logs in with. A password that is to be typed is asked for with `prompt`.
///
/// # Errors
///
/// If the command, the variable or the keyring gives none.
pub fn credentials(
    profile: &Profile,
    prompt: &mut dyn FnMut() -> Result<Secret, Fault>,
) -> Result<Credentials, Fault> {
    match &profile.login {
        Login::OAuth2(command) => output_of(command, "token").map(Credentials::Token),
        Login::Password(source) => match source {
            Source::Prompt => prompt(),
            Source::Env(name) => match std::env::var(name) {
                Ok(value) if !value.is_empty() => Ok(Secret::new(value)),
                _ => Err(Fault::NoSecret {
                    what: format!(
                        "the environment variable {name}, which is to hold the password, is not set"
                    ),
                    hint: format!("set {name}, or change the account's password source"),
                }),
            },
            Source::Command(command) => output_of(command, "password"),
            Source::Keyring => from_keyring(&profile.name),
        }
        .map(Credentials::Password),
    }
}

/// The first line that a command of the user writes. It may ask the user something itself.
fn output_of(command: &str, what: &str) -> Result<Secret, Fault> {
    let mut shell = if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", command]);
        shell
    } else {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        shell
    };
    run(&mut shell, &format!("the {what} command"))
}

/// The system's keyring, by way of the system's own tool: secret-tool of libsecret on Linux and the
/// BSDs, security on macOS. Linking to a keyring instead would mean a whole D-Bus client.
fn from_keyring(account: &str) -> Result<Secret, Fault> {
    let mut tool = keyring("lookup", account)?;
    run(&mut tool, "the keyring").map_err(|fault| match fault {
        Fault::NoSecret { what, .. } => Fault::NoSecret {
            what,
            hint: format!("store it with: {}", keyring_store_line(account)),
        },
        other => other,
    })
}

/// Lets the system's own tool ask for the password and store it in the keyring.
///
/// # Errors
///
/// If there is no such tool, or it fails.
pub fn store_in_keyring(account: &str) -> Result<(), Fault> {
    let status = keyring("store", account)?.status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(no_keyring(&format!("its tool ended with {status}"))),
        Err(error) => Err(no_keyring(&error.to_string())),
    }
}

fn no_keyring(why: &str) -> Fault {
    let tool = if cfg!(target_os = "macos") {
        "security"
    } else {
        "secret-tool (Debian: libsecret-tools)"
    };
    Fault::NoSecret {
        what: format!("the system's keyring cannot be used: {why}"),
        hint: format!("it needs {tool}; or use another source: --password command:… or env:NAME"),
    }
}

fn keyring(verb: &str, account: &str) -> Result<Command, Fault> {
    if cfg!(windows) {
        return Err(no_keyring("it is not supported on Windows"));
    }
    let mut command;
    if cfg!(target_os = "macos") {
        command = Command::new("security");
        if verb == "store" {
            // Without a value, -w makes the tool ask; it has to come last.
            command.args([
                "add-generic-password",
                "-U",
                "-s",
                "twicetold",
                "-a",
                account,
                "-w",
            ]);
        } else {
            command.args([
                "find-generic-password",
                "-s",
                "twicetold",
                "-a",
                account,
                "-w",
            ]);
        }
    } else {
        command = Command::new("secret-tool");
        command.arg(verb);
        if verb == "store" {
            command.arg(format!("--label=twicetold: mail account {account}"));
        }
        command.args(["service", "twicetold", "account", account]);
    }
    Ok(command)
}

fn keyring_store_line(account: &str) -> String {
    if cfg!(target_os = "macos") {
        format!("security add-generic-password -U -s twicetold -a {account} -w")
    } else {
        format!("secret-tool store --label=twicetold service twicetold account {account}")
    }
}

fn run(command: &mut Command, who: &str) -> Result<Secret, Fault> {
    let none = |why: String| Fault::NoSecret {
        what: format!("{who} gave no secret: {why}"),
        hint: "run it by hand; its first line of output is what is used".into(),
    };
    let run = command
        .stdin(Stdio::inherit())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| none(error.to_string()))?;
    let said = Zeroizing::new(run.stdout);
    if !run.status.success() {
        return Err(none(format!("it ended with {}", run.status)));
    }
    let line = said.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok("") => Err(none("its first line is empty".into())),
        Ok(secret) => Ok(Secret::new(secret.to_owned())),
        Err(_) => Err(none("its first line is not UTF-8".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_command_counts() {
        let secret = output_of("printf 'open sesame\\nuser: anna\\n'", "password").unwrap();
        assert_eq!(secret.expose(), "open sesame");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn a_command_without_a_secret_is_told() {
        for command in ["exit 3", "true", "printf '\\377'", "/no/such/command"] {
            let fault = output_of(command, "password").unwrap_err();
            assert!(matches!(fault, Fault::NoSecret { .. }), "{fault:?}");
        }
    }
}
