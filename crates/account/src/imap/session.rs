//! A conversation with an IMAP server: connecting, logging in, commands and their answers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::profile::{Profile, Tls};
use crate::secret::Credentials;
use crate::wire::{Sink, Wire};

use super::response::{
    Code, Fetched, Kind, Response, Status, Streamed, is_body, literal, may_hold_literals, parse,
};

/// The longest response without the message in it. A search in a million messages has 8 MB.
const MOST_RESPONSE: usize = 16 << 20;
/// The longest literal that is not a message: names, labels.
const MOST_LITERAL: u64 = 256 << 10;
/// The largest message that is taken; providers stop at a fifth of that.
pub(crate) const MOST_MESSAGE: u64 = 1 << 30;
/// How many of the server's notices for people are remembered.
const MOST_ALERTS: usize = 20;

/// Takes messages while they arrive.
pub(crate) trait Delivery: Sink {
    /// A message of so many bytes is about to arrive.
    fn begin(&mut self, size: u64) -> Result<(), Fault>;
    /// The response about a message is complete.
    fn end(&mut self, message: Fetched) -> Result<(), Fault>;
}

/// A session with an IMAP server, logged in.
#[derive(Debug)]
pub struct Session {
    wire: Wire,
    sent: u32,
    capabilities: Vec<String>,
    enabled: Vec<String>,
    mechanism: &'static str,
    alerts: Vec<String>,
    response: Vec<u8>,
}

/// A command that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag(String);

impl Session {
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
            sent: 0,
            capabilities: Vec::new(),
            enabled: Vec::new(),
            mechanism: "",
            alerts: Vec::new(),
            response: Vec::new(),
        };
        let greeting = session.greeting()?;
        if profile.tls == Tls::StartTls {
            session.start_tls(greeting)?;
        }
        match greeting {
            Kind::PreAuth => session.mechanism = "nothing, the connection was trusted already",
            _ => session.log_in(profile, credentials)?,
        }
        session.ask_capabilities()?;
        session.enable()?;
        Ok(session)
    }

    /// What the server can do, in capital letters.
    pub fn capabilities(&self) -> &[String] {
        &self.capabilities
    }

    /// Whether the server can do this.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }

    /// Whether names and headers come as UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.is_enabled("UTF8=ACCEPT") || self.has("IMAP4REV2") && !self.has("IMAP4REV1")
    }

    pub(crate) fn is_enabled(&self, extension: &str) -> bool {
        self.enabled.iter().any(|known| known == extension)
    }

    /// The version of TLS, if the connection is encrypted.
    pub fn tls_version(&self) -> Option<&'static str> {
        self.wire.tls_version()
    }

    /// How the login was done.
    pub fn mechanism(&self) -> &'static str {
        self.mechanism
    }

    /// What the server wants its users to read.
    pub fn alerts(&self) -> &[String] {
        &self.alerts
    }

    /// How many bytes have come from the server.
    pub fn received(&self) -> u64 {
        self.wire.received()
    }

    /// Says goodbye. Whether the server answers does not matter.
    pub fn log_out(mut self) {
        if let Ok(tag) = self.send("LOGOUT") {
            // BYE comes as a fault, which is what is wanted here.
            let _ = self.finish(&tag, &mut |_| Ok(()));
        }
    }

    fn greeting(&mut self) -> Result<Kind, Fault> {
        match self.response(None)? {
            Response::Status(status) if matches!(status.kind, Kind::Ok | Kind::PreAuth) => {
                self.note(&status);
                Ok(status.kind)
            }
            Response::Status(status) => Err(Fault::Refused {
                asked: "talk to us".into(),
                said: status.text,
            }),
            _ => Err(Fault::garbage("it does not greet as an IMAP server does")),
        }
    }

    fn start_tls(&mut self, greeting: Kind) -> Result<(), Fault> {
        let server = self.wire.server().to_string();
        if greeting == Kind::PreAuth {
            // Somebody in between can send this to keep the connection in the clear.
            return Err(Fault::NoStartTls { server });
        }
        self.ask_capabilities()?;
        if !self.has("STARTTLS") {
            return Err(Fault::NoStartTls { server });
        }
        self.run("STARTTLS", "start TLS")?;
        self.wire.start_tls()?;
        // What was said in the clear does not count.
        self.capabilities.clear();
        self.alerts.clear();
        Ok(())
    }

    fn ask_capabilities(&mut self) -> Result<(), Fault> {
        if self.capabilities.is_empty() {
            self.run("CAPABILITY", "tell what it can do")?;
            if self.capabilities.is_empty() {
                return Err(Fault::garbage("it does not tell what it can do"));
            }
        }
        Ok(())
    }

    fn log_in(&mut self, profile: &Profile, credentials: &Credentials) -> Result<(), Fault> {
        self.ask_capabilities()?;
        let user = &profile.user;
        let offered = std::mem::take(&mut self.capabilities);
        let has = |name: &str| offered.iter().any(|known| known == name);
        let initial = has("SASL-IR");
        match credentials {
            Credentials::Token(token) => {
                let token = token.expose();
                if has("AUTH=XOAUTH2") {
                    let proof =
                        Zeroizing::new(format!("user={user}\x01auth=Bearer {token}\x01\x01"));
                    self.authenticate("XOAUTH2", &proof, initial, "")
                } else if has("AUTH=OAUTHBEARER") {
                    let (host, port) = (&profile.host, profile.port);
                    let name = user.replace('=', "=3D").replace(',', "=2C");
                    let proof = Zeroizing::new(format!(
                        "n,a={name},\x01host={host}\x01port={port}\x01auth=Bearer {token}\x01\x01"
                    ));
                    self.authenticate("OAUTHBEARER", &proof, initial, "AQ==")
                } else {
                    Err(no_mechanism(&offered))
                }
            }
            Credentials::Password(password) => {
                let password = password.expose();
                if has("AUTH=PLAIN") && !password.contains('\0') {
                    let proof = Zeroizing::new(format!("\0{user}\0{password}"));
                    self.authenticate("PLAIN", &proof, initial, "*")
                } else if has("LOGINDISABLED") {
                    Err(no_mechanism(&offered))
                } else {
                    self.mechanism = "LOGIN";
                    let tag = self.next_tag();
                    let mut line = Zeroizing::new(format!("{} LOGIN ", tag.0));
                    for (place, word) in [user.as_str(), password].into_iter().enumerate() {
                        if place > 0 {
                            line.push(' ');
                        }
                        if is_quotable(word, false) {
                            line.push_str(&quoted(word));
                        } else {
                            line.push_str(&format!("{{{}}}\r\n", word.len()));
                            self.wire.send(line.as_bytes())?;
                            self.await_continue(&tag).map_err(refused_login)?;
                            *line = word.to_owned();
                        }
                    }
                    line.push_str("\r\n");
                    self.wire.send(line.as_bytes())?;
                    self.complete(&tag, "log in", &mut |_| Ok(()), None)
                        .map(drop)
                        .map_err(refused_login)
                }
            }
        }
    }

    fn authenticate(
        &mut self,
        mechanism: &'static str,
        proof: &str,
        initial: bool,
        on_challenge: &str,
    ) -> Result<(), Fault> {
        self.mechanism = mechanism;
        let proof = Zeroizing::new(STANDARD.encode(proof));
        let tag = self.next_tag();
        if initial {
            let line = Zeroizing::new(format!("{} AUTHENTICATE {mechanism} {}\r\n", tag.0, *proof));
            self.wire.send(line.as_bytes())?;
        } else {
            self.wire
                .send(format!("{} AUTHENTICATE {mechanism}\r\n", tag.0).as_bytes())?;
            self.await_continue(&tag).map_err(refused_login)?;
            let line = Zeroizing::new(format!("{}\r\n", *proof));
            self.wire.send(line.as_bytes())?;
        }
        // A server that does not like a token says why in a challenge; then it waits for a line.
        for _ in 0..4 {
            match self.until_tagged_or_continue(&tag)? {
                Some(status) if status.kind == Kind::Ok => {
                    self.note(&status);
                    return Ok(());
                }
                Some(status) => return Err(Fault::Login { said: status.text }),
                None => self.wire.send(format!("{on_challenge}\r\n").as_bytes())?,
            }
        }
        Err(Fault::garbage("the login does not come to an end"))
    }

    fn enable(&mut self) -> Result<(), Fault> {
        if !self.has("ENABLE") && !self.has("IMAP4REV2") {
            return Ok(());
        }
        let wanted: Vec<&str> = ["QRESYNC", "UTF8=ACCEPT"]
            .into_iter()
            .filter(|name| self.has(name) || *name == "UTF8=ACCEPT" && self.has("UTF8=ONLY"))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let command = format!("ENABLE {}", wanted.join(" "));
        self.run(&command, "enable extensions")
    }

    fn next_tag(&mut self) -> Tag {
        self.sent += 1;
        Tag(format!("t{}", self.sent))
    }

    /// Sends a command without waiting for its answer.
    pub(crate) fn send(&mut self, command: &str) -> Result<Tag, Fault> {
        if command.contains(['\r', '\n', '\0']) {
            // Nothing that came from outside may become a second command.
            return Err(Fault::Wish {
                what: "a name with a line break cannot be sent to the server".into(),
                hint: "rename the folder or flag".into(),
            });
        }
        let tag = self.next_tag();
        self.wire
            .send(format!("{} {command}\r\n", tag.0).as_bytes())?;
        Ok(tag)
    }

    /// Sends a command and reads until its answer, which has to be OK.
    pub(crate) fn run(&mut self, command: &str, asked: &str) -> Result<(), Fault> {
        let tag = self.send(command)?;
        self.complete(&tag, asked, &mut |_| Ok(()), None).map(drop)
    }

    /// Reads until the answer of a command, which has to be OK; hands out what comes before.
    pub(crate) fn complete(
        &mut self,
        tag: &Tag,
        asked: &str,
        each: &mut dyn FnMut(Response) -> Result<(), Fault>,
        delivery: Option<&mut dyn Delivery>,
    ) -> Result<Status, Fault> {
        let status = self.until_tagged(tag, each, delivery)?;
        match status.kind {
            Kind::Ok => Ok(status),
            _ => Err(Fault::Refused {
                asked: asked.to_owned(),
                said: status.text,
            }),
        }
    }

    /// Reads until the answer of a command, whatever it is.
    pub(crate) fn finish(
        &mut self,
        tag: &Tag,
        each: &mut dyn FnMut(Response) -> Result<(), Fault>,
    ) -> Result<Status, Fault> {
        self.until_tagged(tag, each, None)
    }

    pub(crate) fn until_tagged(
        &mut self,
        tag: &Tag,
        each: &mut dyn FnMut(Response) -> Result<(), Fault>,
        mut delivery: Option<&mut dyn Delivery>,
    ) -> Result<Status, Fault> {
        loop {
            // A loan of the delivery for one response.
            let lent: Option<&mut dyn Delivery> = match &mut delivery {
                Some(delivery) => Some(&mut **delivery),
                None => None,
            };
            match self.response(lent)? {
                Response::Tagged { tag: found, status } if found == tag.0 => {
                    self.note(&status);
                    return Ok(status);
                }
                Response::Tagged { .. } => {
                    return Err(Fault::garbage("an answer to a command that was not sent"));
                }
                Response::Continue(_) => {
                    return Err(Fault::garbage(
                        "it asks to go on, and there is nothing to go on with",
                    ));
                }
                Response::Fetch(message) => match &mut delivery {
                    Some(delivery) => delivery.end(message)?,
                    None => each(Response::Fetch(message))?,
                },
                other => each(other)?,
            }
        }
    }

    /// Waits for the server to say that it is ready for a literal.
    pub(crate) fn await_continue(&mut self, tag: &Tag) -> Result<(), Fault> {
        match self.until_tagged_or_continue(tag)? {
            None => Ok(()),
            Some(status) => Err(Fault::Refused {
                asked: "take it".into(),
                said: status.text,
            }),
        }
    }

    fn until_tagged_or_continue(&mut self, tag: &Tag) -> Result<Option<Status>, Fault> {
        loop {
            match self.response(None)? {
                Response::Continue(_) => return Ok(None),
                Response::Tagged { tag: found, status } if found == tag.0 => {
                    return Ok(Some(status));
                }
                Response::Tagged { .. } => {
                    return Err(Fault::garbage("an answer to a command that was not sent"));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn begin_literal(&mut self, command: &str, size: u64) -> Result<Tag, Fault> {
        let tag = self.send(&format!("{command} {{{size}}}"))?;
        self.await_continue(&tag)?;
        Ok(tag)
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.wire.send(bytes)
    }

    /// Reads one response. A message in it goes to `delivery`; without one, there must be none.
    fn response(&mut self, delivery: Option<&mut dyn Delivery>) -> Result<Response, Fault> {
        let mut bytes = std::mem::take(&mut self.response);
        bytes.clear();
        let streamed = self.read(&mut bytes, delivery)?;
        let parsed = parse(&bytes, streamed);
        self.response = bytes;
        let response = parsed.map_err(|malformed| {
            let shown: String = String::from_utf8_lossy(&self.response)
                .chars()
                .take(60)
                .collect();
            Fault::garbage(format!("{} was expected in {shown:?}", malformed.0))
        })?;
        match &response {
            Response::Status(status) if status.kind == Kind::Bye => {
                return Err(Fault::Cut {
                    said: format!("the server said goodbye: {}", status.text),
                });
            }
            Response::Status(status) => self.note(status),
            Response::Capability(capabilities) => self.capabilities.clone_from(capabilities),
            Response::Enabled(enabled) => self.enabled.extend(enabled.iter().cloned()),
            _ => {}
        }
        Ok(response)
    }

    fn read(
        &mut self,
        bytes: &mut Vec<u8>,
        mut delivery: Option<&mut dyn Delivery>,
    ) -> Result<Option<Streamed>, Fault> {
        let mut streamed = None;
        self.wire.read_line(bytes, MOST_RESPONSE)?;
        let mut from = 0;
        while may_hold_literals(bytes)
            && let Some(size) = literal(&bytes[from..])
        {
            let body = is_body(&bytes[from..]);
            bytes.extend_from_slice(b"\r\n");
            match &mut delivery {
                Some(delivery) if body && streamed.is_none() => {
                    if size > MOST_MESSAGE {
                        return Err(Fault::TooLarge {
                            what: "a message".into(),
                            limit: MOST_MESSAGE,
                        });
                    }
                    delivery.begin(size)?;
                    let mut sink = Lent(&mut **delivery);
                    self.wire.read_counted(size, &mut sink)?;
                    streamed = Some(Streamed {
                        at: bytes.len(),
                        size,
                    });
                }
                _ => {
                    if size > MOST_LITERAL || bytes.len() > MOST_RESPONSE {
                        return Err(Fault::TooLarge {
                            what: "a name or label".into(),
                            limit: MOST_LITERAL,
                        });
                    }
                    self.wire.read_counted(size, &mut Kept(bytes))?;
                }
            }
            from = bytes.len();
            self.wire.read_line(bytes, MOST_RESPONSE)?;
        }
        Ok(streamed)
    }

    fn note(&mut self, status: &Status) {
        match &status.code {
            Some(Code::Alert) if self.alerts.len() < MOST_ALERTS => {
                self.alerts.push(status.text.chars().take(500).collect());
            }
            Some(Code::Capability(capabilities)) => self.capabilities.clone_from(capabilities),
            _ => {}
        }
    }
}

/// A delivery as a sink.
struct Lent<'a>(&'a mut dyn Delivery);

impl Sink for Lent<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.0.take(bytes)
    }
}

/// Bytes that stay in the response.
struct Kept<'a>(&'a mut Vec<u8>);

impl Sink for Kept<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

fn refused_login(fault: Fault) -> Fault {
    match fault {
        Fault::Refused { said, .. } => Fault::Login { said },
        other => other,
    }
}

fn no_mechanism(offered: &[String]) -> Fault {
    let ways: Vec<&str> = offered
        .iter()
        .filter(|name| name.starts_with("AUTH=") || *name == "LOGINDISABLED")
        .map(String::as_str)
        .collect();
    Fault::NoMechanism {
        offered: if ways.is_empty() {
            "none".into()
        } else {
            ways.join(", ")
        },
    }
}

/// Whether a text can be sent between quotation marks.
pub(crate) fn is_quotable(text: &str, utf8: bool) -> bool {
    text.len() <= 1000
        && text
            .chars()
            .all(|c| matches!(c, ' '..='~') || utf8 && !c.is_ascii() && !c.is_control())
}

/// A text between quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
