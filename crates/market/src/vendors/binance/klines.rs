//! Binance's klines: a list of lists, as in responses of `/api/v3/klines`.

use crate::input::{
    BarRow, BarTime, Basis, Format, Hints, ImportedRow, Location, ReadAbort, Sink, Source, fields, whole_json,
};
use crate::vendors::CacheMeta;
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::market::{BarAfterOpen, Interval};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Timestamp;
use serde_json::Value;

const DAY_MINUTES: i64 = 1440;
/// Times of at least this many units since 1970 are microseconds; as milliseconds, this would be the year 5138.
const FIRST_MICROS: i64 = 100_000_000_000_000;

/// The responses do not contain the symbol: it is the file's name up to the first `-`.
pub(super) const KLINES: Format = Format {
    name: "binance-klines",
    description: "Binance's klines; the symbol is the file's name up to the first `-`",
    detect: |_, head| {
        let head: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        // [[1499040000000,"0.01634790",
        let Some(rest) = head.strip_prefix(b"[[") else { return false };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits >= 12 && rest[digits..].starts_with(b",\"")
    },
    read,
};

fn read(source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    let body = whole_json(source)?;
    let rows = body.as_array().ok_or_else(|| ReadAbort::file(1, "it is not a list of klines"))?;
    let symbol = symbol(source, hints).map_err(|reason| ReadAbort::file(1, reason))?;
    let fetched_at = CacheMeta::fetched_at(source)?;
    for (at, row) in rows.iter().enumerate() {
        let kline = Kline::read(row);
        let is_open_only = match (&kline, fetched_at) {
            (Ok(kline), Some(fetched_at)) => kline.closes_at >= fetched_at,
            // Nothing in the file says whether its newest kline was complete.
            _ => at + 1 == rows.len(),
        };
        let bar = kline.and_then(|kline| kline.bar(&symbol, is_open_only, hints));
        let path = format!("$[{at}]");
        sink.row(Location { line: 1, path: Some(&path) }, bar.map(ImportedRow::Bar), row)?;
    }
    Ok(())
}

/// `BTCUSDT-20240101T000000Z.json` contains BTCUSDT.
fn symbol(source: &Source, hints: &Hints) -> Result<Symbol, String> {
    if let Some(symbol) = &hints.symbol {
        return Ok(symbol.clone());
    }
    let name = source.file_name();
    let name = name.split(['-', '.']).next().unwrap_or_default();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(
            "its name does not begin with a symbol and `-`, and the file does not name one".to_owned()
        );
    }
    Ok(Symbol::from(name.to_ascii_uppercase()))
}

/// One kline.
pub(super) struct Kline {
    /// When it opens.
    pub(super) opens_at: Timestamp,
    /// Its last instant, inclusive.
    pub(super) closes_at: Timestamp,
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    volume: Quantity,
}

impl Kline {
    /// Parses one: times, prices and the volume in the base asset.
    pub(super) fn read(row: &Value) -> Result<Self, String> {
        let row = row.as_array().filter(|row| row.len() >= 7).ok_or("a kline has 7 values or more")?;
        let number = |at: usize| match &row[at] {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            other => Err(format!("{other} is not a number")),
        };
        let kline = Self {
            opens_at: instant(&row[0])?,
            closes_at: instant(&row[6])?,
            open: fields::price("open", &number(1)?)?,
            high: fields::price("high", &number(2)?)?,
            low: fields::price("low", &number(3)?)?,
            close: fields::price("close", &number(4)?)?,
            volume: fields::quantity("volume", &number(5)?)?,
        };
        if kline.closes_at <= kline.opens_at {
            return Err("it closes before it opens".to_owned());
        }
        Ok(kline)
    }

    fn bar(self, symbol: &Symbol, is_open_only: bool, hints: &Hints) -> Result<BarRow, String> {
        let length = self.closes_at.as_millisecond() - self.opens_at.as_millisecond() + 1;
        let minutes = length / 60_000;
        let at = if minutes == DAY_MINUTES {
            BarTime::Day(self.opens_at.to_zoned(TimeZone::UTC).date())
        } else {
            let interval = u16::try_from(minutes).ok().and_then(Interval::from_minutes);
            let interval = interval.filter(|_| length % 60_000 == 0);
            let interval = interval.ok_or_else(|| format!("bars of {minutes} minutes are not supported"))?;
            BarTime::Within { opens_at: self.opens_at, interval }
        };
        let rest = BarAfterOpen { high: self.high, low: self.low, close: self.close, volume: self.volume };
        Ok(BarRow {
            symbol: symbol.clone(),
            at,
            open: self.open,
            rest: (!is_open_only).then_some(rest),
            basis: hints.basis.unwrap_or(Basis::AsTraded),
            adjusted_close: None,
        })
    }
}

fn instant(value: &Value) -> Result<Timestamp, String> {
    let refuse = || format!("{value} is not a time");
    let number = value.as_i64().ok_or_else(refuse)?;
    let at = if number >= FIRST_MICROS {
        Timestamp::from_microsecond(number)
    } else {
        Timestamp::from_millisecond(number)
    };
    at.map_err(|_| refuse())
}
