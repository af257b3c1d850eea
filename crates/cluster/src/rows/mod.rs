//! The rows that are written, and their columns. What Spark cannot read is not used: its numbers have signs.

pub(crate) mod answers;
pub(crate) mod entries;
pub(crate) mod outlines;
pub(crate) mod partners;
pub(crate) mod sketches;
pub(crate) mod verdicts;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::version::metadata;

fn schema(rows: &str, fields: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new_with_metadata(fields, metadata(rows)))
}

fn list(item: DataType) -> DataType {
    DataType::new_list(item, true)
}

fn push_texts(column: &mut ListBuilder<StringBuilder>, texts: &[impl AsRef<str>]) -> usize {
    let mut bytes = 4;
    for text in texts {
        let text = text.as_ref();
        bytes += 4 + text.len();
        column.values().append_value(text);
    }
    column.append(true);
    bytes
}

/// A place in a file, or a length; none of ours has more than 63 bits.
fn signed(number: Option<u64>) -> Option<i64> {
    number.and_then(|number| i64::try_from(number).ok())
}
