//! One object of JSON lines: a forum post, a message of another system.

use serde_json::{Map, Value};
use twicetold_model::{Envelope, Problem};

use super::{Visible, charset, clean, date};

/// Reads an object with an `id` and a `text`.
pub(super) fn open(bytes: &[u8]) -> Visible {
    let (source, _) = charset::decode(bytes, None, None);
    let object = match serde_json::from_str(&source) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return failed("the line is not a JSON object"),
        Err(_) => return failed("the JSON cannot be understood"),
    };
    let mut problems = Vec::new();
    let text = first(&object, &["text", "body", "content"]);
    if text.is_none() {
        problems.push(Problem::new("the JSON object has no text"));
    }
    let from = first(&object, &["from", "author"]).map(|name| clean::line(&name));
    let envelope = Envelope {
        message_id: first(&object, &["id", "message_id"]).filter(|id| !id.is_empty()),
        references: references(&object),
        from: from.as_deref().unwrap_or_default().to_lowercase(),
        from_name: from.unwrap_or_default(),
        subject: clean::line(&first(&object, &["subject", "title"]).unwrap_or_default()),
        date: read_date(&object, &mut problems),
        ..Envelope::default()
    };
    let text = clean::text(&text.unwrap_or_default());
    Visible {
        envelope,
        text,
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

/// The first of these members that is a string or a number, as a string.
fn first(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names
        .iter()
        .find_map(|name| object.get(*name).and_then(scalar))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn references(object: &Map<String, Value>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut references = Vec::new();
    for name in ["references", "in_reply_to"] {
        let ids: Vec<String> = match object.get(name) {
            Some(Value::Array(values)) => values.iter().filter_map(scalar).collect(),
            Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
            Some(value) => scalar(value).into_iter().collect(),
            None => Vec::new(),
        };
        references.extend(
            ids.into_iter()
                .filter(|id| !id.is_empty() && seen.insert(id.clone())),
        );
    }
    references
}

fn read_date(object: &Map<String, Value>, problems: &mut Vec<Problem>) -> Option<i64> {
    let value = object.get("date").filter(|value| !value.is_null())?;
    let date = match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|seconds| seconds as i64)),
        Value::String(text) => text.trim().parse().ok().or_else(|| date::parse(text)),
        _ => None,
    };
    if date.is_none() {
        problems.push(Problem::new("the date cannot be understood"));
    }
    date
}
