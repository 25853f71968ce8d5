//! Records of named fields, whatever holds them: a table of text, lines of JSON, columns of Parquet.

use super::format::Halt;
use super::kind::Kind;
use std::fmt::Display;

/// What a record is given to: its line, its fields (one for each slot of the kind, empty where there is
/// none) or why it cannot be read, and how to write it as the file has it.
pub(super) type Take<'a> = &'a mut dyn FnMut(u64, Result<&[&str], String>, &dyn Display) -> Result<(), Halt>;

/// Names of one field, as files may call it, in lower case without blanks, `_`, `-`, `<` and `>`.
pub(super) type Slot = &'static [&'static str];

/// A file of records.
pub(super) trait Records {
    /// The names of its fields, normal.
    fn columns(&self) -> Result<Vec<String>, Halt>;

    /// Gives every record in the order of the file, with the fields of these slots.
    fn each(&self, slots: &[Slot], take: Take<'_>) -> Result<(), Halt>;
}

/// `<TICKER>`, `Adj Close` and `published_at` as `ticker`, `adjclose` and `publishedat`.
pub(super) fn normal(name: &str) -> String {
    let kept = name.trim().chars().filter(|c| !" _-<>".contains(*c));
    kept.flat_map(char::to_lowercase).collect()
}

/// What kind of records a file holds.
pub(super) fn kind_of(records: &dyn Records) -> Result<Kind, Halt> {
    let columns = records.columns()?;
    Kind::of(&columns).ok_or_else(|| {
        let columns = columns.join(", ");
        Halt::file(1, format!("no kind of row has these columns: {}", super::fields::shown(&columns)))
    })
}
