//! What `cluster entries` writes about each text: what an engine has to know to find its partners.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};

use super::{list, schema, signed};
use crate::sheet::Columns;

/// The row of a text, or of something that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryRow {
    /// What the text is called, as JSON.
    pub name: String,
    /// The file it stands in, as JSON.
    pub path: String,
    /// And where in it.
    pub offset: Option<u64>,
    /// What could not be read, in words; such a row has nothing else.
    pub problem: Option<String>,
    /// For each method, what it keeps of the text.
    pub entries: Vec<Option<Entry>>,
}

/// What a method keeps of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The same for texts with equal sketches.
    pub class: u128,
    /// By what partners meet.
    pub keys: Vec<u64>,
    /// What comparing needs besides.
    pub body: Vec<u8>,
    /// How many keys a partner must share.
    pub least: u32,
}

/// The columns of [`EntryRow`]s: four for each method, with its number behind their names.
#[derive(Debug, Default)]
pub struct EntryColumns {
    name: StringBuilder,
    path: StringBuilder,
    offset: Int64Builder,
    problem: StringBuilder,
    methods: Vec<Method>,
}

#[derive(Debug, Default)]
struct Method {
    class: BinaryBuilder,
    keys: ListBuilder<Int64Builder>,
    body: BinaryBuilder,
    least: Int32Builder,
}

impl EntryColumns {
    /// Columns for so many methods.
    pub fn new(methods: usize) -> Self {
        Self {
            methods: (0..methods).map(|_| Method::default()).collect(),
            ..Self::default()
        }
    }
}

impl Method {
    fn push(&mut self, entry: Option<&Entry>) -> usize {
        let class = entry.map(|entry| entry.class.to_be_bytes());
        self.class.append_option(class);
        self.body.append_option(entry.map(|entry| &entry.body));
        let least = entry.map(|entry| i32::try_from(entry.least).unwrap_or(i32::MAX));
        self.least.append_option(least);
        let keys = entry.map_or(&[][..], |entry| &entry.keys);
        for key in keys {
            // The same bits: Spark knows no numbers without a sign.
            self.keys.values().append_value(key.cast_signed());
        }
        self.keys.append(entry.is_some());
        32 + 8 * keys.len() + entry.map_or(0, |entry| entry.body.len())
    }
}

impl Columns for EntryColumns {
    type Row = EntryRow;

    fn schema(&self) -> SchemaRef {
        let mut fields = vec![
            Field::new("name", DataType::Utf8, false),
            Field::new("path", DataType::Utf8, false),
            Field::new("offset", DataType::Int64, true),
            Field::new("problem", DataType::Utf8, true),
        ];
        for number in 0..self.methods.len() {
            fields.extend([
                Field::new(format!("class{number}"), DataType::Binary, true),
                Field::new(format!("keys{number}"), list(DataType::Int64), true),
                Field::new(format!("body{number}"), DataType::Binary, true),
                Field::new(format!("least{number}"), DataType::Int32, true),
            ]);
        }
        schema("entries", fields)
    }

    fn push(&mut self, row: EntryRow) -> usize {
        self.name.append_value(&row.name);
        self.path.append_value(&row.path);
        self.offset.append_option(signed(row.offset));
        self.problem.append_option(row.problem.as_deref());
        let entries = row.entries.iter().map(Option::as_ref);
        let mut entries = entries.chain(std::iter::repeat(None));
        let methods = self.methods.iter_mut();
        let bytes: usize = methods
            .map(|method| method.push(entries.next().flatten()))
            .sum();
        64 + row.name.len() + row.path.len() + bytes
    }

    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let schema = Columns::schema(self);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.name.finish()),
            Arc::new(self.path.finish()),
            Arc::new(self.offset.finish()),
            Arc::new(self.problem.finish()),
        ];
        for method in &mut self.methods {
            columns.push(Arc::new(method.class.finish()));
            columns.push(Arc::new(method.keys.finish()));
            columns.push(Arc::new(method.body.finish()));
            columns.push(Arc::new(method.least.finish()));
        }
        RecordBatch::try_new(schema, columns)
    }
}
