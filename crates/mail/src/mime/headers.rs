//! Where the headers of a message or a part end, and the raw values of those that matter.
//!
//! Only the headers in [`Field`] are kept; the others are stepped over. What looks like headers but
//! holds none that mail is known to use is body: a note that begins with "Agenda: …" loses nothing.

use memchr::memchr2;

/// The headers that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Field {
    MessageId,
    References,
    InReplyTo,
    From,
    Sender,
    To,
    Cc,
    Subject,
    Date,
    ListId,
    ListPost,
    MailingList,
    XMailingList,
    ContentType,
    TransferEncoding,
    Disposition,
}

const FIELDS: [(&[u8], Field); 16] = [
    (b"message-id", Field::MessageId),
    (b"references", Field::References),
    (b"in-reply-to", Field::InReplyTo),
    (b"from", Field::From),
    (b"sender", Field::Sender),
    (b"to", Field::To),
    (b"cc", Field::Cc),
    (b"subject", Field::Subject),
    (b"date", Field::Date),
    (b"list-id", Field::ListId),
    (b"list-post", Field::ListPost),
    (b"mailing-list", Field::MailingList),
    (b"x-mailing-list", Field::XMailingList),
    (b"content-type", Field::ContentType),
    (b"content-transfer-encoding", Field::TransferEncoding),
    (b"content-disposition", Field::Disposition),
];

/// Other names that tell a header block from text that happens to hold a colon.
const OTHER_KNOWN: [&[u8]; 22] = [
    b"received",
    b"return-path",
    b"delivered-to",
    b"mime-version",
    b"reply-to",
    b"bcc",
    b"newsgroups",
    b"path",
    b"organization",
    b"user-agent",
    b"status",
    b"precedence",
    b"errors-to",
    b"dkim-signature",
    b"envelope-to",
    b"lines",
    b"keywords",
    b"comments",
    b"importance",
    b"priority",
    b"thread-topic",
    b"authentication-results",
];

/// The raw values of the headers that are read, and the bytes after them.
pub(super) struct Headers<'a> {
    values: [Option<&'a [u8]>; FIELDS.len()],
    /// Every `References`, `To` and `Cc` after the first; the others count once.
    further: Vec<(Field, &'a [u8])>,
    /// What follows the blank line.
    pub(super) body: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Reads the headers of a whole message: blank lines and an mbox `From ` line may come first.
    pub(super) fn of_message(bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let blank = bytes
            .iter()
            .take_while(|b| matches!(b, b'\r' | b'\n' | b' ' | b'\t'))
            .count();
        // Blanks that indent the first line belong to it.
        let start = bytes[..blank]
            .iter()
            .rposition(|b| matches!(b, b'\r' | b'\n'));
        let mut rest = &bytes[start.map_or(0, |at| at + 1)..];
        while rest.starts_with(b"From ") || rest.starts_with(b">From ") {
            let (_, next) = split_line(rest);
            if next.is_empty() || header_name(split_line(next).0).is_none() {
                break;
            }
            rest = next;
        }
        Self::read(rest)
    }

    /// Reads the headers of a part, which begin at once.
    pub(super) fn of_part(bytes: &'a [u8]) -> Self {
        Self::read(bytes)
    }

    fn read(bytes: &'a [u8]) -> Self {
        let mut headers = Self {
            values: [None; FIELDS.len()],
            further: Vec::new(),
            body: bytes,
        };
        let mut known = false;
        let mut rest = bytes;
        let mut first = true;
        loop {
            if rest.is_empty() {
                headers.body = rest;
                break;
            }
            let (line, mut next) = split_line(rest);
            if line.is_empty() {
                headers.body = next;
                break;
            }
            let Some(colon) = header_name(line) else {
                // A blank line with spaces in it ends the headers too; anything else does unless
                // another header follows, which makes it the broken rest of the one before.
                if line.iter().all(|b| matches!(b, b' ' | b'\t')) && !first {
                    headers.body = next;
                    break;
                }
                if first || header_name(split_line(next).0).is_none() {
                    headers.body = rest;
                    break;
                }
                rest = next;
                continue;
            };
            first = false;
            let mut end = line.len();
            while let Some(b' ' | b'\t') = next.first() {
                let (more, after) = split_line(next);
                if more.iter().all(|b| matches!(b, b' ' | b'\t')) {
                    break;
                }
                end = bytes_between(rest, next) + more.len();
                next = after;
            }
            let name = line[..colon].trim_ascii_end();
            known |= headers.note(name, &rest[colon + 1..end]);
            rest = next;
        }
        // No header at all is no reason for doubt: the part begins with its blank line.
        if !known && !first {
            return Self {
                values: [None; FIELDS.len()],
                further: Vec::new(),
                body: bytes,
            };
        }
        headers
    }

    /// Keeps a value if its header is read; tells whether mail knows the header.
    fn note(&mut self, name: &[u8], value: &'a [u8]) -> bool {
        let Some((_, field)) = FIELDS
            .iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known))
            .copied()
        else {
            return name.get(..2).is_some_and(|x| x.eq_ignore_ascii_case(b"x-"))
                || name
                    .get(..8)
                    .is_some_and(|x| x.eq_ignore_ascii_case(b"content-"))
                || name
                    .get(..5)
                    .is_some_and(|x| x.eq_ignore_ascii_case(b"list-"))
                || OTHER_KNOWN
                    .iter()
                    .any(|known| name.eq_ignore_ascii_case(known));
        };
        let slot = &mut self.values[field as usize];
        if slot.is_none() {
            *slot = Some(value);
        } else if matches!(field, Field::References | Field::To | Field::Cc) {
            self.further.push((field, value));
        }
        true
    }

    /// The first value of a header, still folded and encoded.
    pub(super) fn get(&self, field: Field) -> Option<&'a [u8]> {
        self.values[field as usize]
    }

    /// Every value of a header.
    pub(super) fn all(&self, field: Field) -> impl Iterator<Item = &'a [u8]> + '_ {
        let further = self
            .further
            .iter()
            .filter(move |(f, _)| *f == field)
            .map(|(_, v)| *v);
        self.get(field).into_iter().chain(further)
    }

    /// Whether nothing at all is known from the headers.
    pub(super) fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }
}

/// How far `inner`, a tail of `outer`, begins behind it.
fn bytes_between(outer: &[u8], inner: &[u8]) -> usize {
    outer.len() - inner.len()
}

/// The first line without its end, and what follows; lines end with LF, CR LF or CR.
pub(super) fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr2(b'\r', b'\n', bytes) {
        None => (bytes, &[]),
        Some(at) => {
            let after = if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                at + 2
            } else {
                at + 1
            };
            (&bytes[..at], &bytes[after..])
        }
    }
}

/// Where the colon of a header line stands; `None` if the line is no header.
fn header_name(line: &[u8]) -> Option<usize> {
    let end = line
        .iter()
        .position(|b| !(0x21..=0x7e).contains(b) || *b == b':')?;
    if end == 0 {
        return None;
    }
    let blanks = line[end..]
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    (line.get(end + blanks) == Some(&b':')).then_some(end + blanks)
}
