//! Tables whose columns are fixed: read for what they are, not for what might be meant.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, BinaryArray, Int32Array, Int64Array, ListArray, RecordBatch};
use arrow_ipc::reader::read_record_batch;
use arrow_ipc::{MessageHeader, root_as_message};
use arrow_schema::SchemaRef;

use super::frames::Frames;
use super::lengths;
use crate::guard::decode;

/// A text that is asked about, or one that it may be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// The number of the method.
    pub method: i32,
    /// The number of the text that asks.
    pub asker: i64,
    /// What this row is about.
    pub what: i32,
    /// The number of this text.
    pub number: i64,
    /// Its keys.
    pub keys: Vec<u64>,
    /// What comparing needs besides.
    pub body: Vec<u8>,
}

/// An Arrow stream that is read batch by batch.
struct Plain {
    frames: Frames,
    schema: Option<SchemaRef>,
}

impl Plain {
    fn new(reader: Box<dyn Read>) -> Self {
        Self {
            frames: Frames::new(reader),
            schema: None,
        }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, String> {
        while let Some(frame) = self.frames.next()? {
            let damaged = "the header of a batch is damaged";
            let message = root_as_message(&frame.header).map_err(|_| damaged)?;
            match (message.header_type(), &self.schema) {
                (MessageHeader::Schema, None) => {
                    let schema = message.header_as_schema().ok_or(damaged)?;
                    let schema = decode(|| arrow_ipc::convert::try_fb_to_schema(schema))?;
                    self.schema = Some(Arc::new(schema));
                }
                (MessageHeader::RecordBatch, Some(schema)) => {
                    let header = message.header_as_record_batch().ok_or(damaged)?;
                    lengths::check(&header, &frame.body)?;
                    let (schema, version) = (Arc::clone(schema), message.version());
                    let none = HashMap::new();
                    let read =
                        || read_record_batch(&frame.body, header, schema, &none, None, &version);
                    return decode(read).map(Some);
                }
                _ => return Err("it has something else between its batches".to_owned()),
            }
        }
        Ok(None)
    }
}

/// Candidates, as an engine hands them over.
pub struct Candidates {
    stream: Plain,
}

impl Candidates {
    /// Reads an Arrow stream with the columns `method`, `asker`, `what`, `number`, `keys` and `body`.
    pub fn new(reader: Box<dyn Read>) -> Self {
        let stream = Plain::new(reader);
        Self { stream }
    }

    /// The next rows; `None` behind the last.
    ///
    /// # Errors
    /// Why the stream cannot be read on, in words.
    pub fn next_rows(&mut self) -> Result<Option<Vec<Candidate>>, String> {
        let Some(batch) = self.stream.next()? else {
            return Ok(None);
        };
        decode(|| candidates(&batch)).map(Some)
    }
}

fn candidates(batch: &RecordBatch) -> Result<Vec<Candidate>, String> {
    let number = |name: &str| -> Result<&Int64Array, String> {
        column(batch, name)?
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| strange(name))
    };
    let (askers, numbers) = (number("asker")?, number("number")?);
    let small = |name: &str| -> Result<&Int32Array, String> {
        column(batch, name)?
            .as_primitive_opt::<Int32Type>()
            .ok_or_else(|| strange(name))
    };
    let (methods, what) = (small("method")?, small("what")?);
    let keys: &ListArray = column(batch, "keys")?
        .as_list_opt()
        .ok_or_else(|| strange("keys"))?;
    let bodies = column(batch, "body")?
        .as_binary_opt::<i32>()
        .ok_or_else(|| strange("body"))?;
    let rows = (0..batch.num_rows()).map(|row| {
        let keys = keys.value(row);
        let keys: &Int64Array = keys
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| strange("keys"))?;
        Ok(Candidate {
            method: methods.value(row),
            asker: askers.value(row),
            what: what.value(row),
            number: numbers.value(row),
            keys: keys
                .values()
                .iter()
                .map(|key| key.cast_unsigned())
                .collect(),
            body: bytes(bodies, row).to_vec(),
        })
    });
    rows.collect()
}

/// A file with its name, as an engine hands it over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeFile {
    /// What it is called.
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// Files, as an engine hands them over.
pub struct WholeFiles {
    stream: Plain,
}

impl WholeFiles {
    /// Reads an Arrow stream with the columns `path` and `content`.
    pub fn new(reader: Box<dyn Read>) -> Self {
        let stream = Plain::new(reader);
        Self { stream }
    }

    /// The next files; `None` behind the last.
    ///
    /// # Errors
    /// Why the stream cannot be read on, in words.
    pub fn next_files(&mut self) -> Result<Option<Vec<WholeFile>>, String> {
        let Some(batch) = self.stream.next()? else {
            return Ok(None);
        };
        let files = || {
            let paths = column(&batch, "path")?
                .as_string_opt::<i32>()
                .ok_or_else(|| strange("path"))?;
            let contents = column(&batch, "content")?
                .as_binary_opt::<i32>()
                .ok_or_else(|| strange("content"))?;
            let files = (0..batch.num_rows()).map(|row| WholeFile {
                path: paths.value(row).to_owned(),
                content: bytes(contents, row).to_vec(),
            });
            Ok::<_, String>(files.collect())
        };
        decode(files).map(Some)
    }
}

fn bytes(array: &BinaryArray, row: usize) -> &[u8] {
    if array.is_null(row) {
        return &[];
    }
    array.value(row)
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b dyn Array, String> {
    let column = batch.column_by_name(name).map(AsRef::as_ref);
    column.ok_or_else(|| format!("it has no column {name}"))
}

fn strange(name: &str) -> String {
    format!("the column {name} is of another kind than it should be")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use arrow_array::builder::{BinaryBuilder, Int64Builder, ListBuilder};
    use arrow_array::{ArrayRef, StringArray};
    use arrow_ipc::writer::StreamWriter;

    use super::*;

    fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn two_candidates() -> Vec<u8> {
        let (mut keys, mut bodies) = (ListBuilder::new(Int64Builder::new()), BinaryBuilder::new());
        for key in [-1, 7] {
            keys.values().append_value(key);
            keys.append(true);
        }
        bodies.append_value(b"body");
        bodies.append_null();
        stream(vec![
            ("method", Arc::new(Int32Array::from(vec![0, 0]))),
            ("asker", Arc::new(Int64Array::from(vec![5, 5]))),
            ("what", Arc::new(Int32Array::from(vec![0, 1]))),
            ("number", Arc::new(Int64Array::from(vec![5, 9]))),
            ("keys", Arc::new(keys.finish())),
            ("body", Arc::new(bodies.finish())),
        ])
    }

    fn read(bytes: &[u8]) -> Result<Vec<Candidate>, String> {
        let mut candidates = Candidates::new(Box::new(Cursor::new(bytes.to_vec())));
        let mut all = Vec::new();
        while let Some(some) = candidates.next_rows()? {
            all.extend(some);
        }
        Ok(all)
    }

    #[test]
    fn candidates_are_read() {
        let all = read(&two_candidates()).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].keys.as_slice(), all[0].what), (&[u64::MAX][..], 0));
        assert_eq!(
            (all[0].body.as_slice(), all[1].body.len()),
            (&b"body"[..], 0)
        );
        assert_eq!((all[1].asker, all[1].number), (5, 9));
    }

    #[test]
    fn damage_is_an_error_or_other_rows_and_never_a_panic() {
        let whole = two_candidates();
        for cut in 0..whole.len() - 8 {
            assert!(read(&whole[..cut]).is_err(), "{cut}");
        }
        for at in 0..whole.len() {
            for change in [0xFF, 0x80, 0x01] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                let _ = read(&bytes);
            }
        }
    }

    #[test]
    fn a_column_that_is_missing_or_strange_is_named() {
        let ints: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let why = read(&stream(vec![("asker", Arc::clone(&ints))])).unwrap_err();
        assert!(why.contains("number"), "{why}");
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
        let why = read(&stream(vec![("asker", texts), ("number", ints)])).unwrap_err();
        assert!(why.contains("asker"), "{why}");
    }

    #[test]
    fn files_are_read() {
        let paths: ArrayRef = Arc::new(StringArray::from(vec!["a.eml"]));
        let contents: ArrayRef = Arc::new(BinaryArray::from(vec![&b"Subject: x"[..]]));
        let bytes = stream(vec![("path", paths), ("content", contents)]);
        let mut files = WholeFiles::new(Box::new(Cursor::new(bytes)));
        let some = files.next_files().unwrap().unwrap();
        assert_eq!(
            (some[0].path.as_str(), some[0].content.len()),
            ("a.eml", 10)
        );
        assert!(files.next_files().unwrap().is_none());
    }
}
