//! Parquet files, read in stretches of their row groups.
//!
//! The columns are read one by one, without a table of Arrow in between: their bytes are not copied, a dictionary is not
//! multiplied into its rows, and much less has to be compiled.

mod bounded;
mod column;

use std::fs::File;

use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use crate::cell::{Cell, Member};
use crate::guard::decode;
use crate::handed::Wanted;
use crate::table::{self, Batches, Step};
use crate::version::{Refused, check};
use bounded::Bounded;
use column::{Column, Value, columns};

/// A stretch has so many rows at the most.
const MOST_ROWS: u64 = 1024;
/// And about so many bytes, if its row group is even.
const STRETCH_BYTES: u64 = 4 << 20;

/// A Parquet file that is being read.
pub(crate) struct Groups {
    name: String,
    wanted: Wanted,
    /// Until it has been opened.
    file: Option<File>,
    open: Option<Open>,
}

/// A file whose table of contents has been read.
struct Open {
    reader: SerializedFileReader<Bounded>,
    columns: Vec<Column>,
    /// The row group that is next.
    next: usize,
    group: Option<Group>,
}

/// A row group that is being read.
struct Group {
    readers: Vec<Option<ColumnReader>>,
    /// Rows that are still to come.
    left: u64,
    stretch: u64,
}

/// A stretch of rows: the values of each column.
struct Batch {
    columns: Vec<(Member, Option<Vec<Value>>)>,
    rows: usize,
}

impl Groups {
    /// A file, called `name`.
    pub(crate) fn new(name: String, file: File, wanted: Wanted) -> Self {
        Self {
            name,
            wanted,
            file: Some(file),
            open: None,
        }
    }
}

impl Batches for Groups {
    fn next(&mut self) -> Result<Step, Refused> {
        if let Some(file) = self.file.take() {
            match Open::new(&self.name, file, self.wanted) {
                Ok(open) => self.open = Some(open?),
                Err(why) => return Ok(Step::End(Some(why))),
            }
        }
        let Some(open) = &mut self.open else {
            return Ok(Step::End(None));
        };
        Ok(open.step())
    }
}

impl Open {
    /// The outer error is a damaged file, the inner one a foreign one.
    fn new(name: &str, file: File, wanted: Wanted) -> Result<Result<Self, Refused>, String> {
        let file = Bounded::new(file).map_err(|error| format!("it cannot be read: {error}"))?;
        if let Some(why) = file.trouble() {
            return Err(why);
        }
        let reader = decode(|| SerializedFileReader::new(file))
            .map_err(|why| format!("its table of contents cannot be read: {why}"))?;
        let about = reader.metadata().file_metadata();
        let fields = about.schema_descr().root_schema().get_fields();
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let entry = |key: &str| {
            let entries = about.key_value_metadata()?;
            let found = entries.iter().find(|entry| entry.key == key)?;
            found.value.as_deref()
        };
        if let Err(refused) = check(name, &names, wanted, entry) {
            return Ok(Err(refused));
        }
        let columns = columns(about.schema_descr(), &names, wanted);
        Ok(Ok(Self {
            reader,
            columns,
            next: 0,
            group: None,
        }))
    }

    fn step(&mut self) -> Step {
        loop {
            if let Some(group) = &mut self.group {
                if group.left == 0 {
                    self.group = None;
                    continue;
                }
                let (columns, left) = (&self.columns, group.left);
                return match decode(|| group.stretch(columns)) {
                    Ok(batch) => {
                        group.left -= batch.rows as u64;
                        Step::Batch(Box::new(batch))
                    }
                    Err(why) => {
                        self.group = None;
                        Step::Lost(format!(
                            "the last {left} rows of row group {} cannot be read: {why}",
                            self.next
                        ))
                    }
                };
            }
            if self.next >= self.reader.num_row_groups() {
                return Step::End(None);
            }
            self.next += 1;
            let opened = decode(|| {
                let group = self.reader.get_row_group(self.next - 1)?;
                Group::open(&*group, &self.columns)
            });
            match opened {
                Ok(group) => self.group = Some(group),
                Err(why) => {
                    return Step::Lost(format!("row group {} cannot be read: {why}", self.next));
                }
            }
        }
    }
}

impl Group {
    fn open(group: &dyn RowGroupReader, columns: &[Column]) -> parquet::errors::Result<Self> {
        let about = group.metadata();
        let rows = u64::try_from(about.num_rows()).unwrap_or(0);
        let mut bytes = 0;
        let mut readers = Vec::with_capacity(columns.len());
        for column in columns {
            readers.push(match &column.leaf {
                None => None,
                Some(leaf) => {
                    readable(about.column(leaf.at).compression())?;
                    let size = about.column(leaf.at).uncompressed_size();
                    bytes += u64::try_from(size).unwrap_or(0);
                    Some(group.get_column_reader(leaf.at)?)
                }
            });
        }
        let each = (bytes / rows.max(1)).max(1);
        Ok(Self {
            readers,
            left: rows,
            stretch: (STRETCH_BYTES / each).clamp(1, MOST_ROWS),
        })
    }

    /// The next rows.
    fn stretch(&mut self, columns: &[Column]) -> Result<Batch, String> {
        let rows = self.left.min(self.stretch) as usize;
        let mut read = Vec::with_capacity(columns.len());
        for (column, reader) in columns.iter().zip(&mut self.readers) {
            let values = match (&column.leaf, reader) {
                (Some(leaf), Some(reader)) => {
                    let values = leaf.read(reader, rows).map_err(|error| error.to_string())?;
                    if values.len() != rows {
                        let name = column.member.name();
                        return Err(format!("the column {name} has fewer rows than the table"));
                    }
                    Some(values)
                }
                _ => None,
            };
            read.push((column.member, values));
        }
        Ok(Batch {
            columns: read,
            rows,
        })
    }
}

/// Refuses what would need a large library to be read.
fn readable(compression: Compression) -> parquet::errors::Result<()> {
    let name = match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::LZ4
        | Compression::LZ4_RAW => return Ok(()),
        Compression::ZSTD(_) => "ZSTD",
        Compression::GZIP(_) => "GZIP",
        Compression::BROTLI(_) => "BROTLI",
        Compression::LZO => "LZO",
    };
    Err(ParquetError::NYI(format!(
        "it is compressed by {name}; write it with snappy, which is what Spark does unless told otherwise"
    )))
}

impl table::Batch for Batch {
    fn rows(&self) -> usize {
        self.rows
    }

    fn row(&self, row: usize) -> Vec<(Member, Cell<'_>)> {
        self.columns
            .iter()
            .map(|(member, values)| {
                let cell = match values {
                    None => Cell::Strange,
                    Some(values) => values.get(row).map_or(Cell::Nothing, Value::cell),
                };
                (*member, cell)
            })
            .collect()
    }
}
