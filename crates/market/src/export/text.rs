//! Tables and lines of JSON.

use super::{Cell, Header, RowWriter, finish, io};
use crate::error::MarketError;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// A table with a header.
pub(super) struct Table {
    writer: csv::Writer<BufWriter<File>>,
    path: PathBuf,
}

impl Table {
    pub(super) fn new(file: BufWriter<File>, header: Header, path: &Path) -> Result<Self, MarketError> {
        let mut table = Self { writer: csv::Writer::from_writer(file), path: path.to_owned() };
        table.record(header.iter().map(|(name, _)| (*name).to_owned()))?;
        Ok(table)
    }

    fn record(&mut self, fields: impl Iterator<Item = String>) -> Result<(), MarketError> {
        let fields: Vec<String> = fields.collect();
        self.writer.write_record(&fields).map_err(|error| io(&self.path, error.into()))
    }
}

impl RowWriter for Table {
    fn row(&mut self, cells: Vec<Cell>) -> Result<(), MarketError> {
        self.record(cells.into_iter().map(text))
    }

    fn end(self: Box<Self>) -> Result<(), MarketError> {
        let Self { writer, path } = *self;
        let file = writer.into_inner().map_err(|error| io(&path, error.into_error()))?;
        finish(file, &path)
    }
}

fn text(cell: Cell) -> String {
    match cell {
        Cell::Text(text) => text,
        Cell::Number(number) => number.normalize().to_string(),
        Cell::Date(date) => date.to_string(),
        Cell::Instant(at) => at.to_string(),
        Cell::None => String::new(),
    }
}

/// An object a line; numbers are texts, so that none of their digits is lost.
pub(super) struct Lines {
    file: BufWriter<File>,
    header: Header,
    path: PathBuf,
}

impl Lines {
    pub(super) fn new(file: BufWriter<File>, header: Header, path: &Path) -> Self {
        Self { file, header, path: path.to_owned() }
    }
}

impl RowWriter for Lines {
    fn row(&mut self, cells: Vec<Cell>) -> Result<(), MarketError> {
        let named = self.header.iter().zip(cells).filter(|(_, cell)| *cell != Cell::None);
        let object: Map<String, Value> =
            named.map(|((name, _), cell)| ((*name).to_owned(), Value::String(text(cell)))).collect();
        writeln!(self.file, "{}", Value::Object(object)).map_err(|error| io(&self.path, error))
    }

    fn end(self: Box<Self>) -> Result<(), MarketError> {
        finish(self.file, &self.path)
    }
}
