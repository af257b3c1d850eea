//! Servers for tests, and ways to ask them that no well-behaved client has.

// Every test file uses its own part of this, and a failing step is to fail the test.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use twicetold_server::{KeyHash, Known, Log, Place, Server, Settings, make_key};
use twicetold_service::{
    CampaignId, Change, Committed, Embedded, Engine, Owners, Record, Reporter, Standing, State,
    StateError, Stored,
};

pub(crate) const SPAM: &str = "From: a@example.net\r\nSubject: x\r\n\r\nGenuine Helvetian chronographs at a fraction of boutique \
    prices! Automatic movements, sapphire crystal, engraved serial numbers and velvet presentation cases. \
    Choose Calatrava, Submariner or Navitimer from our warehouse catalogue tonight.\r\n";
pub(crate) const VARIANT: &str = "From: b@example.org\r\nSubject: y\r\n\r\nG3nuine Helvetian chr0nographs at a tiny fraction of boutique \
    prices! Automatic movements, s@pphire crystal, engraved numbers and velvet presentation boxes. \
    Choose Calatrava, Submariner or Navitimer from the warehouse catalogue tonight. Shall we meet for lunch?\r\n";
pub(crate) const HAM: &str = "From: anna@example.org\r\nSubject: Lunch\r\n\r\nLet us meet at the harbour at noon, and bring the \
    boat's papers please.\r\n";

/// Nothing here takes that long on any machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A state that can be made to wait, or to fail.
pub(crate) struct Moody {
    inner: Embedded,
    mood: Arc<Mood>,
}

#[derive(Default)]
pub(crate) struct Mood {
    now: Mutex<(bool, bool, usize)>,
    changed: Condvar,
    /// Whether the state is still being prepared.
    pub(crate) warming: AtomicBool,
}

impl Mood {
    /// Whether reading waits.
    pub(crate) fn hold(&self, hold: bool) {
        self.now.lock().unwrap().0 = hold;
        self.changed.notify_all();
    }

    /// Whether reading fails.
    pub(crate) fn fail(&self, fail: bool) {
        self.now.lock().unwrap().1 = fail;
    }

    /// Waits until so many threads wait.
    pub(crate) fn until_waiting(&self, count: usize) {
        let now = self.now.lock().unwrap();
        let waiting = |now: &mut (bool, bool, usize)| now.2 < count;
        let waited = self.changed.wait_timeout_while(now, LONG, waiting);
        assert!(!waited.unwrap().1.timed_out());
    }

    fn pass(&self) -> Result<(), StateError> {
        let mut now = self.now.lock().unwrap();
        now.2 += 1;
        self.changed.notify_all();
        while now.0 {
            now = self.changed.wait(now).unwrap();
        }
        now.2 -= 1;
        if now.1 {
            return Err(StateError::Failed {
                place: "/secret/place".to_owned(),
                what: "the disk is on fire".to_owned(),
            });
        }
        Ok(())
    }
}

impl State for Moody {
    fn owners(&self, keys: &[u64], most: usize) -> Result<Vec<Owners>, StateError> {
        self.mood.pass()?;
        self.inner.owners(keys, most)
    }
    fn records(&self, ids: &[CampaignId]) -> Result<Vec<Option<Stored>>, StateError> {
        self.inner.records(ids)
    }
    fn names(&self, after: Option<CampaignId>, most: usize) -> Result<Vec<CampaignId>, StateError> {
        self.inner.names(after, most)
    }
    fn each(&self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), StateError> {
        self.mood.pass()?;
        self.inner.each(take)
    }
    fn commit(&self, changes: &[Change]) -> Result<Committed, StateError> {
        self.inner.commit(changes)
    }
    fn reporters(&self, names: &[&str]) -> Result<Vec<Option<Reporter>>, StateError> {
        self.inner.reporters(names)
    }
    fn all_reporters(&self) -> Result<Vec<(String, Reporter)>, StateError> {
        self.inner.all_reporters()
    }
    fn set_reporter(&self, name: &str, reporter: Option<&Reporter>) -> Result<(), StateError> {
        self.inner.set_reporter(name, reporter)
    }
    fn is_warm(&self) -> bool {
        !self.mood.warming.load(Ordering::SeqCst)
    }
    fn place(&self) -> &str {
        self.inner.place()
    }
}

/// What a server writes into its log.
#[derive(Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Written {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A server in memory, a key of the trusted reporter anna, and what the server is in the mood for.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) key: String,
    pub(crate) mood: Arc<Mood>,
    pub(crate) log: Written,
    pub(crate) settings: Settings,
}

impl Bench {
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        Self::in_a_mood(change, Mood::default())
    }

    pub(crate) fn in_a_mood(change: impl FnOnce(&mut Settings), mood: Mood) -> Self {
        let (key, hash) = make_key("anna").unwrap();
        let mut settings = settings(&hash);
        change(&mut settings);
        let mood = Arc::new(mood);
        let state = Moody {
            inner: Embedded::in_memory().unwrap(),
            mood: Arc::clone(&mood),
        };
        let log = Written::default();
        let server = Server::start(
            settings.clone(),
            Engine::new(Box::new(state)),
            Log::to(log.clone()).unwrap(),
            false,
        )
        .unwrap();
        Self {
            server,
            key,
            mood,
            log,
            settings,
        }
    }

    /// The port of its HTTP.
    pub(crate) fn port(&self) -> u16 {
        port(&self.server.http()[0])
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.port())
    }

    /// Asks with a connection of its own.
    pub(crate) fn post(&self, path: &str, headers: &str, body: &str) -> Answer {
        let mut stream = self.connect();
        send(&mut stream, "POST", path, headers, body.as_bytes());
        Answer::read(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let mut stream = self.connect();
        send(&mut stream, "GET", path, "", b"");
        Answer::read(&mut stream)
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.key)
    }

    pub(crate) fn class(&self, message: &str) -> Value {
        let answer = self.post("/v1/check", "", message);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["class"].clone()
    }

    pub(crate) fn report(&self, message: &str) {
        let answer = self.post("/v1/report", &self.bearer(), message);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

pub(crate) fn settings(hash: &KeyHash) -> Settings {
    let mut settings = Settings::default();
    settings.http.listen = vec![Place::Tcp("127.0.0.1".to_owned(), 0)];
    settings.reporters.insert(
        "anna".to_owned(),
        Known {
            key: Some(hash.clone()),
            standing: Some(Standing::Trusted),
            ..Known::default()
        },
    );
    settings
}

pub(crate) fn port(place: &Place) -> u16 {
    match place {
        Place::Tcp(_, port) => *port,
        Place::Unix(_) => panic!("not a port"),
    }
}

pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.set_write_timeout(Some(LONG)).unwrap();
    stream
}

pub(crate) fn send(stream: &mut impl Write, method: &str, path: &str, headers: &str, body: &[u8]) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    // In one go, so that a pause of this thread is no slow client. Whoever is refused early may find the
    // door closed, and an answer behind it.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut got = Vec::new();
        let mut byte = [0];
        while !got.ends_with(b"\r\n\r\n") {
            assert_eq!(
                stream.read(&mut byte).unwrap(),
                1,
                "{:?}",
                String::from_utf8_lossy(&got)
            );
            got.push(byte[0]);
        }
        let head = String::from_utf8(got).unwrap().to_ascii_lowercase();
        let header = |name: &str| {
            let line = head.lines().find(|line| line.starts_with(name))?;
            line.split_once(": ").map(|(_, value)| value.to_owned())
        };
        let length = header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        Self {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            body: String::from_utf8(body).unwrap(),
            head,
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn retry_after(&self) -> Option<u64> {
        let line = self
            .head
            .lines()
            .find(|line| line.starts_with("retry-after"))?;
        line.split_once(": ")?.1.parse().ok()
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
