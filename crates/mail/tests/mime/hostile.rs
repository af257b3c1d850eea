//! Mail that means harm, and damaged mail.

use std::time::{Duration, Instant};

use twicetold_mail::mime::open;

use crate::problems;

/// Hostile mail: each must be read in time that grows with its size only.
#[test]
fn hostile_mail_is_read_quickly() {
    let deep_multipart = |levels: usize| {
        let mut mail = String::new();
        for level in 0..levels {
            mail.push_str(&format!(
                "Content-Type: multipart/mixed; boundary=b{level}\n\n--b{level}\n"
            ));
        }
        mail.push_str("\nThe innermost text\n");
        mail
    };
    let repeated = |head: &str, piece: &str, count: usize| format!("{head}{}", piece.repeat(count));
    let html = "Content-Type: text/html\n\n";
    let same_boundary = "Content-Type: multipart/alternative; boundary=b\n\n--b\n";
    let mails = [
        ("nested 1,000 deep", deep_multipart(1_000)),
        ("nested 100,000 deep", deep_multipart(100_000)),
        (
            "one boundary again and again",
            repeated("", same_boundary, 100_000),
        ),
        (
            "messages in messages",
            repeated("", "Content-Type: message/rfc822\n\n", 100_000),
        ),
        ("open elements", repeated(html, "<div>", 300_000)),
        ("quotes", repeated(html, "<blockquote>a", 100_000)),
        (
            "unmatched ends",
            format!(
                "{html}{}{}",
                "<div>".repeat(100_000),
                "</i></td></li>".repeat(100_000)
            ),
        ),
        ("tables", repeated(html, "<table><tr><td>x", 100_000)),
        (
            "hidden",
            repeated(html, "<p hidden><span style=display:none>", 100_000),
        ),
        (
            "links",
            repeated(html, "<a href=http://a.org/x>x http://b.org ", 50_000),
        ),
        (
            "begin lines",
            repeated("Subject: x\n\n", "begin 644 a\n#0V%T\n", 100_000),
        ),
        (
            "encoded words",
            repeated("Subject: ", "=?utf-8?q?a", 30_000),
        ),
        ("angle brackets", repeated("References: ", "<", 1_000_000)),
        (
            "many ids",
            (0..50_000).fold("References:".to_owned(), |s, i| format!("{s}\n <{i}@x>")),
        ),
        ("comments", repeated("From: ", "(", 1_000_000)),
        (
            "padding",
            repeated("Content-Transfer-Encoding: base64\n\n", "QQ==", 500_000),
        ),
        (
            "parameters",
            repeated("Content-Type: text/plain", "; a*1=b", 200_000),
        ),
        (
            "boundary lines",
            repeated(
                "Content-Type: multipart/mixed; boundary=b\n\n",
                "--b\n",
                300_000,
            ),
        ),
        (
            "addresses",
            repeated(
                "Content-Type: text/html\n\n<a href=http://x>x</a>",
                "a://",
                500_000,
            ),
        ),
        (
            "a long line",
            repeated("Subject: x\n\n", "word ", 2_000_000),
        ),
    ];
    for (what, mail) in &mails {
        let start = Instant::now();
        let visible = open(mail.as_bytes());
        let took = start.elapsed();
        assert!(took < Duration::from_secs(8), "{what} took {took:?}");
        assert!(visible.problems.len() <= 25, "{what}");
    }
    let deep = open(mails[1].1.as_bytes());
    assert!(deep.text.contains("The innermost text"));
    assert_eq!(
        problems(&deep),
        ["parts are nested too deeply; the innermost are read as text"]
    );
}

/// Every beginning of a message, and every message with a byte changed, is read.
#[test]
fn damaged_mail_is_read() {
    let mails: [&[u8]; 2] = [
        include_bytes!("../eml/attachments.eml"),
        include_bytes!("../eml/envelope.eml"),
    ];
    for mail in mails {
        for end in 0..mail.len() {
            open(&mail[..end]);
        }
        for at in 0..mail.len() {
            let mut damaged = mail.to_vec();
            for byte in [0, b'\n', b'"', b'=', b'<', 0xff] {
                damaged[at] = byte;
                open(&damaged);
            }
        }
    }
}

/// Runs and headers in which something far ahead could be looked for again and again.
#[test]
fn hostile_words_are_read_quickly() {
    let text = |text: String| format!("Subject: x\n\n{text}\n");
    let mails = [
        (
            "mail addresses before a web address",
            text(format!("{}http://x", "a@b.c,".repeat(150_000))),
        ),
        (
            "web addresses before a mail address",
            text(format!(
                "{}x@{}",
                "http://a>".repeat(80_000),
                "a".repeat(300_000)
            )),
        ),
        (
            "brackets behind a web address",
            text(format!("http://x{}", ")]".repeat(400_000))),
        ),
        (
            "colons in a name",
            format!("To: =?x{}\n\nText\n", "a:".repeat(400_000)),
        ),
    ];
    for (what, mail) in &mails {
        let start = Instant::now();
        twicetold_mail::read(twicetold_model::Form::Mail, mail.as_bytes());
        let took = start.elapsed();
        assert!(took < Duration::from_secs(4), "{what} took {took:?}");
    }
}
