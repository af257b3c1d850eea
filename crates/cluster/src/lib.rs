//! Rows that go between Twicetold and an engine with many machines.
//!
//! `twicetold sketch` and `twicetold judge` read and write rows: as JSON lines, which the command line knows how to read, or as
//! tables. The tables are here: [`Table`] reads Arrow streams, Arrow files and Parquet files, and hands over the same
//! [`Handed`] messages that a JSON line hands over; a [`Sheet`] writes [`SketchRow`]s,
//! [`OutlineRow`]s and [`VerdictRow`]s as an Arrow stream. `docs/scale.md` tells the columns.
//!
//! A table is never held as a whole: an Arrow stream is read batch by batch, a Parquet file in stretches of its row
//! groups. Bytes of any kind lead to rows, to rows that say what is wrong with them, or to [`Next::Lost`]; never to a panic, and
//! never to more memory than the bytes there are can fill.

mod arrow;
mod cell;
mod guard;
mod handed;
mod kind;
mod parquet;
mod rows;
mod sheet;
mod table;
mod version;

pub use arrow::plain::{Candidate, Candidates, WholeFile, WholeFiles};
pub use handed::{Handed, InPart, Named, Wanted, form_name, form_named, is_made_by};
pub use kind::Kind;
pub use rows::answers::{AnswerColumns, AnswerRow};
pub use rows::entries::{Entry, EntryColumns, EntryRow};
pub use rows::outlines::{OutlineColumns, OutlineRow, Outlined};
pub use rows::partners::{PartnerColumns, PartnerRow};
pub use rows::sketches::{SketchColumns, SketchRow};
pub use rows::verdicts::{Covering, Given, VerdictColumns, VerdictRow};
pub use sheet::{Columns, Sheet};
pub use table::{Next, Table};
pub use version::{Refused, SCHEMA};
