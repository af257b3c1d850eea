//! The table for programs: one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;

use super::table::Row;
use crate::plain::escape::SafeJson;
use crate::session::Desk;

pub(super) fn write(desk: &Desk, out: &mut dyn Write) -> io::Result<()> {
    for number in 0..desk.catalogue.len() as u32 {
        if let Some(row) = Row::new(desk, number) {
            row.serialize(&mut serde_json::Serializer::with_formatter(
                &mut *out, SafeJson,
            ))?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}
