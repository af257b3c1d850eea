//! A small, strict POP3 client (RFC 1939, 2449, 2595, 5034).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::imap::session::MOST_MESSAGE;
use crate::profile::{Profile, Tls};
use crate::secret::Credentials;
use crate::wire::{Sink, Wire};

/// The longest line that is not part of a message; the standard allows 512 bytes.
const MOST_LINE: usize = 8 << 10;
/// The most lines of a listing.
const MOST_LISTED: usize = 10_000_000;

/// A session with a POP3 server, logged in.
#[derive(Debug)]
pub struct Pop3Session {
    wire: Wire,
    capabilities: Vec<String>,
    mechanism: &'static str,
}

/// A message on a POP3 server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its number in this session.
    pub(crate) number: u32,
    /// What stays the same from session to session; `None` if the server has no such thing.
    pub(crate) unique_id: Option<String>,
}

impl Pop3Session {
    /// Connects and logs in.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, cannot be trusted or does not accept the login.
    pub fn connect(profile: &Profile, credentials: &Credentials) -> Result<Self, Fault> {
        let mut wire = Wire::connect(&profile.server())?;
        if profile.tls == Tls::Implicit {
            wire.start_tls()?;
        }
        let mut session = Self {
            wire,
            capabilities: Vec::new(),
            mechanism: "",
        };
        session.answer("talk to us")?;
        if profile.tls == Tls::StartTls {
            session.ask_capabilities()?;
            let server = session.wire.server().to_string();
            if !session.has("STLS") {
                return Err(Fault::NoStartTls { server });
            }
            session.run("STLS", "start TLS")?;
            session.wire.start_tls()?;
        }
        session.ask_capabilities()?;
        session.log_in(profile, credentials)?;
        session.ask_capabilities()?;
        Ok(session)
    }

    /// What the server can do, in capital letters; empty if it does not tell.
    pub fn capabilities(&self) -> &[String] {
        &self.capabilities
    }

    fn has(&self, capability: &str) -> bool {
        self.capabilities
            .iter()
            .any(|known| known.split(' ').next() == Some(capability))
    }

    /// The version of TLS, if the connection is encrypted.
    pub fn tls_version(&self) -> Option<&'static str> {
        self.wire.tls_version()
    }

    /// How the login was done.
    pub fn mechanism(&self) -> &'static str {
        self.mechanism
    }

    /// How many messages there are, and how many bytes.
    ///
    /// # Errors
    ///
    /// If the server refuses or answers nonsense.
    pub fn count(&mut self) -> Result<(u32, u64), Fault> {
        let said = self.run("STAT", "count the messages")?;
        let mut words = said.split(' ');
        let count = words.next().and_then(|word| word.parse().ok());
        let bytes = words.next().and_then(|word| word.parse().ok());
        match (count, bytes) {
            (Some(count), Some(bytes)) => Ok((count, bytes)),
            _ => Err(Fault::garbage("no numbers in the answer to STAT")),
        }
    }

    /// The messages on the server, with their unique ids if it has them.
    pub(crate) fn list(&mut self) -> Result<Vec<Listed>, Fault> {
        let (count, _) = self.count()?;
        match self.run("UIDL", "list the messages") {
            Ok(_) => {}
            Err(Fault::Refused { .. }) => {
                return Ok((1..=count)
                    .map(|number| Listed {
                        number,
                        unique_id: None,
                    })
                    .collect());
            }
            Err(fault) => return Err(fault),
        }
        let mut listed = Vec::new();
        for line in self.lines()? {
            let (number, id) = line
                .split_once(' ')
                .ok_or_else(|| Fault::garbage("a line of UIDL without an id"))?;
            let number = number
                .parse()
                .map_err(|_| Fault::garbage("a line of UIDL without a number"))?;
            listed.push(Listed {
                number,
                unique_id: Some(id.trim().to_owned()),
            });
        }
        Ok(listed)
    }

    /// Whether several commands may be sent at once.
    pub(crate) fn can_pipeline(&self) -> bool {
        self.has("PIPELINING")
    }

    /// Asks for a message, without waiting for it.
    pub(crate) fn ask_message(&mut self, number: u32) -> Result<(), Fault> {
        self.wire.send(format!("RETR {number}\r\n").as_bytes())
    }

    /// Takes in the message asked for first. `false`: the server refused to hand it out.
    pub(crate) fn take_message(&mut self, sink: &mut dyn Sink) -> Result<bool, Fault> {
        match self.answer("hand out a message") {
            Ok(_) => {}
            Err(Fault::Refused { .. }) => return Ok(false),
            Err(fault) => return Err(fault),
        }
        self.wire.read_dotted(MOST_MESSAGE, sink)?;
        Ok(true)
    }

    /// Marks a message for removal, which happens when the session ends well.
    pub(crate) fn mark_removed(&mut self, number: u32) -> Result<(), Fault> {
        self.run(&format!("DELE {number}"), "remove a message")
            .map(drop)
    }

    /// Ends the session; what was marked is removed now.
    ///
    /// # Errors
    ///
    /// If the server does not confirm it.
    pub fn log_out(mut self) -> Result<(), Fault> {
        self.run("QUIT", "end the session").map(drop)
    }

    fn log_in(&mut self, profile: &Profile, credentials: &Credentials) -> Result<(), Fault> {
        let user = &profile.user;
        match credentials {
            Credentials::Token(token) => {
                let token = token.expose();
                let mechanisms = self.mechanisms();
                if mechanisms.iter().any(|name| name == "XOAUTH2") {
                    let proof =
                        Zeroizing::new(format!("user={user}\x01auth=Bearer {token}\x01\x01"));
                    self.authenticate("XOAUTH2", &proof, "")
                } else if mechanisms.iter().any(|name| name == "OAUTHBEARER") {
                    let (host, port) = (&profile.host, profile.port);
                    let name = user.replace('=', "=3D").replace(',', "=2C");
                    let proof = Zeroizing::new(format!(
                        "n,a={name},\x01host={host}\x01port={port}\x01auth=Bearer {token}\x01\x01"
                    ));
                    self.authenticate("OAUTHBEARER", &proof, "AQ==")
                } else {
                    Err(Fault::NoMechanism {
                        offered: mechanisms.join(", "),
                    })
                }
            }
            Credentials::Password(password) => {
                let password = password.expose();
                if self.mechanisms().iter().any(|name| name == "PLAIN") && !password.contains('\0')
                {
                    let proof = Zeroizing::new(format!("\0{user}\0{password}"));
                    return self.authenticate("PLAIN", &proof, "*");
                }
                self.mechanism = "USER and PASS";
                if user.contains(['\r', '\n']) || password.contains(['\r', '\n']) {
                    return Err(Fault::NoSecret {
                        what: "the password has a line break in it, which this server cannot take"
                            .into(),
                        hint: "check where the password comes from".into(),
                    });
                }
                self.run(&format!("USER {user}"), "log in")
                    .map_err(refused_login)?;
                let line = Zeroizing::new(format!("PASS {password}\r\n"));
                self.wire.send(line.as_bytes())?;
                self.answer("log in").map(drop).map_err(refused_login)
            }
        }
    }

    fn mechanisms(&self) -> Vec<String> {
        let sasl = self
            .capabilities
            .iter()
            .find_map(|known| known.strip_prefix("SASL "));
        sasl.unwrap_or_default()
            .split(' ')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn authenticate(
        &mut self,
        mechanism: &'static str,
        proof: &str,
        on_challenge: &str,
    ) -> Result<(), Fault> {
        self.mechanism = mechanism;
        self.wire.send(format!("AUTH {mechanism}\r\n").as_bytes())?;
        if !self.challenge()? {
            return Err(Fault::garbage("it does not wait for the proof of a login"));
        }
        let line = Zeroizing::new(format!("{}\r\n", *Zeroizing::new(STANDARD.encode(proof))));
        self.wire.send(line.as_bytes())?;
        for _ in 0..4 {
            if !self.challenge()? {
                return Ok(());
            }
            self.wire.send(format!("{on_challenge}\r\n").as_bytes())?;
        }
        Err(Fault::garbage("the login does not come to an end"))
    }

    /// Whether the server asks for more; `false` is success.
    fn challenge(&mut self) -> Result<bool, Fault> {
        let line = self.line()?;
        if line.starts_with("+OK") {
            Ok(false)
        } else if line.starts_with('+') {
            Ok(true)
        } else {
            Err(Fault::Login {
                said: line.strip_prefix("-ERR").unwrap_or(&line).trim().to_owned(),
            })
        }
    }

    fn ask_capabilities(&mut self) -> Result<(), Fault> {
        match self.run("CAPA", "tell what it can do") {
            Ok(_) => {
                self.capabilities = self
                    .lines()?
                    .into_iter()
                    .map(|line| line.to_ascii_uppercase())
                    .collect();
                Ok(())
            }
            // An old server that does not know the command.
            Err(Fault::Refused { .. }) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    fn run(&mut self, command: &str, asked: &str) -> Result<String, Fault> {
        self.wire.send(format!("{command}\r\n").as_bytes())?;
        self.answer(asked)
    }

    fn answer(&mut self, asked: &str) -> Result<String, Fault> {
        let line = self.line()?;
        if let Some(said) = line.strip_prefix("+OK") {
            Ok(said.trim().to_owned())
        } else if let Some(said) = line.strip_prefix("-ERR") {
            Err(Fault::Refused {
                asked: asked.to_owned(),
                said: said.trim().to_owned(),
            })
        } else {
            let shown: String = line.chars().take(60).collect();
            Err(Fault::garbage(format!(
                "+OK or -ERR was expected, not {shown:?}"
            )))
        }
    }

    fn line(&mut self) -> Result<String, Fault> {
        let mut line = Vec::new();
        self.wire.read_line(&mut line, MOST_LINE)?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    fn lines(&mut self) -> Result<Vec<String>, Fault> {
        let mut lines = Vec::new();
        loop {
            let line = self.line()?;
            if line == "." {
                return Ok(lines);
            }
            if lines.len() >= MOST_LISTED {
                return Err(Fault::TooLarge {
                    what: "a listing".into(),
                    limit: MOST_LISTED as u64,
                });
            }
            lines.push(line.strip_prefix('.').map(str::to_owned).unwrap_or(line));
        }
    }
}

fn refused_login(fault: Fault) -> Fault {
    match fault {
        Fault::Refused { said, .. } => Fault::Login { said },
        other => other,
    }
}
