//! What `cluster partners` writes: texts that a method finds alike.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};

use super::schema;
use crate::sheet::Columns;

/// Two texts, by their numbers, or, without a second, one that has more partners than are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartnerRow {
    /// The number of the method.
    pub method: i32,
    /// The text that asked.
    pub a: i64,
    /// Its partner.
    pub b: Option<i64>,
    /// The score as JSON, as `pairs` writes it.
    pub score: Option<String>,
}

/// The columns of [`PartnerRow`]s.
#[derive(Debug, Default)]
pub struct PartnerColumns {
    method: Int32Builder,
    a: Int64Builder,
    b: Int64Builder,
    score: StringBuilder,
}

impl Columns for PartnerColumns {
    type Row = PartnerRow;

    fn schema(&self) -> SchemaRef {
        let fields = vec![
            Field::new("method", DataType::Int32, false),
            Field::new("a", DataType::Int64, false),
            Field::new("b", DataType::Int64, true),
            Field::new("score", DataType::Utf8, true),
        ];
        schema("partners", fields)
    }

    fn push(&mut self, row: PartnerRow) -> usize {
        self.method.append_value(row.method);
        self.a.append_value(row.a);
        self.b.append_option(row.b);
        self.score.append_option(row.score);
        40
    }

    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(
            Columns::schema(self),
            vec![
                Arc::new(self.method.finish()),
                Arc::new(self.a.finish()),
                Arc::new(self.b.finish()),
                Arc::new(self.score.finish()),
            ],
        )
    }
}
