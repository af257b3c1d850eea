//! Who gets in, and what every answer forbids.

#![allow(clippy::unwrap_used)]

mod support;

use support::{Served, folder};

const MAIL: &str =
    "From: a@example.org\nSubject: one\n\nThe boat needs a new coat of paint before the summer.\n";

#[test]
fn only_the_whole_address_leads_in() {
    let mails = folder(&[("a.eml", MAIL)]);
    let page = Served::over(mails.path());
    let (port, token) = (page.port, page.token.clone());
    assert_eq!(page.get("").status, 200);
    assert_eq!(token.len(), 32);
    let host = format!("Host: 127.0.0.1:{port}");
    let last = if token.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &token[..31]);
    let upper = token.to_uppercase();
    for (path, host, status) in [
        ("/", host.as_str(), 403),
        ("/messages", &host, 403),
        (&format!("/{wrong}/"), &host, 403),
        (&format!("/{}/", &token[..16]), &host, 403),
        (&format!("/{token}x/"), &host, 403),
        (&format!("/{token}/"), "Host: evil.example", 421),
        (
            &format!("/{token}/"),
            &format!("Host: evil.example:{port}"),
            421,
        ),
        (
            &format!("/{token}/"),
            &format!("Host: 127.0.0.1.evil.example:{port}"),
            421,
        ),
        (&format!("/{token}/"), "Host: 127.0.0.1:1", 421),
        (&format!("/{token}/"), "X: y", 421),
        (
            &format!("/{token}/"),
            &format!("Host: localhost:{port}"),
            200,
        ),
        (&format!("/{token}/nothing"), &host, 404),
        (&format!("/{token}/message/99999999999"), &host, 404),
        (&format!("/{token}/message/7"), &host, 404),
        (&format!("/{token}/../../etc/passwd"), &host, 404),
    ] {
        let answer = page.raw(&format!("GET {path} HTTP/1.1\r\n{host}\r\n\r\n"));
        assert_eq!(answer.status, status, "{path} {host}");
        assert!(
            !answer.body.contains("coat of paint")
                && (status == 200 || !answer.body.contains(&token) || status == 404)
        );
    }
    assert!(
        upper == token
            || page
                .raw(&format!("GET /{upper}/ HTTP/1.1\r\n{host}\r\n\r\n"))
                .status
                == 403
    );
}

#[test]
fn only_its_own_pages_may_change_something() {
    let mails = folder(&[("a.eml", MAIL)]);
    let page = Served::over(mails.path());
    let form = "what=back&page=messages";
    let own = format!("http://127.0.0.1:{}", page.port);
    for (header, status) in [
        (format!("Origin: {own}"), 303),
        (format!("Origin: http://localhost:{}", page.port), 303),
        (
            "Origin: null\r\nSec-Fetch-Site: same-origin".to_owned(),
            303,
        ),
        ("Origin: null".to_owned(), 403),
        ("Origin: null\r\nSec-Fetch-Site: cross-site".to_owned(), 403),
        ("Origin: https://evil.example".to_owned(), 403),
        (format!("Origin: https://127.0.0.1:{}", page.port), 403),
        (
            format!("Origin: http://127.0.0.1:{}.evil.example", page.port),
            403,
        ),
        ("Origin: http://127.0.0.1:1".to_owned(), 403),
        ("X: y".to_owned(), 403),
    ] {
        assert_eq!(
            page.post_with("choose", form, &header).status,
            status,
            "{header}"
        );
    }
    let there = page.post("choose", "what=back&page=//evil.example/").head;
    assert!(
        there.contains(&format!("Location: /{}/\r\n", page.token)),
        "{there}"
    );
    let split = page
        .post("choose", "what=back&page=messages&q=%0d%0aX-Evil:1")
        .head;
    assert!(!split.contains("\nX-Evil"), "{split}");
    assert_eq!(page.get("choose").status, 404);
}

#[test]
fn every_answer_forbids_what_is_not_needed() {
    let mails = folder(&[("a.eml", MAIL)]);
    let page = Served::over(mails.path());
    for path in [
        "",
        "messages",
        "message/0",
        "thread/0",
        "go",
        "problems",
        "style.css",
        "script.js",
        "progress",
        "export/twicetold.csv",
        "nothing",
    ] {
        let answer = page.get(path);
        for header in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
            "X-Frame-Options: DENY",
        ] {
            assert!(
                answer.head.contains(header),
                "{path}: {header} is missing in\n{}",
                answer.head
            );
        }
        if answer.head.contains("text/html") {
            for inline in [
                "<style",
                " style=",
                " onclick=",
                "javascript:",
                "<script>",
                "http://",
                "https://",
            ] {
                assert!(
                    !answer.body.contains(inline),
                    "{path}: {inline} in\n{}",
                    answer.body
                );
            }
        }
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let mails = folder(&[("a.eml", MAIL)]);
    let page = Served::over(mails.path());
    for (request, status) in [
        ("PUT / HTTP/1.1\r\n\r\n".to_owned(), 405),
        ("GET / HTTP/9\r\n\r\n".to_owned(), 400),
        (
            format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000)),
            431,
        ),
        (
            "POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n".to_owned(),
            413,
        ),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
            411,
        ),
    ] {
        assert_eq!(page.raw(&request).status, status);
    }
    // It is still there.
    assert_eq!(page.get("").status, 200);
}
