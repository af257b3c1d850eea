//! What the browser asks for.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Instant;

use crate::query::Query;

/// How many bytes the first line and the headers may have.
const HEAD: usize = 32 << 10;
/// How many bytes a form may have.
const BODY: usize = 64 << 10;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
}

/// A request, as far as this program wants to know it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path without the question mark and what follows.
    pub(crate) path: String,
    pub(crate) query: Query,
    /// The fields of a form that was sent.
    pub(crate) form: Query,
    pub(crate) host: Option<String>,
    pub(crate) origin: Option<String>,
    /// `Sec-Fetch-Site`, by which browsers tell whose page sent the request.
    pub(crate) site: Option<String>,
}

/// Why there is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Nobody is there any more.
    Gone,
    /// What arrived is to be answered with this status.
    Status(u16),
}

/// Reads one request.
pub(crate) fn read(stream: &mut TcpStream, until: Instant) -> Result<Request, Wrong> {
    let mut got = Vec::with_capacity(2048);
    let end = loop {
        if let Some(end) = memchr::memmem::find(&got, b"\r\n\r\n") {
            break end;
        }
        if got.len() > HEAD {
            return Err(Wrong::Status(431));
        }
        more(stream, &mut got, until)?;
    };
    let head = std::str::from_utf8(&got[..end]).map_err(|_| Wrong::Status(400))?;
    let (mut request, length) = parse(head)?;
    if length > BODY {
        return Err(Wrong::Status(413));
    }
    let start = end + 4;
    while got.len() < start + length {
        more(stream, &mut got, until)?;
    }
    let body = std::str::from_utf8(&got[start..start + length]).map_err(|_| Wrong::Status(400))?;
    request.form = Query::parse(body);
    Ok(request)
}

fn more(stream: &mut TcpStream, got: &mut Vec<u8>, until: Instant) -> Result<(), Wrong> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(Wrong::Status(408));
    }
    let mut buffer = [0; 4096];
    match stream.read(&mut buffer) {
        Ok(0) => Err(Wrong::Gone),
        Ok(count) => {
            got.extend_from_slice(&buffer[..count]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(Wrong::Status(408))
        }
        Err(_) => Err(Wrong::Gone),
    }
}

/// The request and how long its body is.
fn parse(head: &str) -> Result<(Request, usize), Wrong> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = match first.next() {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        _ => return Err(Wrong::Status(405)),
    };
    let target = first.next().filter(|t| t.starts_with('/'));
    let (Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) = (target, first.next(), first.next())
    else {
        return Err(Wrong::Status(400));
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method,
        path: path.to_owned(),
        query: Query::parse(query),
        form: Query::default(),
        host: None,
        origin: None,
        site: None,
    };
    let mut length = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(Wrong::Status(400))?;
        let value = value.trim();
        let slot = match name.to_ascii_lowercase().as_str() {
            "host" => &mut request.host,
            "origin" => &mut request.origin,
            "sec-fetch-site" => &mut request.site,
            "content-length" => {
                let number = value.parse().map_err(|_| Wrong::Status(400))?;
                if length.replace(number).is_some() {
                    return Err(Wrong::Status(400));
                }
                continue;
            }
            // No browser sends a form in pieces.
            "transfer-encoding" => return Err(Wrong::Status(411)),
            _ => continue,
        };
        // What is said twice may be meant in two ways.
        if slot.replace(value.to_owned()).is_some() {
            return Err(Wrong::Status(400));
        }
    }
    Ok((request, length.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_understood_or_refused() {
        let (request, length) =
            parse("POST /a/b?q=x+y HTTP/1.1\r\nHost: h\r\norigin: o\r\nContent-Length: 3").unwrap();
        assert_eq!((request.method, length), (Method::Post, 3));
        assert_eq!(
            (request.path.as_str(), request.query.get("q")),
            ("/a/b", Some("x y"))
        );
        assert_eq!(
            (request.host.as_deref(), request.origin.as_deref()),
            (Some("h"), Some("o"))
        );
        for (head, status) in [
            ("BREW /pot HTTP/1.1", 405),
            ("GET http://evil/ HTTP/1.1", 400),
            ("GET / HTTP/2", 400),
            ("GET / HTTP/1.1 x", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b", 400),
            ("GET / HTTP/1.1\r\nno colon", 400),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked", 411),
            ("POST / HTTP/1.1\r\nContent-Length: x", 400),
            (
                "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
                400,
            ),
            ("", 405),
        ] {
            assert_eq!(parse(head).err(), Some(Wrong::Status(status)), "{head}");
        }
    }
}
