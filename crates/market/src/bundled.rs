//! The bundled dataset. docs/data.md describes its source and how it was built.

use crate::error::MarketError;
use flate2::read::GzDecoder;
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, TradingHours};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, parse_date};
use rust_decimal::Decimal;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::{Arc, OnceLock};

/// The bundled dataset's name.
pub const BUNDLED_NAME: &str = "us-daily-2000-2013";

const BARS_FILE: &str = "us-daily-2000-2013.csv.gz";
const BARS: &[u8] = include_bytes!("../data/us-daily-2000-2013.csv.gz");
const ACTIONS_FILE: &str = "us-daily-2000-2013.actions.csv";
const ACTIONS: &str = include_str!("../data/us-daily-2000-2013.actions.csv");

/// Names as they were at the time, because an agent may see them.
const NAMES: [(&str, &str); 5] = [
    ("AAPL", "Apple"),
    ("FB", "Facebook"),
    ("GOOG", "Google"),
    ("IBM", "International Business Machines"),
    ("MSFT", "Microsoft"),
];

/// Daily bars, splits and dividends of AAPL, GOOG, IBM and MSFT from 2000-03-01 to 2013-03-01 (GOOG from its
/// first day, 2004-08-19) and of FB from its first day, 2012-05-18. Decoded once.
///
/// # Panics
/// Never: the files are part of the program, and a test reads them.
#[must_use]
pub fn bundled() -> Arc<Dataset> {
    static DATASET: OnceLock<Arc<Dataset>> = OnceLock::new();
    let make = || Arc::new(decode().expect("the bundled files are in order"));
    Arc::clone(DATASET.get_or_init(make))
}

fn decode() -> Result<Dataset, MarketError> {
    let mut builder = DatasetBuilder::new(BUNDLED_NAME, TradingHours::US_ZONE);
    for (symbol, name) in NAMES {
        builder.instrument(Instrument {
            symbol: symbol.into(),
            name: name.to_owned(),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Stock,
        });
    }
    let mut dates = BTreeSet::new();
    let mut text = String::new();
    let unpacked = GzDecoder::new(BARS).read_to_string(&mut text);
    unpacked.map_err(|error| refuse(BARS_FILE, 0, &error.to_string()))?;
    let mut symbol = Symbol::new("");
    for_each_row(BARS_FILE, &text, |[name, date, open, high, low, close, volume]| {
        if symbol.as_str() != name {
            symbol = name.into();
        }
        let date = parse_date(date)?;
        dates.insert(date);
        let bar = DailyBar {
            date,
            open: price(open)?,
            high: price(high)?,
            low: price(low)?,
            close: price(close)?,
            volume: Quantity(number(volume)?),
        };
        builder.bar(&symbol, bar).map_err(|error| error.to_string())?;
        Ok(())
    })?;
    for_each_row(ACTIONS_FILE, ACTIONS, |[symbol, ex_date, kind, value]| {
        let kind = match kind {
            "split" => CorporateActionKind::Split { ratio: number(value)? },
            "dividend" => CorporateActionKind::Dividend { amount: price(value)? },
            other => return Err(format!("unknown kind of action `{other}`")),
        };
        let action = CorporateAction { symbol: symbol.into(), ex_date: parse_date(ex_date)?, kind };
        builder.action(action).map_err(|error| error.to_string())
    })?;
    add_days(&mut builder, dates)?;
    Ok(builder.build()?)
}

/// A day on which any of the symbols has a bar is a trading day. This rule yields exactly the exchange's
/// trading days.
fn add_days(builder: &mut DatasetBuilder, dates: BTreeSet<Date>) -> Result<(), MarketError> {
    let hours = TradingHours::us_equity();
    for date in dates {
        builder.day(hours.day(date)?)?;
    }
    Ok(())
}

/// Reads comma-separated lines of `N` fields, skipping comments and the header.
fn for_each_row<'t, const N: usize>(
    file: &str,
    text: &'t str,
    mut row: impl FnMut([&'t str; N]) -> Result<(), String>,
) -> Result<(), MarketError> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with('#'));
    for (line, number) in lines.skip(1) {
        let mut fields = [""; N];
        let mut count = 0;
        for field in line.split(',') {
            if let Some(place) = fields.get_mut(count) {
                *place = field;
            }
            count += 1;
        }
        if count != N {
            return Err(refuse(file, number, &format!("{count} fields instead of {N}")));
        }
        row(fields).map_err(|reason| refuse(file, number, &reason))?;
    }
    Ok(())
}

fn refuse(file: &str, line: u64, reason: &str) -> MarketError {
    MarketError::Line { file: file.to_owned(), line, reason: reason.to_owned() }
}

fn price(text: &str) -> Result<Price, String> {
    number(text).map(Price)
}

fn number(text: &str) -> Result<Decimal, String> {
    Decimal::from_str_exact(text).map_err(|error| format!("`{text}`: {error}"))
}
