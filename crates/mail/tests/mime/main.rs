//! What a reader sees of a message: one small mail for each thing that mail does.

mod headers;
mod hostile;
mod html;
mod json;
mod parts;
mod text;

use twicetold_mail::mime::{Visible, open};

/// Opens a message written with LF, once so and once with CR LF, and compares its text.
fn check(mail: &str, expected: &str) {
    assert_eq!(
        open(mail.as_bytes()).text.trim_end(),
        expected.trim_end(),
        "of {mail:?}"
    );
    let crlf = mail.replace('\n', "\r\n");
    assert_eq!(
        open(crlf.as_bytes()).text.trim_end(),
        expected.trim_end(),
        "with CR LF, of {mail:?}"
    );
}

fn check_html(page: &str, expected: &str) {
    assert_eq!(
        twicetold_mail::html::read(page).text.trim_end(),
        expected,
        "of {page:?}"
    );
}

fn problems(visible: &Visible) -> Vec<&str> {
    visible
        .problems
        .iter()
        .map(|problem| problem.what.as_ref())
        .collect()
}

fn subject(header: &[u8]) -> String {
    open(&[b"Subject: ", header, b"\n\nx"].concat())
        .envelope
        .subject
}

/// A multipart with these parts, each with its headers.
fn multipart(kind: &str, parts: &[&str]) -> String {
    let mut mail = format!("Content-Type: multipart/{kind}; boundary=\"=b\"\n\nNot MIME.\n");
    for part in parts {
        mail.push_str(&format!("--=b\n{part}\n"));
    }
    mail.push_str("--=b--\nAfter.\n");
    mail
}
