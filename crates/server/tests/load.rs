//! Held under load: slow clients, huge bodies, too many of everything.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use support::{Answer, Bench, HAM, LONG, SPAM, VARIANT, send, until};
use twicetold_server::Known;

#[test]
fn slow_clients_are_left() {
    let bench = Bench::new(|settings| {
        settings.http.idle_seconds = 3;
        settings.http.request_seconds = 3;
    });
    // One says nothing, one stops in the head, one in the body; others are served meanwhile.
    let mut silent = bench.connect();
    let mut head = bench.connect();
    head.write_all(b"POST /v1/check HTTP/1.1\r\nHost: l")
        .unwrap();
    let mut body = bench.connect();
    body.write_all(b"POST /v1/check HTTP/1.1\r\nHost: l\r\nContent-Length: 100\r\n\r\nFrom:")
        .unwrap();
    assert_eq!(bench.class(HAM), "unknown");
    let answer = Answer::read(&mut body);
    assert_eq!(answer.status, 408);
    for stream in [&mut silent, &mut head, &mut body] {
        let mut rest = Vec::new();
        // Ends, and does not wait for as long as this test would.
        let _ = stream.read_to_end(&mut rest);
    }
    until("connections are given back", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_connections 1\n")
    });
}

#[test]
fn who_says_a_letter_now_and_then_is_left() {
    let bench = Bench::new(|settings| {
        settings.http.idle_seconds = 2;
        settings.http.request_seconds = 2;
    });
    let trickle = |start: &'static str| {
        let mut stream = bench.connect();
        thread::spawn(move || {
            stream.write_all(start.as_bytes()).unwrap();
            let began = Instant::now();
            // Until the other side has had enough, which is long before the end of this.
            while stream.write_all(b"x").is_ok() {
                assert!(began.elapsed() < LONG, "it listens for ever: {start}");
                thread::sleep(std::time::Duration::from_millis(20));
            }
        })
    };
    let all = [
        trickle("POST /v1/check HTTP/1.1\r\nHost: l\r\nX-Long: "),
        trickle("POST /v1/check HTTP/1.1\r\nHost: l\r\nContent-Length: 1000000\r\n\r\nFrom:"),
    ];
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(bench.class(HAM), "unknown");
}

#[test]
fn who_asks_and_does_not_listen_is_left() {
    let bench = Bench::new(|settings| settings.http.request_seconds = 1);
    let mut deaf = bench.connect();
    deaf.set_nonblocking(true).unwrap();
    let began = Instant::now();
    let ask = b"GET /openapi.json HTTP/1.1\r\nHost: l\r\n\r\n".repeat(100);
    // The answers fill all buffers there are; then the server can neither send nor hears more, and leaves.
    loop {
        assert!(began.elapsed() < LONG, "it waits for ever");
        match deaf.write(&ask) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(_) => break,
        }
    }
    until("connections are given back", || {
        let metrics = bench.get("/metrics").body;
        metrics.contains("twicetold_connections 1\n")
    });
}

#[test]
fn a_server_that_is_warming_up_says_so_and_answers() {
    let mood = support::Mood::default();
    mood.warming
        .store(true, std::sync::atomic::Ordering::SeqCst);
    let bench = Bench::in_a_mood(|_| {}, mood);
    bench.report(SPAM);
    assert_eq!(bench.class(VARIANT), "spam");
    let health = bench.get("/healthz");
    assert_eq!(
        (health.status, &health.json()["status"]),
        (503, &"warming".into())
    );
    bench
        .mood
        .warming
        .store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(bench.get("/healthz").status, 200);
}

#[test]
fn huge_bodies_are_refused_before_they_are_held() {
    let bench = Bench::new(|settings| {
        settings.limits.message_bytes = 100_000;
        settings.limits.memory_bytes = 150_000;
    });
    let told = "x".repeat(200_000);
    assert_eq!(bench.post("/v1/check", "", &told).status, 413);
    // In pieces, without saying how many.
    let mut stream = bench.connect();
    stream
        .write_all(b"POST /v1/check HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    for _ in 0..200 {
        let _ = stream.write_all(b"400\r\n");
        let _ = stream.write_all(&[b'x'; 0x400]);
        let _ = stream.write_all(b"\r\n");
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    assert_eq!(Answer::read(&mut stream).status, 413);
    // A length that no machine has is refused at once.
    let mut stream = bench.connect();
    stream
        .write_all(b"POST /v1/check HTTP/1.1\r\nHost: l\r\nContent-Length: 99999999999999\r\n\r\n")
        .unwrap();
    assert_eq!(Answer::read(&mut stream).status, 413);
    // Two that are being sent at the same time do not both fit.
    let mut first = bench.connect();
    first
        .write_all(b"POST /v1/check HTTP/1.1\r\nHost: l\r\nContent-Length: 90000\r\n\r\n")
        .unwrap();
    until("room is taken", || {
        let metrics = bench.get("/metrics").body;
        metrics.contains("twicetold_held_bytes 90112\n")
    });
    let answer = bench.post("/v1/check", "", &"x".repeat(90_000));
    assert_eq!(answer.status, 503);
    assert!(answer.retry_after().is_some());
    first.write_all(&[b'x'; 90_000]).unwrap();
    assert_eq!(Answer::read(&mut first).status, 200);
    until("room is given back", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_held_bytes 0\n")
    });
    assert_eq!(bench.post("/v1/check", "", &"x".repeat(90_000)).status, 200);
}

#[test]
fn too_many_connections_are_told() {
    let bench = Bench::new(|settings| settings.http.connections = 2);
    let mut held: Vec<_> = (0..2).map(|_| bench.connect()).collect();
    for stream in &mut held {
        send(stream, "GET", "/healthz", "", b"");
        assert_eq!(Answer::read(stream).status, 200);
    }
    let mut third = bench.connect();
    let answer = Answer::read(&mut third);
    assert_eq!(answer.status, 503);
    assert!(answer.retry_after().is_some());
    assert!(answer.json()["error"].as_str().is_some());
    // When one goes, another comes in.
    drop(held.pop());
    until("a place is free", || {
        // Whoever is turned away may find the door closed before he has spoken.
        let mut stream = bench.connect();
        let _ = stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.get(8..12) == Some(b" 200")
    });
}

#[test]
fn a_full_queue_is_told_and_what_began_is_finished() {
    let bench = Bench::new(|settings| {
        settings.limits.threads = 1;
        settings.limits.queue = 2;
    });
    bench.report(SPAM);
    bench.mood.hold(true);
    let ask = || {
        let mut stream = bench.connect();
        send(&mut stream, "POST", "/v1/check", "", VARIANT.as_bytes());
        stream
    };
    let mut waiting = vec![ask()];
    bench.mood.until_waiting(1);
    waiting.extend([ask(), ask()]);
    until("the queue is full", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_queue{kind=\"check\"} 2\n")
    });
    let mut one_more = ask();
    let answer = Answer::read(&mut one_more);
    assert_eq!(answer.status, 503);
    assert_eq!(answer.retry_after(), Some(1));
    assert_eq!(bench.get("/healthz").json()["status"], "busy");
    // Told to stop, it finishes what it has begun.
    let (mood, log) = (Arc::clone(&bench.mood), bench.log.clone());
    let server = bench.server;
    let stopping = thread::spawn(move || server.stop());
    until("it is stopping", || log.text().contains("\"stopping\""));
    mood.hold(false);
    for stream in &mut waiting {
        assert_eq!(Answer::read(stream).json()["class"], "spam");
    }
    stopping.join().unwrap().unwrap();
}

#[test]
fn a_stop_does_not_wait_for_ever() {
    let bench = Bench::new(|settings| settings.limits.stop_seconds = 1);
    let mut slow = bench.connect();
    slow.write_all(b"POST /v1/check HTTP/1.1\r\nHost: l\r\nContent-Length: 100\r\n\r\nFrom:")
        .unwrap();
    let idle = bench.connect();
    let began = Instant::now();
    bench.server.stop().unwrap();
    assert!(began.elapsed() < LONG / 2);
    drop((slow, idle));
}

#[test]
fn each_key_and_each_address_has_its_rate() {
    let bench = Bench::new(|settings| {
        settings.http.checks_per_minute = 1;
        let known = settings.reporters.get_mut("anna").unwrap();
        *known = Known {
            per_minute: 1,
            ..known.clone()
        };
    });
    let count = |path: &str, headers: &str| {
        (0..4)
            .map(|_| bench.post(path, headers, HAM))
            .filter(|answer| answer.status == 429 && answer.retry_after().is_some())
            .count()
    };
    // One a minute each. On a very slow machine one more may be let through.
    assert!(count("/v1/check", "") >= 2);
    assert!(count("/v1/report", &bench.bearer()) >= 2);
    assert_eq!(bench.get("/healthz").status, 200);
}

#[test]
fn trouble_with_the_state_is_told_without_where_it_is() {
    let bench = Bench::new(|_| {});
    bench.mood.fail(true);
    let answer = bench.post("/v1/check", "", HAM);
    assert_eq!(answer.status, 503);
    assert!(answer.retry_after().is_some());
    assert!(!answer.body.contains("secret"), "{}", answer.body);
    until("the log has it", || {
        bench.log.text().contains("the disk is on fire")
    });
    bench.mood.fail(false);
    assert_eq!(bench.class(HAM), "unknown");
}

#[test]
fn many_at_once_are_all_answered() {
    let bench = Bench::new(|_| {});
    bench.report(SPAM);
    let port = bench.port();
    let threads: Vec<_> = (0..16)
        .map(|_| {
            thread::spawn(move || {
                let mut stream = support::connect(port);
                for n in 0..25 {
                    let message = if n % 2 == 0 { VARIANT } else { HAM };
                    send(&mut stream, "POST", "/v1/check", "", message.as_bytes());
                    let expected = if n % 2 == 0 { "spam" } else { "unknown" };
                    assert_eq!(Answer::read(&mut stream).json()["class"], expected);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    until("all are counted", || {
        bench
            .get("/metrics")
            .body
            .contains("twicetold_checks_total{class=\"spam\"} 208\n")
    });
}

#[test]
fn malformed_mail_is_answered_like_any_other() {
    let bench = Bench::new(|_| {});
    bench.report(SPAM);
    let nested: String = (0..2_000)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"))
        .collect();
    let broken = [
        String::new(),
        "\0\0\0\r\n\r\n\0".to_owned(),
        nested,
        "Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n----\r\n--\r\n----".to_owned(),
        format!("{}\r\n\r\nbody", "X: y\r\n".repeat(20_000)),
        format!("Subject: {}\r\n\r\n", "=?utf-8?B?////?=".repeat(5_000)),
        "Content-Type: text/html; charset=nonsense\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!===".to_owned(),
        format!("Content-Type: text/html\r\n\r\n{}", "<div><a href='".repeat(20_000)),
        "a line without an end".repeat(10_000),
    ];
    for message in &broken {
        let answer = bench.post("/v1/check", "", message);
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.json()["class"], "unknown");
        let answer = bench.post("/v1/report", &bench.bearer(), message);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    // Bytes that are no text at all.
    let mut stream = bench.connect();
    let noise: Vec<u8> = (0..50_000_u32).map(|n| ((n * n) >> 5) as u8).collect();
    send(&mut stream, "POST", "/v1/check", "", &noise);
    assert_eq!(Answer::read(&mut stream).status, 200);
    assert_eq!(bench.class(VARIANT), "spam");
}
