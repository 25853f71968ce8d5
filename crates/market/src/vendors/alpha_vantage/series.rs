//! Alpha Vantage's series, and AI-Trader's `merged.jsonl`, which has one of them per line.
//!
//! ```json
//! {"Meta Data": {"2. Symbol": "AAPL", "5. Time Zone": "US/Eastern"},
//!  "Time Series (Daily)": {"2025-10-30": {"1. open": "271.99", "2. high": "274.14", …}}}
//! ```
//!
//! A field's name is the part after its number. AI-Trader writes `buy price` for the open and `sell price`
//! for the close, and only the open of the newest bar.

use crate::input::{
    BarRow, BarTime, Basis, Format, Hints, ImportedRow, Location, ReadAbort, Sink, Source, each_line, fields,
};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{BarAfterOpen, Interval};
use papertape_core::money::{Price, Quantity};
use rust_decimal::Decimal;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// One document.
pub(super) const SERIES: Format = Format {
    name: "alpha-vantage",
    description: "Alpha Vantage's JSON: daily, daily adjusted, intraday",
    detect: |_, head| is_series(head),
    read: read_document,
};

/// One document per line.
pub(super) const MERGED_JSONL: Format = Format {
    name: "merged-jsonl",
    description: "AI-Trader's merged.jsonl: one symbol's series per line",
    detect: |file_name, head| file_name.ends_with(".jsonl") && is_series(head),
    read: read_lines,
};

fn read_document(source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    let bytes = source.all()?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| ReadAbort::file(line_of(&bytes[..error.valid_up_to()]), "it is not UTF-8"))?;
    let document = serde_json::from_str(text.trim_end())
        .map_err(|error| ReadAbort::file(error.line() as u64, format!("it is not JSON: {error}")))?;
    let mut lines = Lines { text, line: 1, until: 0 };
    Document { hints, at: &mut |raw| lines.of(raw) }.read(&document, source, sink)
}

fn read_lines(source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    each_line(source, &mut |number, line| {
        let raw = *line.as_ref().unwrap_or(&"");
        let parsed = line.and_then(|line| {
            let document = serde_json::from_str::<Object<'_>>(line);
            document.map_err(|error| format!("not a JSON object: {error}"))
        });
        match parsed {
            Ok(document) => Document { hints, at: &mut |_| number }.read(&document, source, sink),
            Err(reason) => sink.row(Location::line(number), Err(reason), &raw),
        }
    })
}

fn is_series(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.trim_start().starts_with('{') && text.contains("\"Meta Data\"") && text.contains("Time Series")
}

/// A JSON object in text order, with raw values.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    fn of(raw: &'a RawValue) -> Result<Self, String> {
        serde_json::from_str(raw.get()).map_err(|error| format!("not a JSON object: {error}"))
    }

    fn find(&self, fits: impl Fn(&str) -> bool) -> Option<(&str, &'a RawValue)> {
        self.0.iter().find(|(key, _)| fits(key)).map(|(key, value)| (&**key, *value))
    }

    /// The text of the field that, without its number, has one of these names.
    fn field(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        let (_, raw) = self.find(|key| names.contains(&unnumbered(key)))?;
        Some(text(raw))
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(SeriesKey(key)) = map.next_key()? {
                    entries.push((key, map.next_value()?));
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A key, borrowed if it contains no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct SeriesKey<'a>(#[serde(borrow)] Cow<'a, str>);

/// Strips the number: `1. open` becomes `open`.
fn unnumbered(key: &str) -> &str {
    key.split_once(". ").map_or(key, |(number, name)| {
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_number { name } else { key }
    })
}

/// A string, or a number as written.
fn text(raw: &RawValue) -> Cow<'_, str> {
    match serde_json::from_str::<SeriesKey<'_>>(raw.get()) {
        Ok(SeriesKey(text)) => text,
        Err(_) => Cow::Borrowed(raw.get()),
    }
}

struct Document<'a> {
    hints: &'a Hints,
    /// Returns the line of a value.
    at: &'a mut dyn FnMut(&RawValue) -> u64,
}

/// The properties shared by all bars of a document.
struct Series {
    symbol: Symbol,
    zone: TimeZone,
    /// `None`: days.
    interval: Option<Interval>,
    basis: Basis,
}

impl Document<'_> {
    fn read(&mut self, document: &Object<'_>, source: &Source, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
        let Some((name, series)) = document.find(|key| key.starts_with("Time Series")) else {
            let keys: Vec<&str> = document.0.iter().map(|(key, _)| &**key).collect();
            let message = document.field(&["Note", "Information", "Error Message"]);
            let reason = match message {
                Some(message) => format!("it holds no series, but says {}", fields::quote(&message)),
                None => format!("it has no `Time Series`, but {}", fields::quote(&keys.join(", "))),
            };
            return Err(ReadAbort::file(1, reason));
        };
        let line = (self.at)(series);
        let refuse = |reason| ReadAbort::file(line, reason);
        let properties = self.properties(document, name, source).map_err(refuse)?;
        for (time, raw) in &Object::of(series).map_err(refuse)?.0 {
            let line = (self.at)(raw);
            let path = format!("$.{name:?}.{time:?}");
            let at = Location { line, path: Some(&path) };
            let shown = format!("{time:?}: {}", raw.get());
            match properties.rows(time, raw) {
                Ok(rows) => rows.into_iter().try_for_each(|row| sink.row(at, Ok(row), &shown))?,
                Err(reason) => sink.row(at, Err(reason), &shown)?,
            }
        }
        Ok(())
    }

    fn properties(&self, document: &Object<'_>, name: &str, source: &Source) -> Result<Series, String> {
        let meta = match document.find(|key| key == "Meta Data") {
            Some((_, meta)) => Object::of(meta)?,
            None => Object(Vec::new()),
        };
        let symbol = match meta.field(&["Symbol"]) {
            Some(symbol) => fields::symbol(&symbol)?,
            None => self.hints.symbol_of(source).ok_or("it names no symbol")?,
        };
        let length = name.strip_prefix("Time Series").unwrap_or_default();
        let length = length.trim().trim_start_matches('(').trim_end_matches(')');
        let interval = match length {
            "Daily" | "" => None,
            other => Some(other.parse::<Interval>()?),
        };
        let zone = match meta.field(&["Time Zone"]).filter(|_| interval.is_some()) {
            Some(zone) => TimeZoneDatabase::bundled()
                .get(&zone)
                .map_err(|_| format!("{} is not a time zone", fields::quote(&zone)))?,
            None => self.hints.zone.clone(),
        };
        let basis = match (self.hints.basis, interval) {
            (Some(basis), _) => basis,
            (None, None) => Basis::AsTraded,
            (None, Some(_)) => {
                return Err(
                    "Alpha Vantage adjusts intraday prices for splits and dividends unless the request says \
                            adjusted=false: if it did, add --prices as-traded"
                        .to_owned(),
                );
            }
        };
        Ok(Series { symbol, zone, interval, basis })
    }
}

impl Series {
    /// A bar, and the split and the dividend on the same row.
    fn rows(&self, time: &str, raw: &RawValue) -> Result<Vec<ImportedRow>, String> {
        let object = Object::of(raw)?;
        let at = match self.interval {
            None => BarTime::Day(fields::date(time)?),
            Some(interval) => BarTime::Within { opens_at: fields::instant(time, &self.zone)?, interval },
        };
        let price = |name: &str, names: &[&str]| -> Result<Option<Price>, String> {
            object.field(names).map(|text| fields::price(name, &text)).transpose()
        };
        let missing = |name: &str| format!("{name}: it is missing");
        let open = price("open", &["open", "buy price"])?.ok_or_else(|| missing("open"))?;
        let high = price("high", &["high"])?;
        let low = price("low", &["low"])?;
        let close = price("close", &["close", "sell price"])?;
        let volume = object.field(&["volume"]).map(|text| fields::quantity("volume", &text)).transpose()?;
        let rest = if high.is_none() && low.is_none() && close.is_none() {
            None
        } else {
            Some(BarAfterOpen {
                high: high.ok_or_else(|| missing("high"))?,
                low: low.ok_or_else(|| missing("low"))?,
                close: close.ok_or_else(|| missing("close"))?,
                volume: volume.unwrap_or(Quantity::ZERO),
            })
        };
        let adjusted_close = price("adjusted close", &["adjusted close"])?;
        let symbol = self.symbol.clone();
        let bar = BarRow { symbol, at, open, rest, basis: self.basis, adjusted_close };
        let mut rows = vec![ImportedRow::Bar(bar)];
        if let BarTime::Day(ex_date) = at {
            let number = |names: &[&str]| object.field(names).map(|text| fields::decimal(&text)).transpose();
            let mut action = |kind| {
                rows.push(ImportedRow::Action(CorporateAction {
                    symbol: self.symbol.clone(),
                    ex_date,
                    kind,
                }));
            };
            if let Some(ratio) = number(&["split coefficient"])?.filter(|ratio| *ratio != Decimal::ONE) {
                action(CorporateActionKind::Split { ratio });
            }
            if let Some(amount) = number(&["dividend amount"])?.filter(|amount| !amount.is_zero()) {
                action(CorporateActionKind::Dividend { amount: Price(amount) });
            }
        }
        Ok(rows)
    }
}

/// Finds the lines of successive values in a text.
struct Lines<'t> {
    text: &'t str,
    line: u64,
    until: usize,
}

impl Lines<'_> {
    fn of(&mut self, raw: &RawValue) -> u64 {
        // A raw value is a slice of the text that it was parsed from.
        let place = (raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let bytes = self.text.as_bytes();
        if place < self.until || place > bytes.len() {
            return line_of(&bytes[..place.min(bytes.len())]);
        }
        self.line += line_of(&bytes[self.until..place]) - 1;
        self.until = place;
        self.line
    }
}

/// The line on which these bytes end, from 1.
fn line_of(bytes: &[u8]) -> u64 {
    1 + bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
