//! Asking a server from elsewhere.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use twicetold_service::{Answer, CheckTold, Receipt, ReceiptTold, Sketches};

use crate::tls;

/// Connections that are used at the same time.
const LANES: usize = 4;
/// How long a server may take to be reached, and to answer.
const REACH: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(60);
/// How often a busy server is asked again, and how long is waited at the most each time.
const TRIES: usize = 6;
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// No answer is longer.
const LONGEST: usize = 1 << 20;

/// Where a server is: `http://HOST[:PORT][/PATH]`, `https://…` or `unix:/PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    way: Way,
    /// What stands before `/v1` in paths, without a slash at the end.
    base: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    Tcp {
        host: String,
        port: u16,
        encrypted: bool,
    },
    Unix(PathBuf),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no server: write http://HOST:PORT, https://HOST or unix:/PATH");
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() {
                Err(wrong())
            } else {
                Ok(Self {
                    way: Way::Unix(PathBuf::from(path)),
                    base: String::new(),
                })
            };
        }
        let (encrypted, rest) = match text.split_once("://").ok_or_else(wrong)? {
            ("http", rest) => (false, rest),
            ("https", rest) => (true, rest),
            _ => return Err(wrong()),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| wrong())?),
            _ => (authority, if encrypted { 443 } else { 80 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let strange = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '@' | '?' | '#');
        if host.is_empty() || text.contains(strange) {
            return Err(wrong());
        }
        let path = path.trim_end_matches('/');
        Ok(Self {
            way: Way::Tcp {
                host: host.to_owned(),
                port,
                encrypted,
            },
            base: if path.is_empty() {
                String::new()
            } else {
                format!("/{path}")
            },
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.way {
            Way::Tcp {
                host,
                port,
                encrypted,
            } => {
                let scheme = if *encrypted { "https" } else { "http" };
                let (open, close) = if host.contains(':') {
                    ("[", "]")
                } else {
                    ("", "")
                };
                write!(f, "{scheme}://{open}{host}{close}:{port}{}", self.base)
            }
            Way::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Target {
    /// Whether what is sent there can be read on the way.
    pub fn is_readable_on_the_way(&self) -> bool {
        match &self.way {
            Way::Unix(_) => false,
            Way::Tcp {
                host, encrypted, ..
            } => {
                let here = host == "localhost"
                    || host
                        .parse::<std::net::IpAddr>()
                        .is_ok_and(|address| address.is_loopback());
                !encrypted && !here
            }
        }
    }
}

/// What is asked about messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Are they variants of reported spam?
    Check,
    /// They are spam.
    Report,
    /// They are not.
    Revoke,
}

/// What is sent of a message.
#[derive(Clone, Debug)]
pub enum Sent {
    /// All of it.
    Message(Vec<u8>),
    /// Fingerprints: the text stays here.
    Sketch(Box<Sketches>),
}

/// What a server says about a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// To a check.
    Checked(Answer),
    /// To a report or a revocation.
    Receipt(Receipt),
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The server is not there, or went away.
    #[error("{server} cannot be reached: {what}")]
    Unreachable {
        /// Which server.
        server: String,
        /// What happened.
        what: String,
    },
    /// The key is missing, unknown, or not enough.
    #[error("{server} refuses: {what}")]
    Forbidden {
        /// Which server.
        server: String,
        /// What it said.
        what: String,
    },
    /// The server has too much to do.
    #[error("{server} is busy: {what}")]
    Busy {
        /// Which server.
        server: String,
        /// What it said.
        what: String,
    },
    /// The server does not take this message.
    #[error("{server} does not take it: {what}")]
    Message {
        /// Which server.
        server: String,
        /// What it said.
        what: String,
    },
    /// What came could not be written down here.
    #[error("cannot write what {server} sends: {what}")]
    Unwritten {
        /// Which server.
        server: String,
        /// What happened.
        what: String,
    },
    /// What answers there is no twicetold.
    #[error("{server} answers something else: {what}")]
    Strange {
        /// Which server.
        server: String,
        /// What it was.
        what: String,
    },
}

/// What became of asking about a message.
pub type Heard = Result<Said, ClientError>;

/// A client of one server.
pub struct Client {
    asking: Rc<Asking>,
    runtime: Runtime,
    tasks: LocalSet,
}

struct Asking {
    target: Target,
    tls: Option<TlsConnector>,
    key: Option<HeaderValue>,
    member: Option<HeaderValue>,
    idle: RefCell<Vec<Connection>>,
}

type Connection = SendRequest<Full<Bytes>>;

impl Client {
    /// A client that has not yet connected. The certificate of the server must be signed by one of the
    /// authorities in the file, or else by one the system trusts.
    pub fn new(
        target: Target,
        key: Option<&str>,
        member: Option<&str>,
        authorities: Option<&Path>,
    ) -> io::Result<Self> {
        let encrypted = matches!(
            target.way,
            Way::Tcp {
                encrypted: true,
                ..
            }
        );
        let tls = encrypted.then(|| tls::connector(authorities)).transpose()?;
        let key = key.map(|key| HeaderValue::try_from(format!("Bearer {key}")));
        let key = key.transpose().map_err(io::Error::other)?.map(|mut key| {
            key.set_sensitive(true);
            key
        });
        let member = member.map(|member| HeaderValue::from_bytes(member.as_bytes()));
        let member = member.transpose().map_err(io::Error::other)?;
        Ok(Self {
            asking: Rc::new(Asking {
                target,
                tls,
                key,
                member,
                idle: RefCell::default(),
            }),
            runtime: Builder::new_current_thread().enable_all().build()?,
            tasks: LocalSet::new(),
        })
    }

    /// Asks about messages, several at a time; the answers stand in the order of the messages.
    pub fn ask(&self, verb: Verb, messages: Vec<Sent>) -> Vec<Heard> {
        let bodies: Vec<(&'static str, Bytes)> = messages
            .into_iter()
            .map(|message| match message {
                Sent::Message(bytes) => ("message/rfc822", Bytes::from(bytes)),
                Sent::Sketch(sketches) => (Sketches::MEDIA_TYPE, Bytes::from(sketches.to_bytes())),
            })
            .collect();
        let count = bodies.len();
        let bodies = Rc::new(bodies);
        let empty: Vec<Option<Heard>> = (0..count).map(|_| None).collect();
        let answers = Rc::new(RefCell::new(empty));
        let next = Rc::new(Cell::new(0));
        // Reports stay in the order of the messages, so that the same folder makes the same campaigns.
        let lanes = match verb {
            Verb::Check => LANES.min(count),
            Verb::Report | Verb::Revoke => 1,
        };
        self.tasks.block_on(&self.runtime, async {
            let lanes: Vec<_> = (0..lanes)
                .map(|_| {
                    let (asking, bodies) = (Rc::clone(&self.asking), Rc::clone(&bodies));
                    let (answers, next) = (Rc::clone(&answers), Rc::clone(&next));
                    tokio::task::spawn_local(async move {
                        loop {
                            let at = next.replace(next.get() + 1);
                            let Some((kind, body)) = bodies.get(at) else {
                                break;
                            };
                            let answer = asking.ask(verb, kind, body).await;
                            let lost = matches!(
                                answer,
                                Err(ClientError::Unreachable { .. } | ClientError::Forbidden { .. })
                            );
                            if let Some(slot) = answers.borrow_mut().get_mut(at) {
                                *slot = Some(answer);
                            }
                            if lost {
                                // It will not be better for the others.
                                next.set(count);
                            }
                        }
                    })
                })
                .collect();
            for lane in lanes {
                let _ = lane.await;
            }
        });
        let server = self.asking.target.to_string();
        let answers = answers.take();
        answers
            .into_iter()
            .map(|answer| {
                answer.unwrap_or_else(|| {
                    Err(ClientError::Unreachable {
                        server: server.clone(),
                        what: "an earlier message could not be sent".to_owned(),
                    })
                })
            })
            .collect()
    }

    /// Writes down everything that the server knows, and returns how many bytes that was. With an error, what was
    /// written is not the whole.
    pub fn export(&self, out: &mut dyn io::Write) -> Result<u64, ClientError> {
        self.tasks.block_on(&self.runtime, self.asking.export(out))
    }
}

impl Asking {
    async fn export(&self, out: &mut dyn io::Write) -> Result<u64, ClientError> {
        let request = || {
            let request = Request::get(format!("{}/v1/export", self.target.base));
            self.dressed(request, Bytes::new())
        };
        let response = self.patiently(request, |_, _, _| None).await?;
        let mut body = response.into_body();
        let mut written = 0;
        loop {
            let frame = timeout(ANSWER, body.frame()).await;
            let Some(frame) = frame.map_err(|_| self.gone("it does not go on"))? else {
                return Ok(written);
            };
            let frame = frame.map_err(|error| self.gone(error))?;
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            out.write_all(&piece)
                .map_err(|error| ClientError::Unwritten {
                    server: self.target.to_string(),
                    what: error.to_string(),
                })?;
            written += piece.len() as u64;
        }
    }

    async fn ask(&self, verb: Verb, kind: &'static str, body: &Bytes) -> Heard {
        let request = || {
            let word = match verb {
                Verb::Check => "check",
                Verb::Report => "report",
                Verb::Revoke => "revoke",
            };
            let request = Request::post(format!("{}/v1/{word}", self.target.base));
            self.dressed(request.header(CONTENT_TYPE, kind), body.clone())
        };
        let response = self.patiently(request, Self::refused_message).await?;
        let text = self.text(response).await?;
        self.understand(verb, &text)
    }

    /// Asks until there is an answer that is none of a server with too much to do.
    async fn patiently(
        &self,
        request: impl Fn() -> Result<Request<Full<Bytes>>, ClientError>,
        refused: impl Fn(StatusCode, String, String) -> Option<ClientError>,
    ) -> Result<Response<hyper::body::Incoming>, ClientError> {
        let mut told = String::new();
        for _ in 0..TRIES {
            let response = self.send(&request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            if status == StatusCode::OK {
                return Ok(response);
            }
            let text = self.text(response).await?;
            let said: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
            let said = said.as_ref().and_then(|said| said["error"].as_str());
            told = said.map_or_else(|| status.to_string(), str::to_owned);
            let (server, what) = (self.target.to_string(), told.clone());
            match status {
                StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                    let wait = headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
                    let wait = wait.and_then(|wait| wait.parse().ok()).unwrap_or(1);
                    tokio::time::sleep(Duration::from_secs(wait).min(LONGEST_WAIT)).await;
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    return Err(ClientError::Forbidden { server, what });
                }
                _ => {
                    let known = said.and_then(|_| refused(status, server.clone(), what.clone()));
                    return Err(known.unwrap_or(ClientError::Strange { server, what }));
                }
            }
        }
        Err(ClientError::Busy {
            server: self.target.to_string(),
            what: told,
        })
    }

    /// What a server says about a message that it does not take.
    fn refused_message(status: StatusCode, server: String, what: String) -> Option<ClientError> {
        matches!(
            status,
            StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::BAD_REQUEST
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::UNSUPPORTED_MEDIA_TYPE
        )
        .then_some(ClientError::Message { server, what })
    }

    /// The whole text of an answer.
    async fn text(&self, response: Response<hyper::body::Incoming>) -> Result<Bytes, ClientError> {
        let text = Limited::new(response.into_body(), LONGEST).collect();
        let text = timeout(ANSWER, text).await;
        let text = text
            .map_err(|_| self.gone("it does not finish its answer"))?
            .map_err(|error| self.gone(error))?;
        Ok(text.to_bytes())
    }

    fn understand(&self, verb: Verb, text: &[u8]) -> Heard {
        let said = match verb {
            Verb::Check => serde_json::from_slice::<CheckTold>(text)
                .map(|told| Said::Checked(Answer::from(&told))),
            Verb::Report | Verb::Revoke => serde_json::from_slice::<ReceiptTold>(text)
                .map(|told| Said::Receipt(Receipt::from(&told))),
        };
        said.map_err(|error| ClientError::Strange {
            server: self.target.to_string(),
            what: error.to_string(),
        })
    }

    async fn send(
        &self,
        request: &impl Fn() -> Result<Request<Full<Bytes>>, ClientError>,
    ) -> Result<Response<hyper::body::Incoming>, ClientError> {
        let kept = self.idle.borrow_mut().pop();
        if let Some(mut connection) = kept {
            // A connection that was kept may have been closed meanwhile: then once more with a new one.
            // Whatever is asked can be asked twice without harm.
            if connection.ready().await.is_ok()
                && let Ok(Ok(response)) = timeout(ANSWER, connection.send_request(request()?)).await
            {
                self.idle.borrow_mut().push(connection);
                return Ok(response);
            }
        }
        let mut connection = timeout(REACH, self.connect())
            .await
            .map_err(|_| self.gone("it does not answer"))?
            .map_err(|error| self.gone(error))?;
        let response = connection.send_request(request()?);
        let response = timeout(ANSWER, response)
            .await
            .map_err(|_| self.gone("it does not answer"))?
            .map_err(|error| self.gone(error))?;
        self.idle.borrow_mut().push(connection);
        Ok(response)
    }

    /// A request with what every one has.
    fn dressed(
        &self,
        mut request: hyper::http::request::Builder,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let host = match &self.target.way {
            Way::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Way::Tcp { host, port, .. } => format!("{host}:{port}"),
            Way::Unix(_) => "localhost".to_owned(),
        };
        request = request.header(HOST, host);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        if let Some(member) = &self.member {
            request = request.header(HeaderName::from_static("twicetold-reporter"), member);
        }
        request
            .body(Full::new(body))
            .map_err(|error| self.gone(error))
    }

    async fn connect(&self) -> io::Result<Connection> {
        match &self.target.way {
            #[cfg(unix)]
            Way::Unix(path) => begin(tokio::net::UnixStream::connect(path).await?).await,
            #[cfg(not(unix))]
            Way::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            Way::Tcp { host, port, .. } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                match &self.tls {
                    None => begin(stream).await,
                    Some(tls) => {
                        let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
                        begin(tls.connect(name, stream).await?).await
                    }
                }
            }
        }
    }

    fn gone(&self, what: impl fmt::Display) -> ClientError {
        ClientError::Unreachable {
            server: self.target.to_string(),
            what: what.to_string(),
        }
    }
}

async fn begin<S>(stream: S) -> io::Result<Connection>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (send, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    // It ends when nobody can send on it any more, or with an error that the sender hears of.
    tokio::task::spawn_local(async move {
        let _ = connection.await;
    });
    Ok(send)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_understood_or_refused() {
        for (text, shown, readable) in [
            ("http://localhost:8520", "http://localhost:8520", false),
            ("http://127.0.0.1", "http://127.0.0.1:80", false),
            (
                "https://spam.example.org",
                "https://spam.example.org:443",
                false,
            ),
            ("https://h:1/a/b/", "https://h:1/a/b", false),
            (
                "http://spam.example.org:1",
                "http://spam.example.org:1",
                true,
            ),
            ("http://[::1]:7/", "http://[::1]:7", false),
            ("unix:/run/x", "unix:/run/x", false),
        ] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), shown);
            assert_eq!(target.is_readable_on_the_way(), readable, "{text}");
        }
        for text in [
            "",
            "x",
            "ftp://x",
            "http://",
            "http://:80",
            "http://a:b",
            "http://u@h",
            "unix:",
            "http://h/a b",
            "http://h?x",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
