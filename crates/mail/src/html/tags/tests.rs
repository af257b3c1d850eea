use super::*;

fn written(source: &str) -> String {
    let layout = read(source.as_bytes());
    let mut out = String::new();
    for tag in layout.tags {
        let name = if tag == Tag::TEXT {
            "T"
        } else {
            tag.name.as_str()
        };
        out.push_str(if tag.end { " /" } else { " " });
        out.push_str(name);
    }
    out.trim_start().to_owned()
}

fn check(source: &str, expected: &str) {
    assert_eq!(written(source), expected, "{source}");
}

#[test]
fn names_without_attributes_and_text_as_one_tag() {
    check(
        "<html><body><p class=a id=b>Hello &amp; bye</p></body></html>",
        "p T /p",
    );
    check("one <b>two</b> three", "T b T /b T");
    check(
        "<table><tr><td>1</td><td>2</td></tr></table>",
        "table tr td T /td td T /td /tr /table",
    );
}

#[test]
fn what_shows_nothing_leaves_no_trace() {
    let plain = "p T /p";
    for noisy in [
        "<!doctype html><head><title>x</title><meta charset=utf-8></head><p>Hello</p>",
        "<p>Hello<!-- a comment <b>with a tag</b> --></p>",
        "<p>Hel<!-- word cut in two -->lo</p>",
        "<style>p { color: red }</style><script>document.write('<p>')</script><p>Hello</p>",
        "<p>Hello<b></b><i> \n </i><font><u></u></font></p>",
        "<p>Hello<span> there</span></p>",
        "<p>Hello<div style='display:none'>poem <b>here</b></div></p>",
        "<p>Hello <b style='font-size:0'>poem</b> you</p>",
        "<p>Hello <b style=\"visibility: hidden\">poem</b></p>",
        "<p>Hello <img src=count.gif width=1 height=1></p>",
        "<p>Hello <img src=count.gif height=0></p>",
        "<p>Hello<xyzzy>you</xyzzy><o:p>&nbsp;</o:p></p>",
        "<p>Hello<table width=0 height=0><tr><td>x</table></p>",
        "<p>Hello<input type=hidden name=a></p>",
        "<p class=x81f3a>Hello",
        "<p>Hello</b></i></p>",
        "<p>Hello&nbsp;<b>&#8203;</b></p>",
    ] {
        check(noisy, plain);
    }
}

#[test]
fn broken_nesting_is_mended() {
    check("<ul><li>a<li>b</ul>", "ul li T /li li T /li /ul");
    check("<p>a<p>b", "p T /p p T /p");
    check(
        "<table><tr><td>a<td>b<tr><td>c</table>",
        "table tr td T /td td T /td /tr tr td T /td /tr /table",
    );
    check("<b>a<i>b</b>c</i>", "b T i T /i /b T");
    check("</td></p>a</br>", "T br");
}

#[test]
fn hosts_of_links() {
    let layout = read(
        b"<a href='HTTP://User@WWW.Example.org:80/x'>a</a><a href=https://b.example?q>b</a>\
          <a href='mailto:Anna@Example.net?subject=x'>c</a><a href='#top'>d</a><a href=/local>e</a>\
          <a href='http://www.example.org/y'>f</a><a href='javascript:void'>g</a>\
          <form action=http://form.example/post>Go</form><a hidden href=http://unseen.example>h</a>",
    );
    assert_eq!(
        layout.hosts,
        [
            "b.example",
            "example.net",
            "form.example",
            "www.example.org"
        ]
    );
}

#[test]
fn the_html_part_of_a_message_is_found() {
    let html = "<h1>Hello</h1>";
    let expected = read(html.as_bytes());
    let base64 = "PGgxPkhlbGxvPC9oMT4=";
    for mail in [
        format!("Content-Type: text/html\n\n{html}"),
        format!("content-type: TEXT/HTML; charset=\"utf-8\"\r\nX: y\r\n\r\n{html}"),
        format!("Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n{base64}\n"),
        "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<h=31>Hel=\nlo</h1>".to_owned(),
        format!(
            "Content-Type: multipart/alternative;\n boundary=\"=_x y\"\n\n--=_x y\n\nHello\n--=_x y\n\
             Content-Type: text/html\n\n{html}\n--=_x y--\n<p>behind"
        ),
        format!("Content-Type: message/rfc822\n\nContent-Type: text/html\n\n{html}"),
    ] {
        assert_eq!(layout_of(Form::Mail, mail.as_bytes()).as_ref(), Some(&expected), "{mail}");
    }
    for none in [
        "",
        "\n<p>Hello",
        "Subject: x\n\n<p>Hello",
        "Content-Type: text/html\nContent-Disposition: attachment\n\n<p>Hello",
        "Content-Type: text/html\n\n<p> </p><b></b>",
        "Content-Type: multipart/mixed\n\n--x\n",
    ] {
        assert_eq!(layout_of(Form::Mail, none.as_bytes()), None, "{none}");
    }
    assert_eq!(layout_of(Form::Text, html.as_bytes()), None);
}

#[test]
fn deep_and_wide_pages_stay_cheap() {
    let deep = format!("{}x", "<div>".repeat(200_000));
    assert_eq!(read(deep.as_bytes()).tags.len(), 2 * DEEPEST + 1);
    let wide = "x<br>".repeat(200_000);
    assert_eq!(read(wide.as_bytes()).tags.len(), MOST_TAGS);
    let nested = "Content-Type: multipart/mixed; boundary=a\n\n--a\n".repeat(5000);
    assert_eq!(layout_of(Form::Mail, nested.as_bytes()), None);
}
