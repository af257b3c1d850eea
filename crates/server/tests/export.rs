//! An export while the server runs: who may take one, and that it is a whole one or none.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use support::{Bench, HAM, SPAM, VARIANT, send};
use twicetold_model::Form;
use twicetold_server::{Client, ClientError};
use twicetold_service::{Class, Embedded, Engine, Sketches, Trust};

fn bench() -> Bench {
    Bench::new(|settings| settings.reporters.get_mut("anna").unwrap().export = true)
}

fn client(bench: &Bench, key: Option<&str>) -> Client {
    let target = format!("http://127.0.0.1:{}", bench.port());
    Client::new(target.parse().unwrap(), key, None, None).unwrap()
}

#[test]
fn everything_is_exported_while_the_server_runs() {
    let bench = bench();
    bench.report(SPAM);
    let client = client(&bench, Some(&bench.key));
    let mut lines = Vec::new();
    let written = client.export(&mut lines).unwrap();
    assert_eq!(written as usize, lines.len());
    // Reports go on, and the next export has them, over the same connection.
    bench.report(HAM);
    let mut later = Vec::new();
    client.export(&mut later).unwrap();
    let count = |lines: &[u8]| lines.split(|byte| *byte == b'\n').count();
    assert_eq!(count(&later), count(&lines) + 1);
    // Keys stay between a reporter and the server.
    assert!(!String::from_utf8(later.clone()).unwrap().contains("blake3"));
    let other = Engine::new(Box::new(Embedded::in_memory().unwrap()));
    assert_eq!(other.import(&mut later.as_slice()).unwrap(), 2);
    let variant = Sketches::of(Form::Mail, VARIANT.as_bytes(), &Trust::default());
    assert_eq!(other.check(&variant, 0).unwrap().class, Class::Spam);
}

#[test]
fn only_a_key_that_may_takes_an_export() {
    let bench = Bench::new(|_| {});
    assert_eq!(bench.get("/v1/export").status, 401);
    for key in [None, Some(bench.key.as_str())] {
        let refused = client(&bench, key).export(&mut Vec::new());
        assert!(
            matches!(refused, Err(ClientError::Forbidden { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn one_at_a_time_and_trouble_is_told() {
    let bench = bench();
    bench.report(SPAM);
    let ask = || {
        let mut stream = bench.connect();
        send(&mut stream, "GET", "/v1/export", &bench.bearer(), b"");
        stream
    };
    bench.mood.hold(true);
    let mut first = ask();
    bench.mood.until_waiting(1);
    let answer = support::Answer::read(&mut ask());
    assert_eq!(answer.status, 503);
    assert!(answer.retry_after().is_some());
    bench.mood.hold(false);
    // The first one goes on to its end.
    let mut got = Vec::new();
    while !got.ends_with(b"\r\n0\r\n\r\n") {
        let mut piece = [0; 4096];
        let count = first.read(&mut piece).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&got));
        got.extend_from_slice(&piece[..count]);
    }
    assert!(got.starts_with(b"HTTP/1.1 200"));
    // A client that has gone does not keep the next one from its export.
    drop(ask());
    bench.mood.fail(true);
    support::until("it is told", || {
        let answer = support::Answer::read(&mut ask());
        assert_eq!(answer.status, 503);
        !answer.body.contains("another export") && !answer.body.contains("secret")
    });
    bench.mood.fail(false);
    client(&bench, Some(&bench.key))
        .export(&mut Vec::new())
        .unwrap();
}

#[test]
fn half_an_export_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        assert!(stream.read(&mut head).unwrap() > 0);
        let half = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"kind\":\r\n";
        stream.write_all(half.as_bytes()).unwrap();
    });
    let target = format!("http://127.0.0.1:{port}");
    let client = Client::new(target.parse().unwrap(), None, None, None).unwrap();
    let outcome = client.export(&mut Vec::new());
    assert!(
        matches!(outcome, Err(ClientError::Unreachable { .. })),
        "{outcome:?}"
    );
    server.join().unwrap();
}
