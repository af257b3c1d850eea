//! The milter as a mail server meets it, packet by packet; what a mail server would never do as well.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;

use support::{Bench, HAM, SPAM, VARIANT, connect, port, until};
use twicetold_server::{Action, Place, Settings};

/// All that Postfix offers.
const ALL: u32 = 0x1f_ffff;

struct Mta(TcpStream);

impl Mta {
    fn connect(bench: &Bench) -> Self {
        Self(connect(port(&bench.server.milter()[0])))
    }

    fn say(&mut self, kind: u8, data: &[u8]) {
        let length = u32::try_from(data.len() + 1).unwrap();
        let packet = [&length.to_be_bytes(), &[kind][..], data].concat();
        self.0.write_all(&packet).unwrap();
    }

    fn hear(&mut self) -> (u8, Vec<u8>) {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut packet = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut packet).unwrap();
        (packet[0], packet[1..].to_vec())
    }

    /// Whether the other side ends the session.
    fn is_ended(&mut self) -> bool {
        matches!(self.0.read(&mut [0]), Ok(0) | Err(_))
    }

    fn negotiate(&mut self, version: u32, steps: u32) -> (u32, u32, u32) {
        let offer = [version, 0x1ff, steps].map(u32::to_be_bytes).concat();
        self.say(b'O', &offer);
        let (kind, data) = self.hear();
        assert_eq!((kind, data.len()), (b'O', 12));
        let number = |at: usize| u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
        (number(0), number(4), number(8))
    }

    fn continues(&mut self, kind: u8, data: &[u8]) {
        self.say(kind, data);
        assert_eq!(self.hear().0, b'c', "{}", char::from(kind));
    }

    /// Hands a message over as Postfix does, which need not be answered everywhere, and returns what is to
    /// be done.
    fn message(&mut self, message: &str, more: &[(&str, &str)]) -> Vec<(u8, String)> {
        self.say(b'D', b"Mi\0ABC123\0");
        self.say(b'M', b"<a@example.net>\0");
        let (head, body) = message.split_once("\r\n\r\n").unwrap();
        let own = head.lines().map(|line| line.split_once(": ").unwrap());
        for (name, value) in own.chain(more.iter().copied()) {
            self.say(b'L', format!("{name}\0 {value}\0").as_bytes());
        }
        self.say(b'N', b"");
        self.say(b'B', body.as_bytes());
        // What is too long, or has no room, need not be told to the end.
        assert!(matches!(self.hear().0, b'c' | b's'));
        self.say(b'E', b"");
        let mut done = Vec::new();
        loop {
            let (kind, data) = self.hear();
            done.push((kind, String::from_utf8_lossy(&data).replace('\0', "|")));
            if matches!(kind, b'a' | b'c' | b'y' | b'r' | b't' | b'd') {
                return done;
            }
        }
    }
}

fn bench(change: impl FnOnce(&mut Settings)) -> Bench {
    let bench = Bench::new(|settings| {
        settings.milter.listen = vec![Place::Tcp("127.0.0.1".to_owned(), 0)];
        // However busy the machine is.
        settings.milter.check_seconds = 60;
        change(settings);
    });
    bench.report(SPAM);
    bench
}

fn begun(bench: &Bench) -> Mta {
    let mut mta = Mta::connect(bench);
    let (version, actions, steps) = mta.negotiate(6, ALL);
    assert_eq!((version, actions & 0x11), (6, 0x11));
    assert_eq!(steps & !ALL, 0);
    mta.continues(b'C', b"client.example.net\x004\0\x19127.0.0.1\0");
    mta
}

#[test]
fn headers_are_added_and_forged_ones_removed() {
    let bench = bench(|_| {});
    let mut mta = begun(&bench);
    let done = mta.message(VARIANT, &[]);
    assert_eq!(done[0], (b'h', "X-Twicetold-Class| spam|".to_owned()));
    assert_eq!(done[1], (b'h', "X-Twicetold-Score| 0.95|".to_owned()));
    assert!(done[2].1.starts_with("X-Twicetold-Campaign|"), "{done:?}");
    assert_eq!(done[3..], [(b'a', String::new())]);
    // The same session, the next message; the last of a name goes first.
    let forged = [
        ("X-Twicetold-Class", "unknown"),
        ("Received", "by x"),
        ("x-twicetold-CLASS", "unknown"),
        ("X-Twicetold-Friend", "yes"),
    ];
    let done = mta.message(HAM, &forged);
    assert_eq!(
        done,
        [
            (b'm', "|||\u{1}X-Twicetold-Friend||".to_owned()),
            (b'm', "|||\u{2}x-twicetold-CLASS||".to_owned()),
            (b'm', "|||\u{1}X-Twicetold-Class||".to_owned()),
            (b'h', "X-Twicetold-Class| unknown|".to_owned()),
            (b'a', String::new()),
        ]
    );
    // One that is given up leaves nothing behind.
    mta.say(b'L', b"Subject\0 x\0");
    mta.say(b'A', b"");
    assert_eq!(mta.message(HAM, &[]).len(), 2);
    mta.say(b'Q', b"");
    assert!(mta.is_ended());
    let metrics = bench.get("/metrics").body;
    assert!(
        metrics.contains("twicetold_milter_messages_total{action=\"tag-spam\"} 1"),
        "{metrics}"
    );
    assert!(bench.log.text().contains("\"queue_id\":\"ABC123\""));
}

#[test]
fn spam_is_rejected_or_quarantined_if_that_is_wished() {
    let bench = bench(|settings| {
        settings.milter.spam = Action::Reject;
        settings.milter.reject_text = "100% spam".to_owned();
    });
    let mut mta = begun(&bench);
    let done = mta.message(VARIANT, &[("X-Twicetold-Class", "unknown")]);
    assert_eq!(done, [(b'y', "550 5.7.1 100%% spam|".to_owned())]);
    assert_eq!(mta.message(HAM, &[]).last().unwrap().0, b'a');
    let mut settings = bench.settings.clone();
    settings.milter.spam = Action::Quarantine;
    settings.milter.spam_flag = true;
    bench.server.reload(settings).unwrap();
    let mut mta = begun(&bench);
    let done = mta.message(VARIANT, &[("X-Spam-Flag", "NO")]);
    let kinds: Vec<u8> = done.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, b"mhhhhqa", "{done:?}");
    assert_eq!(done[4].1, "X-Spam-Flag| YES|");
}

#[test]
fn users_who_have_logged_in_are_not_checked_unless_that_is_wished() {
    let bench = bench(|_| {});
    let mut mta = begun(&bench);
    mta.say(b'D', b"M{auth_authen}\0anna\0");
    let done = mta.message(VARIANT, &[("X-Twicetold-Class", "unknown")]);
    assert_eq!(done.len(), 2, "{done:?}");
    assert_eq!((done[0].0, done[1].0), (b'm', b'a'));
}

#[test]
fn old_mail_servers_get_every_answer_they_wait_for() {
    let bench = bench(|_| {});
    let mut mta = Mta::connect(&bench);
    let (version, _, steps) = mta.negotiate(2, 0x7f);
    assert_eq!((version, steps & !0x7f), (2, 0));
    mta.continues(b'C', b"client\0U");
    mta.continues(b'M', b"<a@example.net>\0");
    let (head, body) = VARIANT.split_once("\r\n\r\n").unwrap();
    for line in head.lines() {
        mta.continues(b'L', format!("{}\0", line.replace(": ", "\0")).as_bytes());
    }
    mta.continues(b'N', b"");
    mta.say(b'E', body.as_bytes());
    assert_eq!(mta.hear(), (b'h', b"X-Twicetold-Class\0spam\0".to_vec()));
}

#[test]
fn trouble_lets_mail_through() {
    let bench = bench(|settings| {
        settings.milter.spam = Action::Reject;
        settings.limits.message_bytes = 20_000;
        settings.limits.memory_bytes = 20_000;
    });
    let mut mta = begun(&bench);
    bench.mood.fail(true);
    assert_eq!(mta.message(VARIANT, &[]), [(b'a', String::new())]);
    bench.mood.fail(false);
    // A check that takes too long is given up.
    let mut settings = bench.settings.clone();
    settings.milter.check_seconds = 1;
    bench.server.reload(settings).unwrap();
    bench.mood.hold(true);
    assert_eq!(mta.message(VARIANT, &[]), [(b'a', String::new())]);
    bench.mood.hold(false);
    bench.server.reload(bench.settings.clone()).unwrap();
    // A message that is too long is looked at as far as it goes.
    let long = format!("{VARIANT}{}", "x".repeat(50_000));
    mta.say(b'M', b"<a@example.net>\0");
    mta.say(b'L', b"Subject\0 x\0");
    mta.say(b'N', b"");
    mta.continues(b'B', VARIANT.split_once("\r\n\r\n").unwrap().1.as_bytes());
    mta.say(b'B', long.as_bytes());
    assert_eq!(mta.hear().0, b's');
    mta.say(b'E', b"");
    assert_eq!(mta.hear().0, b'y');
    // Without room, too.
    let mut other = bench.connect();
    other
        .write_all(b"POST /v1/check HTTP/1.1\r\nHost: l\r\nContent-Length: 16000\r\n\r\n")
        .unwrap();
    until("room is taken", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_held_bytes 16384\n")
    });
    assert_eq!(mta.message(VARIANT, &[]), [(b'a', String::new())]);
    drop(other);
    until("room is given back", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_held_bytes 0\n")
    });
    assert_eq!(mta.message(VARIANT, &[])[0].0, b'y');
    let log = bench.log.text();
    for did in ["failed", "slow", "memory"] {
        assert!(log.contains(&format!("\"did\":\"{did}\"")), "{log}");
    }
}

#[test]
fn half_open_sessions_end_and_strange_ones_at_once() {
    let bench = bench(|settings| settings.milter.idle_seconds = 1);
    let mut silent = Mta::connect(&bench);
    let mut begun = begun(&bench);
    begun.say(b'L', b"Subject\0 x\0");
    // One that stops in the middle of a packet.
    let mut half = Mta::connect(&bench);
    half.0.write_all(b"\0\0\0\x0dO\0\0\0\x06").unwrap();
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\0\0\0\0",
        b"\xff\xff\xff\xffO",
        b"\0\0\0\x01?",
        b"\0\0\0\x05Oabcd",
    ] {
        let mut strange = Mta::connect(&bench);
        strange.0.write_all(bytes).unwrap();
        assert!(strange.is_ended(), "{bytes:?}");
    }
    assert!(silent.is_ended());
    assert!(begun.is_ended());
    assert!(half.is_ended());
    until("sessions are given back", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_milter_sessions 0\n")
    });
}

#[test]
fn more_sessions_than_agreed_are_let_through() {
    let bench = bench(|settings| {
        settings.milter.sessions = 1;
        settings.milter.spam = Action::Reject;
    });
    let mut first = begun(&bench);
    let mut second = Mta::connect(&bench);
    second.negotiate(6, ALL);
    second.say(b'C', b"client\0U");
    assert_eq!(second.hear().0, b'a');
    let mut third = Mta::connect(&bench);
    assert!(third.is_ended());
    assert_eq!(first.message(VARIANT, &[])[0].0, b'y');
    first.say(b'Q', b"");
    second.say(b'Q', b"");
    until("sessions are given back", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_milter_sessions 0\n")
    });
    let mut again = begun(&bench);
    assert_eq!(again.message(VARIANT, &[])[0].0, b'y');
}
