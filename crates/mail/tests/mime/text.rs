//! From bytes to characters.

use twicetold_mail::mime::{open, open_text};

use crate::{check, problems};

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
