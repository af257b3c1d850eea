//! Arrow streams, read message by message.

mod batch;
mod frames;
mod lengths;
pub(crate) mod plain;

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{MessageHeader, MetadataVersion, root_as_message};
use arrow_schema::{Schema, SchemaRef};

use crate::cell::{Cell, Member};
use crate::guard::decode;
use crate::handed::Wanted;
use crate::table::{self, Batches, Step};
use crate::version::{Refused, check};
use batch::{Column, columns};
use frames::{Frame, Frames};

/// A stream that is being read.
pub(crate) struct Stream {
    name: String,
    wanted: Wanted,
    frames: Frames,
    /// What the schema says; `None` before it has come.
    table: Option<Table>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Batches so far, for people.
    batches: u64,
}

/// What the schema says.
struct Table {
    /// With bytes in place of texts: a text that is no UTF-8 is to spoil its row, not its batch.
    schema: SchemaRef,
    columns: Vec<Column>,
    /// The columns to decode, by their place in the schema.
    wanted: Vec<usize>,
}

/// Rows that were read together.
struct Batch {
    batch: RecordBatch,
    columns: Vec<Column>,
}

impl Stream {
    /// A stream, or a file, called `name`.
    pub(crate) fn new(name: String, reader: Box<dyn Read>, wanted: Wanted) -> Self {
        Self {
            name,
            wanted,
            frames: Frames::new(reader),
            table: None,
            dictionaries: HashMap::new(),
            batches: 0,
        }
    }

    fn take(&mut self, frame: &Frame) -> Result<Taken, Refused> {
        let end = |why: &str| Ok(Taken::Step(Step::End(Some(why.to_owned()))));
        let Ok(message) = root_as_message(&frame.header) else {
            return end("the header of a batch is damaged");
        };
        let version = message.version();
        match (message.header_type(), &self.table) {
            (MessageHeader::Schema, None) => {
                let Some(schema) = message.header_as_schema() else {
                    return end("its schema is damaged");
                };
                let schema = match decode(|| arrow_ipc::convert::try_fb_to_schema(schema)) {
                    Ok(schema) => schema,
                    Err(why) => return end(&format!("its schema cannot be read: {why}")),
                };
                self.table = Some(Table::new(&self.name, &schema, self.wanted)?);
                Ok(Taken::Nothing)
            }
            (MessageHeader::RecordBatch, Some(table)) => {
                self.batches += 1;
                let Some(header) = message.header_as_record_batch() else {
                    return end("the header of a batch is damaged");
                };
                let read = lengths::check(&header, &frame.body)
                    .and_then(|()| table.batch(&frame.body, header, &self.dictionaries, version));
                Ok(Taken::Step(match read {
                    Ok(batch) => Step::Batch(Box::new(batch)),
                    Err(why) => {
                        let rows = match u64::try_from(header.length()) {
                            Ok(rows) if rows <= lengths::MOST_ROWS => {
                                format!("; it has {rows} rows")
                            }
                            _ => String::new(),
                        };
                        Step::Lost(format!(
                            "batch {} cannot be read: {why}{rows}",
                            self.batches
                        ))
                    }
                }))
            }
            (MessageHeader::DictionaryBatch, Some(table)) => {
                let Some(header) = message.header_as_dictionary_batch() else {
                    return end("the header of a dictionary is damaged");
                };
                let read = match header.data() {
                    Some(data) => lengths::check(&data, &frame.body),
                    None => Err("it has no values".to_owned()),
                };
                let (schema, dictionaries) = (&table.schema, &mut self.dictionaries);
                let read = read.and_then(|()| {
                    decode(|| read_dictionary(&frame.body, header, schema, dictionaries, &version))
                });
                match read {
                    Ok(()) => Ok(Taken::Nothing),
                    // Whatever refers to it would be read wrongly.
                    Err(why) => end(&format!("a dictionary cannot be read: {why}")),
                }
            }
            (MessageHeader::Schema, Some(_)) => end("a second schema begins inside it"),
            (_, None) => end("it does not begin with a schema"),
            _ => end("it has something else between its batches"),
        }
    }
}

impl Batches for Stream {
    fn next(&mut self) -> Result<Step, Refused> {
        loop {
            let frame = match self.frames.next() {
                Ok(Some(frame)) => frame,
                Ok(None) if self.table.is_none() => {
                    return Ok(Step::End(Some("it ends before its schema".to_owned())));
                }
                Ok(None) => return Ok(Step::End(None)),
                Err(why) => return Ok(Step::End(Some(why))),
            };
            match self.take(&frame)? {
                Taken::Nothing => {}
                Taken::Step(step) => return Ok(step),
            }
        }
    }
}

enum Taken {
    Nothing,
    Step(Step),
}

impl Table {
    fn new(name: &str, schema: &Schema, wanted: Wanted) -> Result<Self, Refused> {
        let names: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        check(name, &names, wanted, |key| {
            schema.metadata().get(key).map(String::as_str)
        })?;
        let (schema, columns) = columns(schema, &names, wanted);
        let wanted = columns.iter().filter_map(|column| column.at).collect();
        Ok(Self {
            schema: Arc::new(schema),
            columns,
            wanted,
        })
    }

    fn batch(
        &self,
        body: &Buffer,
        header: arrow_ipc::RecordBatch<'_>,
        dictionaries: &HashMap<i64, ArrayRef>,
        version: MetadataVersion,
    ) -> Result<Batch, String> {
        let schema = Arc::clone(&self.schema);
        let batch = decode(|| {
            read_record_batch(
                body,
                header,
                schema,
                dictionaries,
                Some(&self.wanted),
                &version,
            )
        })?;
        Ok(Batch {
            batch,
            columns: self.columns.clone(),
        })
    }
}

impl table::Batch for Batch {
    fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn row(&self, row: usize) -> Vec<(Member, Cell<'_>)> {
        let mut decoded = self.batch.columns().iter();
        let value = |column: &Column| {
            let cell = match column.at.and_then(|_| decoded.next()) {
                Some(array) => batch::cell(array, column.is_text, row),
                None => Cell::Strange,
            };
            (column.member, cell)
        };
        self.columns.iter().map(value).collect()
    }
}
