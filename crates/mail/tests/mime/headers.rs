//! Who, when, about what.

use twicetold_mail::mime::{open, open_text};

use crate::{check, problems, subject};

#[test]
fn where_headers_end() {
    check("Subject: a\n\nHello\n", "Hello");
    check("\n\nSubject: a\n\nHello\n", "Hello");
    check(
        "From a@b Mon Jan  1 00:00:00 2001\nSubject: a\n\nHello\n",
        "Hello",
    );
    check(
        ">From a@b Mon Jan  1 00:00:00 2001\nSubject: a\n\nHello\n",
        "Hello",
    );
    check("Just text\nwithout headers\n", "Just text\nwithout headers");
    check("From here on\nit is text\n", "From here on\nit is text");
    check(
        "Agenda: two points\nBudget: none\n\nMore\n",
        "Agenda: two points\nBudget: none\n\nMore",
    );
    check("Subject: only headers\nFrom: a@b\n", "");
    check("Subject: broken\nrest of it\nFrom: a@b\n\nHello\n", "Hello");
    check(
        "Subject: a\nno header here\nnor here\n",
        "no header here\nnor here",
    );
    assert_eq!(
        open(b"Subject: a\rFrom: x@y\r\rone\rtwo\r").text,
        "one\ntwo\n"
    );
    assert_eq!(open(b"Subject: a\rFrom: x@y\r\rone\r").envelope.from, "x@y");
    assert_eq!(
        open("\u{feff}Subject: a\n\nb".as_bytes()).envelope.subject,
        "a"
    );
}

#[test]
fn empty_messages() {
    for mail in [&b""[..], b"\n\n", b" \r\n"] {
        let visible = open(mail);
        assert!(visible.is_blank());
        assert_eq!(problems(&visible), ["the message is empty"]);
    }
    let visible = open(b"Subject: Done!\n\n");
    assert!(visible.is_blank() && visible.problems.is_empty());
    assert_eq!(problems(&open_text(b"")), ["the message is empty"]);
}

#[test]
fn envelopes() {
    let visible = open(include_bytes!("../eml/envelope.eml"));
    let envelope = visible.envelope;
    assert_eq!(envelope.message_id.as_deref(), Some("<m3@example.org>"));
    assert_eq!(
        envelope.references,
        ["<m1@example.org>", "<m2@example.org>", "<m0@example.org>"]
    );
    assert_eq!(envelope.from, "anna@example.org");
    assert_eq!(envelope.from_name, "Anna Müller");
    assert_eq!(
        envelope.recipients,
        "Doe, John jd@example.org Bob bob@example.net Team c@example.com 山田 y@example.jp"
    );
    assert_eq!(envelope.subject, "Folded subject with Grüße");
    assert_eq!(envelope.date, Some(989_883_540));
    assert_eq!(envelope.list.as_deref(), Some("devel.lists.example.org"));
    assert_eq!(visible.text, "Body.\n");
    assert_eq!(visible.problems, []);
}

#[test]
fn senders() {
    for (from, address, name) in [
        ("a@B.org", "a@b.org", ""),
        ("Anna <A@b.org>", "a@b.org", "Anna"),
        ("a@b.org (Anna B)", "a@b.org", "Anna B"),
        ("Doe, John <jd@b.org>", "jd@b.org", "Doe, John"),
        ("\"Doe, John\" <jd@b.org>", "jd@b.org", "Doe, John"),
        ("\"a \\\"b\\\" c\" <jd@b.org>", "jd@b.org", "a \"b\" c"),
        ("=?utf-8?q?J=C3=B6rg?= <j@b.org>", "j@b.org", "Jörg"),
        (
            "=?utf-8?q?M=C3=BCller=2C_J?= <j@b.org>",
            "j@b.org",
            "Müller, J",
        ),
        ("Nobody", "Nobody", "Nobody"),
        ("X </O=CORP/CN=X>", "/o=corp/cn=x", "X"),
        ("<@relay.org:j@b.org>", "j@b.org", ""),
        ("", "", ""),
        ("<", "", ""),
    ] {
        let envelope = open(format!("From: {from}\n\nx").as_bytes()).envelope;
        assert_eq!(
            (envelope.from.as_str(), envelope.from_name.as_str()),
            (address, name),
            "{from}"
        );
    }
}

#[test]
fn dates() {
    for (date, seconds) in [
        ("Mon, 14 May 2001 16:39:00 -0700 (PDT)", Some(989_883_540)),
        ("14 May 2001 23:39 +0000", Some(989_883_540)),
        ("Mon May 14 23:39:00 2001", Some(989_883_540)),
        ("Mon, 14-May-01 23:39:00 GMT", Some(989_883_540)),
        ("Mon, 14 May 101 16:39:00 PDT", Some(989_883_540)),
        ("2001-05-14T16:39:00-07:00", Some(989_883_540)),
        ("2001-05-14 23:39:00", Some(989_883_540)),
        ("14 May 2001 11:39 pm", Some(989_883_540)),
        ("Thu, 29 Feb 2024 00:00:00 +0000", Some(1_709_164_800)),
        ("1 Jan 1970 00:00:00 +0000", Some(0)),
        ("Thu, 30 Feb 2024 00:00:00 +0000", None),
        ("14 May 2001 99:39", None),
        ("yesterday", None),
        ("14 14 14 14 14", None),
    ] {
        let visible = open(format!("Date: {date}\n\nx").as_bytes());
        assert_eq!(visible.envelope.date, seconds, "{date}");
        let expected: &[&str] = if seconds.is_none() {
            &["the Date header cannot be understood"]
        } else {
            &[]
        };
        assert_eq!(problems(&visible), expected, "{date}");
    }
    assert_eq!(open(b"Subject: x\n\nx").problems, []);
}

#[test]
fn subjects() {
    for (raw, decoded) in [
        (&b"plain"[..], "plain"),
        (b"=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"),
        (b"=?utf-8?Q?a_b?= =?utf-8?Q?c?=", "a bc"),
        (b"=?utf-8?Q?=E4=B8?=\n =?utf-8?Q?=AD?=", "中"),
        (b"Re: =?iso-8859-1*de?q?=FCber?= uns", "Re: über uns"),
        (b"=?gb2312?B?1tDOxA==?=", "中文"),
        (b"=?koi8-r?B?8NLJ18XU?=", "Привет"),
        (b"=?shift_jis?B?k/qWe4zq?=", "日本語"),
        (
            b"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= =?iso-2022-jp?B?GyRCOGwbKEI=?=",
            "日本語",
        ),
        (
            b"=?utf-8?x?a?= =?utf-8?q?unfinished",
            "=?utf-8?x?a?= =?utf-8?q?unfinished",
        ),
        (b"raw \xc3\xbc", "raw ü"),
        (b"tab\tand\x07bell\x00", "tab andbell"),
        (b"a\xe2\x80\x8bb\xc2\xa0c", "ab c"),
    ] {
        assert_eq!(subject(raw), decoded, "{}", raw.escape_ascii());
    }
    // The body's character set is the best guess for raw bytes.
    let mail =
        b"Subject: \xcf\xf0\xe8\xe2\xe5\xf2\nContent-Type: text/plain; charset=windows-1251\n\nx";
    assert_eq!(open(mail).envelope.subject, "Привет");
}

#[test]
fn lists() {
    for (header, list) in [
        ("List-Id: The List <The.List.org>", Some("the.list.org")),
        ("List-Post: <mailto:dev@list.org>", Some("dev@list.org")),
        ("List-Post: NO", None),
        (
            "Mailing-List: list dev@list.org; contact dev-owner@list.org",
            Some("dev@list.org"),
        ),
        ("X-Mailing-List: linux@vger.org", Some("linux@vger.org")),
        ("Subject: x", None),
    ] {
        assert_eq!(
            open(format!("{header}\n\nx").as_bytes())
                .envelope
                .list
                .as_deref(),
            list,
            "{header}"
        );
    }
}
