//! Stooq's history: a table of daily rows, sometimes preceded by warnings.

use crate::input::{
    BarRow, BarTime, Basis, Format, Hints, ImportedRow, Location, ReadAbort, Sink, Source, fields,
};
use crate::vendors::CacheMeta;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::market::BarAfterOpen;
use papertape_core::money::Quantity;
use papertape_core::time::Date;
use std::io::BufRead as _;

pub(super) const HEADER: &str = "Date,Open,High,Low,Close";
/// The maximum number of warning lines that are skipped.
const MAX_WARNINGS: u64 = 100;

/// The table does not contain the symbol: that is the file's name up to the dates.
pub(super) const CSV: Format = Format {
    name: "stooq-csv",
    description: "Stooq's daily history, in files named SYMBOL-YYYYMMDD-YYYYMMDD.csv as the download names them",
    detect: |file_name, head| {
        symbol_in(file_name).is_some()
            && String::from_utf8_lossy(head).lines().any(|line| line.starts_with(HEADER))
    },
    read,
};

fn read(source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    let symbol =
        hints.symbol.clone().or_else(|| symbol_in(source.file_name())).or_else(|| hints.symbol_of(source));
    let symbol = symbol.ok_or_else(|| ReadAbort::file(1, "neither the file nor its name names a symbol"))?;
    let fetched_on = CacheMeta::fetched_at(source)?.map(|at| at.to_zoned(TimeZone::UTC).date());
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
                let row = bar(&symbol, line, columns, fetched_on, basis);
                sink.row(Location::line(number), row.map(ImportedRow::Bar), &line)?;
            }
        }
    }
    match columns {
        Some(_) => Ok(()),
        None => Err(ReadAbort::file(1, format!("no line begins with `{HEADER}`"))),
    }
}

/// `AAPL-20240101-20240131.csv` contains AAPL.
fn symbol_in(file_name: &str) -> Option<Symbol> {
    let (rest, to) = file_name.strip_suffix(".csv")?.rsplit_once('-')?;
    let (symbol, from) = rest.rsplit_once('-')?;
    let is_day = |text: &str| text.len() == 8 && fields::date(text).is_ok();
    (is_day(from) && is_day(to)).then(|| fields::symbol(symbol).ok()).flatten()
}

fn bar(
    symbol: &Symbol,
    line: &str,
    columns: usize,
    fetched_on: Option<Date>,
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
        rest: fetched_on.is_none_or(|fetched_on| date < fetched_on).then_some(rest),
        basis,
        adjusted_close: None,
    })
}
