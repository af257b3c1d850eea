//! Messages that another program hands over: as JSON lines, as an Arrow stream, or in Parquet files. The members are told in
//! `docs/scale.md`.
//!
//! Rows are read one by one and never all held. A row that cannot be used is a value as well: it says what is wrong with it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use clap::ValueEnum;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use twicetold_cluster::{Handed, InPart, Kind, Named, Next, Table, Wanted, form_named, is_made_by};
use twicetold_model::{Form, Location};

use crate::failure::Advice;
use crate::report::escape::{self, visible};
use crate::terminal::talk;

/// A line may be so long: room for a message of 512 MB in base64.
const LONGEST: u64 = 720 << 20;

/// Base64 with or without `=` at the end: both are met.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What rows are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// One JSON object a line
    Jsonl,
    /// An Arrow IPC stream, or an Arrow IPC file (Feather)
    Arrow,
    /// A Parquet file
    Parquet,
}

impl From {
    fn kind(self) -> Kind {
        match self {
            Self::Jsonl => Kind::Jsonl,
            Self::Arrow => Kind::Arrow,
            Self::Parquet => Kind::Parquet,
        }
    }
}

/// Rows, from files one after the other or from stdin.
pub(crate) struct Feed {
    waiting: VecDeque<PathBuf>,
    /// What all of them are, if the user says so.
    from: Option<Kind>,
    wanted: Wanted,
    open: Option<Open>,
}

/// A file that is being read.
enum Open {
    Lines(Lines),
    Table(String, Box<Table>),
}

/// A file of JSON lines.
struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    offset: u64,
    wanted: Wanted,
}

/// What a feed gives.
pub(crate) enum Piece {
    /// A JSON line.
    Line(Line),
    /// The row of a table.
    Row(Box<Handed>),
    /// Rows are missing here: in which file, and what happened to them.
    Lost(String, String),
}

impl Piece {
    /// How many bytes are held.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Line(line) => line.len(),
            Self::Row(handed) => {
                let bytes = handed.message.as_ref().map_or(0, |raw| raw.bytes.len());
                bytes as u64
            }
            Self::Lost(..) => 0,
        }
    }

    /// What it hands over; of rows that are missing, that they are.
    pub(crate) fn handed(self) -> Handed {
        match self {
            Self::Line(line) => line.handed(),
            Self::Row(handed) => *handed,
            Self::Lost(name, what) => Handed {
                group: None,
                id: name.clone(),
                location: Location {
                    path: name.into(),
                    offset: None,
                },
                message: Err(what.into()),
                whole: None,
            },
        }
    }
}

/// A line as it was read.
#[derive(Debug)]
pub(crate) struct Line {
    /// The file, or `-`, and where in it the line begins.
    place: Location,
    /// Its bytes; `None` if there are too many.
    bytes: Option<Vec<u8>>,
    wanted: Wanted,
}

impl Feed {
    /// Rows of these files, of which `-` is stdin. A file that is not there is found out now.
    pub(crate) fn open(paths: &[PathBuf], from: Option<From>, wanted: Wanted) -> Result<Self> {
        for path in paths.iter().filter(|path| !is_stdin(path)) {
            let found = path.metadata().with_context(|| {
                Advice::new(
                    format!("cannot open {}", path.display()),
                    "check the spelling, and that you may read it",
                )
            })?;
            if found.is_dir() {
                return Err(Advice::new(
                    format!("{} is a folder, not a file of rows", path.display()),
                    "name the files in it, or pipe them in",
                )
                .into_error());
            }
        }
        Ok(Self {
            waiting: paths.iter().cloned().collect(),
            from: from.map(From::kind),
            wanted,
            open: None,
        })
    }

    /// The next row, or line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<Piece>> {
        loop {
            if self.open.is_none() {
                let Some(path) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                self.open = Some(open(&path, self.from, self.wanted)?);
            }
            let Some(open) = &mut self.open else {
                return Ok(None);
            };
            match open.next()? {
                Some(piece) => return Ok(Some(piece)),
                None => self.open = None,
            }
        }
    }
}

/// Whether a file is a table, by its first bytes. What cannot be read is none.
pub(crate) fn is_table(path: &Path) -> bool {
    let kind = File::open(path).and_then(|mut file| {
        let found = path.metadata()?.is_file().then(|| beginning(&mut file));
        found.unwrap_or_else(|| Ok((Kind::Jsonl, Vec::new())))
    });
    kind.is_ok_and(|(kind, _)| kind != Kind::Jsonl)
}

/// What something is, and the bytes that were read to see it.
fn beginning(reader: &mut dyn Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut head = Vec::new();
    loop {
        if let Some(kind) = Kind::of_beginning(&head) {
            return Ok((kind, head));
        }
        // One by one: whoever has sent a line may wait for an answer before sending more.
        if reader.take(1).read_to_end(&mut head)? == 0 {
            return Ok((Kind::Jsonl, head));
        }
    }
}

fn open(path: &Path, from: Option<Kind>, wanted: Wanted) -> Result<Open> {
    let opened = || -> io::Result<(Kind, Vec<u8>, Box<dyn BufRead>)> {
        let mut reader: Box<dyn BufRead> = match is_stdin(path) {
            true => Box::new(io::stdin().lock()),
            false => Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)),
        };
        let (kind, head) = match from {
            Some(kind) => (kind, Vec::new()),
            None => beginning(&mut reader)?,
        };
        Ok((kind, head, reader))
    };
    let (kind, head, reader) = opened().with_context(|| unreadable(path))?;
    let name = path.to_string_lossy().into_owned();
    let reader = Box::new(io::Cursor::new(head).chain(reader));
    Ok(match kind {
        Kind::Jsonl => Open::Lines(Lines {
            name,
            reader,
            offset: 0,
            wanted,
        }),
        Kind::Arrow => Open::Table(name.clone(), Box::new(Table::stream(name, reader, wanted))),
        Kind::Parquet if is_stdin(path) => {
            return Err(Advice::new(
                "a Parquet file cannot come through a pipe: its table of contents stands at its end",
                "save it and name the file, or send an Arrow stream",
            )
            .into_error());
        }
        Kind::Parquet => {
            let file = File::open(path).with_context(|| unreadable(path))?;
            Open::Table(name.clone(), Box::new(Table::parquet(name, file, wanted)))
        }
    })
}

impl Open {
    fn next(&mut self) -> Result<Option<Piece>> {
        match self {
            Self::Lines(lines) => loop {
                let line = lines
                    .line()
                    .with_context(|| unreadable(Path::new(&lines.name)))?;
                match line {
                    Some(line) if line.is_blank() => {}
                    line => return Ok(line.map(Piece::Line)),
                }
            },
            Self::Table(name, table) => match table.next_row() {
                Ok(Next::Row(handed)) => Ok(Some(Piece::Row(Box::new(handed)))),
                Ok(Next::Lost(what)) => Ok(Some(Piece::Lost(name.clone(), what))),
                Ok(Next::End) => Ok(None),
                Err(refused) => Err(Advice::new(refused.what, refused.hint).into_error()),
            },
        }
    }
}

/// How many bytes there are to read, if that is known.
pub(crate) fn size_of(files: &[PathBuf]) -> u64 {
    let sizes = files.iter().map(|file| match is_stdin(file) {
        true => None,
        false => Some(file.metadata().ok()?.len()),
    });
    sizes.sum::<Option<u64>>().unwrap_or(0)
}

/// Tells people that a table has lost rows.
pub(crate) fn warn_of_loss(what: &str) {
    talk(&format!("warning: {}", visible(what, escape::MESSAGE)));
    talk("hint: write or copy it again; what could be read of it was used");
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

impl Lines {
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
            path: self.name.as_str().into(),
            offset: Some(self.offset),
        };
        self.offset += read;
        Ok(Some(Line {
            place,
            bytes,
            wanted: self.wanted,
        }))
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
    method: Value,
    sketch: Value,
    whole: Option<Box<InPart>>,
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
            whole: None,
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
        members.handed(self.place, bytes, self.wanted)
    }
}

impl Members {
    fn handed(mut self, place: Location, line: Vec<u8>, wanted: Wanted) -> Handed {
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
        let named = Named {
            group,
            id,
            path,
            offset,
            wrong,
        };
        let whole = self.whole.take();
        let handed = named.handed(place, || match wanted {
            Wanted::Messages => self.message(line),
            Wanted::Sketches(method) => self.sketch(method),
        });
        Handed { whole, ..handed }
    }

    /// The sketch, if it is one of this method.
    fn sketch(&mut self, method: &str) -> Result<(Form, Vec<u8>), Cow<'static, str>> {
        is_made_by(self.method.as_str(), method)?;
        match self.sketch.take() {
            Value::String(sketch) => Ok((Form::Text, decoded(sketch, "sketch")?)),
            Value::Null => Err("the row has no sketch".into()),
            _ => Err("the sketch is no text; it has to be base64".into()),
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
            Value::String(form) => form_named(form)?,
            _ => return Err("the form is no text".into()),
        };
        Ok((form, decoded(message, "message")?))
    }
}

fn decoded(text: String, what: &str) -> Result<Vec<u8>, String> {
    let mut bytes = text.into_bytes();
    if bytes.iter().any(u8::is_ascii_whitespace) {
        bytes.retain(|byte| !byte.is_ascii_whitespace());
    }
    let decoded = BASE64.decode(&bytes);
    decoded.map_err(|error| format!("the {what} is no base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(line: &str) -> Handed {
        let place = Location {
            path: "-".into(),
            offset: Some(7),
        };
        let bytes = Some(line.as_bytes().to_vec());
        let wanted = Wanted::Messages;
        let line = Line {
            place,
            bytes,
            wanted,
        };
        line.handed()
    }

    fn problem(line: &str) -> String {
        handed(line).message.unwrap_err().into_owned()
    }

    #[test]
    fn messages_and_texts_are_handed_over() {
        let mail = handed(r#"{"group":3,"id":"a","message":"SGk="}"#);
        assert_eq!(mail.group.as_deref(), Some("3"));
        assert_eq!((mail.id.as_str(), &*mail.location.path), ("a", "a"));
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
