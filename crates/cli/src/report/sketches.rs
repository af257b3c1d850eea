//! Sketches as JSON lines, for an engine that finds pairs. The schema is told in `docs/scale.md`.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use twicetold_detect::Sketched;
use twicetold_model::{Location, Problem};

use super::jsonl::write_line;
use crate::feed::form_name;

/// The version of the schema. It changes when a field changes its meaning or goes away.
const SCHEMA: u32 = 1;

/// How the sketches are made: the same in every row.
#[derive(Debug)]
pub(crate) struct Making {
    /// The method.
    pub(crate) method: &'static str,
    /// What is not as it is by default.
    pub(crate) settings: Vec<String>,
    /// Whether each row has the message itself.
    pub(crate) with_message: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    schema: u32,
    id: Cow<'a, str>,
    path: &'a str,
    offset: Option<u64>,
    form: Option<&'static str>,
    bytes: Option<u64>,
    method: &'static str,
    settings: &'a [String],
    keys: Vec<Key>,
    sketch: Option<Base64>,
    problems: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Bytes<'a>>,
}

/// Sixteen digits: sorted as texts they are sorted as numbers, and no JSON reader makes a rounded number of them.
struct Key(u64);

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

struct Base64(Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Bytes(&self.0).serialize(serializer)
    }
}

struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// Writes the row of a text; `id` is what it is called if it does not say so itself.
pub(crate) fn write(
    out: &mut dyn Write,
    making: &Making,
    id: Option<&str>,
    sketched: &Sketched,
    message: &[u8],
) -> io::Result<()> {
    let location = &sketched.location;
    let id = id.or(sketched.id.as_deref());
    let keys = sketched.sketch.iter().flat_map(|sketch| &sketch.keys);
    write_line(
        out,
        &Row {
            schema: SCHEMA,
            id: id.map_or_else(|| location.to_string().into(), Cow::Borrowed),
            path: &location.path,
            offset: location.offset,
            form: Some(form_name(sketched.form)),
            bytes: Some(sketched.bytes),
            method: making.method,
            settings: &making.settings,
            keys: keys.map(|&key| Key(key)).collect(),
            sketch: sketched.sketch.as_ref().map(|s| Base64(s.to_bytes())),
            problems: sketched.problems.iter().map(|p| p.what.as_ref()).collect(),
            message: making.with_message.then_some(Bytes(message)),
        },
    )
}

/// Writes the row of something that could not be read.
pub(crate) fn write_unread(
    out: &mut dyn Write,
    making: &Making,
    id: &str,
    location: &Location,
    problem: &Problem,
) -> io::Result<()> {
    write_line(
        out,
        &Row {
            schema: SCHEMA,
            id: id.into(),
            path: &location.path,
            offset: location.offset,
            form: None,
            bytes: None,
            method: making.method,
            settings: &making.settings,
            keys: Vec::new(),
            sketch: None,
            problems: vec![problem.what.as_ref()],
            message: None,
        },
    )
}
