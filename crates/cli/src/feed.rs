//! Messages that another program hands over as JSON lines. The members are told in `docs/scale.md`.
//!
//! Lines are read one by one and never all held. A line that cannot be used is a value as well: it says what is wrong with it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use twicetold_model::{Form, Location, RawMessage};

use crate::failure::Advice;

/// A line may be so long: room for a message of 512 MB in base64.
const LONGEST: u64 = 720 << 20;

/// Base64 with or without `=` at the end: both are met.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Lines, from files one after the other or from stdin.
pub(crate) struct Feed {
    waiting: VecDeque<PathBuf>,
    open: Option<Open>,
}

/// A file that is being read.
struct Open {
    name: String,
    reader: Box<dyn BufRead>,
    offset: u64,
}

/// A line as it was read.
#[derive(Debug)]
pub(crate) struct Line {
    /// The file, or `-`, and where in it the line begins.
    place: Location,
    /// Its bytes; `None` if there are too many.
    bytes: Option<Vec<u8>>,
}

/// What a line hands over.
#[derive(Debug)]
pub(crate) struct Handed {
    /// The group it names.
    pub(crate) group: Option<String>,
    /// The id it names, or else where the message stands.
    pub(crate) id: String,
    /// Where the message stands.
    pub(crate) location: Location,
    /// The message, or what is wrong with the line.
    pub(crate) message: Result<RawMessage<'static>, Cow<'static, str>>,
}

impl Feed {
    /// Lines of these files, of which `-` is stdin. A file that is not there is found out now.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self> {
        for path in paths.iter().filter(|path| !is_stdin(path)) {
            let found = path.metadata().with_context(|| {
                Advice::new(
                    format!("cannot open {}", path.display()),
                    "check the spelling, and that you may read it",
                )
            })?;
            if found.is_dir() {
                return Err(Advice::new(
                    format!("{} is a folder, not a file of JSON lines", path.display()),
                    "name the files in it, or pipe them in",
                )
                .into_error());
            }
        }
        Ok(Self {
            waiting: paths.iter().cloned().collect(),
            open: None,
        })
    }

    /// The next line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<Line>> {
        loop {
            if self.open.is_none() {
                let Some(path) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                self.open = Some(Open::new(&path).with_context(|| unreadable(&path))?);
            }
            let Some(open) = &mut self.open else {
                return Ok(None);
            };
            let line = open
                .line()
                .with_context(|| unreadable(Path::new(&open.name)))?;
            match line {
                Some(line) if line.is_blank() => {}
                Some(line) => return Ok(Some(line)),
                None => self.open = None,
            }
        }
    }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn unreadable(path: &Path) -> Advice {
    let name = if is_stdin(path) {
        "stdin".into()
    } else {
        path.to_string_lossy()
    };
    Advice::new(
        format!("cannot read {name} to its end"),
        "check that it is there and may be read; what was written so far is not all there is",
    )
}

impl Open {
    fn new(path: &Path) -> io::Result<Self> {
        let reader: Box<dyn BufRead> = if is_stdin(path) {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::with_capacity(1 << 16, File::open(path)?))
        };
        Ok(Self {
            name: path.to_string_lossy().into_owned(),
            reader,
            offset: 0,
        })
    }

    fn line(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let mut read = (&mut self.reader)
            .take(LONGEST)
            .read_until(b'\n', &mut bytes)? as u64;
        if read == 0 {
            return Ok(None);
        }
        let bytes = if read == LONGEST && !bytes.ends_with(b"\n") {
            drop(bytes);
            read += self.reader.skip_until(b'\n')? as u64;
            None
        } else {
            // Some programs put a mark of the encoding in front of a file.
            if self.offset == 0 && bytes.starts_with(b"\xEF\xBB\xBF") {
                bytes.drain(..3);
            }
            // A line is as long as in a file of JSON lines: without its end.
            bytes.truncate(bytes.trim_ascii_end().len());
            Some(bytes)
        };
        let place = Location {
            path: self.name.clone(),
            offset: Some(self.offset),
        };
        self.offset += read;
        Ok(Some(Line { place, bytes }))
    }
}

/// The members of a line that count.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members {
    group: Value,
    id: Value,
    path: Value,
    offset: Value,
    form: Value,
    message: Value,
    text: Option<IgnoredAny>,
    body: Option<IgnoredAny>,
    content: Option<IgnoredAny>,
}

impl Line {
    fn is_blank(&self) -> bool {
        let bytes = self.bytes.as_ref();
        bytes.is_some_and(|bytes| bytes.trim_ascii().is_empty())
    }

    /// How many bytes are held.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.as_ref().map_or(0, Vec::len) as u64
    }

    /// What the line hands over.
    pub(crate) fn handed(self) -> Handed {
        let failed = |place: Location, what: Cow<'static, str>| Handed {
            group: None,
            id: place.to_string(),
            location: place,
            message: Err(what),
        };
        let Some(bytes) = self.bytes else {
            return failed(self.place, "the line is too long".into());
        };
        // A list would be taken for the members without their names.
        let object = bytes.trim_ascii_start().starts_with(b"{");
        let members: Members = match serde_json::from_slice(&bytes) {
            Ok(members) if object => members,
            Ok(_) => return failed(self.place, "the line is not a JSON object".into()),
            Err(_) if std::str::from_utf8(&bytes).is_err() => {
                return failed(self.place, "the line is not UTF-8".into());
            }
            Err(_) if serde_json::from_slice::<IgnoredAny>(&bytes).is_ok() => {
                return failed(
                    self.place,
                    "the line is not a JSON object, or names a member twice".into(),
                );
            }
            Err(_) => return failed(self.place, "the JSON cannot be understood".into()),
        };
        members.handed(self.place, bytes)
    }
}

impl Members {
    fn handed(mut self, place: Location, line: Vec<u8>) -> Handed {
        let mut wrong: Option<Cow<'static, str>> = None;
        let mut scalar = |value: &Value, what: &'static str| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => {
                wrong.get_or_insert(Cow::Borrowed(what));
                None
            }
        };
        let group = scalar(&self.group, "the group is neither a text nor a number");
        let id = scalar(&self.id, "the id is neither a text nor a number");
        let path = scalar(&self.path, "the path is no text");
        let offset = match &self.offset {
            Value::Null => None,
            offset => offset.as_u64().or_else(|| {
                wrong.get_or_insert("the offset is no whole number".into());
                None
            }),
        };
        // A message keeps its place whatever the order in which it is handed over.
        let location = match (path, &id) {
            (Some(path), _) => Location { path, offset },
            (None, Some(id)) => Location {
                path: id.clone(),
                offset: None,
            },
            (None, None) => place,
        };
        let message = match wrong {
            Some(wrong) => Err(wrong),
            None => self.message(line),
        };
        Handed {
            group,
            id: id.unwrap_or_else(|| location.to_string()),
            message: message.map(|(form, bytes)| RawMessage {
                location: location.clone(),
                form,
                bytes: Cow::Owned(bytes),
            }),
            location,
        }
    }

    /// The message itself, or else the line, if there is a text in it: what a file of JSON lines is made of.
    fn message(&mut self, line: Vec<u8>) -> Result<(Form, Vec<u8>), Cow<'static, str>> {
        let text = self.text.is_some() || self.body.is_some() || self.content.is_some();
        let message = match self.message.take() {
            Value::String(message) => message,
            Value::Null if text => return Ok((Form::Json, line)),
            Value::Null => return Err("the line has neither a message nor a text".into()),
            _ => return Err("the message is no text; it has to be base64".into()),
        };
        let form = match &self.form {
            Value::Null => Form::Mail,
            Value::String(form) => form_named(form)
                .ok_or("the form is not known; there are mail, text, json and sgml")?,
            _ => return Err("the form is no text".into()),
        };
        let mut message = message.into_bytes();
        if message.iter().any(u8::is_ascii_whitespace) {
            message.retain(|byte| !byte.is_ascii_whitespace());
        }
        let bytes = BASE64
            .decode(&message)
            .map_err(|error| format!("the message is no base64: {error}"))?;
        Ok((form, bytes))
    }
}

/// The name of a form in rows.
pub(crate) fn form_name(form: Form) -> &'static str {
    match form {
        Form::Mail => "mail",
        Form::Text => "text",
        Form::Json => "json",
        Form::Sgml => "sgml",
    }
}

fn form_named(name: &str) -> Option<Form> {
    let forms = [Form::Mail, Form::Text, Form::Json, Form::Sgml];
    forms.into_iter().find(|&form| form_name(form) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(line: &str) -> Handed {
        let place = Location {
            path: "-".to_owned(),
            offset: Some(7),
        };
        let bytes = Some(line.as_bytes().to_vec());
        Line { place, bytes }.handed()
    }

    fn problem(line: &str) -> String {
        handed(line).message.unwrap_err().into_owned()
    }

    #[test]
    fn messages_and_texts_are_handed_over() {
        let mail = handed(r#"{"group":3,"id":"a","message":"SGk="}"#);
        assert_eq!(mail.group.as_deref(), Some("3"));
        assert_eq!((mail.id.as_str(), mail.location.path.as_str()), ("a", "a"));
        let raw = mail.message.unwrap();
        assert_eq!((raw.form, &*raw.bytes), (Form::Mail, b"Hi".as_slice()));
        let text = handed(r#"{"id":5,"text":"Hi","other":[{}]}"#);
        assert_eq!(text.id, "5");
        assert_eq!(text.message.unwrap().form, Form::Json);
        let placed =
            handed(r#"{"id":"a","path":"in.mbox","offset":9,"form":"text","message":"S Gk\n"}"#);
        assert_eq!(placed.location.to_string(), "in.mbox@9");
        assert_eq!(placed.message.unwrap().form, Form::Text);
        assert_eq!(handed(r#"{"text":""}"#).id, "-@7");
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (line, told) in [
            ("{", "cannot be understood"),
            ("[1]", "not a JSON object"),
            (r#"["g","id",null,null,null,"SGk="]"#, "not a JSON object"),
            ("7", "not a JSON object"),
            ("{}", "neither a message nor a text"),
            (r#"{"text":null}"#, "neither a message nor a text"),
            (r#"{"message":7}"#, "has to be base64"),
            (r#"{"message":"a$"}"#, "no base64"),
            (r#"{"message":"SGk=","form":"fax"}"#, "form is not known"),
            (r#"{"group":[1],"message":"SGk="}"#, "group"),
            (r#"{"id":{},"message":"SGk="}"#, "id"),
            (r#"{"offset":-1,"message":"SGk="}"#, "offset"),
            (r#"{"id":1,"id":2,"text":""}"#, "twice"),
        ] {
            assert!(problem(line).contains(told), "{line}: {}", problem(line));
        }
        let bad = handed(r#"{"group":"g","id":"x","message":"a$"}"#);
        assert_eq!((bad.group.as_deref(), bad.id.as_str()), (Some("g"), "x"));
    }
}
