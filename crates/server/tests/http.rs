//! HTTP as clients meet it: what can be asked, and who may ask.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::io::Write;

use serde_json::Value;
use support::{Answer, Bench, HAM, SPAM, VARIANT, port, send};
use twicetold_model::Form;
use twicetold_server::{Client, ClientError, Known, LogLevel, Said, Sent, Verb, make_key};
use twicetold_service::{Class, Outcome, Sketches, Standing, Trust};
use twicetold_testbed::{Certificates, Folder};

fn sketch(message: &str) -> Sketches {
    Sketches::of(Form::Mail, message.as_bytes(), &Trust::default())
}

#[test]
fn check_report_revoke() {
    let bench = Bench::new(|settings| settings.log = LogLevel::Requests);
    assert_eq!(bench.class(VARIANT), "unknown");
    let receipt = bench.post("/v1/report", &bench.bearer(), SPAM).json();
    assert_eq!(
        (&receipt["schema"], &receipt["outcome"]),
        (&1.into(), &"new".into())
    );
    // The next check knows.
    let answer = bench.post("/v1/check", "", VARIANT).json();
    assert_eq!(answer["class"], "spam");
    assert_eq!(answer["campaign"], receipt["campaign"]);
    assert!(answer["evidence"]["winnow"].as_f64().unwrap() > 0.3);
    assert_eq!(bench.class(HAM), "unknown");
    let name = receipt["campaign"].as_str().unwrap();
    let campaign = bench.get(&format!("/v1/campaigns/{name}"));
    assert_eq!(campaign.json()["reporters"], 1);
    assert_eq!(bench.get("/v1/campaigns/0000000000000001").status, 404);
    assert_eq!(bench.get("/v1/campaigns/x").status, 404);
    let answer = bench.post("/v1/revoke", &bench.bearer(), VARIANT).json();
    assert_eq!(answer["outcome"], "withdrawn");
    assert_eq!(bench.class(VARIANT), "unknown");
    // The log tells of requests, and nothing of messages.
    let log = bench.log.clone();
    bench.server.stop().unwrap();
    let log = log.text();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line["route"] == "/v1/report" && line["reporter"] == "anna")
    );
    assert_eq!(lines.last().unwrap()["event"], "stopped");
    for word in ["chronographs", "harbour", "example.net"] {
        assert!(!log.contains(word), "{log}");
    }
}

#[test]
fn keys_decide_who_may_report() {
    let (dovecot, hash) = make_key("dovecot").unwrap();
    let bench = Bench::new(|settings| {
        let known = Known {
            key: Some(hash),
            members: true,
            members_standing: Some(Standing::Trusted),
            ..Known::default()
        };
        settings.reporters.insert("dovecot".to_owned(), known);
    });
    let answer = bench.post("/v1/report", "", SPAM);
    assert_eq!(answer.status, 401);
    assert!(answer.head.contains("www-authenticate: bearer"));
    let (wrong, _) = make_key("anna").unwrap();
    for headers in [
        format!("Authorization: Bearer {wrong}\r\n"),
        "Authorization: Bearer x\r\n".to_owned(),
        "Authorization: Basic YTpi\r\n".to_owned(),
    ] {
        assert_eq!(
            bench.post("/v1/report", &headers, SPAM).status,
            401,
            "{headers}"
        );
        assert_eq!(
            bench.post("/v1/check", &headers, SPAM).status,
            401,
            "{headers}"
        );
    }
    // A key speaks for others only if it may.
    let member = "Twicetold-Reporter: bert\r\n";
    let as_member = format!("{}{member}", bench.bearer());
    assert_eq!(bench.post("/v1/report", &as_member, SPAM).status, 403);
    let dovecot = format!("Authorization: Bearer {dovecot}\r\n");
    for wrong in ["\r\n", " \u{1}\r\n"] {
        let headers = format!("{dovecot}Twicetold-Reporter:{wrong}");
        assert_eq!(
            bench.post("/v1/report", &headers, SPAM).status,
            400,
            "{wrong:?}"
        );
    }
    let answer = bench.post("/v1/report", &format!("{dovecot}{member}"), SPAM);
    assert_eq!(answer.json()["outcome"], "new");
    assert_eq!(bench.class(VARIANT), "spam");
    let answer = bench.post("/v1/revoke", &format!("{dovecot}{member}"), SPAM);
    assert_eq!(answer.json()["outcome"], "withdrawn");
}

#[test]
fn checks_need_a_key_if_the_server_says_so() {
    let bench = Bench::new(|settings| settings.http.checks_need_key = true);
    assert_eq!(bench.post("/v1/check", "", HAM).status, 401);
    assert_eq!(bench.post("/v1/check", &bench.bearer(), HAM).status, 200);
    assert_eq!(bench.get("/metrics").status, 401);
    assert_eq!(bench.get("/healthz").status, 200);
    assert_eq!(bench.get("/openapi.json").json()["openapi"], "3.1.0");
}

#[test]
fn a_reload_changes_keys_and_standing() {
    let bench = Bench::new(|_| {});
    bench.report(SPAM);
    assert_eq!(bench.class(VARIANT), "spam");
    let mut settings = bench.settings.clone();
    settings.reporters.get_mut("anna").unwrap().standing = Some(Standing::Unknown);
    settings.limits.queue += 1;
    assert_eq!(
        bench.server.reload(settings.clone()).unwrap(),
        ["limits.queue"]
    );
    assert_eq!(bench.class(VARIANT), "unsure");
    settings.reporters.clear();
    bench.server.reload(settings.clone()).unwrap();
    assert_eq!(bench.post("/v1/report", &bench.bearer(), HAM).status, 401);
    settings.limits.queue = 0;
    assert!(bench.server.reload(settings).is_err());
    assert_eq!(bench.class(VARIANT), "unsure");
}

#[test]
fn what_is_not_understood_is_refused() {
    let bench = Bench::new(|_| {});
    let kind = |kind: &str| format!("Content-Type: {kind}\r\n");
    assert_eq!(bench.post("/v1/check", &kind("text/html"), HAM).status, 415);
    let sketch_kind = kind(Sketches::MEDIA_TYPE);
    assert_eq!(
        bench
            .post("/v1/check", &sketch_kind, "\u{1}nonsense")
            .status,
        400
    );
    assert_eq!(bench.post("/v1/check", &sketch_kind, "").status, 400);
    assert_eq!(bench.get("/v1/check").status, 405);
    assert_eq!(bench.get("/").status, 404);
    // Whatever a message looks like, there is an answer.
    for message in [
        "",
        "\0\0\0",
        "Content-Type: multipart/mixed; boundary=\"",
        "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n--a",
        "Content-Transfer-Encoding: base64\r\nContent-Type: text/html; charset=\u{fffd}\r\n\r\n====&#xffffffff;<<<",
    ] {
        assert_eq!(bench.class(message), "unknown", "{message:?}");
    }
    // One connection serves many requests.
    let mut stream = bench.connect();
    for _ in 0..3 {
        send(&mut stream, "POST", "/v1/check", "", HAM.as_bytes());
        assert_eq!(Answer::read(&mut stream).status, 200);
    }
    // What is no HTTP ends the connection, and nothing else.
    stream.write_all(b"\x16\x03\x01 hello\r\n\r\n").unwrap();
    assert_eq!(bench.get("/healthz").json()["status"], "ok");
    let metrics = bench.get("/metrics").body;
    assert!(
        metrics.contains("twicetold_requests_total{route=\"/v1/check\",status=\"415\"} 1"),
        "{metrics}"
    );
}

#[test]
fn the_client_asks_with_messages_and_sketches_over_tls() {
    let folder = Folder::new();
    let certificates = Certificates::make(&folder.at("tls"));
    let bench = Bench::new(|settings| {
        settings.http.certificate = Some(certificates.server());
        settings.http.key = Some(certificates.key());
    });
    let target = || {
        format!("https://localhost:{}", port(&bench.server.http()[0]))
            .parse()
            .unwrap()
    };
    let authority = certificates.authority();
    let client = Client::new(target(), Some(&bench.key), None, Some(&authority)).unwrap();
    let both = |message: &str| {
        vec![
            Sent::Message(message.as_bytes().to_vec()),
            Sent::Sketch(Box::new(sketch(message))),
        ]
    };
    let said: Vec<Said> = client
        .ask(Verb::Report, both(SPAM))
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let outcomes: Vec<Outcome> = said
        .iter()
        .map(|said| match said {
            Said::Receipt(receipt) => receipt.outcome,
            Said::Checked(_) => panic!("{said:?}"),
        })
        .collect();
    assert_eq!(outcomes, [Outcome::New, Outcome::Again]);
    // Many at once, and the answers stand in their order.
    let asked: Vec<Sent> = (0..40)
        .map(|n| Sent::Sketch(Box::new(sketch(if n % 3 == 0 { VARIANT } else { HAM }))))
        .collect();
    for (n, said) in client.ask(Verb::Check, asked).into_iter().enumerate() {
        let Said::Checked(answer) = said.unwrap() else {
            panic!("no check");
        };
        let expected = if n % 3 == 0 {
            Class::Spam
        } else {
            Class::Unknown
        };
        assert_eq!(answer.class, expected, "{n}");
    }
    for said in client.ask(Verb::Check, both(VARIANT)) {
        let Said::Checked(answer) = said.unwrap() else {
            panic!("no check");
        };
        assert_eq!(answer.campaign.unwrap().reporters, 1);
    }
    // Who is not who it says is not asked.
    let other = certificates.other_authority();
    let client = Client::new(target(), None, None, Some(&other)).unwrap();
    let heard = client.ask(Verb::Check, both(HAM));
    assert!(
        matches!(heard[0], Err(ClientError::Unreachable { .. })),
        "{heard:?}"
    );
    let client = Client::new(target(), None, None, Some(&authority)).unwrap();
    let heard = client.ask(Verb::Report, both(HAM));
    assert!(
        matches!(heard[0], Err(ClientError::Forbidden { .. })),
        "{heard:?}"
    );
    // A certificate that was replaced is shown after a reload.
    let mut settings = bench.settings.clone();
    settings.http.certificate = Some(certificates.expired());
    bench.server.reload(settings).unwrap();
    let client = Client::new(target(), None, None, Some(&authority)).unwrap();
    assert!(client.ask(Verb::Check, both(HAM))[0].is_err());
}

#[test]
fn a_unix_socket_is_served_and_removed() {
    let folder = Folder::new();
    let path = folder.at("s");
    let place = format!("unix:{}", path.display());
    let bench = Bench::new(|settings| settings.http.listen.push(place.parse().unwrap()));
    let client = Client::new(place.parse().unwrap(), None, None, None).unwrap();
    let heard = client.ask(Verb::Check, vec![Sent::Message(HAM.into())]);
    assert!(heard[0].is_ok(), "{heard:?}");
    bench.server.stop().unwrap();
    assert!(!path.exists());
    // What a killed server left behind is replaced; what is no socket is not.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let bench = Bench::new(|settings| settings.http.listen = vec![place.parse().unwrap()]);
    bench.server.stop().unwrap();
    std::fs::write(&path, "precious").unwrap();
    let settings = support::settings(&make_key("x").unwrap().1);
    let mut settings = settings;
    settings.http.listen = vec![place.parse().unwrap()];
    let engine =
        twicetold_service::Engine::new(Box::new(twicetold_service::Embedded::in_memory().unwrap()));
    let log = twicetold_server::Log::to(std::io::sink()).unwrap();
    let refused = twicetold_server::Server::start(settings, engine, log, false);
    assert!(refused.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}
