//! One object of JSON lines: a forum post, a message of another system.
//!
//! The line is read as a stream and only the members that count are kept, borrowed from it where nothing is escaped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use twicetold_model::{Envelope, Problem};

use super::{Visible, charset, clean, date};

/// Reads an object with an `id` and a `text`.
pub(super) fn open(bytes: &[u8]) -> Visible {
    let (source, _) = charset::decode(bytes, None, None);
    let object: Object<'_> = match serde_json::from_str(&source) {
        Ok(object) => object,
        Err(_) if serde_json::from_str::<IgnoredAny>(&source).is_ok() => {
            return failed("the line is not a JSON object");
        }
        Err(_) => return failed("the JSON cannot be understood"),
    };
    let mut problems = Vec::new();
    let text = first([&object.text, &object.body, &object.content]);
    if text.is_none() {
        problems.push(Problem::new("the JSON object has no text"));
    }
    let from = first([&object.from, &object.author]).map(clean::line);
    let subject = first([&object.subject, &object.title]).unwrap_or_default();
    let envelope = Envelope {
        message_id: first([&object.id, &object.message_id])
            .filter(|id| !id.is_empty())
            .map(str::to_owned),
        references: references(&object),
        from: from.as_deref().unwrap_or_default().to_lowercase(),
        from_name: from.unwrap_or_default(),
        subject: clean::line(subject),
        date: read_date(&object.date, &mut problems),
        ..Envelope::default()
    };
    Visible {
        envelope,
        text: clean::text(text.unwrap_or_default()),
        problems,
        ..Visible::default()
    }
}

fn failed(what: &'static str) -> Visible {
    Visible {
        problems: vec![Problem::new(what)],
        ..Visible::default()
    }
}

/// The value of a member, as far as it counts.
#[derive(Default)]
enum Value<'a> {
    /// Missing or `null`.
    #[default]
    Null,
    Text(Cow<'a, str>),
    Number(String, f64),
    List(Vec<Value<'a>>),
    /// An object or a truth value.
    Other,
}

impl Value<'_> {
    /// A string, or a number as it is written.
    fn scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(text, _) => Some(text),
            _ => None,
        }
    }
}

/// The members that count; of repeated ones the last.
#[derive(Default)]
struct Object<'a> {
    id: Value<'a>,
    message_id: Value<'a>,
    text: Value<'a>,
    body: Value<'a>,
    content: Value<'a>,
    subject: Value<'a>,
    title: Value<'a>,
    from: Value<'a>,
    author: Value<'a>,
    date: Value<'a>,
    references: Value<'a>,
    in_reply_to: Value<'a>,
}

impl<'a> Object<'a> {
    fn member(&mut self, name: &str) -> Option<&mut Value<'a>> {
        Some(match name {
            "id" => &mut self.id,
            "message_id" => &mut self.message_id,
            "text" => &mut self.text,
            "body" => &mut self.body,
            "content" => &mut self.content,
            "subject" => &mut self.subject,
            "title" => &mut self.title,
            "from" => &mut self.from,
            "author" => &mut self.author,
            "date" => &mut self.date,
            "references" => &mut self.references,
            "in_reply_to" => &mut self.in_reply_to,
            _ => return None,
        })
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut object = Object::default();
        while let Some(Value::Text(name)) = map.next_key()? {
            match object.member(&name) {
                Some(member) => *member = map.next_value()?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(object)
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.to_string(), number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.to_string(), number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        // As JSON writes it: 1.0 stays 1.0.
        let written = serde_json::Number::from_f64(number).map(|number| number.to_string());
        Ok(Value::Number(written.unwrap_or_default(), number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// The first of these that is a string or a number, as a string.
fn first<'v, const N: usize>(values: [&'v Value<'_>; N]) -> Option<&'v str> {
    values.into_iter().find_map(Value::scalar)
}

fn references(object: &Object<'_>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut references = Vec::new();
    for value in [&object.references, &object.in_reply_to] {
        let ids: Vec<&str> = match value {
            Value::List(values) => values.iter().filter_map(Value::scalar).collect(),
            Value::Text(text) => text.split_whitespace().collect(),
            value => value.scalar().into_iter().collect(),
        };
        for id in ids {
            if !id.is_empty() && seen.insert(id) {
                references.push(id.to_owned());
            }
        }
    }
    references
}

fn read_date(value: &Value<'_>, problems: &mut Vec<Problem>) -> Option<i64> {
    let date = match value {
        Value::Null => return None,
        Value::Number(text, number) => text.parse().ok().or(Some(*number as i64)),
        Value::Text(text) => text.trim().parse().ok().or_else(|| date::parse(text)),
        Value::List(_) | Value::Other => None,
    };
    if date.is_none() {
        problems.push(Problem::new("the date cannot be understood"));
    }
    date
}
