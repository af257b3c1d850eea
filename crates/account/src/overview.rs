//! A first look at an account: does it work, what can its server do, what is there?

use crate::fault::Error;
use crate::imap::session::Session;
use crate::pop3::Pop3Session;
use crate::profile::{Profile, Protocol};
use crate::secret::Credentials;

/// What a first look shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The version of TLS, if the connection is encrypted.
    pub tls: Option<&'static str>,
    /// How the login was done.
    pub mechanism: &'static str,
    /// What the server can do.
    pub capabilities: Vec<String>,
    /// The folders, each with its number of messages if the server tells.
    pub folders: Vec<(String, Option<u32>)>,
    /// What the server wants its users to read.
    pub alerts: Vec<String>,
}

/// Connects, logs in and looks around. Nothing is fetched or changed.
///
/// # Errors
///
/// If any of it fails.
pub fn overview(profile: &Profile, credentials: &Credentials) -> Result<Overview, Error> {
    let look = || match profile.protocol {
        Protocol::Imap => {
            let mut session = Session::connect(profile, credentials)?;
            let mut folders = Vec::new();
            for folder in session.folders()?.0 {
                if !folder.holds_messages {
                    continue;
                }
                let messages = match folder.counts.messages {
                    Some(messages) => Some(messages),
                    None => session
                        .count(&folder)
                        .ok()
                        .and_then(|counts| counts.messages),
                };
                folders.push((folder.name, messages));
            }
            let overview = Overview {
                tls: session.tls_version(),
                mechanism: session.mechanism(),
                capabilities: session.capabilities().to_vec(),
                folders,
                alerts: session.alerts().to_vec(),
            };
            session.log_out();
            Ok(overview)
        }
        Protocol::Pop3 => {
            let mut session = Pop3Session::connect(profile, credentials)?;
            let (messages, _) = session.count()?;
            let overview = Overview {
                tls: session.tls_version(),
                mechanism: session.mechanism(),
                capabilities: session.capabilities().to_vec(),
                folders: vec![("INBOX".into(), Some(messages))],
                alerts: Vec::new(),
            };
            session.log_out()?;
            Ok(overview)
        }
    };
    look().map_err(|fault| Error::new(&profile.name, fault))
}
