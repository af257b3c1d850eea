//! A page over a small mailbox, and a client that says exactly what it is told to.

#![allow(dead_code, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use twicetold_detect::{Options, Progress, scan};
use twicetold_review::{Doors, Outcome, Page, PastRun, Scanned, Told};
use twicetold_source::{Collection, Plan};

/// Scans a folder; changes nothing.
pub(crate) struct Looking(pub(crate) PathBuf);

impl Doors for Looking {
    fn scan(&self, progress: &dyn Progress) -> Result<Scanned, Told> {
        let roots = vec![self.0.clone()];
        let collection = Collection::open(&roots);
        let options = Options::default();
        Ok(Scanned {
            scan: scan(&collection, &options, progress),
            collection,
            options,
            folder: PathBuf::from("/"),
            roots,
        })
    }

    fn apply(&self, _: &Plan, _: &dyn Fn(u64)) -> Result<Outcome, Told> {
        Err(nothing())
    }

    fn undo(&self, _: u32, _: &dyn Fn(u64)) -> Result<Outcome, Told> {
        Err(nothing())
    }

    fn runs(&self) -> Result<Vec<PastRun>, Told> {
        Ok(Vec::new())
    }
}

fn nothing() -> Told {
    Told {
        what: "these doors are closed".to_owned(),
        next: "look on".to_owned(),
    }
}

/// A folder of mails, each a name and its text.
pub(crate) fn folder(mails: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in mails {
        std::fs::write(folder.path().join(name), text.replace('\n', "\r\n")).unwrap();
    }
    folder
}

/// A page that is being served.
pub(crate) struct Served {
    pub(crate) address: String,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// An answer: status, headers, body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Served {
    pub(crate) fn over(folder: &Path) -> Self {
        Self::with(Box::new(Looking(folder.to_path_buf())))
    }

    pub(crate) fn with(doors: Box<dyn Doors>) -> Self {
        let page = Page::open(0).unwrap();
        let address = page.address();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        let served = Self {
            port: port.parse().unwrap(),
            token: token.trim_end_matches('/').to_owned(),
            address: address.clone(),
        };
        std::thread::spawn(move || page.serve(doors));
        for _ in 0..6000 {
            if served.get("progress").body.contains("\"busy\":false") {
                return served;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the scan does not end");
    }

    /// Sends these bytes and reads the answer.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn get(&self, page: &str) -> Answer {
        let (port, token) = (self.port, &self.token);
        self.raw(&format!(
            "GET /{token}/{page} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        ))
    }

    /// Sends a form as a page of this server would.
    pub(crate) fn post(&self, page: &str, form: &str) -> Answer {
        let origin = format!("Origin: http://127.0.0.1:{}", self.port);
        self.post_with(page, form, &origin)
    }

    pub(crate) fn post_with(&self, page: &str, form: &str, header: &str) -> Answer {
        let (port, token) = (self.port, &self.token);
        self.raw(&format!(
            "POST /{token}/{page} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\nContent-Length: {}\r\n\r\n{form}",
            form.len()
        ))
    }
}
