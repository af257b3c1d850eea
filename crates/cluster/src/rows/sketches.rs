//! What `sketch` writes about each text.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

use super::{list, push_texts, schema, signed};
use crate::sheet::Columns;
use crate::version::SCHEMA;

/// The row of a text. As JSON its keys are digits and its bytes base64; as a table both are what they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SketchRow {
    /// The version of these members.
    pub schema: u32,
    /// What the text is called.
    pub id: String,
    /// The file it stands in.
    pub path: String,
    /// And where in it.
    pub offset: Option<u64>,
    /// What it was read as; `None` if it could not be read.
    pub form: Option<&'static str>,
    /// How long it is.
    pub bytes: Option<u64>,
    /// The method.
    pub method: &'static str,
    /// What is not as it is by default: the same in every row.
    #[serde(serialize_with = "texts")]
    pub settings: Arc<[String]>,
    /// By what near duplicates are found, sorted.
    #[serde(serialize_with = "digits")]
    pub keys: Vec<u64>,
    /// All the method keeps.
    #[serde(serialize_with = "base64")]
    pub sketch: Option<Vec<u8>>,
    /// What was wrong, in words.
    pub problems: Vec<String>,
    /// The message itself, if it is to be handed on.
    #[serde(serialize_with = "base64", skip_serializing_if = "Option::is_none")]
    pub message: Option<Vec<u8>>,
}

fn texts<S: Serializer>(texts: &Arc<[String]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter())
}

/// Sixteen digits: sorted as texts they are sorted as numbers, and no JSON reader makes a rounded number of them.
fn digits<S: Serializer>(keys: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(keys.iter().map(|key| format!("{key:016x}")))
}

pub(super) fn base64<S: Serializer>(
    bytes: &Option<Vec<u8>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match bytes {
        Some(bytes) => serializer.collect_str(&Base64Display::new(bytes, &STANDARD)),
        None => serializer.serialize_none(),
    }
}

/// The columns of [`SketchRow`]s.
#[derive(Debug, Default)]
pub struct SketchColumns {
    schema: Int32Builder,
    id: StringBuilder,
    path: StringBuilder,
    offset: Int64Builder,
    form: StringBuilder,
    bytes: Int64Builder,
    method: StringBuilder,
    settings: ListBuilder<StringBuilder>,
    keys: ListBuilder<Int64Builder>,
    sketch: BinaryBuilder,
    problems: ListBuilder<StringBuilder>,
    /// Only if messages are handed on.
    message: Option<BinaryBuilder>,
}

impl SketchColumns {
    /// Columns with or without the messages themselves.
    pub fn new(with_message: bool) -> Self {
        Self {
            message: with_message.then(BinaryBuilder::new),
            ..Self::default()
        }
    }
}

impl Columns for SketchColumns {
    type Row = SketchRow;

    fn schema(&self) -> SchemaRef {
        let mut fields = vec![
            Field::new("schema", DataType::Int32, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("path", DataType::Utf8, false),
            Field::new("offset", DataType::Int64, true),
            Field::new("form", DataType::Utf8, true),
            Field::new("bytes", DataType::Int64, true),
            Field::new("method", DataType::Utf8, false),
            Field::new("settings", list(DataType::Utf8), false),
            Field::new("keys", list(DataType::Int64), false),
            Field::new("sketch", DataType::Binary, true),
            Field::new("problems", list(DataType::Utf8), false),
        ];
        if self.message.is_some() {
            fields.push(Field::new("message", DataType::Binary, true));
        }
        schema("sketches", fields)
    }

    fn push(&mut self, row: SketchRow) -> usize {
        self.schema.append_value(row.schema.cast_signed());
        self.id.append_value(&row.id);
        self.path.append_value(&row.path);
        self.offset.append_option(signed(row.offset));
        self.form.append_option(row.form);
        self.bytes.append_option(signed(row.bytes));
        self.method.append_value(row.method);
        for key in &row.keys {
            // The same bits: Spark knows no numbers without a sign.
            self.keys.values().append_value(key.cast_signed());
        }
        self.keys.append(true);
        self.sketch.append_option(row.sketch.as_deref());
        let texts = push_texts(&mut self.settings, &row.settings)
            + push_texts(&mut self.problems, &row.problems);
        let message = match &mut self.message {
            Some(column) => {
                column.append_option(row.message.as_deref());
                row.message.map_or(0, |message| message.len())
            }
            None => 0,
        };
        let sketch = row.sketch.map_or(0, |sketch| sketch.len());
        64 + row.id.len() + row.path.len() + 8 * row.keys.len() + sketch + texts + message
    }

    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let schema = Columns::schema(self);
        let mut columns: Vec<arrow_array::ArrayRef> = vec![
            Arc::new(self.schema.finish()),
            Arc::new(self.id.finish()),
            Arc::new(self.path.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.form.finish()),
            Arc::new(self.bytes.finish()),
            Arc::new(self.method.finish()),
            Arc::new(self.settings.finish()),
            Arc::new(self.keys.finish()),
            Arc::new(self.sketch.finish()),
            Arc::new(self.problems.finish()),
        ];
        if let Some(message) = &mut self.message {
            columns.push(Arc::new(message.finish()));
        }
        RecordBatch::try_new(schema, columns)
    }
}

impl Default for SketchRow {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            id: String::new(),
            path: String::new(),
            offset: None,
            form: None,
            bytes: None,
            method: "",
            settings: Arc::default(),
            keys: Vec::new(),
            sketch: None,
            problems: Vec::new(),
            message: None,
        }
    }
}
