//! Stooq's history: a table of daily rows, sometimes preceded by warnings.

use super::BarAfterOpen;
use super::fields;
use super::format::{Format, Hints, Location, ReadAbort, Sink};
use super::row::{BarRow, BarTime, Basis, ImportedRow};
use super::source::Source;
use crate::download::CacheMeta;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::money::Quantity;
use papertape_core::time::Date;
use std::io::BufRead as _;

const HEADER: &str = "Date,Open,High,Low,Close";
/// The maximum number of warning lines that are skipped.
const MAX_WARNINGS: u64 = 100;

/// Reads the table. It does not contain the symbol: that is the file's name up to the dates.
pub(super) struct StooqCsv;

impl Format for StooqCsv {
    fn name(&self) -> &'static str {
        "stooq-csv"
    }

    fn about(&self) -> &'static str {
        "Stooq's daily history, from files called SYMBOL-YYYYMMDD-YYYYMMDD.csv as the download calls them"
    }

    fn recognises(&self, file_name: &str, head: &[u8]) -> bool {
        named(file_name).is_some()
            && String::from_utf8_lossy(head).lines().any(|line| line.starts_with(HEADER))
    }

    fn read(&self, source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
        let symbol =
            hints.symbol.clone().or_else(|| named(source.file_name())).or_else(|| hints.symbol_of(source));
        let symbol =
            symbol.ok_or_else(|| ReadAbort::file(1, "neither the file nor its name names a symbol"))?;
        let taken_on = match source.plain_path()? {
            Some(path) => CacheMeta::of(path)?.map(|about| about.fetched_at.to_zoned(TimeZone::UTC).date()),
            None => None,
        };
        let basis = hints.basis.unwrap_or(Basis::AsTraded);
        let mut columns = None;
        for (line, number) in source.open()?.lines().zip(1..) {
            let line = line?;
            let line = line.trim();
            match columns {
                None if line.starts_with(HEADER) => columns = Some(line.split(',').count()),
                None if number > MAX_WARNINGS => {
                    return Err(ReadAbort::file(number, format!("no line begins with `{HEADER}`")));
                }
                None => {}
                Some(_) if line.is_empty() => {}
                Some(columns) => {
                    let row = bar(&symbol, line, columns, taken_on, basis);
                    sink.row(Location::line(number), row.map(ImportedRow::Bar), &line)?;
                }
            }
        }
        match columns {
            Some(_) => Ok(()),
            None => Err(ReadAbort::file(1, format!("no line begins with `{HEADER}`"))),
        }
    }
}

/// `AAPL-20240101-20240131.csv` contains AAPL.
fn named(file_name: &str) -> Option<Symbol> {
    let (rest, to) = file_name.strip_suffix(".csv")?.rsplit_once('-')?;
    let (symbol, from) = rest.rsplit_once('-')?;
    let is_day = |text: &str| text.len() == 8 && fields::date(text).is_ok();
    (is_day(from) && is_day(to)).then(|| fields::symbol(symbol).ok()).flatten()
}

fn bar(
    symbol: &Symbol,
    line: &str,
    columns: usize,
    taken_on: Option<Date>,
    basis: Basis,
) -> Result<BarRow, String> {
    let values: Vec<&str> = line.split(',').collect();
    let [date, open, high, low, close, more @ ..] = &values[..] else {
        return Err(format!("{} values instead of {columns}", values.len()));
    };
    if values.len() != columns {
        return Err(format!("{} values instead of {columns}", values.len()));
    }
    let date = fields::date(date)?;
    let volume = match more.first() {
        // Indices and pairs have no volume.
        None | Some(&"") => Quantity::default(),
        Some(text) => fields::quantity("volume", text)?,
    };
    let rest = BarAfterOpen {
        high: fields::price("high", high)?,
        low: fields::price("low", low)?,
        close: fields::price("close", close)?,
        volume,
    };
    Ok(BarRow {
        symbol: symbol.clone(),
        at: BarTime::Day(date),
        open: fields::price("open", open)?,
        rest: taken_on.is_none_or(|taken_on| date < taken_on).then_some(rest),
        basis,
        adjusted_close: None,
    })
}
