//! Parquet files: numbers are decimals of twelve places, instants microseconds of UTC.

use super::{Cell, Header, RowWriter, Type, finish, io};
use crate::error::MarketError;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{
    ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type as Schema, TypePtr};
use rust_decimal::Decimal;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Decimals after the point. Sixteen digits stand before it.
const SCALE: u32 = 12;
const PRECISION: i32 = 28;
const BYTES: i32 = 12;

/// How many rows are written at a time.
const GROUP: usize = 128 * 1024;

pub(super) struct Columns {
    writer: SerializedFileWriter<BufWriter<File>>,
    header: Header,
    /// By column.
    cells: Vec<Vec<Cell>>,
    path: PathBuf,
}

impl Columns {
    pub(super) fn new(file: BufWriter<File>, header: Header, path: &Path) -> Result<Self, MarketError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = schema(header)
            .and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties)))
            .map_err(|error| failed(path, error))?;
        Ok(Self { writer, header, cells: vec![Vec::new(); header.len()], path: path.to_owned() })
    }

    fn write_group(&mut self) -> Result<(), MarketError> {
        let failed = |error| failed(&self.path, error);
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for ((name, kind), cells) in self.header.iter().zip(&mut self.cells) {
            let Some(mut column) = group.next_column().map_err(failed)? else { break };
            let too_fine = write(&mut column, *kind, std::mem::take(cells)).map_err(failed)?;
            if let Some(number) = too_fine {
                return Err(MarketError::Export(format!(
                    "{name}: {number} does not fit a decimal of {SCALE} places; use CSV or JSONL"
                )));
            }
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

impl RowWriter for Columns {
    fn row(&mut self, row: Vec<Cell>) -> Result<(), MarketError> {
        self.cells.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        if self.cells[0].len() >= GROUP { self.write_group() } else { Ok(()) }
    }

    fn end(mut self: Box<Self>) -> Result<(), MarketError> {
        if !self.cells[0].is_empty() {
            self.write_group()?;
        }
        let file = self.writer.into_inner().map_err(|error| failed(&self.path, error))?;
        finish(file, &self.path)
    }
}

fn schema(header: Header) -> Result<TypePtr, ParquetError> {
    let field = |(name, kind): &(&str, Type)| {
        let (physical, logical) = match kind {
            Type::Text => (Physical::BYTE_ARRAY, LogicalType::String),
            Type::Number => {
                (Physical::FIXED_LEN_BYTE_ARRAY, LogicalType::decimal(SCALE.cast_signed(), PRECISION))
            }
            Type::Date => (Physical::INT32, LogicalType::Date),
            Type::Instant => (Physical::INT64, LogicalType::timestamp(true, TimeUnit::MICROS)),
        };
        let builder = Schema::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(Some(logical));
        let builder = match kind {
            Type::Number => {
                builder.with_length(BYTES).with_precision(PRECISION).with_scale(SCALE.cast_signed())
            }
            _ => builder,
        };
        builder.build().map(Arc::new)
    };
    let fields = header.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Schema::group_type_builder("rows").with_fields(fields).build().map(Arc::new)
}

/// Writes a column. Gives a number that does not fit, where there is one.
fn write(
    column: &mut SerializedColumnWriter<'_>,
    kind: Type,
    cells: Vec<Cell>,
) -> Result<Option<Decimal>, ParquetError> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(*cell != Cell::None)).collect();
    let levels = Some(levels.as_slice());
    match kind {
        Type::Text => {
            let text = |cell| {
                if let Cell::Text(text) = cell { Some(ByteArray::from(text.into_bytes())) } else { None }
            };
            let values: Vec<ByteArray> = cells.into_iter().filter_map(text).collect();
            column.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
        }
        Type::Number => {
            let mut values = Vec::with_capacity(cells.len());
            for cell in cells {
                let Cell::Number(number) = cell else { continue };
                let Some(bytes) = scaled(number) else { return Ok(Some(number)) };
                values.push(FixedLenByteArray::from(ByteArray::from(bytes.to_vec())));
            }
            column.typed::<FixedLenByteArrayType>().write_batch(&values, levels, None)?;
        }
        Type::Date => {
            let epoch = papertape_core::time::Date::constant(1970, 1, 1);
            let days = |cell| match cell {
                Cell::Date(date) => i32::try_from(date.duration_since(epoch).as_hours() / 24).ok(),
                _ => None,
            };
            let values: Vec<i32> = cells.into_iter().filter_map(days).collect();
            column.typed::<Int32Type>().write_batch(&values, levels, None)?;
        }
        Type::Instant => {
            let micros = |cell| if let Cell::Instant(at) = cell { Some(at.as_microsecond()) } else { None };
            let values: Vec<i64> = cells.into_iter().filter_map(micros).collect();
            column.typed::<Int64Type>().write_batch(&values, levels, None)?;
        }
    }
    Ok(None)
}

/// A number times ten to the twelfth, big-endian; `None` where that is no whole number or has more than
/// 28 digits.
fn scaled(number: Decimal) -> Option<[u8; 12]> {
    let number = number.normalize();
    let power = 10_i128.pow(SCALE.checked_sub(number.scale())?);
    let whole = number.mantissa().checked_mul(power)?;
    let limit = 10_i128.pow(PRECISION.cast_unsigned());
    let bytes = whole.to_be_bytes();
    (-limit < whole && whole < limit).then(|| bytes[4..].try_into().ok()).flatten()
}

fn failed(path: &Path, error: ParquetError) -> MarketError {
    io(path, std::io::Error::other(error))
}
