//! What `statistics ask` writes about each message.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use serde::Serialize;

use super::schema;
use crate::sheet::Columns;

/// Whether a message says something that no other one says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerRow {
    /// What the message is called.
    pub id: String,
    /// It holds a fact or a run of words that nobody else has; `None` if the row could not be read.
    pub new: Option<bool>,
    /// What was wrong with the row.
    pub problem: Option<String>,
}

/// The columns of [`AnswerRow`]s.
#[derive(Debug, Default)]
pub struct AnswerColumns {
    id: StringBuilder,
    new: BooleanBuilder,
    problem: StringBuilder,
}

impl Columns for AnswerColumns {
    type Row = AnswerRow;

    fn schema(&self) -> SchemaRef {
        let fields = vec![
            Field::new("id", DataType::Utf8, false),
            Field::new("new", DataType::Boolean, true),
            Field::new("problem", DataType::Utf8, true),
        ];
        schema("answers", fields)
    }

    fn push(&mut self, row: AnswerRow) -> usize {
        self.id.append_value(&row.id);
        self.new.append_option(row.new);
        self.problem.append_option(row.problem.as_deref());
        16 + row.id.len() + row.problem.map_or(0, |problem| problem.len())
    }

    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(
            Columns::schema(self),
            vec![
                Arc::new(self.id.finish()),
                Arc::new(self.new.finish()),
                Arc::new(self.problem.finish()),
            ],
        )
    }
}
