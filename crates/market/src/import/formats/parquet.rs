//! Any kind of rows as a Parquet file, as pandas and polars write them.

use super::kind;
use super::records::{ColumnNames, Records, RowReader, normal};
use crate::input::Source;
use crate::input::fields::quote;
use crate::input::{Format, ReadAbort};
use bytes::Bytes;
use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use parquet::basic::{LogicalType, TimeUnit};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use rust_decimal::Decimal;
use std::fmt;
use std::fs::File;
use std::sync::Arc;

/// Any kind of rows as a Parquet file. Its columns have the same names as in a table; times are instants, or
/// wall clock times if the file says that they are not UTC.
pub(super) const PARQUET: Format = Format {
    name: "parquet",
    description: "A Parquet file (plain, snappy, gzip or zstd): bars, actions, news, fundamentals",
    detect: |_, head| head.starts_with(b"PAR1"),
    read: |source, hints, sink| kind::read(&Columns::open(source)?, source, hints, sink),
};

/// A file's columns, without nested ones.
pub(super) struct Columns {
    reader: Box<dyn FileReader>,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    normal: String,
    /// The time unit of a column of times, and whether they are instants.
    time: Option<(TimeUnit, bool)>,
}

impl Columns {
    pub(super) fn open(source: &Source) -> Result<Self, ReadAbort> {
        let reader: Box<dyn FileReader> = match source.plain_path()? {
            Some(path) => Box::new(SerializedFileReader::new(File::open(path)?).map_err(|e| broken(&e))?),
            None => {
                let bytes = Bytes::from(source.all()?);
                Box::new(SerializedFileReader::new(bytes).map_err(|e| broken(&e))?)
            }
        };
        let schema = reader.metadata().file_metadata().schema();
        let plain = schema.get_fields().iter().filter(|field| field.is_primitive());
        let columns = plain.map(|field| {
            let time = match field.get_basic_info().logical_type_ref() {
                Some(LogicalType::Timestamp(time)) => Some((time.unit, time.is_adjusted_to_u_t_c)),
                _ => None,
            };
            Column { name: field.name().to_owned(), normal: normal(field.name()), time }
        });
        let columns = columns.collect();
        Ok(Self { columns, reader })
    }
}

impl Records for Columns {
    fn columns(&self) -> Result<Vec<String>, ReadAbort> {
        Ok(self.columns.iter().map(|column| column.normal.clone()).collect())
    }

    fn each(&self, slots: &[ColumnNames], take: RowReader<'_>) -> Result<(), ReadAbort> {
        let places: Vec<Option<usize>> = slots
            .iter()
            .map(|slot| slot.iter().find_map(|name| self.columns.iter().position(|c| c.normal == *name)))
            .collect();
        // In file order, because the reader returns values in that order.
        let mut selected: Vec<usize> = places.iter().flatten().copied().collect();
        selected.sort_unstable();
        selected.dedup();
        let schema = self.reader.metadata().file_metadata().schema();
        let names: Vec<&str> = selected.iter().map(|at| self.columns[*at].name.as_str()).collect();
        let fields = schema.get_fields().iter().filter(|field| names.contains(&field.name()));
        let projection =
            Type::group_type_builder(schema.name()).with_fields(fields.map(Arc::clone).collect());
        let projection = projection.build().map_err(|error| broken(&error))?;
        let rows = self.reader.get_row_iter(Some(projection)).map_err(|error| broken(&error))?;
        let place = |column: &usize| selected.iter().position(|other| other == column);
        let places: Vec<Option<usize>> = places.iter().map(|one| one.as_ref().and_then(place)).collect();
        let mut texts: Vec<String> = vec![String::new(); selected.len()];
        for (row, number) in rows.zip(1..) {
            let row = row.map_err(|error| ReadAbort::file(number, error.to_string()))?;
            let mut wrong = None;
            for ((at, text), (_, field)) in selected.iter().zip(&mut texts).zip(row.get_column_iter()) {
                text.clear();
                if let Err(reason) = write(text, field, self.columns[*at].time) {
                    wrong = Some(format!("{}: {reason}", self.columns[*at].name));
                }
            }
            let given: Vec<&str> =
                places.iter().map(|place| place.map_or("", |place| texts[place].as_str())).collect();
            let fields = wrong.map_or(Ok(given.as_slice()), Err);
            take(number, fields, &Raw(&row))?;
        }
        Ok(())
    }
}

/// Writes a value as a text table would; a missing value is empty.
fn write(text: &mut String, field: &Field, time: Option<(TimeUnit, bool)>) -> Result<(), String> {
    use fmt::Write as _;
    let done = match field {
        Field::Null => Ok(()),
        Field::Str(value) => {
            text.push_str(value.trim());
            Ok(())
        }
        Field::Byte(v) => write!(text, "{v}"),
        Field::Short(v) => write!(text, "{v}"),
        Field::Int(v) => write!(text, "{v}"),
        Field::UByte(v) => write!(text, "{v}"),
        Field::UShort(v) => write!(text, "{v}"),
        Field::UInt(v) => write!(text, "{v}"),
        Field::ULong(v) => write!(text, "{v}"),
        Field::Long(v) => match time {
            Some((unit, is_utc)) => write!(text, "{}", instant(*v, unit, is_utc)?),
            None => write!(text, "{v}"),
        },
        // The shortest text that parses to the same number: 0.1 stays 0.1.
        Field::Float(v) if v.is_nan() => Ok(()),
        Field::Double(v) if v.is_nan() => Ok(()),
        Field::Float(v) => write!(text, "{v}"),
        Field::Double(v) => write!(text, "{v}"),
        Field::Decimal(v) => write!(text, "{}", decimal(v)?),
        Field::Date(days) => write!(text, "{}", date(*days)?),
        Field::TimestampMillis(v) => {
            let is_utc = time.is_none_or(|(_, is_utc)| is_utc);
            write!(text, "{}", instant(*v, TimeUnit::MILLIS, is_utc)?)
        }
        Field::TimestampMicros(v) => {
            let is_utc = time.is_none_or(|(_, is_utc)| is_utc);
            write!(text, "{}", instant(*v, TimeUnit::MICROS, is_utc)?)
        }
        Field::Bytes(bytes) => {
            let value = std::str::from_utf8(bytes.data()).map_err(|_| "it is not UTF-8".to_owned())?;
            text.push_str(value.trim());
            Ok(())
        }
        other => return Err(format!("{} is not a plain value", quote(&other.to_string()))),
    };
    done.map_err(|_| "it cannot be written".to_owned())
}

/// An instant with `Z`; a wall clock time without.
fn instant(value: i64, unit: TimeUnit, is_utc: bool) -> Result<String, String> {
    let (at, epoch) = match unit {
        TimeUnit::MILLIS => (Timestamp::from_millisecond(value), SignedDuration::from_millis(value)),
        TimeUnit::MICROS => (Timestamp::from_microsecond(value), SignedDuration::from_micros(value)),
        TimeUnit::NANOS => (Timestamp::from_nanosecond(value.into()), SignedDuration::from_nanos(value)),
    };
    let refuse = |error: jiff::Error| format!("{value} is not a time: {error}");
    if is_utc {
        return at.map(|at| at.to_string()).map_err(refuse);
    }
    let wall = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(epoch).map_err(refuse)?;
    Ok(wall.to_string())
}

fn date(days: i32) -> Result<Date, String> {
    let date = Date::constant(1970, 1, 1).checked_add(days.days());
    date.map_err(|error| format!("{days} is not a date: {error}"))
}

fn decimal(value: &parquet::data_type::Decimal) -> Result<Decimal, String> {
    let bytes = value.data();
    let refuse = || "a decimal of more than 28 digits".to_owned();
    if bytes.len() > 16 {
        return Err(refuse());
    }
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[16 - bytes.len()..].copy_from_slice(bytes);
    let scale = u32::try_from(value.scale()).map_err(|_| refuse())?;
    Decimal::try_from_i128_with_scale(i128::from_be_bytes(wide), scale).map_err(|_| refuse())
}

fn broken(error: &ParquetError) -> ReadAbort {
    ReadAbort::file(1, format!("it is not a Parquet file that can be read: {error}"))
}

/// A row as a JSON object.
struct Raw<'a>(&'a Row);

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, field)) in self.0.get_column_iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{name}: {field}")?;
        }
        Ok(())
    }
}
