//! The columns of a Parquet file that count, and their values.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::cell::{Cell, Member};
use crate::handed::Wanted;

/// A column that counts.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) member: Member,
    /// Where its values are; `None` if its type says nothing here: then it is not read.
    pub(super) leaf: Option<Leaf>,
}

/// Where the values of a column are, and what they mean.
#[derive(Debug)]
pub(super) struct Leaf {
    /// The number of the leaf.
    pub(super) at: usize,
    meaning: Meaning,
    most_defined: i16,
    is_list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Text,
    Bytes,
    Whole,
    Unsigned,
    Real,
    /// Moments, so many in a second.
    Parts(i64),
    Days,
}

/// A value that is held.
#[derive(Debug)]
pub(super) enum Value {
    Nothing,
    Text(ByteArray),
    Bytes(ByteArray),
    Whole(i128),
    Real(f64),
    List(Vec<Value>),
}

impl Value {
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            Self::Nothing => Cell::Nothing,
            Self::Text(bytes) => Cell::Text(bytes.data()),
            Self::Bytes(bytes) => Cell::Bytes(bytes.data()),
            Self::Whole(number) => Cell::Whole(*number),
            Self::Real(number) => Cell::Real(*number),
            Self::List(values) => Cell::List(values.iter().map(Self::cell).collect()),
        }
    }
}

/// The columns that count, in the order of the file.
pub(super) fn columns(schema: &SchemaDescriptor, names: &[&str], wanted: Wanted) -> Vec<Column> {
    let root = |leaf: &ColumnDescriptor, name: &str| {
        leaf.path().parts().first().is_some_and(|part| part == name)
    };
    let counting = names.iter().filter_map(|name| {
        let member = Member::of_column(name, names, wanted)?;
        let mut leaves = (schema.columns().iter().enumerate()).filter(|(_, leaf)| root(leaf, name));
        let (first, second) = (leaves.next(), leaves.next());
        let leaf = match (first, second) {
            (Some((at, leaf)), None) => Leaf::new(at, leaf),
            _ => None,
        };
        Some(Column { member, leaf })
    });
    counting.collect()
}

impl Leaf {
    fn new(at: usize, leaf: &ColumnDescriptor) -> Option<Self> {
        let is_list = match (leaf.max_rep_level(), leaf.path().parts().len()) {
            (0, 1) => false,
            (1, _) => true,
            _ => return None,
        };
        Some(Self {
            at,
            meaning: meaning(leaf)?,
            most_defined: leaf.max_def_level(),
            is_list,
        })
    }

    /// The values of the next rows, at most so many.
    pub(super) fn read(&self, reader: &mut ColumnReader, rows: usize) -> Result<Vec<Value>> {
        let (meaning, whole) = (self.meaning, |number: i64| self.whole(number));
        match reader {
            ColumnReader::Int32ColumnReader(reader) => self.rows(reader, rows, |number| {
                whole(match meaning {
                    Meaning::Unsigned => i64::from(number.cast_unsigned()),
                    _ => i64::from(number),
                })
            }),
            ColumnReader::Int64ColumnReader(reader) => self.rows(reader, rows, whole),
            ColumnReader::Int96ColumnReader(reader) => self.rows(reader, rows, |moment| {
                Value::Whole(moment.to_seconds().into())
            }),
            ColumnReader::FloatColumnReader(reader) => {
                self.rows(reader, rows, |number| Value::Real(number.into()))
            }
            ColumnReader::DoubleColumnReader(reader) => self.rows(reader, rows, Value::Real),
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.rows(reader, rows, |bytes| match meaning {
                    Meaning::Text => Value::Text(bytes),
                    _ => Value::Bytes(bytes),
                })
            }
            _ => Err(ParquetError::General(
                "a column changes its type".to_owned(),
            )),
        }
    }

    fn whole(&self, number: i64) -> Value {
        Value::Whole(match self.meaning {
            Meaning::Unsigned => number.cast_unsigned().into(),
            Meaning::Parts(parts) => number.div_euclid(parts).into(),
            Meaning::Days => i128::from(number) * 86_400,
            _ => number.into(),
        })
    }

    fn rows<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        make: impl Fn(T::T) -> Value,
    ) -> Result<Vec<Value>> {
        let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
        reader.read_records(rows, Some(&mut defined), Some(&mut repeated), &mut values)?;
        let mut values = values.into_iter().map(make);
        if self.most_defined == 0 {
            return Ok(values.collect());
        }
        let missing = || ParquetError::General("a column has fewer values than it says".to_owned());
        let mut read = Vec::with_capacity(rows);
        for (n, &level) in defined.iter().enumerate() {
            let is_there = level == self.most_defined;
            let value = match is_there {
                true => values.next().ok_or_else(missing)?,
                false => Value::Nothing,
            };
            if !self.is_list {
                read.push(value);
                continue;
            }
            if repeated.get(n).is_none_or(|&level| level == 0) {
                read.push(Value::List(Vec::new()));
            }
            if let (Some(Value::List(list)), true) = (read.last_mut(), is_there) {
                list.push(value);
            }
        }
        Ok(read)
    }
}

/// What the values of a column mean; `None` if they say nothing here.
fn meaning(leaf: &ColumnDescriptor) -> Option<Meaning> {
    let (logical, converted) = (leaf.logical_type_ref(), leaf.converted_type());
    match leaf.physical_type() {
        Type::BYTE_ARRAY => match (logical, converted) {
            (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _)
            | (_, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => {
                Some(Meaning::Text)
            }
            (None, ConvertedType::NONE) => Some(Meaning::Bytes),
            _ => None,
        },
        Type::INT32 | Type::INT64 => Some(match converted {
            ConvertedType::DECIMAL => return None,
            ConvertedType::DATE => Meaning::Days,
            ConvertedType::TIMESTAMP_MILLIS => Meaning::Parts(1_000),
            ConvertedType::TIMESTAMP_MICROS => Meaning::Parts(1_000_000),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Meaning::Unsigned,
            _ => match logical {
                Some(LogicalType::Timestamp(moment)) => Meaning::Parts(match moment.unit {
                    parquet::basic::TimeUnit::MILLIS => 1_000,
                    parquet::basic::TimeUnit::MICROS => 1_000_000,
                    parquet::basic::TimeUnit::NANOS => 1_000_000_000,
                }),
                Some(LogicalType::Date) => Meaning::Days,
                Some(LogicalType::Decimal(_)) => return None,
                Some(LogicalType::Integer(whole)) if !whole.is_signed => Meaning::Unsigned,
                _ => Meaning::Whole,
            },
        }),
        Type::INT96 => Some(Meaning::Parts(1)),
        Type::FLOAT | Type::DOUBLE => Some(Meaning::Real),
        Type::BOOLEAN | Type::FIXED_LEN_BYTE_ARRAY => None,
    }
}
