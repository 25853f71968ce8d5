//! Records of named fields, independent of the container: a text table, JSON Lines, Parquet columns.

use crate::input::ReadAbort;
use std::fmt::Display;

/// Receives a record: its line, its fields (one per slot of the kind, empty if missing) or why it is
/// unreadable, and a way to write it as it is in the file.
pub(super) type RowReader<'a> =
    &'a mut dyn FnMut(u64, Result<&[&str], String>, &dyn Display) -> Result<(), ReadAbort>;

/// The names that files use for one field, in lower case without blanks, `_`, `-`, `<` and `>`.
pub(super) type ColumnNames = &'static [&'static str];

/// A file of records.
pub(super) trait Records {
    /// The normalized names of its fields.
    fn columns(&self) -> Result<Vec<String>, ReadAbort>;

    /// Passes on every record in file order, with the fields of these slots.
    fn each(&self, slots: &[ColumnNames], take: RowReader<'_>) -> Result<(), ReadAbort>;
}

/// Normalizes `<TICKER>`, `Adj Close` and `published_at` to `ticker`, `adjclose` and `publishedat`.
pub(super) fn normal(name: &str) -> String {
    let letters = name.trim().chars().filter(|c| !" _-<>".contains(*c));
    letters.flat_map(char::to_lowercase).collect()
}
