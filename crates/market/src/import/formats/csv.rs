//! Text tables: a header and records, separated by commas, semicolons or tabs.

use super::kind::{self, Kind};
use super::records::{ColumnNames, Records, RowReader, normal};
use crate::input::Source;
use crate::input::fields::quote;
use crate::input::{Format, ReadAbort};
use csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use std::fmt;
use std::io::BufRead;

/// The maximum size of a record. An unclosed quotation mark must not fill the memory.
const RECORD_BYTES: u64 = 16 * 1024 * 1024;

/// Any kind of rows as a text table.
pub(super) const CSV: Format = Format {
    name: "csv",
    description: "A table with a header, such as those of Yahoo and Stooq: bars, actions, news, fundamentals, a calendar",
    detect: |_, head| Kind::of(&header(head)).is_some(),
    read: |source, hints, sink| kind::read(&Table { source }, source, hints, sink),
};

/// A table.
pub(super) struct Table<'s> {
    pub(super) source: &'s Source,
}

impl<'s> Table<'s> {
    fn open(&self) -> Result<Reader<Limited<'s>>, ReadAbort> {
        let reader = ReaderBuilder::new()
            .delimiter(delimiter(&self.source.head()?))
            .flexible(true)
            .comment(Some(b'#'))
            .trim(Trim::All)
            .buffer_capacity(256 * 1024)
            .from_reader(Limited { inner: self.source.open()?, read: 0, limit: RECORD_BYTES });
        Ok(reader)
    }
}

impl Records for Table<'_> {
    fn columns(&self) -> Result<Vec<String>, ReadAbort> {
        let mut reader = self.open()?;
        let header = reader.byte_headers().map_err(|error| broken(&error))?;
        let columns: Vec<String> = header.iter().map(|name| normal(&String::from_utf8_lossy(name))).collect();
        if columns.is_empty() {
            return Err(ReadAbort::file(1, "the file is empty"));
        }
        Ok(columns)
    }

    fn each(&self, slots: &[ColumnNames], take: RowReader<'_>) -> Result<(), ReadAbort> {
        let columns = self.columns()?;
        let place = |slot: &ColumnNames| {
            slot.iter().find_map(|name| columns.iter().position(|column| column == name))
        };
        let places: Vec<Option<usize>> = slots.iter().map(place).collect();
        let mut reader = self.open()?;
        let mut record = ByteRecord::new();
        loop {
            // The limit for one record, in addition to what the reader has already read.
            let so_far = reader.get_ref().read;
            reader.get_mut().limit = so_far + RECORD_BYTES;
            if !reader.read_byte_record(&mut record).map_err(|error| broken(&error))? {
                return Ok(());
            }
            let line = record.position().map_or(0, csv::Position::line);
            let checked = check(&record, columns.len());
            // No kind has this many slots, so no record needs an allocation.
            let mut fields = [""; 16];
            let given = checked.map(|()| {
                let field = |place: &Option<usize>| {
                    let bytes = place.and_then(|place| record.get(place)).unwrap_or_default();
                    std::str::from_utf8(bytes).unwrap_or_default()
                };
                places.iter().zip(&mut fields).for_each(|(place, given)| *given = field(place));
                &fields[..places.len()]
            });
            take(line, given, &Raw(&record))?;
        }
    }
}

/// Checks that a record is UTF-8 with as many fields as the header.
fn check(record: &ByteRecord, columns: usize) -> Result<(), String> {
    if record.len() != columns {
        return Err(format!("{} fields instead of {columns}", record.len()));
    }
    match record.iter().find(|field| std::str::from_utf8(field).is_err()) {
        Some(field) => Err(format!("{} is not UTF-8", quote(&String::from_utf8_lossy(field)))),
        None => Ok(()),
    }
}

/// A record as one line.
struct Raw<'a>(&'a ByteRecord);

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer =
            csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
        writer.write_byte_record(self.0).map_err(|_| fmt::Error)?;
        let line = writer.into_inner().map_err(|_| fmt::Error)?;
        f.write_str(String::from_utf8_lossy(&line).trim_end_matches('\n'))
    }
}

/// A reader that stops at the size limit of a record.
struct Limited<'s> {
    inner: Box<dyn BufRead + 's>,
    read: u64,
    limit: u64,
}

impl std::io::Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.read >= self.limit {
            let what = "a record of more than 16 MiB: a quotation mark may be unclosed";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what));
        }
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        Ok(count)
    }
}

/// The normalized names of a header line; empty if it is not a header.
fn header(head: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(head);
    let Some(line) = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')) else {
        return Vec::new();
    };
    line.split(char::from(delimiter(head))).map(|name| normal(name.trim().trim_matches('"'))).collect()
}

/// The delimiter of the header.
fn delimiter(head: &[u8]) -> u8 {
    let lines = head.split(|byte| *byte == b'\n');
    let line = lines.into_iter().find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    let count = |delimiter: u8| line.unwrap_or_default().iter().filter(|byte| **byte == delimiter).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

fn broken(error: &csv::Error) -> ReadAbort {
    let line = error.position().map_or(1, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::Io(error) if error.kind() != std::io::ErrorKind::InvalidData => {
            ReadAbort::Io(std::io::Error::new(error.kind(), error.to_string()))
        }
        _ => ReadAbort::file(line, error.to_string()),
    }
}
