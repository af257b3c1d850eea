//! Two servers that share one state: what one hears, the other knows.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

#[path = "../../service/tests/support/mod.rs"]
mod places;

use places::servers;
use support::{Answer, HAM, SPAM, VARIANT, connect, port, send};
use twicetold_server::{Log, Server, make_key};
use twicetold_service::{Engine, Redis};

#[test]
fn a_report_to_one_is_known_to_the_next_check_of_the_other() {
    if !servers::is_there() {
        return;
    }
    let redis = servers::one("server-nodes");
    let (key, hash) = make_key("anna").unwrap();
    let start = || {
        let state = Redis::open(&redis.address, "test:").unwrap();
        let log = Log::to(std::io::sink()).unwrap();
        Server::start(
            support::settings(&hash),
            Engine::new(Box::new(state)),
            log,
            true,
        )
        .unwrap()
    };
    let (one, other) = (start(), start());
    let ask = |server: &Server, path: &str, message: &str| {
        let mut stream = connect(port(&server.http()[0]));
        let bearer = format!("Authorization: Bearer {key}\r\n");
        send(&mut stream, "POST", path, &bearer, message.as_bytes());
        let answer = Answer::read(&mut stream);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    };
    assert_eq!(ask(&other, "/v1/check", VARIANT)["class"], "unknown");
    ask(&one, "/v1/report", SPAM);
    assert_eq!(ask(&other, "/v1/check", VARIANT)["class"], "spam");
    ask(&other, "/v1/revoke", SPAM);
    assert_eq!(ask(&one, "/v1/check", VARIANT)["class"], "unknown");
    assert_eq!(ask(&one, "/v1/check", HAM)["class"], "unknown");
    one.stop().unwrap();
    other.stop().unwrap();
}
