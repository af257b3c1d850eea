//! What `judge` writes about each message.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
    StructBuilder,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, SchemaRef};

use serde::Serialize;

use super::{list, push_texts, schema, signed};
use crate::sheet::Columns;

/// The row of a message: what `scan` says about it, with group and ids behind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictRow {
    /// The version of these members.
    pub schema: u32,
    /// The file the message stands in.
    pub path: String,
    /// And where in it.
    pub offset: Option<u64>,
    /// Its own Message-ID.
    pub message_id: Option<String>,
    /// The verdict.
    pub verdict: &'static str,
    /// Why it may go.
    pub category: Option<&'static str>,
    /// Whether it stays.
    pub keep: bool,
    /// The messages that say what it says.
    pub covered_by: Vec<Covering>,
    /// What nobody else says.
    pub residue: Vec<String>,
    /// Its conversation.
    pub thread: Option<String>,
    /// What was wrong, in words.
    pub problems: Vec<String>,
    /// What it was called when it was handed over; not written if the row is to be that of `scan`.
    #[serde(flatten)]
    pub given: Option<Given>,
}

/// What was handed over with a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Given {
    /// The group it was judged in.
    pub group: Option<String>,
    /// What it was called.
    pub id: String,
    /// What the messages in `covered_by` were called.
    pub covered_by_ids: Vec<String>,
}

/// A message that holds what another one says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Covering {
    /// The file it stands in.
    pub path: String,
    /// And where in it.
    pub offset: Option<u64>,
    /// Its own Message-ID.
    pub message_id: Option<String>,
    /// Which share of the other's words it has.
    pub containment: f64,
}

/// The columns of [`VerdictRow`]s.
#[derive(Debug)]
pub struct VerdictColumns {
    schema: Int32Builder,
    path: StringBuilder,
    offset: Int64Builder,
    message_id: StringBuilder,
    verdict: StringBuilder,
    category: StringBuilder,
    keep: BooleanBuilder,
    covered_by: ListBuilder<StructBuilder>,
    residue: ListBuilder<StringBuilder>,
    thread: StringBuilder,
    problems: ListBuilder<StringBuilder>,
    group: StringBuilder,
    id: StringBuilder,
    covered_by_ids: ListBuilder<StringBuilder>,
}

/// The members of [`Covering`].
fn covering() -> Fields {
    Fields::from(vec![
        Field::new("path", DataType::Utf8, true),
        Field::new("offset", DataType::Int64, true),
        Field::new("message_id", DataType::Utf8, true),
        Field::new("containment", DataType::Float64, true),
    ])
}

impl Default for VerdictColumns {
    fn default() -> Self {
        Self {
            schema: Int32Builder::new(),
            path: StringBuilder::new(),
            offset: Int64Builder::new(),
            message_id: StringBuilder::new(),
            verdict: StringBuilder::new(),
            category: StringBuilder::new(),
            keep: BooleanBuilder::new(),
            covered_by: ListBuilder::new(StructBuilder::from_fields(covering(), 0)),
            residue: ListBuilder::default(),
            thread: StringBuilder::new(),
            problems: ListBuilder::default(),
            group: StringBuilder::new(),
            id: StringBuilder::new(),
            covered_by_ids: ListBuilder::default(),
        }
    }
}

impl VerdictColumns {
    fn push_covering(&mut self, all: &[Covering]) -> usize {
        let mut bytes = 4;
        for one in all {
            bytes += 32 + one.path.len() + one.message_id.as_ref().map_or(0, String::len);
            let members = self.covered_by.values();
            if let Some(column) = members.field_builder::<StringBuilder>(0) {
                column.append_value(&one.path);
            }
            if let Some(column) = members.field_builder::<Int64Builder>(1) {
                column.append_option(signed(one.offset));
            }
            if let Some(column) = members.field_builder::<StringBuilder>(2) {
                column.append_option(one.message_id.as_deref());
            }
            if let Some(column) = members.field_builder::<Float64Builder>(3) {
                column.append_value(one.containment);
            }
            members.append(true);
        }
        self.covered_by.append(true);
        bytes
    }
}

impl Columns for VerdictColumns {
    type Row = VerdictRow;

    fn schema(&self) -> SchemaRef {
        let fields = vec![
            Field::new("schema", DataType::Int32, false),
            Field::new("path", DataType::Utf8, false),
            Field::new("offset", DataType::Int64, true),
            Field::new("message_id", DataType::Utf8, true),
            Field::new("verdict", DataType::Utf8, false),
            Field::new("category", DataType::Utf8, true),
            Field::new("keep", DataType::Boolean, false),
            Field::new("covered_by", list(DataType::Struct(covering())), false),
            Field::new("residue", list(DataType::Utf8), false),
            Field::new("thread", DataType::Utf8, true),
            Field::new("problems", list(DataType::Utf8), false),
            Field::new("group", DataType::Utf8, true),
            Field::new("id", DataType::Utf8, false),
            Field::new("covered_by_ids", list(DataType::Utf8), false),
        ];
        schema("verdicts", fields)
    }

    fn push(&mut self, row: VerdictRow) -> usize {
        self.schema.append_value(row.schema.cast_signed());
        self.path.append_value(&row.path);
        self.offset.append_option(signed(row.offset));
        self.message_id.append_option(row.message_id.as_deref());
        self.verdict.append_value(row.verdict);
        self.category.append_option(row.category);
        self.keep.append_value(row.keep);
        self.thread.append_option(row.thread.as_deref());
        let given = row.given.unwrap_or_default();
        self.group.append_option(given.group.as_deref());
        self.id.append_value(&given.id);
        let mut bytes = 64 + row.path.len() + given.id.len();
        bytes += [&row.message_id, &row.thread, &given.group]
            .into_iter()
            .flatten()
            .map(String::len)
            .sum::<usize>();
        bytes += self.push_covering(&row.covered_by);
        bytes += push_texts(&mut self.residue, &row.residue);
        bytes += push_texts(&mut self.problems, &row.problems);
        bytes + push_texts(&mut self.covered_by_ids, &given.covered_by_ids)
    }

    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(
            Columns::schema(self),
            vec![
                Arc::new(self.schema.finish()),
                Arc::new(self.path.finish()),
                Arc::new(self.offset.finish()),
                Arc::new(self.message_id.finish()),
                Arc::new(self.verdict.finish()),
                Arc::new(self.category.finish()),
                Arc::new(self.keep.finish()),
                Arc::new(self.covered_by.finish()),
                Arc::new(self.residue.finish()),
                Arc::new(self.thread.finish()),
                Arc::new(self.problems.finish()),
                Arc::new(self.group.finish()),
                Arc::new(self.id.finish()),
                Arc::new(self.covered_by_ids.finish()),
            ],
        )
    }
}
