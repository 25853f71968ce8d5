//! Writes a table as a Parquet file, a bounded group of rows at a time.

use super::schema::{Column, ColumnType, PRECISION, SCALE, TABLES_VERSION, Table};
use anyhow::{Context as _, Result, anyhow, bail};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::number::Number;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type as Schema, TypePtr};
use rust_decimal::Decimal;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum number of rows of a group.
const MAX_ROWS: usize = 64 * 1024;
/// The size of buffered rows at which a group is written, whatever their number.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Decimal(Decimal),
    Date(Date),
    Instant(Timestamp),
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! cells {
    ($($type:ty => |$value:ident| $cell:expr;)*) => { $(
        impl From<$type> for Cell {
            fn from($value: $type) -> Self {
                $cell
            }
        }
    )* };
}

cells! {
    &str => |text| Self::Text(text.to_owned());
    String => |text| Self::Text(text);
    &String => |text| Self::Text(text.clone());
    i64 => |number| Self::Integer(number);
    u32 => |number| Self::Integer(number.into());
    u64 => |number| Self::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    usize => |number| Self::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    f64 => |number| Self::Float(number);
    bool => |value| Self::Boolean(value);
    Decimal => |number| Self::Decimal(number);
    Number => |number| Self::Decimal(number.decimal());
    Money => |money| Self::Decimal(money.0);
    Price => |price| Self::Decimal(price.0);
    Quantity => |quantity| Self::Decimal(quantity.0);
    Date => |date| Self::Date(date);
    Timestamp => |at| Self::Instant(at);
    &serde_json::Value => |document| Self::Text(document.to_string());
}

/// A row: the values of a table's columns, in their order.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$(crate::tables::writer::Cell::from($value)),*] };
}
pub(super) use row;

/// Writes one table. The file has its final name only once the export is complete.
pub(super) struct TableWriter {
    table: &'static Table,
    file: SerializedFileWriter<BufWriter<File>>,
    path: PathBuf,
    /// By column.
    cells: Vec<Vec<Cell>>,
    buffered_bytes: usize,
    /// Rows so far.
    rows: u64,
}

impl TableWriter {
    pub(super) fn create(table: &'static Table, path: &Path) -> Result<Self> {
        let file = File::create(path).with_context(|| unwritable(path))?;
        let version = KeyValue::new("papertape.tables.version".to_owned(), TABLES_VERSION.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(format!("papertape {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let schema = schema(table)?;
        let file = SerializedFileWriter::new(BufWriter::new(file), schema, Arc::new(properties))
            .with_context(|| unwritable(path))?;
        Ok(Self {
            table,
            file,
            path: path.to_owned(),
            cells: vec![Vec::new(); table.columns.len()],
            buffered_bytes: 0,
            rows: 0,
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A value that does not fit its column, with the row; a file that cannot be written.
    pub(super) fn push(&mut self, row: Vec<Cell>) -> Result<()> {
        self.check(&row)?;
        for (cells, cell) in self.cells.iter_mut().zip(row) {
            self.buffered_bytes +=
                size_of::<Cell>() + if let Cell::Text(text) = &cell { text.len() } else { 0 };
            cells.push(cell);
        }
        self.rows += 1;
        if self.cells[0].len() >= MAX_ROWS || self.buffered_bytes >= MAX_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    fn check(&self, row: &[Cell]) -> Result<()> {
        let Table { name, columns, .. } = self.table;
        if row.len() != columns.len() {
            bail!("a row of `{name}` has {} values instead of {}", row.len(), columns.len());
        }
        for (column, cell) in columns.iter().zip(row) {
            if let Err(problem) = fits(column, cell) {
                let of = self.describe(row);
                bail!("row {} of `{name}` ({of}): `{}` {problem}", self.rows + 1, column.name);
            }
        }
        Ok(())
    }

    /// The identifying values of a row: those of its first columns.
    fn describe(&self, row: &[Cell]) -> String {
        let of = self.table.columns.iter().zip(row).take(4);
        let text = |(column, cell): (&Column, &Cell)| {
            let value = match cell {
                Cell::Text(text) => text.clone(),
                Cell::Integer(number) => number.to_string(),
                Cell::Date(date) => date.to_string(),
                _ => return None,
            };
            Some(format!("{} {value}", column.name))
        };
        of.filter_map(text).collect::<Vec<_>>().join(", ")
    }

    fn write_group(&mut self) -> Result<()> {
        let unwritable = || unwritable(&self.path);
        let mut group = self.file.next_row_group().with_context(unwritable)?;
        for (column, cells) in self.table.columns.iter().zip(&mut self.cells) {
            let writer = group.next_column().with_context(unwritable)?;
            let mut writer = writer.ok_or_else(|| anyhow!("`{}` is not in the schema", column.name))?;
            write(&mut writer, column, std::mem::take(cells)).with_context(unwritable)?;
            writer.close().with_context(unwritable)?;
        }
        group.close().with_context(unwritable)?;
        self.buffered_bytes = 0;
        Ok(())
    }

    /// Completes the file, and returns its number of rows.
    pub(super) fn finish(mut self) -> Result<u64> {
        if !self.cells[0].is_empty() {
            self.write_group()?;
        }
        let Self { file, path, rows, .. } = self;
        let unwritable = || unwritable(&path);
        let mut file = file.into_inner().with_context(unwritable)?;
        file.flush().and_then(|()| file.get_ref().sync_all()).with_context(unwritable)?;
        Ok(rows)
    }
}

pub(super) fn unwritable(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Whether a value fits its column; the error says why it does not.
fn fits(column: &Column, cell: &Cell) -> Result<(), String> {
    match (column.kind, cell) {
        (_, Cell::Null) if column.nullable => Ok(()),
        (_, Cell::Null) => Err("is missing".to_owned()),
        (ColumnType::Decimal, Cell::Decimal(number)) => match scaled(*number) {
            Some(_) => Ok(()),
            None => Err(format!("is {number}, which does not fit {}", column.kind.name())),
        },
        (ColumnType::Text | ColumnType::Json, Cell::Text(_))
        | (ColumnType::Integer, Cell::Integer(_))
        | (ColumnType::Float, Cell::Float(_))
        | (ColumnType::Boolean, Cell::Boolean(_))
        | (ColumnType::Date, Cell::Date(_))
        | (ColumnType::Instant, Cell::Instant(_)) => Ok(()),
        (kind, _) => Err(format!("is not a {}", kind.name())),
    }
}

/// A number times ten to the power of the scale, big-endian; `None` if it has more decimals or too many digits.
fn scaled(number: Decimal) -> Option<[u8; 16]> {
    let number = number.normalize();
    let power = 10_i128.pow(SCALE.checked_sub(number.scale())?);
    let whole = number.mantissa().checked_mul(power)?;
    (whole.unsigned_abs() < 10_u128.pow(PRECISION)).then(|| whole.to_be_bytes())
}

fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Json => (Physical::BYTE_ARRAY, Some(LogicalType::Json)),
            ColumnType::Integer => (Physical::INT64, None),
            ColumnType::Float => (Physical::DOUBLE, None),
            ColumnType::Boolean => (Physical::BOOLEAN, None),
            ColumnType::Decimal => {
                let (scale, precision) = (SCALE.cast_signed(), PRECISION.cast_signed());
                (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::decimal(scale, precision)))
            }
            ColumnType::Date => (Physical::INT32, Some(LogicalType::Date)),
            ColumnType::Instant => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        };
        let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Schema::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical);
        let builder = match column.kind {
            ColumnType::Decimal => builder
                .with_length(16)
                .with_precision(PRECISION.cast_signed())
                .with_scale(SCALE.cast_signed()),
            _ => builder,
        };
        builder.build().map(Arc::new)
    };
    let fields = table.columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Schema::group_type_builder(table.name).with_fields(fields).build().map(Arc::new)
}

/// Writes the values of a column's group.
fn write(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    cells: Vec<Cell>,
) -> Result<(), ParquetError> {
    let levels: Option<Vec<i16>> =
        column.nullable.then(|| cells.iter().map(|cell| i16::from(!matches!(cell, Cell::Null))).collect());
    let cells = cells.into_iter();
    let levels = levels.as_deref();
    let epoch = Date::constant(1970, 1, 1);
    match column.kind {
        ColumnType::Text | ColumnType::Json => {
            batch::<ByteArrayType>(writer, levels, cells, |cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.into_bytes())),
                _ => None,
            })
        }
        ColumnType::Integer => batch::<Int64Type>(writer, levels, cells, |cell| match cell {
            Cell::Integer(number) => Some(number),
            _ => None,
        }),
        ColumnType::Float => batch::<DoubleType>(writer, levels, cells, |cell| match cell {
            Cell::Float(number) => Some(number),
            _ => None,
        }),
        ColumnType::Boolean => batch::<BoolType>(writer, levels, cells, |cell| match cell {
            Cell::Boolean(value) => Some(value),
            _ => None,
        }),
        ColumnType::Decimal => batch::<FixedLenByteArrayType>(writer, levels, cells, |cell| match cell {
            Cell::Decimal(number) => {
                scaled(number).map(|bytes| FixedLenByteArray::from(ByteArray::from(bytes.to_vec())))
            }
            _ => None,
        }),
        ColumnType::Date => batch::<Int32Type>(writer, levels, cells, |cell| match cell {
            Cell::Date(date) => i32::try_from(date.duration_since(epoch).as_hours() / 24).ok(),
            _ => None,
        }),
        ColumnType::Instant => batch::<Int64Type>(writer, levels, cells, |cell| match cell {
            Cell::Instant(at) => Some(at.as_microsecond()),
            _ => None,
        }),
    }
}

fn batch<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    levels: Option<&[i16]>,
    cells: impl Iterator<Item = Cell>,
    value: impl Fn(Cell) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = cells.filter_map(value).collect();
    writer.typed::<T>().write_batch(&values, levels, None).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::schema::{SNAPSHOTS, TABLES};
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    fn snapshot(quantity: Decimal) -> Vec<Cell> {
        let day = jiff::civil::date(2012, 10, 1);
        let none = None::<Decimal>;
        row![
            "job",
            day,
            "agent",
            7_i64,
            "AAPL",
            "1",
            quantity,
            Decimal::ONE,
            Decimal::ONE,
            Decimal::ONE,
            none,
            Decimal::ONE
        ]
    }

    fn writer(dir: &tempfile::TempDir) -> TableWriter {
        TableWriter::create(&TABLES[SNAPSHOTS], &dir.path().join("t.parquet")).expect("it is created")
    }

    /// Goal: a number that does not fit is an error that names the table, the row, the column and the value, and no
    /// number is rounded.
    #[test]
    fn a_number_that_does_not_fit_names_its_row() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = writer(&dir);
        writer.push(snapshot("-12345678901234567890.00000001".parse().expect("a number"))).expect("it fits");
        for (text, shown) in [
            ("123456789012345678901", "123456789012345678901"),
            ("0.0000000000000000001", "0.0000000000000000001"),
        ] {
            let error = writer.push(snapshot(text.parse().expect("a number"))).expect_err("it does not fit");
            let expected = format!(
                "row 2 of `snapshots` (job_id job, date 2012-10-01, agent agent, session_id 7): `quantity` is {shown}, \
                 which does not fit DECIMAL(38,18)"
            );
            assert_eq!(error.to_string(), expected);
        }
        let missing = writer.push(Vec::new()).expect_err("it is too short");
        assert!(missing.to_string().contains("has 0 values instead of 12"), "{missing}");
        assert_eq!(writer.finish().expect("it is written"), 1);
    }

    /// Goal: a million rows go into groups of bounded size, so memory does not grow with the table.
    #[test]
    fn groups_are_bounded() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = writer(&dir);
        for _ in 0..=MAX_ROWS {
            writer.push(snapshot(Decimal::TEN)).expect("it fits");
            assert!(writer.cells[0].len() < MAX_ROWS && writer.buffered_bytes < MAX_BYTES);
        }
        // Large texts fill a group before the number of rows does.
        for _ in 0..3 {
            let mut row = snapshot(Decimal::TEN);
            row[4] = Cell::from("A".repeat(MAX_BYTES / 2));
            writer.push(row).expect("it fits");
        }
        let path = writer.path.clone();
        let rows = writer.finish().expect("it is written");
        let reader =
            SerializedFileReader::new(File::open(path).expect("it is there")).expect("it is Parquet");
        let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(rows, groups.iter().sum::<i64>().cast_unsigned());
        assert!(groups.len() >= 2 && groups.iter().all(|rows| *rows <= 64 * 1024), "{groups:?}");
    }
}
