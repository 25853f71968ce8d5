//! Records of named fields, independent of the container: a text table, JSON Lines, Parquet columns.

use super::format::ReadAbort;
use super::kind::Kind;
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
    let kept = name.trim().chars().filter(|c| !" _-<>".contains(*c));
    kept.flat_map(char::to_lowercase).collect()
}

/// The kind of records in a file.
pub(super) fn kind_of(records: &dyn Records) -> Result<Kind, ReadAbort> {
    let columns = records.columns()?;
    Kind::of(&columns).ok_or_else(|| {
        let columns = columns.join(", ");
        ReadAbort::file(1, format!("no kind of row has these columns: {}", super::fields::quote(&columns)))
    })
}
