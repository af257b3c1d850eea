//! Rows that go to another program: as JSON lines, or as an Arrow stream.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use twicetold_cluster::Columns;

use crate::failure::Advice;
use crate::output::Output;
use crate::report::jsonl::write_line;

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// One JSON object a line
    #[default]
    Jsonl,
    /// An Arrow IPC stream
    Arrow,
}

impl RowFormat {
    /// Rows made ready to be written; whatever that costs is best done here, on many threads.
    pub(crate) fn ready<R: Serialize>(self, rows: Vec<R>) -> io::Result<Ready<R>> {
        if self == Self::Arrow {
            return Ok(Ready::Rows(rows));
        }
        let mut lines = Vec::new();
        for row in &rows {
            write_line(&mut lines, row)?;
        }
        Ok(Ready::Lines(lines))
    }
}

/// Nobody can read bytes on a terminal.
pub(crate) fn refuse_terminal(output: &Output, what: &str) -> Result<()> {
    if matches!(output, Output::Stdout) && io::stdout().is_terminal() {
        return Err(Advice::new(
            format!("{what} cannot be shown on a terminal"),
            "pipe it into another program, or write it to a file with --output FILE",
        )
        .usage()
        .into_error());
    }
    Ok(())
}

/// Rows that are ready to be written.
pub(crate) enum Ready<R> {
    Lines(Vec<u8>),
    Rows(Vec<R>),
}

/// Where rows are written to.
pub(crate) enum Sheet<'o, C: Columns> {
    Lines(&'o mut dyn Write),
    Table(Box<twicetold_cluster::Sheet<&'o mut dyn Write, C>>),
}

impl<'o, C: Columns> Sheet<'o, C> {
    pub(crate) fn new(format: RowFormat, out: &'o mut dyn Write, columns: C) -> io::Result<Self> {
        Ok(match format {
            RowFormat::Jsonl => Self::Lines(out),
            RowFormat::Arrow => Self::Table(Box::new(twicetold_cluster::Sheet::new(out, columns)?)),
        })
    }

    /// Writes rows that [`RowFormat::ready`] has made of the same format.
    pub(crate) fn put(&mut self, ready: Ready<C::Row>) -> io::Result<()> {
        match (self, ready) {
            (Self::Lines(out), Ready::Lines(lines)) => out.write_all(&lines),
            (Self::Table(sheet), Ready::Rows(rows)) => {
                rows.into_iter().try_for_each(|row| sheet.push(row))
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The next program need not wait for more than has come.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Lines(out) => out.flush(),
            Self::Table(sheet) => sheet.flush(),
        }
    }

    /// There are no more rows.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Lines(out) => out.flush(),
            Self::Table(sheet) => sheet.finish(),
        }
    }
}
