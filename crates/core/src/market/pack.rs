//! The binary form of a dataset, for storing it in a file.
//!
//! Columns are delta-encoded with variable-length integers (LEB128, zigzag), so a one-minute bar takes about
//! ten bytes. Everything else is length-prefixed JSON. The bytes contain the dataset's hash; whoever stores
//! them ensures their integrity.

use super::calendar::zone_named;
use super::column::{Bars, Column, ColumnSlice};
use super::dataset::Dataset;
use super::facts::{Fundamental, Instrument, MacroPoint, Published};
use super::interval::Interval;
use super::keys::Keys;
use super::parts::{DatasetParts, Series};
use crate::id::ContentHash;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};

/// Identifies the format; every change of the format changes it.
const FORM: &[u8; 8] = b"ptape-d1";

/// Why bytes are not a valid dataset.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// They cannot be read, or end too early.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// They are not a packed dataset, or have another version.
    #[error("not a packed dataset of this version: {0}")]
    Form(String),
}

impl Dataset {
    /// Writes the dataset without its name.
    ///
    /// # Errors
    /// The writer's errors.
    pub fn pack(&self, to: &mut dyn Write) -> io::Result<()> {
        let parts = self.parts();
        to.write_all(FORM)?;
        to.write_all(self.hash().as_bytes())?;
        json(to, &parts.zone_name)?;
        json(to, &parts.days)?;
        number(to, parts.series.len() as u64)?;
        for series in parts.series.values() {
            json(to, &series.instrument)?;
            json(to, &series.actions)?;
            bars(to, &series.bars)?;
            number(to, series.within.len() as u64)?;
            for (interval, within) in &series.within {
                number(to, interval.minutes().into())?;
                bars(to, within)?;
            }
        }
        json(to, &parts.news)?;
        json(to, &parts.fundamentals.values().collect::<Vec<_>>())?;
        json(to, &parts.macros.values().collect::<Vec<_>>())?;
        // Omitted when empty, so datasets without index members keep their bytes.
        if parts.memberships.is_empty() { Ok(()) } else { json(to, &parts.memberships) }
    }

    /// Reads what [`pack`](Self::pack) wrote, under this name. Its hash is taken from the bytes.
    ///
    /// # Errors
    /// Bytes that are not a complete packed dataset.
    pub fn unpack(name: &str, from: &mut dyn BufRead) -> Result<Self, UnpackError> {
        let mut form = [0; 8];
        from.read_exact(&mut form)?;
        if &form != FORM {
            return Err(UnpackError::Form("unknown header".to_owned()));
        }
        let mut hash = [0; 32];
        from.read_exact(&mut hash)?;
        let zone_name: String = unpack_json(from)?;
        let zone = zone_named(&zone_name).map_err(|error| UnpackError::Form(error.to_string()))?;
        let days = unpack_json(from)?;
        let mut series = BTreeMap::new();
        for _ in 0..unpack_number(from)? {
            let instrument: Instrument = unpack_json(from)?;
            let actions = unpack_json(from)?;
            let bars = unpack_bars(from)?;
            let mut within = BTreeMap::new();
            for _ in 0..unpack_number(from)? {
                let minutes = unpack_number(from)?;
                let interval = u16::try_from(minutes).ok().and_then(Interval::from_minutes);
                let interval =
                    interval.ok_or_else(|| UnpackError::Form(format!("bars of {minutes} minutes")))?;
                within.insert(interval, unpack_bars(from)?);
            }
            series.insert(instrument.symbol.clone(), Series { instrument, bars, within, actions });
        }
        let news = unpack_json(from)?;
        let fundamentals: Vec<Vec<Published<Fundamental>>> = unpack_json(from)?;
        let macros: Vec<Vec<Published<MacroPoint>>> = unpack_json(from)?;
        let memberships = if from.fill_buf()?.is_empty() { Vec::new() } else { unpack_json(from)? };
        let parts = DatasetParts {
            zone_name,
            zone,
            days,
            series,
            news,
            fundamentals: fundamentals
                .into_iter()
                .filter_map(|list| Some((list.first()?.item.symbol.clone(), list)))
                .collect(),
            macros: macros
                .into_iter()
                .filter_map(|list| Some((list.first()?.item.series.clone(), list)))
                .collect(),
            memberships,
        };
        Ok(Self::known(name.to_owned(), ContentHash::from_bytes(hash), parts))
    }
}

fn number(to: &mut dyn Write, mut value: u64) -> io::Result<()> {
    let mut bytes = [0; 10];
    let mut count = 0;
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        bytes[count] = if value > 0 { low | 0x80 } else { low };
        count += 1;
        if value == 0 {
            return to.write_all(&bytes[..count]);
        }
    }
}

fn unpack_number(from: &mut dyn BufRead) -> Result<u64, UnpackError> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    loop {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(value);
        }
        shift += 7;
        if shift > 63 {
            return Err(UnpackError::Form("a number of more than 64 bits".to_owned()));
        }
    }
}

fn json<T: Serialize>(to: &mut dyn Write, value: &T) -> io::Result<()> {
    let bytes = serde_json::to_vec(value).map_err(io::Error::other)?;
    number(to, bytes.len() as u64)?;
    to.write_all(&bytes)
}

fn unpack_json<T: DeserializeOwned>(from: &mut dyn BufRead) -> Result<T, UnpackError> {
    let bytes = unpack_block(from)?;
    serde_json::from_slice(&bytes).map_err(|error| UnpackError::Form(error.to_string()))
}

/// A length-prefixed block. A wrong length ends at the end of the bytes and cannot exhaust memory.
fn unpack_block(from: &mut dyn BufRead) -> Result<Vec<u8>, UnpackError> {
    let length = unpack_number(from)?;
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(bytes)
}

/// Delta-encoded numbers, in their own block.
fn differences(to: &mut dyn Write, values: impl Iterator<Item = u64>) -> io::Result<()> {
    let mut block: Vec<u8> = Vec::new();
    let mut before = 0_u64;
    for value in values {
        let change = value.wrapping_sub(before).cast_signed();
        number(&mut block, ((change << 1) ^ (change >> 63)).cast_unsigned())?;
        before = value;
    }
    number(to, block.len() as u64)?;
    to.write_all(&block)
}

fn unpack_differences(from: &mut dyn BufRead, count: u64) -> Result<Vec<u64>, UnpackError> {
    let block = unpack_block(from)?;
    let mut rest = block.as_slice();
    // Each takes at least a byte, so a wrong count is detected before memory is allocated.
    if count > rest.len() as u64 {
        return Err(UnpackError::Form("a column is shorter than it says".to_owned()));
    }
    let mut values = Vec::with_capacity(rest.len().min(usize::try_from(count).unwrap_or(0)));
    let mut before = 0_u64;
    for _ in 0..count {
        let folded = take_number(&mut rest)?;
        before = before.wrapping_add((folded >> 1) ^ (folded & 1).wrapping_neg());
        values.push(before);
    }
    Ok(values)
}

/// A number from the front of a slice: the hot loop of loading a dataset.
fn take_number(rest: &mut &[u8]) -> Result<u64, UnpackError> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    for (at, byte) in rest.iter().enumerate() {
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            *rest = &rest[at + 1..];
            return Ok(value);
        }
        shift += 7;
        if shift > 63 {
            break;
        }
    }
    Err(UnpackError::Form("a column's number does not end".to_owned()))
}

fn bars(to: &mut dyn Write, bars: &Bars) -> io::Result<()> {
    let all = bars.first(bars.opened(), bars.closed());
    number(to, bars.opened() as u64)?;
    number(to, bars.closed() as u64)?;
    differences(to, all.opens_at.iter().map(i64::cast_unsigned))?;
    for one in [all.open, all.high, all.low, all.close, all.volume] {
        column(to, one)?;
    }
    Ok(())
}

fn column(to: &mut dyn Write, column: ColumnSlice<'_>) -> io::Result<()> {
    number(to, column.scale().into())?;
    differences(to, (0..column.len()).map(|row| column.cell(row)))
}

fn unpack_bars(from: &mut dyn BufRead) -> Result<Bars, UnpackError> {
    let (opened, closed) = (unpack_number(from)?, unpack_number(from)?);
    if closed > opened || opened - closed > 1 {
        return Err(UnpackError::Form("columns of different lengths".to_owned()));
    }
    let keys = unpack_differences(from, opened)?;
    let mut column = |count| -> Result<Column, UnpackError> {
        let scale = u32::try_from(unpack_number(from)?).unwrap_or(u32::MAX);
        if scale > 28 {
            return Err(UnpackError::Form("a column of more than 28 decimals".to_owned()));
        }
        Ok(Column::from_cells(scale, unpack_differences(from, count)?))
    };
    Ok(Bars {
        opens_at: Keys::pack(keys.into_iter().map(u64::cast_signed).collect()),
        open: column(opened)?,
        high: column(closed)?,
        low: column(closed)?,
        close: column(closed)?,
        volume: column(closed)?,
    })
}
