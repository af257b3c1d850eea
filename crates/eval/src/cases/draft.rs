//! A message to be written.

/// How wide lines are wrapped.
const WIDTH: usize = 72;

/// A message to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// Its Message-ID with angle brackets.
    pub(super) id: String,
    /// The Message-ID that it answers; empty for none.
    pub(super) answers: String,
    /// The sender.
    pub(super) from: String,
    /// The subject, ASCII.
    pub(super) subject: String,
    /// Minutes after the first message.
    pub(super) minutes: usize,
    /// The text.
    pub(super) body: String,
    /// What is attached: a name and its text.
    pub(super) attachment: Option<(String, String)>,
}

impl Draft {
    /// The message as it is sent.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (day, hour, minute) = (
            self.minutes / 1440 % 28 + 1,
            self.minutes / 60 % 24,
            self.minutes % 60,
        );
        let mut out = format!(
            "Message-ID: {}\r\nDate: {day} Mar 2004 {hour:02}:{minute:02}:00 +0000\r\nFrom: {}\r\nTo: all@example.org\r\nSubject: {}\r\n",
            self.id, self.from, self.subject
        );
        if !self.answers.is_empty() {
            out.push_str(&format!(
                "In-Reply-To: {0}\r\nReferences: {0}\r\n",
                self.answers
            ));
        }
        out.push_str("MIME-Version: 1.0\r\n");
        let text =
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n";
        let body = self.body.replace('\n', "\r\n");
        match &self.attachment {
            None => out.push_str(&format!("{text}{body}")),
            Some((name, attached)) => {
                let attached = attached.replace('\n', "\r\n");
                out.push_str(&format!(
                    "Content-Type: multipart/mixed; boundary=\"=cut\"\r\n\r\n--=cut\r\n{text}{body}\r\n--=cut\r\n\
                     Content-Type: application/octet-stream; name=\"{name}\"\r\n\
                     Content-Disposition: attachment; filename=\"{name}\"\r\n\r\n{attached}\r\n--=cut--\r\n"
                ));
            }
        }
        out.into_bytes()
    }
}

/// Sentences as paragraphs of three, wrapped.
pub(super) fn paragraphs(sentences: &[String]) -> String {
    let blocks = sentences
        .chunks(3)
        .map(|block| wrap(&block.join(" "), WIDTH));
    blocks.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A text with a mark before each line.
pub(super) fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

fn wrap(text: &str, width: usize) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count();
        if at > 0 && at + 1 + length > width {
            out.push('\n');
            at = 0;
        } else if at > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out
}
