//! One `<REUTERS>` element of the Reuters-21578 collection: a story of a news agency.
//!
//! All of its `<TEXT>` is what it says: title, author, dateline and body, or, where they are not told apart, the text as
//! it stands. `NEWID` is its identifier, the title also its subject.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use twicetold_model::{Envelope, Problem};

use super::{Visible, charset, clean, date};

/// Reads an element with a `NEWID` and a `<TEXT>`.
pub(super) fn open(bytes: &[u8]) -> Visible {
    let (source, _) = charset::decode(bytes, None, None);
    let mut problems = Vec::new();
    let (tag, rest) = source.split_once('>').unwrap_or(("", &source));
    let title = element(rest, "TITLE").map(plain);
    let envelope = Envelope {
        message_id: attribute(tag, "NEWID").map(str::to_owned),
        subject: title.as_deref().map(clean::line).unwrap_or_default(),
        date: element(rest, "DATE").and_then(moment),
        ..Envelope::default()
    };
    let text = match element(rest, "TEXT") {
        Some(text) => visible(text),
        None => {
            problems.push(Problem::new("the element has no text"));
            String::new()
        }
    };
    Visible {
        envelope,
        text: clean::text(&text),
        problems,
        ..Visible::default()
    }
}

/// The text with a blank line for every tag between two parts, and without any other tag.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'<', rest.as_bytes()) {
        out.push_str(&plain(&rest[..at]));
        let known = ["TITLE", "AUTHOR", "DATELINE", "BODY"]
            .iter()
            .find_map(|name| {
                let tag = rest[at + 1..].trim_start_matches('/');
                tag.strip_prefix(name)?.strip_prefix('>')
            });
        match known {
            // The body goes on in the line of the dateline.
            Some(after) if rest[at..].starts_with("</DATELINE>") => rest = after,
            Some(after) => {
                if rest[at..].starts_with("</") {
                    out.push_str("\n\n");
                }
                rest = after;
            }
            None => {
                out.push('<');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(&plain(rest));
    out
}

/// What stands between the first start tag of this name and its end tag, or the end.
fn element<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let bytes = source.as_bytes();
    let start = memmem::find_iter(bytes, name.as_bytes()).find(|&at| {
        let after = bytes.get(at + name.len());
        at > 0 && bytes[at - 1] == b'<' && after.is_some_and(|b| matches!(b, b'>' | b' '))
    })?;
    let rest = &source[start..];
    let rest = &rest[memchr(b'>', rest.as_bytes())? + 1..];
    let end = memmem::find(rest.as_bytes(), format!("</{name}>").as_bytes());
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The value of an attribute of a start tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let value = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split_ascii_whitespace().next(),
    };
    value.filter(|value| !value.is_empty())
}

/// Character references resolved; those of control characters go.
fn plain(text: &str) -> Cow<'_, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // The longest is `&#1114111;`.
        let end = memchr(b';', &rest.as_bytes()[..rest.len().min(9)]);
        let found = end.and_then(|end| Some((character(&rest[..end])?, end + 1)));
        match found {
            Some((c, length)) => {
                if !c.is_control() || c == '\n' || c == '\t' {
                    out.push(c);
                }
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => name
            .strip_prefix('#')?
            .parse()
            .ok()
            .and_then(char::from_u32),
    }
}

/// "26-FEB-1987 15:01:01.79" in seconds since 1970.
fn moment(text: &str) -> Option<i64> {
    let (day, time) = text.trim().split_once(' ')?;
    let time = time.trim().split('.').next()?;
    date::parse(&format!("{} {time} +0000", day.replace('-', " ")))
}

#[cfg(test)]
mod tests {
    use super::open;

    const STORY: &str = "<REUTERS TOPICS=\"YES\" OLDID=\"5544\" NEWID=\"17\">\n\
        <DATE>26-FEB-1987 15:01:01.79</DATE>\n<UNKNOWN>\n&#5;C T</UNKNOWN>\n<TEXT>&#2;\n\
        <TITLE>TEA &lt;TEA> &amp; COFFEE</TITLE>\n<AUTHOR>    by Ann Other</AUTHOR>\n\
        <DATELINE>    HARBOUR, Feb 26 - </DATELINE><BODY>Prices rose to 3 < 4.\n Reuter\n&#3;</BODY></TEXT>\n</REUTERS>";

    #[test]
    fn a_story_is_title_author_dateline_and_body() {
        let visible = open(STORY.as_bytes());
        assert_eq!(visible.envelope.message_id.as_deref(), Some("17"));
        assert_eq!(visible.envelope.subject, "TEA <TEA> & COFFEE");
        assert_eq!(visible.envelope.date, Some(541_350_061));
        let lines: Vec<&str> = visible
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(
            lines,
            [
                "TEA <TEA> & COFFEE",
                "by Ann Other",
                "HARBOUR, Feb 26 - Prices rose to 3 < 4.",
                "Reuter"
            ]
        );
        assert!(visible.problems.is_empty());
    }

    #[test]
    fn texts_without_a_body_are_read() {
        let unprocessed =
            "<REUTERS NEWID=\"1\"><TEXT TYPE=\"UNPROC\">&#2;\n*****BLAH\n&#3;</TEXT></REUTERS>";
        assert_eq!(open(unprocessed.as_bytes()).text.trim(), "*****BLAH");
        let brief = "<REUTERS NEWID=\"1\"><TEXT TYPE=\"BRIEF\">\n<TITLE>ONLY THIS</TITLE>Body elsewhere</TEXT>";
        let visible = open(brief.as_bytes());
        assert_eq!(visible.text.trim(), "ONLY THIS\n\nBody elsewhere");
        let nothing = open(b"<REUTERS NEWID=\"1\">");
        assert_eq!(nothing.problems.len(), 1);
    }

    #[test]
    fn odd_bytes_are_safe() {
        let latin = b"<REUTERS NEWID=\"1\"><TEXT><BODY>growth.\xFC&#5;&#30;side &#99999999; &#; & &x</BODY>";
        let text = open(latin).text;
        assert!(text.starts_with("growth."), "{text}");
        assert!(text.contains("side &#99999999; &#; & &x"), "{text}");
        for cut in 0..STORY.len() {
            open(&STORY.as_bytes()[..cut]);
        }
    }
}
