//! A connection: bytes out, lines and counted bytes in, with limits on time and length.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use crate::fault::Fault;
use crate::tls;

/// How much is read from the connection at once.
const BLOCK: usize = 64 * 1024;

/// Where bytes of a message go while they arrive.
pub(crate) trait Sink {
    /// Takes some more bytes. A fault ends the transfer and the connection.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Fault>;
}

/// A server, and how to reach it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) authorities: Option<PathBuf>,
    pub(crate) timeout: Duration,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A socket whose reads come in large blocks: the TLS library itself asks for small ones.
#[derive(Debug)]
struct Socket {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[derive(Debug)]
enum Stream {
    Plain(Socket),
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
    /// While TLS begins, and for good if it fails.
    Broken,
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    block: Box<[u8]>,
    start: usize,
    end: usize,
    server: Server,
    received: u64,
}

impl Wire {
    /// Connects, without TLS yet.
    pub(crate) fn connect(server: &Server) -> Result<Self, Fault> {
        let unreachable = |cause: io::Error| Fault::Unreachable {
            server: server.to_string(),
            cause,
        };
        let addresses = (server.host.as_str(), server.port)
            .to_socket_addrs()
            .map_err(unreachable)?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, server.timeout) {
                Ok(socket) => return Self::over(socket, server).map_err(unreachable),
                Err(error) => last = error,
            }
        }
        Err(unreachable(last))
    }

    fn over(socket: TcpStream, server: &Server) -> io::Result<Self> {
        socket.set_read_timeout(Some(server.timeout))?;
        socket.set_write_timeout(Some(server.timeout))?;
        socket.set_nodelay(true)?;
        let reader = BufReader::with_capacity(BLOCK, socket.try_clone()?);
        Ok(Self {
            stream: Stream::Plain(Socket {
                reader,
                writer: socket,
            }),
            block: vec![0; BLOCK].into_boxed_slice(),
            start: 0,
            end: 0,
            server: server.clone(),
            received: 0,
        })
    }

    /// Goes on encrypted.
    ///
    /// What the server sent before may have been put there by somebody in between; if anything of
    /// it is still unread, it would be taken for an encrypted answer, so that is a fault.
    pub(crate) fn start_tls(&mut self) -> Result<(), Fault> {
        let Stream::Plain(mut socket) = std::mem::replace(&mut self.stream, Stream::Broken) else {
            return Err(Fault::garbage("TLS twice"));
        };
        if self.start < self.end || !socket.reader.buffer().is_empty() {
            return Err(Fault::garbage(
                "something was sent between the agreement on TLS and its beginning",
            ));
        }
        let trust = tls::trust(self.server.authorities.as_deref())?;
        let server = self.server.to_string();
        let tls = tls::handshake(&trust, &self.server.host, &server, &mut socket)?;
        self.stream = Stream::Tls(Box::new(StreamOwned::new(tls, socket)));
        Ok(())
    }

    /// The server at the other end.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// The version of TLS, if it is used.
    pub(crate) fn tls_version(&self) -> Option<&'static str> {
        match &self.stream {
            Stream::Tls(tls) => Some(match tls.conn.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_3) => "1.3",
                Some(rustls::ProtocolVersion::TLSv1_2) => "1.2",
                _ => "of an unknown version",
            }),
            Stream::Plain(_) | Stream::Broken => None,
        }
    }

    /// Sends bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let sent = match &mut self.stream {
            Stream::Plain(socket) => socket.write_all(bytes),
            Stream::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
            Stream::Broken => Err(io::ErrorKind::NotConnected.into()),
        };
        sent.map_err(|error| self.fault(&error))
    }

    /// Reads a line and adds it to `line` without its end. At most `most` bytes may be in `line` then.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>, most: usize) -> Result<(), Fault> {
        let mut began = None;
        loop {
            let rest = &self.block[self.start..self.end];
            if let Some(at) = rest.iter().position(|&byte| byte == b'\n') {
                line.extend_from_slice(&rest[..at]);
                self.start += at + 1;
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return if line.len() > most {
                    Err(too_long(most))
                } else {
                    Ok(())
                };
            }
            line.extend_from_slice(rest);
            self.start = self.end;
            if line.len() > most {
                return Err(too_long(most));
            }
            // A server that sends a byte now and then must not hold us for ever.
            let began = began.get_or_insert_with(Instant::now);
            if !line.is_empty() && began.elapsed() > self.server.timeout * 2 {
                return Err(self.silent());
            }
            self.fill()?;
        }
    }

    /// Hands over exactly `count` bytes.
    pub(crate) fn read_counted(&mut self, count: u64, sink: &mut dyn Sink) -> Result<(), Fault> {
        let mut left = count;
        while left > 0 {
            if self.start == self.end {
                self.fill()?;
            }
            let here = (self.end - self.start).min(usize::try_from(left).unwrap_or(usize::MAX));
            sink.take(&self.block[self.start..self.start + here])?;
            self.start += here;
            left -= here as u64;
        }
        Ok(())
    }

    /// Hands over a text that ends with a line of one dot, as POP3 sends it; dots that were doubled
    /// at the start of lines become one again.
    pub(crate) fn read_dotted(&mut self, most: u64, sink: &mut dyn Sink) -> Result<u64, Fault> {
        let mut text = Dotted::default();
        let mut total = 0;
        loop {
            if self.start == self.end {
                self.fill()?;
            }
            let (used, ended) = text.feed(&self.block[self.start..self.end], &mut |bytes| {
                total += bytes.len() as u64;
                if total > most {
                    return Err(Fault::TooLarge {
                        what: "a message".into(),
                        limit: most,
                    });
                }
                sink.take(bytes)
            })?;
            self.start += used;
            if ended {
                return Ok(total);
            }
        }
    }

    /// How many bytes have come so far.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    fn fill(&mut self) -> Result<(), Fault> {
        self.start = 0;
        self.end = 0;
        let got = loop {
            let got = match &mut self.stream {
                Stream::Plain(socket) => socket.read(&mut self.block),
                Stream::Tls(tls) => tls.read(&mut self.block),
                Stream::Broken => Err(io::ErrorKind::NotConnected.into()),
            };
            match got {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        match got {
            Ok(0) => Err(Fault::Cut {
                said: "the server closed it".into(),
            }),
            Ok(count) => {
                self.end = count;
                self.received += count as u64;
                Ok(())
            }
            Err(error) => Err(self.fault(&error)),
        }
    }

    fn silent(&self) -> Fault {
        Fault::Silent {
            seconds: self.server.timeout.as_secs(),
        }
    }

    fn fault(&self, error: &io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => self.silent(),
            io::ErrorKind::UnexpectedEof => Fault::Cut {
                said: "the server closed it without saying goodbye".into(),
            },
            _ => Fault::Cut {
                said: error.to_string(),
            },
        }
    }
}

fn too_long(most: usize) -> Fault {
    Fault::TooLarge {
        what: "a line".into(),
        limit: most as u64,
    }
}

/// Where in a dotted text we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Dotted {
    /// At the start of a line.
    #[default]
    Start,
    /// Inside a line.
    Inside,
    /// Behind a CR that was handed over already.
    Return,
    /// Behind a dot at the start of a line, which is not handed over.
    Dot,
    /// Behind that dot and a CR, neither handed over.
    DotReturn,
}

impl Dotted {
    /// Hands over what is text; says how many bytes were used and whether the text ended.
    fn feed(
        &mut self,
        bytes: &[u8],
        hand: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(usize, bool), Fault> {
        let mut from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            *self = match (*self, byte) {
                (Self::Start, b'.') => {
                    hand_over(bytes, from, at, hand)?;
                    from = at + 1;
                    Self::Dot
                }
                (Self::Dot, b'\r') => {
                    from = at + 1;
                    Self::DotReturn
                }
                (Self::DotReturn, b'\n') => return Ok((at + 1, true)),
                (Self::DotReturn, byte) => {
                    // A lone CR behind the dot: it was text.
                    hand(b"\r")?;
                    from = at;
                    after(byte)
                }
                (Self::Return, b'\n') => Self::Start,
                (_, byte) => after(byte),
            };
        }
        hand_over(bytes, from, bytes.len(), hand)?;
        Ok((bytes.len(), false))
    }
}

fn after(byte: u8) -> Dotted {
    if byte == b'\r' {
        Dotted::Return
    } else {
        Dotted::Inside
    }
}

fn hand_over(
    bytes: &[u8],
    from: usize,
    to: usize,
    hand: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if from < to {
        hand(&bytes[from..to])
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_away_however_the_bytes_are_cut() {
        let cases: [(&[u8], &[u8]); 7] = [
            (b"a\r\nb\r\n.\r\n", b"a\r\nb\r\n"),
            (b".\r\n", b""),
            (b"..\r\n.\r\n", b".\r\n"),
            (b"..a\r\n...\r\n.\r\n", b".a\r\n..\r\n"),
            (b"a\n.\nb\r\n.\r\n", b"a\n.\nb\r\n"),
            (b".\ra\r\n.\r\n", b"\ra\r\n"),
            (b"a\r\r\n.\r\n", b"a\r\r\n"),
        ];
        for (sent, text) in cases {
            for step in 1..=sent.len() {
                let mut state = Dotted::default();
                let mut got = Vec::new();
                let mut ended = false;
                for part in sent.chunks(step) {
                    assert!(!ended, "{sent:?}");
                    let (used, end) = state
                        .feed(part, &mut |bytes| {
                            got.extend_from_slice(bytes);
                            Ok(())
                        })
                        .unwrap();
                    assert_eq!(used, part.len());
                    ended = end;
                }
                assert!(ended);
                assert_eq!(got, text, "{sent:?} in steps of {step}");
            }
        }
    }
}
