//! What a reader sees of a message: one small mail for each thing that mail does.

use std::time::{Duration, Instant};

use twicetold_mail::html;
use twicetold_mail::mime::{Visible, link_hash, open, open_json, open_text};

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
    assert_eq!(html::read(page).text.trim_end(), expected, "of {page:?}");
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
    let visible = open(include_bytes!("eml/envelope.eml"));
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

#[test]
fn transfer_encodings() {
    let encoded = |encoding: &str, body: &str| {
        format!(
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n{body}"
        )
    };
    check(
        &encoded("quoted-printable", "caf=C3=A9 =\nau lait = 5 =zz =3d\n"),
        "café au lait = 5 =zz =",
    );
    check(&encoded("Quoted-Printable", "a=  \nb="), "ab");
    check(&encoded("base64", "SGVs\nbG8g\nd29y\nbGQ="), "Hello world");
    check(&encoded("BASE64", "SGVsbG8*gd29ybGQ"), "Hello world");
    check(&encoded("base64", "SGVsbG8=\nd29ybGQ="), "Helloworld");
    check(
        &encoded(
            "base64",
            "SGVsbG8gd29ybGQsIGhlbGxvIHdvcmxkLCBoZWxsbyE=\n____\nList footer here\n",
        ),
        "Hello world, hello world, hello!\n____\nList footer here",
    );
    check(
        &encoded("base64", "This is not base64 at all, is it?"),
        "This is not base64 at all, is it?",
    );
    check(&encoded("8bit", "größer"), "größer");
    let visible = open(encoded("x-odd", "as it is").as_bytes());
    assert_eq!(visible.text, "as it is");
    assert_eq!(problems(&visible), ["unknown transfer encoding \"x-odd\""]);
}

#[test]
fn charsets() {
    let decoded = |label: &str, body: &[u8]| {
        let head = format!("Content-Type: text/plain; charset={label}\n\n");
        open(&[head.as_bytes(), body].concat())
    };
    for (label, body, text) in [
        ("utf-8", "größer".as_bytes(), "größer"),
        ("\"UTF-8\"", b"\xef\xbb\xbfa", "a"),
        ("gb2312", b"\xd6\xd0\xce\xc4", "中文"),
        ("gb18030", b"\x95\x32\x82\x36", "\u{20000}"),
        ("shift_jis", b"\x93\xfa\x96\x7b", "日本"),
        ("iso-2022-jp", b"\x1b$BF|\x1b(B\x1b$BK\\\x1b(B", "日本"),
        ("iso-2022-kr", b"\x1b$)C\x0eGQ1[\x0f ok", "한글 ok"),
        ("euc-kr", b"\xc7\xd1\xb1\xdb", "한글"),
        ("big5", b"\xa4\xa4\xa4\xe5", "中文"),
        ("koi8-r", b"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"),
        ("windows-1251", b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"),
        ("cp1252", b"\x93a\x94", "“a”"),
        ("iso8859_1", b"\xfc", "ü"),
        ("utf-7", b"1 +- 1 +AOk-t+AOk +ZeVnLA-", "1 + 1 été 日本"),
        ("hz-gb-2312", b"a ~{VPND~} ~~", "a 中文 ~"),
        ("utf-16le", b"a\0b\0", "ab"),
        ("us-ascii", "größer".as_bytes(), "größer"),
        ("us-ascii", b"f\xfcr uns alle", "für uns alle"),
        ("unknown-8bit", "größer".as_bytes(), "größer"),
        ("x-unknown", b"f\xfcr uns alle", "für uns alle"),
    ] {
        let visible = decoded(label, body);
        assert_eq!(visible.text, text, "{label}");
        assert_eq!(visible.problems, [], "{label}");
    }
    let visible = decoded("klingon", "größer".as_bytes());
    assert_eq!(visible.text, "größer");
    assert_eq!(
        problems(&visible),
        ["unknown charset \"klingon\", guessed utf-8"]
    );
    assert_eq!(decoded("klingon", b"plain").problems, []);
    // Damaged UTF-8 stays UTF-8.
    let damaged = ["größer wäre schön für Käthe".as_bytes(), b"\xc3 end"].concat();
    assert!(
        decoded("utf-8", &damaged)
            .text
            .starts_with("größer wäre schön für Käthe")
    );
    // Words in the subject tell the character set of a body that names none.
    let mail = b"Subject: =?gb2312?B?1tDOxA==?=\n\n\xd6\xd0\xce\xc4";
    assert_eq!(open(mail).text, "中文");
}

#[test]
fn invisible_characters() {
    for (raw, clean) in [
        ("a\u{0}b\u{7}c\u{1b}d", "abcd"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\u{a0}b\u{2007}c\u{202f}d\u{3000}e", "a b c d e"),
        ("so\u{ad}ft\u{200b}\u{2060}\u{feff}", "soft"),
        (
            "می\u{200c}خواهم क\u{94d}\u{200d}ष",
            "می\u{200c}خواهم क\u{94d}\u{200d}ष",
        ),
        (
            "\u{202e}abc\u{202c}\u{200e}\u{2066}d\u{2069}\u{61c}",
            "abcd",
        ),
        ("“quoted” – ok…", "“quoted” – ok…"),
        ("tab\tstays", "tab\tstays"),
    ] {
        assert_eq!(open_text(raw.as_bytes()).text, clean, "{raw:?}");
    }
}

#[test]
fn flowed() {
    let mail =
        |body: &str, more: &str| format!("Content-Type: text/plain; format=flowed{more}\n\n{body}");
    check(
        &mail("one \ntwo \nthree\nfour\n", ""),
        "one two three\nfour",
    );
    check(&mail("one \ntwo\n", "; DelSp=yes"), "onetwo");
    check(
        &mail(">> one \n>> two\n> three \nfour\n", ""),
        ">> one two\n> three \nfour",
    );
    check(
        &mail(" From here\n  indented\n", ""),
        "From here\n indented",
    );
    check(&mail("text \n-- \nAnna\n", ""), "text \n-- \nAnna");
    check("Subject: not flowed\n\none \ntwo\n", "one \ntwo");
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
    let visible = open(include_bytes!("eml/attachments.eml"));
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

#[test]
fn html_lines() {
    check_html("one<br>two", "one\ntwo");
    check_html("<p>one</p><p>two</p>", "one\n\ntwo");
    check_html("<div>one</div><div>two</div>", "one\ntwo");
    check_html("<div>one</div><div><br></div><div>two</div>", "one\n\ntwo");
    check_html("  a \n <b> b</b>c <i>d</i>  ", "a bc d");
    check_html("<ul><li>a</li><li><p>b</p></ul>c", "- a\n\n- b\n\nc");
    check_html("a<hr>b", "a\n-----\nb");
    check_html(
        "<table><tr><td>a</td><td>b</td></tr><tr><td>c</table>d",
        "a\tb\nc\nd",
    );
    check_html("<pre>\na\n  b\n\nc</pre>d", "a\n  b\n\nc\nd");
    check_html("<div style='white-space:pre-wrap'>a\nb</div>", "a\nb");
    check_html(
        "<p class=MsoNormal>a</p><p class=MsoNormal>&nbsp;</p><p class=MsoNormal>b</p>",
        "a\n\nb",
    );
    check_html("a&nbsp;&amp;&lt;&eacute;&#8364;&#x41;", "a &<é€A");
    check_html("<h1>Title</h1>text", "Title\n\ntext");
    check_html("<dl><dt>a<dd>b</dl>", "a\nb");
    check_html("text<br>-- <br>Anna", "text\n-- \nAnna");
    check_html(
        "<img alt='Our logo'> x <img alt=spacer><img width=1 alt=track>",
        "Our logo x",
    );
}

#[test]
fn html_that_nobody_sees() {
    check_html(
        "<html><head><title>T</title><style>p{}</style></head><body>a<script>x</script>",
        "a",
    );
    check_html(
        "a<!-- b --><!--[if mso]>c<![endif]--><![if !mso]>d<![endif]>",
        "ad",
    );
    check_html("<noscript>x</noscript><template>y</template>a", "a");
    for style in [
        "display:none",
        "DISPLAY : none !important",
        "visibility:hidden",
        "font-size:0",
        "font-size:0px",
        "font-size: 0.0pt",
        "opacity:0",
        "max-height:0;overflow:hidden",
        "height:0px; width:0px",
    ] {
        check_html(
            &format!("a<div style='{style}'>x<div>y</div><br>z</div>b"),
            "a\nb",
        );
        check_html(
            &format!("a <span style='{style}'>x<span>y</span></span>b"),
            "a b",
        );
    }
    for style in [
        "display:block",
        "font-size:10px",
        "max-height:0",
        "opacity:0.5",
        "mso-hide:all",
    ] {
        check_html(&format!("<div style='{style}'>x</div>"), "x");
    }
    check_html("<p hidden>x<p>y", "y");
    check_html(
        "<td style='font-size:0px'><div style='font-size:13px'>x</div>",
        "x",
    );
    check_html("<input type=hidden value=x>y", "y");
    // A page that hides all of itself was broken on its way.
    check_html("<div style='display:none'>all there is", "all there is");
}

#[test]
fn html_quotes() {
    check_html("a<blockquote>b<br>c</blockquote>d", "a\n> b\n> c\nd");
    check_html(
        "<blockquote>a<blockquote>b</blockquote><p>c</p><p>d</p></blockquote>",
        "> a\n> > b\n>\n> c\n>\n> d",
    );
    check_html(
        "Yes.<div class=gmail_quote><div class=gmail_attr>On Monday Bob wrote:<br></div>\
         <blockquote class=gmail_quote>Shall we?</blockquote></div>",
        "Yes.\nOn Monday Bob wrote:\n> Shall we?",
    );
    check_html("<div name='quote'>a</div>b", "> a\nb");
    check_html(
        "<div style='border-left:solid blue 1.5pt'>a</div>b",
        "> a\nb",
    );
    check_html(
        "Yes.<div style='border:none;border-top:solid #B5C4DF 1.0pt'>From: Bob</div>Shall we?",
        "Yes.\n\nFrom: Bob\n\nShall we?",
    );
    check_html("<blockquote><pre>a\nb</pre></blockquote>", "> a\n> b");
}

#[test]
fn broken_html() {
    for (page, text) in [
        ("</div></p>a</b>", "a"),
        ("<b><blockquote>a</b>b</blockquote>c", "> ab\nc"),
        ("<div><table><tr><td>a</div>b</td></table>c", "ab\nc"),
        ("<blockquote>a", "> a"),
        ("a<", "a<"),
        ("a<b", "a"),
        ("<span style=display:none><div>x</span>y</div>", "y"),
        ("<p>a<p>b", "a\n\nb"),
        ("", ""),
        ("&#0;&#xffffffff;&bogus;", "\u{fffd}\u{fffd}&bogus;"),
    ] {
        check_html(page, text);
    }
}

#[test]
fn links() {
    let hidden = |page: &str| open(format!("Content-Type: text/html\n\n{page}").as_bytes()).links;
    assert_eq!(
        hidden("<a href='http://a.org/x'>here</a>"),
        [link_hash("http://a.org/x")]
    );
    assert_eq!(
        hidden("<a href=' HTTP://A.org/x '>here</a>"),
        [link_hash("http://a.org/x")]
    );
    assert!(hidden("<a href='http://a.org/x'>http://a.org/x</a>").is_empty());
    assert!(hidden("<a href='http://a.org/'>a.org</a>").is_empty());
    assert!(hidden("<a href='http://www.a.org/'>here</a> or www.a.org.").is_empty());
    assert_eq!(
        hidden("<a href='http://a.org/y'>http://a.org/x</a>"),
        [link_hash("http://a.org/y")]
    );
    assert!(hidden("<a href='mailto:a@b'>a</a><a href='#x'>b</a><a href=x.html>c</a>").is_empty());
    assert!(hidden("<div hidden><a href='http://a.org'>a</a></div>b").is_empty());
    assert_eq!(
        hidden("<a href='http://a.org'>a</a><a href='http://a.org'>b</a>").len(),
        1
    );
    // From the alternative that was not chosen, unless the text shows the address.
    let mail = multipart(
        "alternative",
        &[
            "\nSee http://a.org/x.",
            "Content-Type: text/html\n\n<a href='http://a.org/x'>See</a> <a href='http://b.org'>b</a>",
        ],
    );
    assert_eq!(open(mail.as_bytes()).links, [link_hash("http://b.org")]);
    assert_ne!(link_hash("http://a.org/#a"), link_hash("http://a.org/#b"));
}

#[test]
fn html_parts_and_their_charset() {
    let page = b"Content-Type: text/html\n\n<meta http-equiv=x content='text/html; charset=windows-1251'>\xcf\xf0\xe8\xe2\xe5\xf2";
    assert_eq!(open(page).text, "Привет\n");
    check(
        "Content-Type: text/enriched\n\n<bold>a</bold>\nb\n\nc <<d> <color><param>red</param>e</color>\n",
        "a b\nc <d> e",
    );
}

#[test]
fn json() {
    let visible = open_json(
        br#"{"id":7,"title":"T","author":"Anna","date":"2001-05-14T16:39:00-07:00","body":"a\r\nb","references":["x",3],"in_reply_to":"x"}"#,
    );
    assert_eq!(visible.text, "a\nb");
    let envelope = visible.envelope;
    assert_eq!(envelope.message_id.as_deref(), Some("7"));
    assert_eq!(
        (envelope.subject.as_str(), envelope.from.as_str()),
        ("T", "anna")
    );
    assert_eq!(envelope.from_name, "Anna");
    assert_eq!(envelope.date, Some(989_883_540));
    assert_eq!(envelope.references, ["x", "3"]);
    assert_eq!(
        open_json(br#"{"id":"a","text":"t","date":5}"#)
            .envelope
            .date,
        Some(5)
    );
    assert_eq!(
        problems(&open_json(b"{oops")),
        ["the JSON cannot be understood"]
    );
    assert_eq!(
        problems(&open_json(b"[1]")),
        ["the line is not a JSON object"]
    );
    assert_eq!(
        problems(&open_json(b"{\"id\":1}")),
        ["the JSON object has no text"]
    );
    assert_eq!(
        problems(&open_json(br#"{"text":"a","date":"soon"}"#)),
        ["the date cannot be understood"]
    );
    let deep = "[".repeat(100_000);
    assert_eq!(open_json(deep.as_bytes()).text, "");
}

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
        include_bytes!("eml/attachments.eml"),
        include_bytes!("eml/envelope.eml"),
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

#[test]
fn an_encoding_whose_header_got_lost_is_seen() {
    check(
        "Subject: x\n\nAll of th=\nis was=20\nwrapped =3D encoded a=\nt once\n",
        "All of this was \nwrapped = encoded at once",
    );
    // Sums and code are not.
    check("Subject: x\n\na=5 and b=20\nc = d\n", "a=5 and b=20\nc = d");
    check(
        "Subject: x\nContent-Transfer-Encoding: 7bit\n\none=\ntwo=20\nthree=\nfour\n",
        "one=\ntwo=20\nthree=\nfour",
    );
}
