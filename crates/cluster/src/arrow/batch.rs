//! The columns of an Arrow table that count, and their values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::cell::{Cell, Member};
use crate::handed::Wanted;

/// A column that counts.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) member: Member,
    /// Where it stands in the schema; `None` if its type says nothing here: then it is not decoded.
    pub(super) at: Option<usize>,
    /// Whether its bytes are texts.
    pub(super) is_text: bool,
}

/// The columns that count, and the schema with bytes in place of their texts.
pub(super) fn columns(schema: &Schema, names: &[&str], wanted: Wanted) -> (Schema, Vec<Column>) {
    let mut columns = Vec::new();
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    for (at, field) in fields.iter_mut().enumerate() {
        let Some(member) = Member::of_column(field.name(), names, wanted) else {
            continue;
        };
        let readable = as_bytes(field.data_type());
        columns.push(Column {
            member,
            at: readable.as_ref().map(|_| at),
            is_text: is_text(field.data_type()),
        });
        if let Some(readable) = readable {
            // What must not be missing and is would spoil the whole batch.
            let free = field.as_ref().clone().with_nullable(true);
            *field = Arc::new(free.with_data_type(readable));
        }
    }
    (
        Schema::new_with_metadata(fields, schema.metadata().clone()),
        columns,
    )
}

/// Whether the bytes of a column are texts.
fn is_text(given: &DataType) -> bool {
    match given {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        DataType::List(item) | DataType::LargeList(item) => is_text(item.data_type()),
        _ => false,
    }
}

/// The type as which a column is read; `None` for types that say nothing here.
fn as_bytes(given: &DataType) -> Option<DataType> {
    let item = |field: &Arc<Field>| -> Option<Arc<Field>> {
        let plain = !matches!(
            field.data_type(),
            DataType::List(_) | DataType::LargeList(_) | DataType::Dictionary(..)
        );
        let read = as_bytes(field.data_type()).filter(|_| plain)?;
        let free = field.as_ref().clone().with_nullable(true);
        Some(Arc::new(free.with_data_type(read)))
    };
    Some(match given {
        DataType::Utf8 | DataType::Binary => DataType::Binary,
        DataType::LargeUtf8 | DataType::LargeBinary => DataType::LargeBinary,
        DataType::Utf8View | DataType::BinaryView => DataType::BinaryView,
        DataType::List(field) => DataType::List(item(field)?),
        DataType::LargeList(field) => DataType::LargeList(item(field)?),
        DataType::Dictionary(keys, values) => {
            let plain = !matches!(
                **values,
                DataType::List(_) | DataType::LargeList(_) | DataType::Dictionary(..)
            );
            if !keys.is_dictionary_key_type() || !plain {
                return None;
            }
            DataType::Dictionary(keys.clone(), Box::new(as_bytes(values)?))
        }
        DataType::Float32 | DataType::Float64 => given.clone(),
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => given.clone(),
        DataType::Null => DataType::Null,
        whole if whole.is_integer() => whole.clone(),
        _ => return None,
    })
}

/// One value. Moments are seconds since 1970, which is what a date in JSON lines is.
pub(super) fn cell(array: &ArrayRef, is_text: bool, row: usize) -> Cell<'_> {
    if row >= array.len() || array.is_null(row) {
        return Cell::Nothing;
    }
    let bytes = |bytes| match is_text {
        true => Cell::Text(bytes),
        false => Cell::Bytes(bytes),
    };
    macro_rules! value {
        ($type:ty) => {
            array.as_primitive::<$type>().value(row)
        };
    }
    macro_rules! whole {
        ($type:ty) => {
            Cell::Whole(i128::from(value!($type)))
        };
    }
    macro_rules! moment {
        ($type:ty, $parts:expr) => {
            Cell::Whole(i128::from(value!($type)).div_euclid($parts))
        };
    }
    match array.data_type() {
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float32 => Cell::Real(f64::from(value!(Float32Type))),
        DataType::Float64 => Cell::Real(value!(Float64Type)),
        DataType::Date32 => Cell::Whole(i128::from(value!(Date32Type)) * 86_400),
        DataType::Date64 => moment!(Date64Type, 1_000),
        DataType::Timestamp(TimeUnit::Second, _) => moment!(TimestampSecondType, 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => moment!(TimestampMillisecondType, 1_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            moment!(TimestampMicrosecondType, 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            moment!(TimestampNanosecondType, 1_000_000_000)
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            match cell_of_key(dictionary.keys(), row) {
                Some(key) => cell(dictionary.values(), is_text, key),
                None => Cell::Strange,
            }
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let (from, to) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
            cells(list.values(), is_text, from as usize, to as usize)
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let (from, to) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
            cells(list.values(), is_text, from as usize, to as usize)
        }
        DataType::Null => Cell::Nothing,
        _ => Cell::Strange,
    }
}

fn cells(values: &ArrayRef, is_text: bool, from: usize, to: usize) -> Cell<'_> {
    Cell::List((from..to).map(|n| cell(values, is_text, n)).collect())
}

/// Which entry of its dictionary a row refers to.
fn cell_of_key(keys: &dyn Array, row: usize) -> Option<usize> {
    macro_rules! key {
        ($type:ty) => {
            usize::try_from(keys.as_primitive::<$type>().value(row)).ok()
        };
    }
    match keys.data_type() {
        DataType::Int8 => key!(Int8Type),
        DataType::Int16 => key!(Int16Type),
        DataType::Int32 => key!(Int32Type),
        DataType::Int64 => key!(Int64Type),
        DataType::UInt8 => key!(UInt8Type),
        DataType::UInt16 => key!(UInt16Type),
        DataType::UInt32 => key!(UInt32Type),
        DataType::UInt64 => key!(UInt64Type),
        _ => None,
    }
}
