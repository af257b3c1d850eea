//! Tables as other programs write them.

// Every test file uses its own part of this, and a failing step is to fail the test.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use twicetold_cluster::{Handed, Next, Refused, Table, Wanted};

/// An Arrow stream with these columns, the same batch several times.
pub(crate) fn stream(
    columns: Vec<(&str, ArrayRef)>,
    metadata: &[(&str, &str)],
    batches: usize,
) -> Vec<u8> {
    stream_as(columns, metadata, batches, IpcWriteOptions::default())
}

/// The same, compressed by LZ4.
pub(crate) fn compressed(columns: Vec<(&str, ArrayRef)>, batches: usize) -> Vec<u8> {
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(Some(CompressionType::LZ4_FRAME));
    stream_as(columns, &[], batches, options.unwrap())
}

fn stream_as(
    columns: Vec<(&str, ArrayRef)>,
    metadata: &[(&str, &str)],
    batches: usize,
    options: IpcWriteOptions,
) -> Vec<u8> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    let metadata: HashMap<String, String> = metadata
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let arrays = columns.into_iter().map(|(_, column)| column).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    for _ in 0..batches {
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// A Parquet file of `groups` row groups, each with these ids and messages.
pub(crate) fn parquet(rows: &[(i64, Option<&[u8]>)], groups: usize) -> Vec<u8> {
    let schema = "message t { REQUIRED INT64 id; OPTIONAL BYTE_ARRAY message; OPTIONAL BYTE_ARRAY other (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    for _ in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&ids, None, None)
            .unwrap();
        column.close().unwrap();
        let levels: Vec<i16> = rows.iter().map(|(_, m)| i16::from(m.is_some())).collect();
        let messages: Vec<ByteArray> = rows
            .iter()
            .filter_map(|(_, message)| message.map(|bytes| bytes.to_vec().into()))
            .collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&messages, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let nothing = vec![0_i16; rows.len()];
        column
            .typed::<ByteArrayType>()
            .write_batch(&[], Some(&nothing), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

/// Everything in an Arrow stream: rows, and what is told about rows that are missing.
pub(crate) fn read_stream(bytes: &[u8]) -> Result<(Vec<Handed>, Vec<String>), Refused> {
    let reader = std::io::Cursor::new(bytes.to_vec());
    read(Table::stream("x.arrow", Box::new(reader), Wanted::Messages))
}

/// Everything in a Parquet file.
pub(crate) fn read_parquet(bytes: &[u8]) -> Result<(Vec<Handed>, Vec<String>), Refused> {
    let file = scratch(bytes);
    read(Table::parquet("x.parquet", file, Wanted::Messages))
}

fn read(mut table: Table) -> Result<(Vec<Handed>, Vec<String>), Refused> {
    let (mut rows, mut lost) = (Vec::new(), Vec::new());
    loop {
        match table.next_row()? {
            Next::Row(handed) => rows.push(handed),
            Next::Lost(what) => lost.push(what),
            Next::End => return Ok((rows, lost)),
        }
    }
}

/// A file without a name, for reading.
fn scratch(bytes: &[u8]) -> File {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("table-{}-{number}", std::process::id());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    File::create(&path).unwrap().write_all(bytes).unwrap();
    let file = File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file
}

/// Ids and bytes of the rows.
pub(crate) fn said(rows: &[Handed]) -> Vec<(String, Result<Vec<u8>, String>)> {
    rows.iter()
        .map(|row| {
            let message = match &row.message {
                Ok(raw) => Ok(raw.bytes.to_vec()),
                Err(problem) => Err(problem.to_string()),
            };
            (row.id.clone(), message)
        })
        .collect()
}
