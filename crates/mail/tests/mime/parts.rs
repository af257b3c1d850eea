//! Several parts, and what is attached.

use twicetold_mail::mime::open;

use crate::{check, multipart, problems};

const PDF: &str = "Content-Type: application/pdf; name=\"a.pdf\"\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\nAQID";

#[test]
fn multiparts() {
    check(
        &multipart("mixed", &["\nOne", "Content-Type: text/plain\n\nTwo"]),
        "One\n\nTwo",
    );
    check(
        &multipart("related", &["Content-Type: text/html\n\n<p>One</p>", PDF]),
        "One",
    );
    check(
        &multipart(
            "signed",
            &["\nOne", "Content-Type: application/pgp-signature\n\nabc"],
        ),
        "One",
    );
    let signed = multipart(
        "signed",
        &["\nOne", "Content-Type: application/pgp-signature\n\nabc"],
    );
    assert_eq!(open(signed.as_bytes()).attachments, []);
    // A boundary must be a whole line.
    check(
        &multipart("mixed", &["\nOne\n--=bb\nstill"]),
        "One\n--=bb\nstill",
    );
    // No closing line.
    check(
        "Content-Type: multipart/mixed; boundary=x\n\n--x\n\nOne\n",
        "One",
    );
    let report = "Content-Type: message/delivery-status\n\nAction: failed";
    check(
        &multipart("report", &["\nFailed", report]),
        "Failed\n\nAction: failed",
    );
}

#[test]
fn multiparts_without_their_boundary() {
    let mail = "Content-Type: multipart/mixed; boundary=x\n\nplain after all\n";
    check(mail, "plain after all");
    assert_eq!(
        problems(&open(mail.as_bytes())),
        ["the parts of a multipart message cannot be told apart"]
    );
    check(
        "Content-Type: multipart/mixed\n\n--y\nContent-Type: text/plain\n\nOne\n--y--\n",
        "One",
    );
    assert_eq!(
        open(b"From: a@b\nContent-Type: multipart/mixed; boundary=x\n\n").problems,
        []
    );
}

#[test]
fn alternatives_count_once() {
    let alternative = |plain: &str, page: &str| {
        multipart(
            "alternative",
            &[plain, &format!("Content-Type: text/html\n\n{page}")],
        )
    };
    check(
        &alternative("\nHello world", "<p>Hello <b>world</b></p>"),
        "Hello world",
    );
    check(
        &alternative(
            "\nThis is an HTML message",
            "<p>The budget for next year was approved today.</p>",
        ),
        "The budget for next year was approved today.",
    );
    check(
        &alternative(
            "\nHTML order no. 4711 for you and me",
            "<p>The budget for next year was approved today.</p>",
        ),
        "HTML order no. 4711 for you and me\n\nThe budget for next year was approved today.",
    );
    check(
        &alternative(
            "\nBudget",
            "<p>The budget for next year was approved today.</p>",
        ),
        "The budget for next year was approved today.",
    );
    let links = "<p>Read the <a href=\"http://a.example/long/path/to/some/page\">news about us today</a></p>";
    check(
        &alternative("\nnews http://a.example/long/path/to/some/page", links),
        "Read the news about us today",
    );
    // Both say something of their own.
    check(
        &alternative(
            "\nalpha beta gamma delta epsilon zeta",
            "<p>one two three four five six</p>",
        ),
        "alpha beta gamma delta epsilon zeta\n\none two three four five six",
    );
    check(&alternative("\n", "<p>Only here</p>"), "Only here");
    check(
        &alternative(
            "\n今天天气很好\n我们去公园",
            "<p>今天天气很好我们去公园</p>",
        ),
        "今天天气很好\n我们去公园",
    );
}

#[test]
fn attachments() {
    let visible = open(include_bytes!("../eml/attachments.eml"));
    let seen: Vec<_> = visible
        .attachments
        .iter()
        .map(|a| {
            (
                a.name.as_deref().unwrap_or("-"),
                a.media_type.as_str(),
                a.size,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("a.pdf", "application/pdf", 3),
            ("Übersicht für 2024.csv", "text/csv", 3),
            ("notes.txt", "text/plain", 12),
            ("Grüße.png", "image/png", 3),
            ("winmail.dat", "application/ms-tnef", 2),
            ("-", "text/calendar", 15),
        ]
    );
    assert_eq!(
        visible.attachments[0].digest,
        *blake3::hash(&[1, 2, 3]).as_bytes()
    );
    assert_eq!(visible.text, "See below.\n\nInline text.");
}

#[test]
fn attached_messages_are_content() {
    let inner = format!(
        "From: Bob <b@x.org>\nDate: Mon, 14 May 2001 16:39:00 -0700\nSubject: =?utf-8?q?=C3=BCber?=\n{}",
        multipart("mixed", &["\nInner text", PDF]).replace("=b", "=c")
    );
    let mail = multipart(
        "mixed",
        &[
            "\nSee attached",
            &format!("Content-Type: message/rfc822\n\n{inner}"),
        ],
    );
    let expected = "See attached\n\n-----Original Message-----\nFrom: Bob <b@x.org>\n\
        Date: Mon, 14 May 2001 16:39:00 -0700\nSubject: über\n\nInner text";
    check(&mail, expected);
    assert_eq!(open(mail.as_bytes()).attachments.len(), 1);
    let digest = multipart(
        "digest",
        &["\nSubject: One\n\nfirst", "\nSubject: Two\n\nsecond"],
    );
    check(
        &digest,
        "-----Original Message-----\nSubject: One\n\nfirst\n\n-----Original Message-----\nSubject: Two\n\nsecond",
    );
}

#[test]
fn uuencoded_files() {
    let mail = "Subject: x\n\nBefore\nbegin 644 cat.txt\n#0V%T\n`\nend\nAfter\n";
    check(mail, "Before\nAfter");
    let attachment = &open(mail.as_bytes()).attachments[0];
    assert_eq!(
        (attachment.name.as_deref(), attachment.size),
        (Some("cat.txt"), 3)
    );
    assert_eq!(attachment.digest, *blake3::hash(b"Cat").as_bytes());
    check(
        "Subject: x\n\nbegin 644 the day\nwith a smile.\nend\n",
        "begin 644 the day\nwith a smile.\nend",
    );
    check("Subject: x\n\nbegin 1 to play\n", "begin 1 to play");
}
