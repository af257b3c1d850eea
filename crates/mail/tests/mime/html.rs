//! Pages.

use twicetold_mail::mime::{link_hash, open};

use crate::{check, check_html, multipart};

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
