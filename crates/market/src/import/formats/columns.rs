//! The records of a file by the names of their columns, for files that are not market data.

use super::csv::Table;
use super::jsonl::Lines;
use super::parquet::Columns;
use super::records::Records;
use crate::input::fields::quote;
use crate::input::{ReadAbort, Source};

/// Receives a record: its line or row from 1, and its fields or why it is unreadable.
pub type FieldsReader<'a> = &'a mut dyn FnMut(u64, Result<&[&str], String>);

/// Passes on the fields of these columns for each record of a Parquet file, a text table or JSON Lines, with its line
/// or row from 1. A column is given by its possible names, in lower case without blanks, `_` and `-`.
///
/// A file without any column has no records: pandas writes an empty table like that.
///
/// # Errors
/// A file that cannot be read, or that lacks a column.
pub fn read_columns(
    source: &Source,
    columns: &[&'static [&'static str]],
    take: FieldsReader<'_>,
) -> Result<(), ReadAbort> {
    let head = source.head()?;
    let first = head.trim_ascii();
    if first.is_empty() {
        return Err(ReadAbort::file(1, "the file is empty"));
    }
    let records: Box<dyn Records + '_> = if head.starts_with(b"PAR1") {
        Box::new(Columns::open(source)?)
    } else if first.starts_with(b"{") {
        Box::new(Lines { source })
    } else {
        Box::new(Table { source })
    };
    let known = records.columns()?;
    if known.is_empty() {
        return Ok(());
    }
    let is_missing = |names: &&&[&str]| !names.iter().any(|name| known.iter().any(|column| column == name));
    if let Some(names) = columns.iter().find(is_missing) {
        let shown = quote(&known.join(", "));
        return Err(ReadAbort::file(1, format!("there is no column `{}` among: {shown}", names[0])));
    }
    records.each(columns, &mut |line, fields, _| {
        take(line, fields);
        Ok(())
    })
}
