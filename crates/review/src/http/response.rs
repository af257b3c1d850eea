//! What the browser gets.

use std::io::{self, BufWriter, Write};

/// Nothing is loaded from elsewhere, nothing inside a page is run or drawn by itself, nobody frames it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Writes the body of an answer that is too long to be made first.
pub(crate) type Writer = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// The body of an answer.
pub(crate) enum Body {
    /// Made already.
    Whole(Vec<u8>),
    /// Made while it is sent.
    Stream(Writer),
}

/// An answer.
pub(crate) struct Response {
    pub(crate) status: u16,
    kind: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

impl Response {
    pub(crate) fn new(status: u16, kind: &'static str, body: Body) -> Self {
        Self {
            status,
            kind,
            headers: Vec::new(),
            body,
        }
    }

    /// A sentence.
    pub(crate) fn plain(status: u16, text: &str) -> Self {
        let body = Body::Whole(format!("{text}\n").into_bytes());
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    /// A page.
    pub(crate) fn html(status: u16, page: String) -> Self {
        Self::new(
            status,
            "text/html; charset=utf-8",
            Body::Whole(page.into_bytes()),
        )
    }

    /// Go and look there.
    pub(crate) fn see_other(address: &str) -> Self {
        let mut response = Self::plain(303, "See there.");
        // Addresses are made by this program; a line end in one would be a header of its own.
        let address = address.replace(['\r', '\n'], "");
        response.headers.push(("Location", address));
        response
    }

    /// A file to be saved under this name.
    pub(crate) fn file(kind: &'static str, name: &'static str, write: Writer) -> Self {
        let mut response = Self::new(200, kind, Body::Stream(write));
        let value = format!("attachment; filename=\"{name}\"");
        response.headers.push(("Content-Disposition", value));
        response
    }

    pub(crate) fn without_body(mut self) -> Self {
        self.body = Body::Whole(Vec::new());
        self
    }

    pub(crate) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(64 << 10, out);
        write!(out, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status))?;
        write!(out, "Content-Type: {}\r\n", self.kind)?;
        write!(out, "Content-Security-Policy: {POLICY}\r\n")?;
        for (name, value) in [
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ] {
            write!(out, "{name}: {value}\r\n")?;
        }
        for (name, value) in &self.headers {
            write!(out, "{name}: {value}\r\n")?;
        }
        match self.body {
            Body::Whole(body) => {
                write!(out, "Content-Length: {}\r\n\r\n", body.len())?;
                out.write_all(&body)?;
            }
            Body::Stream(write_body) => {
                out.write_all(b"\r\n")?;
                write_body(&mut out)?;
            }
        }
        out.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
