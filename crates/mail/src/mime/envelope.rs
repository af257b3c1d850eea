//! Who, when, about what, in answer to what: the headers of a message.

use std::collections::HashSet;

use twicetold_model::{Envelope, Problem};

use super::headers::{Field, Headers};
use super::params::Valued;
use super::{address, date, encoded};

/// Longer identifiers are no identifiers.
const LONGEST_ID: usize = 1_000;

/// So many references are looked through one by one.
const FEW: usize = 16;

/// Reads the envelope of a message.
pub(super) fn read(headers: &Headers<'_>, problems: &mut Vec<Problem>) -> Envelope {
    let content_type = content_type(headers);
    let hint = charset(&content_type);
    let message_id = headers.get(Field::MessageId).and_then(message_id);
    let date = headers.get(Field::Date).and_then(|raw| {
        let text = encoded::decode(raw, None);
        let date = date::parse(&text);
        if date.is_none() && !text.is_empty() {
            problems.push(Problem::new("the Date header cannot be understood"));
        }
        date
    });
    Envelope {
        references: references(headers, message_id.as_deref()),
        message_id,
        recipients: recipients(headers, hint),
        date,
        list: list(headers),
        ..with_hint(headers, hint)
    }
}

/// Reads who wrote a message, and about what.
pub(super) fn brief(headers: &Headers<'_>) -> Envelope {
    with_hint(headers, charset(&content_type(headers)))
}

fn with_hint(headers: &Headers<'_>, hint: Option<&str>) -> Envelope {
    let (from, from_name) = sender(headers, hint);
    let subject = headers.get(Field::Subject);
    Envelope {
        from,
        from_name,
        subject: subject
            .map(|raw| encoded::decode(raw, hint).into_owned())
            .unwrap_or_default(),
        ..Envelope::default()
    }
}

/// What a message says it is, if its headers have anything to decode: else nobody asks in what they are written.
fn content_type(headers: &Headers<'_>) -> Option<Valued> {
    let once = [Field::From, Field::Sender, Field::Subject];
    let once = once.into_iter().filter_map(|field| headers.get(field));
    let lists = [Field::To, Field::Cc].into_iter();
    let mut raw = once.chain(lists.flat_map(|field| headers.all(field)));
    let coded = raw.any(|raw| !raw.is_ascii() || encoded::opening(raw).is_some());
    let value = coded.then(|| headers.get(Field::ContentType)).flatten();
    value.map(Valued::parse)
}

/// The charset that a message says it is in, for headers that do not say theirs.
fn charset(content_type: &Option<Valued>) -> Option<&str> {
    content_type.as_ref().and_then(|value| value.get("charset"))
}

/// The first identifier in angle brackets, or the whole value in brackets of ours.
fn message_id(raw: &[u8]) -> Option<String> {
    let text = encoded::decode(raw, None);
    let mut first = None;
    angle_ids(&text, &mut |id| {
        first.get_or_insert(id);
    });
    if first.is_some() {
        return first;
    }
    let bare = text.trim_matches(['<', '>', ' ']);
    let fits = !bare.is_empty() && bare.len() <= LONGEST_ID && !bare.contains(' ');
    fits.then(|| format!("<{bare}>"))
}

/// Calls `found` with every `<…>`, blanks inside removed.
fn angle_ids(text: &str, found: &mut dyn FnMut(String)) {
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let Some(end) = rest.find(['>', '<']) else {
            return;
        };
        if rest.as_bytes()[end] == b'<' {
            rest = &rest[end..];
            continue;
        }
        let mut id = String::with_capacity(end + 2);
        id.push('<');
        rest[..end]
            .split_whitespace()
            .for_each(|piece| id.push_str(piece));
        id.push('>');
        if (3..=LONGEST_ID + 2).contains(&id.len()) {
            found(id);
        }
        rest = &rest[end + 1..];
    }
}

/// `References`, then `In-Reply-To`: the answered message is the youngest of them.
fn references(headers: &Headers<'_>, own: Option<&str>) -> Vec<String> {
    let mut references: Vec<String> = Vec::new();
    // Most messages answer a few; whoever answers many is asked by a set.
    let mut seen: HashSet<String> = HashSet::new();
    for raw in headers
        .all(Field::References)
        .chain(headers.get(Field::InReplyTo))
    {
        angle_ids(&encoded::decode(raw, None), &mut |id| {
            let known = own == Some(id.as_str())
                || match references.len() < FEW {
                    true => references.contains(&id),
                    false => {
                        if seen.is_empty() {
                            seen.extend(references.iter().cloned());
                        }
                        !seen.insert(id.clone())
                    }
                };
            if !known {
                references.push(id);
            }
        });
    }
    references
}

fn sender(headers: &Headers<'_>, hint: Option<&str>) -> (String, String) {
    for field in [Field::From, Field::Sender] {
        let Some(raw) = headers.get(field) else {
            continue;
        };
        let mut list: Vec<(String, String)> = Vec::with_capacity(1);
        address::each(raw, hint, &mut |one| {
            list.push((one.name.into_owned(), one.address.into_owned()));
        });
        let best = list
            .iter()
            .position(|(_, address)| !address.is_empty())
            .unwrap_or(0);
        let Some((name, address)) = list.get(best) else {
            continue;
        };
        // "Doe, John <jd@example.org>" without quotation marks is one person, not two.
        let name = match &list[0] {
            (first, nowhere) if best == 1 && !name.is_empty() && nowhere.is_empty() => {
                format!("{first}, {name}")
            }
            _ => name.clone(),
        };
        let from = match address.is_empty() {
            true => name.clone(),
            false => address.to_lowercase(),
        };
        return (from, name);
    }
    Default::default()
}

fn recipients(headers: &Headers<'_>, hint: Option<&str>) -> String {
    let mut out = String::new();
    for raw in headers.all(Field::To).chain(headers.all(Field::Cc)) {
        out.reserve(raw.len());
        address::each(raw, hint, &mut |one| {
            for word in [one.name, one.address] {
                if !word.is_empty() {
                    if !out.is_empty() {
                        out.push(' ');
                    }
                    out.push_str(&word);
                }
            }
        });
    }
    out
}

fn list(headers: &Headers<'_>) -> Option<String> {
    for field in [
        Field::ListId,
        Field::ListPost,
        Field::MailingList,
        Field::XMailingList,
    ] {
        let Some(raw) = headers.get(field) else {
            continue;
        };
        let text = encoded::decode(raw, None).to_lowercase();
        let inside = text
            .rsplit_once('<')
            .map_or(text.as_str(), |(_, inside)| inside);
        let inside = inside.split('>').next().unwrap_or(inside);
        let inside = inside
            .trim()
            .strip_prefix("mailto:")
            .unwrap_or(inside.trim());
        // "list devel@lists.example.org; contact devel-owner@lists.example.org"
        let name = match field {
            Field::MailingList => inside
                .split([' ', ';'])
                .find(|word| word.contains('@'))
                .unwrap_or(inside),
            _ => inside,
        };
        if !name.is_empty() && name != "no" {
            return Some(name.to_owned());
        }
    }
    None
}
