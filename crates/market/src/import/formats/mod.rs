//! All formats in one table, and those that are not a vendor's: text tables, JSON Lines, Parquet, and
//! StockBench's caches.

mod bars;
mod columns;
mod csv;
mod jsonl;
mod kind;
mod parquet;
mod records;
mod stockbench;

pub use columns::{FieldsReader, read_columns};

use crate::input::{Format, Source};
use crate::vendors::SourceName;

/// The formats of files that no vendor's format matches.
static GENERIC: [&Format; 6] = [
    &stockbench::NEWS,
    &stockbench::DIVIDENDS,
    &stockbench::SPLITS,
    &parquet::PARQUET,
    &jsonl::JSONL,
    &csv::CSV,
];

/// Every format, in the order in which they are tried: those of vendors come first.
pub fn all_formats() -> impl Iterator<Item = &'static Format> {
    let vendors = SourceName::ALL.into_iter().flat_map(|vendor| vendor.vendor().formats());
    vendors.chain(&GENERIC).copied()
}

/// The format of this name.
///
/// # Errors
/// A message that lists the available formats.
pub fn format_named(name: &str) -> Result<&'static Format, String> {
    all_formats().find(|format| format.name == name).ok_or_else(|| {
        let names: Vec<&str> = all_formats().map(|format| format.name).collect();
        format!("unknown format `{name}`; expected one of {}", names.join(", "))
    })
}

/// Detects the format of a file; `None` if no format matches.
///
/// # Errors
/// The file cannot be read.
pub fn detect(source: &Source) -> std::io::Result<Option<&'static Format>> {
    let head = source.head()?;
    Ok(all_formats().find(|format| (format.detect)(source.file_name(), &head)))
}
