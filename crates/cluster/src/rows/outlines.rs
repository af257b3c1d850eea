//! What `sketch --for scan` writes about each message.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use serde::Serialize;

use super::sketches::base64;
use super::{list, push_texts, schema, signed};
use crate::sheet::Columns;
use crate::version::SCHEMA;

/// The row of a message, or of something that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutlineRow {
    /// The version of these members.
    pub schema: u32,
    /// What the message is called.
    pub id: String,
    /// The file it stands in.
    pub path: String,
    /// And where in it.
    pub offset: Option<u64>,
    /// What was wrong, in words.
    pub problems: Vec<String>,
    /// What could be read.
    #[serde(flatten)]
    pub outline: Option<Outlined>,
}

/// The outline itself; `docs/scale.md` tells more about its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outlined {
    /// What it was read as.
    pub form: &'static str,
    /// How long it is.
    pub bytes: u64,
    /// Its own Message-ID.
    pub message_id: Option<String>,
    /// Sorts in the order in which messages are asked.
    pub content: String,
    /// Sorts first what the user's rules keep.
    pub policy: String,
    /// The same for messages that are word for word the same.
    pub copy: Option<String>,
    /// Messages with the same value count once in the statistics.
    pub counted: Option<String>,
    /// It has a few words only.
    pub short: bool,
    /// It has nothing to compare.
    pub empty: bool,
    /// Hash of its own id.
    pub id_hash: Option<i64>,
    /// Hashes of the ids it answers.
    pub references: Vec<i64>,
    /// Hash of its subject.
    pub topic: i64,
    /// Its subject says that it answers.
    pub answers: bool,
    /// Sorts first the message after which a conversation is called.
    pub begins: String,
    /// Hashes of the sentences that must stand elsewhere.
    pub asks: Vec<i64>,
    /// Hashes of all its sentences.
    pub holds: Vec<i64>,
    /// Its fingerprints, each once.
    pub fingerprints: Vec<i64>,
    /// How many it has, counted as often as they occur.
    pub fingerprint_count: u32,
    /// Hashes of attachments and links.
    pub things: Vec<i64>,
    /// What it is counted with.
    #[serde(serialize_with = "base64")]
    pub words: Option<Vec<u8>>,
    /// What keeps it if no other message has it.
    #[serde(serialize_with = "base64")]
    pub news: Option<Vec<u8>>,
    /// The message itself, if it is to be handed on.
    #[serde(serialize_with = "base64", skip_serializing_if = "Option::is_none")]
    pub message: Option<Vec<u8>>,
}

impl OutlineRow {
    /// The row of what stands at this place.
    pub fn new(id: String, path: String, offset: Option<u64>, problems: Vec<String>) -> Self {
        Self {
            schema: SCHEMA,
            id,
            path,
            offset,
            problems,
            outline: None,
        }
    }
}

/// The columns of [`OutlineRow`]s.
#[derive(Debug, Default)]
pub struct OutlineColumns {
    schema: Int32Builder,
    id: StringBuilder,
    path: StringBuilder,
    offset: Int64Builder,
    problems: ListBuilder<StringBuilder>,
    /// In the order of [`TEXTS`].
    texts: [StringBuilder; TEXTS.len()],
    bytes: Int64Builder,
    /// In the order of [`FLAGS`].
    flags: [BooleanBuilder; FLAGS.len()],
    id_hash: Int64Builder,
    topic: Int64Builder,
    /// In the order of [`LISTS`].
    lists: [ListBuilder<Int64Builder>; LISTS.len()],
    fingerprint_count: Int32Builder,
    words: BinaryBuilder,
    news: BinaryBuilder,
    /// Only if messages are handed on.
    message: Option<BinaryBuilder>,
}

const TEXTS: [&str; 7] = [
    "form",
    "message_id",
    "content",
    "policy",
    "copy",
    "counted",
    "begins",
];
const FLAGS: [&str; 3] = ["short", "empty", "answers"];
const LISTS: [&str; 5] = ["references", "asks", "holds", "fingerprints", "things"];

impl OutlineColumns {
    /// Columns with or without the messages themselves.
    pub fn new(with_message: bool) -> Self {
        Self {
            message: with_message.then(BinaryBuilder::new),
            ..Self::default()
        }
    }
}

impl Columns for OutlineColumns {
    type Row = OutlineRow;

    fn schema(&self) -> SchemaRef {
        let mut fields = vec![
            Field::new("schema", DataType::Int32, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("path", DataType::Utf8, false),
            Field::new("offset", DataType::Int64, true),
            Field::new("problems", list(DataType::Utf8), false),
        ];
        let texts = TEXTS.map(|name| Field::new(name, DataType::Utf8, true));
        fields.extend(texts);
        fields.push(Field::new("bytes", DataType::Int64, true));
        fields.extend(FLAGS.map(|name| Field::new(name, DataType::Boolean, true)));
        fields.push(Field::new("id_hash", DataType::Int64, true));
        fields.push(Field::new("topic", DataType::Int64, true));
        fields.extend(LISTS.map(|name| Field::new(name, list(DataType::Int64), true)));
        fields.push(Field::new("fingerprint_count", DataType::Int32, true));
        fields.push(Field::new("words", DataType::Binary, true));
        fields.push(Field::new("news", DataType::Binary, true));
        if self.message.is_some() {
            fields.push(Field::new("message", DataType::Binary, true));
        }
        schema("outlines", fields)
    }

    fn push(&mut self, row: OutlineRow) -> usize {
        self.schema.append_value(row.schema.cast_signed());
        self.id.append_value(&row.id);
        self.path.append_value(&row.path);
        self.offset.append_option(signed(row.offset));
        let mut bytes = 128 + row.id.len() + row.path.len();
        bytes += push_texts(&mut self.problems, &row.problems);
        let outline = row.outline.as_ref();
        let texts = match outline {
            Some(it) => [
                Some(it.form),
                it.message_id.as_deref(),
                Some(&it.content),
                Some(&it.policy),
                it.copy.as_deref(),
                it.counted.as_deref(),
                Some(&it.begins),
            ],
            None => [None; TEXTS.len()],
        };
        for (column, text) in self.texts.iter_mut().zip(texts) {
            bytes += text.map_or(0, str::len);
            column.append_option(text);
        }
        self.bytes.append_option(signed(outline.map(|it| it.bytes)));
        let flags = outline.map(|it| [it.short, it.empty, it.answers]);
        for (n, column) in self.flags.iter_mut().enumerate() {
            column.append_option(flags.map(|flags| flags[n]));
        }
        self.id_hash
            .append_option(outline.and_then(|it| it.id_hash));
        self.topic.append_option(outline.map(|it| it.topic));
        let lists = outline.map(|it| {
            [
                &it.references,
                &it.asks,
                &it.holds,
                &it.fingerprints,
                &it.things,
            ]
        });
        for (n, column) in self.lists.iter_mut().enumerate() {
            if let Some(lists) = lists {
                column.values().append_slice(lists[n]);
                bytes += 8 * lists[n].len();
            }
            column.append(lists.is_some());
        }
        self.fingerprint_count
            .append_option(outline.map(|it| it.fingerprint_count.cast_signed()));
        let mut push = |column: &mut BinaryBuilder, value: Option<&Vec<u8>>| {
            bytes += value.map_or(0, Vec::len);
            column.append_option(value);
        };
        push(&mut self.words, outline.and_then(|it| it.words.as_ref()));
        push(&mut self.news, outline.and_then(|it| it.news.as_ref()));
        if let Some(column) = &mut self.message {
            push(column, outline.and_then(|it| it.message.as_ref()));
        }
        bytes
    }

    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let schema = Columns::schema(self);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.schema.finish()),
            Arc::new(self.id.finish()),
            Arc::new(self.path.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.problems.finish()),
        ];
        for column in &mut self.texts {
            columns.push(Arc::new(column.finish()));
        }
        columns.push(Arc::new(self.bytes.finish()));
        for column in &mut self.flags {
            columns.push(Arc::new(column.finish()));
        }
        columns.push(Arc::new(self.id_hash.finish()));
        columns.push(Arc::new(self.topic.finish()));
        for column in &mut self.lists {
            columns.push(Arc::new(column.finish()));
        }
        columns.push(Arc::new(self.fingerprint_count.finish()));
        columns.push(Arc::new(self.words.finish()));
        columns.push(Arc::new(self.news.finish()));
        if let Some(message) = &mut self.message {
            columns.push(Arc::new(message.finish()));
        }
        RecordBatch::try_new(schema, columns)
    }
}
