//! Rows as JSON lines have them, made tables, and back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type as ParquetInt64};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value, json};

/// The rows of an Arrow stream as JSON lines would have them, read by the reader that everybody uses.
pub(crate) fn of_arrow(bytes: &[u8]) -> Vec<Value> {
    let mut rows = Vec::new();
    let reader = StreamReader::try_new(bytes, None).unwrap();
    assert_eq!(reader.schema().metadata()["twicetold.schema"], "1");
    for batch in reader {
        let batch = batch.unwrap();
        for n in 0..batch.num_rows() {
            rows.push(object(batch.schema().fields(), batch.columns(), n));
        }
    }
    rows
}

fn object(fields: &arrow_schema::Fields, columns: &[ArrayRef], row: usize) -> Value {
    let members = fields.iter().zip(columns);
    let members = members.filter_map(|(field, column)| {
        let value = value(column, row, field.name());
        // JSON lines leave a message out that is not there.
        let left_out = field.name() == "message" && value.is_null();
        (!left_out).then(|| (field.name().clone(), value))
    });
    Value::Object(members.collect::<Map<_, _>>())
}

fn value(column: &ArrayRef, row: usize, name: &str) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => {
            let number = column.as_primitive::<Int64Type>().value(row);
            match name {
                "keys" => format!("{:016x}", number.cast_unsigned()).into(),
                _ => number.into(),
            }
        }
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Binary => STANDARD.encode(column.as_binary::<i32>().value(row)).into(),
        DataType::List(_) => {
            let values = column.as_list::<i32>().value(row);
            (0..values.len()).map(|n| value(&values, n, name)).collect()
        }
        DataType::Struct(fields) => object(fields, column.as_struct().columns(), row),
        other => panic!("{other} is not for Spark"),
    }
}

fn text(row: &Value, name: &str) -> Option<String> {
    match &row[name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn message(row: &Value) -> Option<Vec<u8>> {
    row["message"]
        .as_str()
        .map(|text| STANDARD.decode(text).unwrap())
}

const TEXTS: [&str; 5] = ["group", "id", "path", "form", "text"];

/// Rows handed over, as an Arrow stream; some batches of them.
pub(crate) fn to_arrow(rows: &[Value]) -> Vec<u8> {
    let mut fields: Vec<Field> = TEXTS
        .iter()
        .map(|name| Field::new(*name, DataType::Utf8, true))
        .collect();
    fields.push(Field::new("offset", DataType::Int64, true));
    fields.push(Field::new("message", DataType::Binary, true));
    let schema = Arc::new(Schema::new(fields));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    for some in rows.chunks(7) {
        let mut columns: Vec<ArrayRef> = TEXTS
            .iter()
            .map(|name| {
                Arc::new(
                    some.iter()
                        .map(|row| text(row, name))
                        .collect::<StringArray>(),
                ) as ArrayRef
            })
            .collect();
        let offsets: Int64Array = some.iter().map(|row| row["offset"].as_i64()).collect();
        columns.push(Arc::new(offsets));
        columns.push(Arc::new(some.iter().map(message).collect::<BinaryArray>()));
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// Rows handed over, as a Parquet file; some row groups of them.
pub(crate) fn to_parquet(rows: &[Value]) -> Vec<u8> {
    let texts = TEXTS
        .map(|name| format!("OPTIONAL BYTE_ARRAY {name} (UTF8);"))
        .join(" ");
    let schema =
        format!("message rows {{ {texts} OPTIONAL BYTE_ARRAY message; OPTIONAL INT64 offset; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    for some in rows.chunks(20) {
        let mut group = writer.next_row_group().unwrap();
        let mut bytes_of = |values: Vec<Option<Vec<u8>>>| {
            let mut column = group.next_column().unwrap().unwrap();
            let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
            let values: Vec<ByteArray> = values.into_iter().flatten().map(Into::into).collect();
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, Some(&levels), None)
                .unwrap();
            column.close().unwrap();
        };
        for name in TEXTS {
            bytes_of(
                some.iter()
                    .map(|row| text(row, name).map(String::into_bytes))
                    .collect(),
            );
        }
        bytes_of(some.iter().map(message).collect());
        let offsets: Vec<Option<i64>> = some.iter().map(|row| row["offset"].as_i64()).collect();
        let levels: Vec<i16> = offsets.iter().map(|v| i16::from(v.is_some())).collect();
        let offsets: Vec<i64> = offsets.into_iter().flatten().collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ParquetInt64>()
            .write_batch(&offsets, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

/// Rows as JSON lines, with no members but those that tables have here.
pub(crate) fn to_lines(rows: &[Value]) -> String {
    let line = |row: &Value| {
        let members = row.as_object().unwrap().iter();
        let counts = |name: &str| TEXTS.contains(&name) || ["offset", "message"].contains(&name);
        let members = members.filter(|(name, value)| counts(name) && !value.is_null());
        let object: Map<String, Value> = members
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        format!("{}\n", json!(object))
    };
    rows.iter().map(line).collect()
}
