//! The milter beside a real Postfix that receives mail over SMTP.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail by panicking, and says when it is skipped"
)]

mod support;

use support::{Bench, HAM, SPAM, VARIANT};
use twicetold_server::{Action, Mode, Place};
use twicetold_testbed::{Folder, Postfix};

const FORGED: &str = "From: c@example.net\r\nX-Twicetold-Class: unknown\r\nSubject: z\r\nx-twicetold-class: unknown\r\n\r\n";

fn forged() -> String {
    FORGED.to_owned() + VARIANT.split_once("\r\n\r\n").unwrap().1
}

/// A server with a milter, and a Postfix that asks it; `None` if nobody may start one.
fn both(spam: Action, place: Place) -> Option<(Bench, Postfix)> {
    let bench = Bench::new(|settings| {
        settings.milter.listen = vec![place];
        settings.milter.spam = spam;
        // Postfix asks in the name of a user of its own.
        settings.milter.mode = Mode(0o666);
        // However busy the machine is.
        settings.milter.check_seconds = 60;
    });
    bench.report(SPAM);
    let milter = match &bench.server.milter()[0] {
        Place::Unix(path) => format!("unix:{}", path.display()),
        Place::Tcp(host, port) => format!("inet:{host}:{port}"),
    };
    let Some(postfix) = Postfix::start(&milter) else {
        println!("Skipped: Postfix runs only for root.");
        return None;
    };
    Some((bench, postfix))
}

#[test]
fn mail_is_tagged_and_goes_on_when_the_milter_is_gone() {
    let folder = Folder::new();
    let Some((bench, postfix)) = both(Action::Tag, Place::Unix(folder.at("m"))) else {
        return;
    };
    let forged = forged();
    for answer in postfix.send([VARIANT, HAM, &forged]) {
        assert!(answer.starts_with("250"), "{answer}");
    }
    let delivered = postfix.delivered(3);
    let of = |subject: &str| {
        let line = format!("Subject: {subject}\n");
        delivered.iter().find(|mail| mail.contains(&line)).unwrap()
    };
    for (subject, class) in [("y", "spam"), ("Lunch", "unknown"), ("z", "spam")] {
        let mail = of(subject);
        let head = mail.split_once("\n\n").unwrap().0.to_ascii_lowercase();
        let line = format!("x-twicetold-class: {class}");
        assert_eq!(head.matches("x-twicetold-class").count(), 1, "{head}");
        assert!(head.contains(&line), "{head}");
    }
    assert!(of("y").contains("\nX-Twicetold-Score: 0.95\n"));
    // Without the milter mail goes on.
    bench.server.stop().unwrap();
    assert!(
        postfix.send([HAM])[0].starts_with("250"),
        "{}",
        postfix.log()
    );
    let delivered = postfix.delivered(4);
    let untagged = |mail: &&String| !mail.contains("X-Twicetold-Class");
    assert_eq!(delivered.iter().filter(untagged).count(), 1);
}

#[test]
fn spam_is_refused_or_held() {
    let place = Place::Tcp("127.0.0.1".to_owned(), 0);
    let Some((bench, postfix)) = both(Action::Reject, place) else {
        return;
    };
    let answers = postfix.send([VARIANT, HAM]);
    assert_eq!(
        answers[0],
        "550 5.7.1 This message is a variant of reported spam"
    );
    assert!(answers[1].starts_with("250"), "{answers:?}");
    let mut settings = bench.settings.clone();
    settings.milter.spam = Action::Quarantine;
    bench.server.reload(settings).unwrap();
    let answers = postfix.send([VARIANT, HAM]);
    assert!(
        answers.iter().all(|answer| answer.starts_with("250")),
        "{answers:?}"
    );
    assert_eq!(postfix.held(1), 1);
    assert!(
        postfix
            .delivered(2)
            .iter()
            .all(|mail| mail.contains("Subject: Lunch"))
    );
}
