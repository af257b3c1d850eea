//! Rows written as an Arrow stream.

use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

/// A batch has so many rows at the most.
const MOST_ROWS: usize = 4096;
/// And about so many bytes.
const BATCH_BYTES: usize = 8 << 20;

/// Columns that grow row by row.
pub trait Columns {
    /// A row.
    type Row;
    /// The columns, with their version in the metadata.
    fn schema(&self) -> SchemaRef;
    /// Adds a row, and says about how many bytes it takes.
    fn push(&mut self, row: Self::Row) -> usize;
    /// What has been added since the last time.
    fn take(&mut self) -> Result<RecordBatch, ArrowError>;
}

/// An Arrow stream that is being written, in batches that are limited in rows and in bytes.
pub struct Sheet<W: Write, C: Columns> {
    writer: StreamWriter<W>,
    columns: C,
    rows: usize,
    bytes: usize,
}

impl<W: Write, C: Columns> Sheet<W, C> {
    /// Begins a stream: the schema is written now.
    pub fn new(out: W, columns: C) -> io::Result<Self> {
        let writer = StreamWriter::try_new(out, &columns.schema()).map_err(as_io)?;
        Ok(Self {
            writer,
            columns,
            rows: 0,
            bytes: 0,
        })
    }

    /// Adds a row; a batch that is full is written.
    pub fn push(&mut self, row: C::Row) -> io::Result<()> {
        self.bytes += self.columns.push(row);
        self.rows += 1;
        if self.rows >= MOST_ROWS || self.bytes >= BATCH_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Writes what there is, so that the next program need not wait.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write()?;
        self.writer.get_mut().flush()
    }

    /// Writes what there is, and the mark of the end.
    pub fn finish(mut self) -> io::Result<()> {
        self.write()?;
        self.writer.finish().map_err(as_io)?;
        self.writer.get_mut().flush()
    }

    fn write(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.bytes) = (0, 0);
        let batch = self.columns.take().map_err(as_io)?;
        self.writer.write(&batch).map_err(as_io)
    }
}

/// A pipe that was closed is to be recognised as one.
fn as_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
