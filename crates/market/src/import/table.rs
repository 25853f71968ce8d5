//! Tables of text: a header and records, separated by commas, semicolons or tabs.

use super::fields::shown;
use super::format::{At, Halt};
use super::source::Source;
use csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use std::fmt;
use std::io::BufRead;

/// The longest header that is looked at.
const HEADER_BYTES: usize = 64 * 1024;
/// The longest record that is read. A quotation mark that is never closed must not fill the memory.
const RECORD_BYTES: usize = 16 * 1024 * 1024;

/// A table being read.
pub(super) struct Table<'s> {
    reader: Reader<Box<dyn BufRead + 's>>,
    columns: Vec<String>,
    record: ByteRecord,
}

impl<'s> Table<'s> {
    /// Opens a table and reads its header; names of columns are compared in lower case, without blanks,
    /// underscores, angle brackets.
    pub(super) fn open(source: &'s Source) -> Result<Self, Halt> {
        let head = source.head()?;
        let delimiter = delimiter(&head);
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .comment(Some(b'#'))
            .trim(Trim::All)
            .buffer_capacity(256 * 1024)
            .from_reader(source.open()?);
        let header = reader.byte_headers().map_err(|error| broken(&error))?;
        if header.as_slice().len() > HEADER_BYTES {
            return Err(Halt::file(1, "the header is longer than 64 KiB"));
        }
        let columns: Vec<String> = header.iter().map(|name| normal(&String::from_utf8_lossy(name))).collect();
        Ok(Self { reader, columns, record: ByteRecord::new() })
    }

    /// Where the first of these columns stands.
    pub(super) fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.columns.iter().position(|column| column == name))
    }

    /// Where the first of these columns stands, or what is missing.
    pub(super) fn needed(&self, names: &[&str]) -> Result<usize, Halt> {
        self.column(names).ok_or_else(|| {
            let have = self.columns.join(", ");
            Halt::file(1, format!("there is no column `{}` among: {}", names[0], shown(&have)))
        })
    }

    /// Its columns.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The next record; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Halt> {
        if !self.reader.read_byte_record(&mut self.record).map_err(|error| broken(&error))? {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        if self.record.as_slice().len() > RECORD_BYTES {
            return Err(Halt::file(line, "a record of more than 16 MiB: a quotation mark may be open"));
        }
        Ok(Some(Record { record: &self.record, columns: self.columns.len(), line }))
    }
}

/// One record of a table.
pub(super) struct Record<'a> {
    record: &'a ByteRecord,
    columns: usize,
    line: u64,
}

impl<'a> Record<'a> {
    /// Its place.
    pub(super) fn at(&self) -> At<'static> {
        At::line(self.line)
    }

    /// Has it as many fields as the header, of UTF-8?
    pub(super) fn check(&self) -> Result<(), String> {
        if self.record.len() != self.columns {
            return Err(format!("{} fields instead of {}", self.record.len(), self.columns));
        }
        match self.record.iter().find(|field| std::str::from_utf8(field).is_err()) {
            Some(field) => Err(format!("{} is no UTF-8", shown(&String::from_utf8_lossy(field)))),
            None => Ok(()),
        }
    }

    /// A field; empty where there is none or it is no UTF-8, which [`check`](Self::check) refuses.
    pub(super) fn get(&self, column: usize) -> &'a str {
        self.record.get(column).and_then(|field| std::str::from_utf8(field).ok()).unwrap_or_default()
    }

    /// A field of a column that may be missing; `None` where it or the column is empty.
    pub(super) fn some(&self, column: Option<usize>) -> Option<&'a str> {
        column.map(|column| self.get(column)).filter(|field| !field.is_empty())
    }
}

impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, field) in self.record.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}", String::from_utf8_lossy(field))?;
        }
        Ok(())
    }
}

/// The names of a header line, as [`Table`] compares them; empty where it is none.
pub(super) fn header(head: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(head);
    let Some(line) = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')) else {
        return Vec::new();
    };
    line.split(char::from(delimiter(head))).map(|name| normal(name.trim().trim_matches('"'))).collect()
}

/// `<TICKER>`, `Adj Close` and `published_at` as `ticker`, `adjclose` and `publishedat`.
fn normal(name: &str) -> String {
    let kept = name.trim().chars().filter(|c| !" _-<>".contains(*c));
    kept.flat_map(char::to_lowercase).collect()
}

/// What separates the fields of the header.
fn delimiter(head: &[u8]) -> u8 {
    let lines = head.split(|byte| *byte == b'\n');
    let line = lines.into_iter().find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    let count = |delimiter: u8| line.unwrap_or_default().iter().filter(|byte| **byte == delimiter).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

fn broken(error: &csv::Error) -> Halt {
    let line = error.position().map_or(1, csv::Position::line);
    Halt::file(line, error.to_string())
}
