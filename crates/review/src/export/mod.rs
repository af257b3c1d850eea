//! What can be sent to someone: the reviewer's table, and a report to read.

mod csv;
mod jsonl;
mod report;
mod table;

use std::io::{self, Write};

use crate::session::Desk;

/// A form in which results leave the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table for spreadsheets.
    Csv,
    /// One JSON object a line, for programs.
    Jsonl,
    /// A page in one file, to be read.
    Html,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Jsonl, Self::Html];

    /// The format that the end of a file name stands for.
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, end) = name.rsplit_once('.')?;
        match end.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "jsonl" => Some(Self::Jsonl),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    pub(crate) fn file_name(self) -> &'static str {
        match self {
            Self::Csv => "twicetold.csv",
            Self::Jsonl => "twicetold.jsonl",
            Self::Html => "twicetold.html",
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl",
            Self::Html => "text/html; charset=utf-8",
        }
    }
}

/// Writes all messages, or the report.
pub(crate) fn write(format: Format, desk: &Desk, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Csv => csv::write(desk, out),
        Format::Jsonl => jsonl::write(desk, out),
        Format::Html => report::write(desk, out),
    }
}
