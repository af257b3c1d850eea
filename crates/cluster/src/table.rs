//! A table that is being read, row by row.

use std::fs::File;
use std::io::Read;

use twicetold_model::Location;

use crate::arrow::Stream;
use crate::cell::{self, Cell, Member};
use crate::handed::{Handed, Wanted};
use crate::parquet::Groups;
use crate::version::Refused;

/// What comes next in a table.
#[derive(Debug)]
pub enum Next {
    /// A row.
    Row(Handed),
    /// Here rows are missing: what happened, with the name of the table. What follows may be told all the same.
    Lost(String),
    /// No more rows.
    End,
}

/// Rows that were read together.
pub(crate) trait Batch {
    /// How many there are.
    fn rows(&self) -> usize;
    /// The values of one, in the order of the columns.
    fn row(&self, row: usize) -> Vec<(Member, Cell<'_>)>;
}

/// What comes next in a source of batches.
pub(crate) enum Step {
    /// Rows.
    Batch(Box<dyn Batch>),
    /// Rows that cannot be read, and why; others may follow.
    Lost(String),
    /// Nothing more, and why, if that is too early.
    End(Option<String>),
}

/// Where batches come from.
pub(crate) trait Batches {
    /// What comes next; after the end, the end again.
    fn next(&mut self) -> Result<Step, Refused>;
}

/// An Arrow stream or file, or a Parquet file, read row by row.
///
/// ```
/// use twicetold_cluster::{Next, Table, Wanted};
///
/// let mut table = Table::stream("short.arrow", Box::new(&b"\xFF\xFF\xFF\xFF\x10"[..]), Wanted::Messages);
/// match table.next_row()? {
///     Next::Lost(what) => assert!(what.starts_with("short.arrow cannot be read to its end, after 0 rows")),
///     other => panic!("{other:?}"),
/// }
/// assert!(matches!(table.next_row()?, Next::End));
/// # Ok::<(), twicetold_cluster::Refused>(())
/// ```
pub struct Table {
    name: String,
    source: Box<dyn Batches>,
    wanted: Wanted,
    batch: Option<Box<dyn Batch>>,
    /// The next row of the batch.
    at: usize,
    /// How many rows there have been.
    rows: u64,
    ended: bool,
}

impl Table {
    /// An Arrow stream, or an Arrow file, from its beginning. The name is told with what is wrong.
    pub fn stream(name: impl Into<String>, reader: Box<dyn Read>, wanted: Wanted) -> Self {
        let name = name.into();
        let source = Box::new(Stream::new(name.clone(), reader, wanted));
        Self::new(name, source, wanted)
    }

    /// A Parquet file. Its table of contents stands at its end, so that it has to be a file.
    pub fn parquet(name: impl Into<String>, file: File, wanted: Wanted) -> Self {
        let name = name.into();
        let source = Box::new(Groups::new(name.clone(), file, wanted));
        Self::new(name, source, wanted)
    }

    fn new(name: String, source: Box<dyn Batches>, wanted: Wanted) -> Self {
        Self {
            name,
            source,
            wanted,
            batch: None,
            at: 0,
            rows: 0,
            ended: false,
        }
    }

    /// What comes next. A table whose columns are not ours to read is refused as a whole.
    pub fn next_row(&mut self) -> Result<Next, Refused> {
        loop {
            if self.ended {
                return Ok(Next::End);
            }
            if let Some(batch) = self.batch.as_ref().filter(|batch| self.at < batch.rows()) {
                // A row without a name is called by its number, counted from nought.
                let place = Location {
                    path: self.name.as_str().into(),
                    offset: Some(self.rows),
                };
                let handed = cell::handed(&batch.row(self.at), place, self.wanted);
                self.at += 1;
                self.rows += 1;
                return Ok(Next::Row(handed));
            }
            // Its memory is free before the next one needs some.
            self.batch = None;
            match self.source.next()? {
                Step::Batch(batch) => (self.batch, self.at) = (Some(batch), 0),
                Step::Lost(why) => {
                    return Ok(Next::Lost(format!("{} has lost rows: {why}", self.name)));
                }
                Step::End(why) => {
                    self.ended = true;
                    if let Some(why) = why {
                        return Ok(Next::Lost(self.cut(&why)));
                    }
                }
            }
        }
    }

    fn cut(&self, why: &str) -> String {
        let rows = match self.rows {
            1 => "1 row".to_owned(),
            rows => format!("{rows} rows"),
        };
        format!(
            "{} cannot be read to its end, after {rows}: {why}",
            self.name
        )
    }
}
