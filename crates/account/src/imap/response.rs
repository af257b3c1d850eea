//! What an IMAP server says, taken apart. A pure function of bytes: no connection, no failure but
//! "this is not IMAP".

use crate::uids::UidSet;

use super::cursor::{Cursor, Malformed, Value};
use super::names;

/// One response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// `+ …`: go on.
    Continue(String),
    /// The end of a command.
    Tagged {
        tag: String,
        status: Status,
    },
    /// `* OK`, `* NO`, `* BAD`, `* BYE`, `* PREAUTH`.
    Status(Status),
    Capability(Vec<String>),
    Enabled(Vec<String>),
    List(Listed),
    Counts(Counts),
    Search(UidSet),
    Exists(u32),
    Vanished(UidSet),
    Fetch(Fetched),
    /// Anything we have no use for.
    Other,
}

/// How a command or a greeting went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) kind: Kind,
    pub(crate) code: Option<Code>,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ok,
    No,
    Bad,
    Bye,
    PreAuth,
}

/// What stands in brackets before the text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Alert,
    Capability(Vec<String>),
    UidValidity(u32),
    UidNext(u32),
    HighestModSeq(u64),
    NoModSeq,
    ReadOnly,
    TryCreate,
    /// UIDVALIDITY of the target, UIDs there, in the order of the source's.
    CopyUid(u32, Vec<(u32, u32)>, Vec<(u32, u32)>),
    AppendUid(u32, u32),
    Other(String),
}

/// A folder, as LIST tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) attributes: Vec<String>,
    pub(crate) delimiter: Option<char>,
    pub(crate) name: Vec<u8>,
}

/// What STATUS tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) name: Vec<u8>,
    pub(crate) messages: Option<u32>,
    pub(crate) uid_next: Option<u32>,
    pub(crate) uid_validity: Option<u32>,
    pub(crate) highest_modseq: Option<u64>,
}

/// What FETCH tells of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) uid: Option<u32>,
    pub(crate) flags: Option<Vec<String>>,
    pub(crate) date: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) body: Option<Body>,
    pub(crate) gmail_id: Option<u64>,
    pub(crate) gmail_labels: Option<Vec<String>>,
}

/// The bytes of a message in a FETCH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// They went to the sink while they arrived; so many of them.
    Streamed(u64),
    /// They stood in the response itself.
    Inline(Vec<u8>),
    /// The server has none, as for a message that is gone.
    Missing,
}

/// The bytes of a literal that did not stay in the response: where it stands, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streamed {
    /// The offset behind the literal's `{n}` and line end.
    pub(crate) at: usize,
    pub(crate) size: u64,
}

/// Whether literals may stand in a response that begins like this. In texts for people, something
/// that looks like one is none.
pub(crate) fn may_hold_literals(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"* ") else {
        return false;
    };
    let word = rest.split(|&byte| byte == b' ').next().unwrap_or_default();
    status_kind(word).is_none()
}

/// Whether the literal that the line ends with is the message of a FETCH.
pub(crate) fn is_body(line: &[u8]) -> bool {
    let start = line.iter().rposition(|&byte| byte == b'{').unwrap_or(0);
    let before = line[..start].strip_suffix(b"~").unwrap_or(&line[..start]);
    before.ends_with(b" BODY[] ") || before.ends_with(b"(BODY[] ")
}

/// The length of the literal that the line announces at its end, if it does.
pub(crate) fn literal(line: &[u8]) -> Option<u64> {
    let inner = line.strip_suffix(b"}")?;
    let inner = inner.strip_suffix(b"+").unwrap_or(inner);
    let start = inner.iter().rposition(|&byte| byte == b'{')? + 1;
    let digits = std::str::from_utf8(&inner[start..]).ok()?;
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    // A number too large to hold is as good as the largest: it is above every limit.
    Some(digits.parse().unwrap_or(u64::MAX))
}

fn status_kind(word: &[u8]) -> Option<Kind> {
    let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    match () {
        () if is("OK") => Some(Kind::Ok),
        () if is("NO") => Some(Kind::No),
        () if is("BAD") => Some(Kind::Bad),
        () if is("BYE") => Some(Kind::Bye),
        () if is("PREAUTH") => Some(Kind::PreAuth),
        () => None,
    }
}

/// Takes a whole response apart: its line, with literals inside, without the last line end.
pub(crate) fn parse(bytes: &[u8], streamed: Option<Streamed>) -> Result<Response, Malformed> {
    let mut at = Cursor::new(bytes, streamed);
    if at.eat(b"+") {
        at.eat(b" ");
        return Ok(Response::Continue(at.rest_as_text()));
    }
    let tag = at.word()?;
    at.expect(b" ")?;
    if tag != b"*" {
        let status = at.word()?;
        let kind = status_kind(status).ok_or(Malformed("OK, NO or BAD"))?;
        let status = rest_of_status(&mut at, kind)?;
        let tag = String::from_utf8_lossy(tag).into_owned();
        return Ok(Response::Tagged { tag, status });
    }
    let word = at.word()?;
    if let Some(kind) = status_kind(word) {
        return Ok(Response::Status(rest_of_status(&mut at, kind)?));
    }
    if let Some(number) = number_of(word) {
        at.expect(b" ")?;
        let what = at.word()?.to_ascii_uppercase();
        return match what.as_slice() {
            b"EXISTS" => Ok(Response::Exists(number)),
            b"FETCH" => {
                at.expect(b" ")?;
                fetched(&mut at).map(Response::Fetch)
            }
            _ => Ok(Response::Other),
        };
    }
    match word.to_ascii_uppercase().as_slice() {
        b"CAPABILITY" => Ok(Response::Capability(words(&mut at))),
        b"ENABLED" => Ok(Response::Enabled(words(&mut at))),
        b"LIST" => listed(&mut at).map(Response::List),
        b"STATUS" => counts(&mut at).map(Response::Counts),
        b"SEARCH" => search(&mut at).map(Response::Search),
        b"ESEARCH" => extended_search(&mut at).map(Response::Search),
        b"VANISHED" => {
            at.expect(b" ")?;
            at.eat_no_case(b"(EARLIER) ");
            at.uid_set().map(Response::Vanished)
        }
        _ => Ok(Response::Other),
    }
}

fn number_of(word: &[u8]) -> Option<u32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn rest_of_status(at: &mut Cursor<'_>, kind: Kind) -> Result<Status, Malformed> {
    at.eat(b" ");
    let mut code = None;
    if at.eat(b"[") {
        code = Some(read_code(at)?);
        at.eat(b" ");
    }
    let text = at.rest_as_text();
    Ok(Status { kind, code, text })
}

fn read_code(at: &mut Cursor<'_>) -> Result<Code, Malformed> {
    let inside = at.until(b']')?;
    let text = String::from_utf8_lossy(inside).into_owned();
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default().to_ascii_uppercase();
    let mut number = || {
        words
            .next()
            .and_then(|word| word.parse::<u64>().ok())
            .ok_or(Malformed("a number"))
    };
    let small = |number: u64| u32::try_from(number).map_err(|_| Malformed("a smaller number"));
    Ok(match name.as_str() {
        "ALERT" => Code::Alert,
        "CAPABILITY" => Code::Capability(words.map(str::to_ascii_uppercase).collect()),
        "UIDVALIDITY" => Code::UidValidity(small(number()?)?),
        "UIDNEXT" => Code::UidNext(small(number()?)?),
        "HIGHESTMODSEQ" => Code::HighestModSeq(number()?),
        "NOMODSEQ" => Code::NoModSeq,
        "READ-ONLY" => Code::ReadOnly,
        "TRYCREATE" => Code::TryCreate,
        "APPENDUID" => {
            let validity = small(number()?)?;
            Code::AppendUid(validity, small(number()?)?)
        }
        "COPYUID" => {
            let validity = small(number()?)?;
            let mut ranges = || ranges(words.next().unwrap_or_default());
            Code::CopyUid(validity, ranges()?, ranges()?)
        }
        _ => Code::Other(text),
    })
}

/// Ranges in the order given, which matters for COPYUID.
fn ranges(text: &str) -> Result<Vec<(u32, u32)>, Malformed> {
    let bad = Malformed("a set of UIDs");
    text.split(',')
        .map(|part| {
            let (first, last) = part.split_once(':').unwrap_or((part, part));
            match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) => Ok((first, last)),
                _ => Err(bad),
            }
        })
        .collect()
}

fn words(at: &mut Cursor<'_>) -> Vec<String> {
    at.rest_as_text()
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .collect()
}

fn listed(at: &mut Cursor<'_>) -> Result<Listed, Malformed> {
    at.expect(b" (")?;
    let attributes = at.atoms_until_closed()?;
    at.expect(b" ")?;
    let delimiter = match at.value()? {
        Value::Nil => None,
        Value::Text(text) => {
            let text = std::str::from_utf8(&text).map_err(|_| Malformed("a separator"))?;
            text.chars().next()
        }
        Value::List | Value::Streamed(_) => return Err(Malformed("a separator")),
    };
    at.expect(b" ")?;
    let name = at.value()?.into_text().ok_or(Malformed("a folder"))?;
    Ok(Listed {
        attributes,
        delimiter,
        name,
    })
}

fn counts(at: &mut Cursor<'_>) -> Result<Counts, Malformed> {
    at.expect(b" ")?;
    let name = at.value()?.into_text().ok_or(Malformed("a folder"))?;
    at.expect(b" (")?;
    let mut counts = Counts {
        name,
        ..Counts::default()
    };
    let mut items = at.atoms_until_closed()?.into_iter();
    while let (Some(item), Some(number)) = (items.next(), items.next()) {
        let small = number.parse().ok();
        match item.to_ascii_uppercase().as_str() {
            "MESSAGES" => counts.messages = small,
            "UIDNEXT" => counts.uid_next = small,
            "UIDVALIDITY" => counts.uid_validity = small,
            "HIGHESTMODSEQ" => counts.highest_modseq = number.parse().ok(),
            _ => {}
        }
    }
    Ok(counts)
}

fn search(at: &mut Cursor<'_>) -> Result<UidSet, Malformed> {
    let text = at.rest_as_text();
    text.split(' ')
        .filter(|word| !word.is_empty())
        // With CONDSTORE, "(MODSEQ n)" may follow.
        .take_while(|word| !word.starts_with('('))
        // The first UID is 1; a set with 0 in it would be refused when it is sent back.
        .map(|word| match word.parse::<u32>() {
            Ok(uid @ 1..) => Ok(uid),
            _ => Err(Malformed("UIDs")),
        })
        .collect()
}

fn extended_search(at: &mut Cursor<'_>) -> Result<UidSet, Malformed> {
    at.eat(b" ");
    if at.eat(b"(") {
        at.skip_list()?;
        at.eat(b" ");
    }
    let text = at.rest_as_text();
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case("ALL") {
            let set = words.next().unwrap_or_default();
            return set.parse().map_err(|_| Malformed("a set of UIDs"));
        }
    }
    Ok(UidSet::default())
}

fn fetched(at: &mut Cursor<'_>) -> Result<Fetched, Malformed> {
    at.expect(b"(")?;
    let mut fetched = Fetched::default();
    loop {
        if at.eat(b")") {
            break;
        }
        at.eat(b" ");
        let item = at.item_name()?.to_ascii_uppercase();
        at.expect(b" ")?;
        match item.as_slice() {
            b"UID" => fetched.uid = Some(at.number()?),
            b"RFC822.SIZE" => fetched.size = Some(at.large_number()?),
            b"INTERNALDATE" => {
                let date = at.value()?.into_text().ok_or(Malformed("a date"))?;
                fetched.date = Some(String::from_utf8_lossy(&date).into_owned());
            }
            b"FLAGS" => {
                at.expect(b"(")?;
                fetched.flags = Some(at.atoms_until_closed()?);
            }
            b"BODY[]" => {
                fetched.body = Some(match at.value()? {
                    Value::Nil => Body::Missing,
                    Value::Text(text) => Body::Inline(text),
                    Value::Streamed(size) => Body::Streamed(size),
                    Value::List => return Err(Malformed("the bytes of a message")),
                });
            }
            b"X-GM-MSGID" => fetched.gmail_id = Some(at.large_number()?),
            b"X-GM-LABELS" => {
                at.expect(b"(")?;
                // Labels are folders, and their names are written like those.
                let labels = at.texts_until_closed()?;
                fetched.gmail_labels = Some(labels.iter().map(|l| names::decode(l)).collect());
            }
            _ => {
                at.value()?;
            }
        }
    }
    at.end()?;
    Ok(fetched)
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
