//! The text part of a message as it was sent, markup and all: what mutations change.

use mailparse::{MailHeaderMap, ParsedMail};

/// The text part of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Whether it is HTML.
    pub html: bool,
    /// Its decoded text.
    pub text: String,
    /// The subject.
    pub subject: String,
}

impl Body {
    /// The first plain text of a message, or else its first HTML; `None` if it has neither or cannot be parsed.
    pub fn of(message: &[u8]) -> Option<Self> {
        let parsed = mailparse::parse_mail(message).ok()?;
        let subject = parsed
            .headers
            .get_first_value("Subject")
            .unwrap_or_default();
        let found = part(&parsed, "text/plain", 0).map(|part| (part, false));
        let (part, html) =
            found.or_else(|| part(&parsed, "text/html", 0).map(|part| (part, true)))?;
        Some(Self {
            html,
            text: part.get_body().ok()?,
            subject,
        })
    }

    /// A message with this body, from and to invented people.
    pub fn to_mail(&self, number: u64) -> Vec<u8> {
        let kind = if self.html { "html" } else { "plain" };
        let subject: String = self
            .subject
            .chars()
            .filter(|c| c.is_ascii() && !c.is_ascii_control())
            .take(120)
            .collect();
        // One line may not be longer than 998 bytes, and markup often is: quoted-printable has no such lines.
        format!(
            "From: sender{number}@example.net\r\nTo: user{}@example.org\r\nSubject: {subject}\r\nDate: Mon, 01 Jan 2007 00:00:00 +0000\r\n\
             Message-ID: <{number:x}@example.net>\r\nMIME-Version: 1.0\r\nContent-Type: text/{kind}; charset=utf-8\r\n\
             Content-Transfer-Encoding: quoted-printable\r\n\r\n{}",
            number % 4096,
            printable(&self.text)
        )
        .into_bytes()
    }
}

/// The first part of a kind that is no attachment.
fn part<'p, 'm>(mail: &'p ParsedMail<'m>, kind: &str, depth: usize) -> Option<&'p ParsedMail<'m>> {
    if mail.subparts.is_empty() {
        return (mail.ctype.mimetype == kind).then_some(mail);
    }
    if depth > 20 {
        return None;
    }
    mail.subparts
        .iter()
        .find_map(|sub| part(sub, kind, depth + 1))
}

/// Text in the quoted-printable encoding.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 9 / 8);
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut width = 0;
        let last = line.len();
        for (at, byte) in line.bytes().enumerate() {
            let plain =
                (b' '..=b'~').contains(&byte) && byte != b'=' && !(byte == b' ' && at + 1 == last);
            let need = if plain { 1 } else { 3 };
            if width + need > 75 {
                out.push_str("=\r\n");
                width = 0;
            }
            if plain {
                out.push(char::from(byte));
            } else {
                out.push_str(&format!("={byte:02X}"));
            }
            width += need;
        }
        out.push_str("\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_survives_as_a_message() {
        let long = format!(
            "<p class=\"x\">{}</p> \nGrüße = ends with a blank \n",
            "word ".repeat(300)
        );
        let body = Body {
            html: true,
            text: long.clone(),
            subject: "Für dich\r\nX: y".into(),
        };
        let mail = body.to_mail(7);
        assert!(mail.split(|&b| b == b'\n').all(|line| line.len() < 200));
        let again = Body::of(&mail).unwrap();
        assert!(again.html);
        assert_eq!(again.text.replace("\r\n", "\n").trim_end(), long.trim_end());
        assert_eq!(again.subject, "Fr dichX: y");
    }

    #[test]
    fn plain_text_is_preferred_and_hostile_bytes_give_nothing() {
        let mail = b"Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>x</p>\n--b\nContent-Type: text/plain\n\nplain\n--b--\n";
        assert_eq!(Body::of(mail).unwrap().text.trim(), "plain");
        assert_eq!(Body::of(b"Content-Type: image/png\n\nx"), None);
        let _ = Body::of(b"\xff\xfe\x00:::");
    }
}
