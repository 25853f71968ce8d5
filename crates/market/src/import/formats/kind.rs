//! The kinds of records, by their columns, and how a record becomes a row.

use super::bars::BarReader;
use super::records::{ColumnNames, Records};
use crate::input::Source;
use crate::input::fields;
use crate::input::{DayRow, ImportedRow, InstrumentRow};
use crate::input::{Hints, Location, ReadAbort, Sink};
use jiff::tz::TimeZone;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{Fundamental, InstrumentType, MacroPoint, Membership, News};
use papertape_core::money::Price;
use papertape_core::time::Timestamp;
use rust_decimal::Decimal;

const SYMBOL: ColumnNames = &["symbol", "ticker", "code", "instrument"];
const PUBLISHED: ColumnNames =
    &["publishedat", "published", "publicationdate", "timepublished", "releasedate", "filed"];

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bars,
    Actions,
    Instruments,
    News,
    Fundamentals,
    Macros,
    Memberships,
    Calendar,
}

impl Kind {
    /// By the columns that only this kind has.
    pub(super) fn of(columns: &[String]) -> Option<Self> {
        let has = |name: &str| columns.iter().any(|column| column == name);
        let any = |slot: ColumnNames| slot.iter().any(|name| has(name));
        Some(if has("exdate") && has("kind") {
            Self::Actions
        } else if any(HEADLINE) {
            Self::News
        } else if has("metric") && any(SYMBOL) {
            Self::Fundamentals
        } else if has("series") && has("value") {
            Self::Macros
        } else if has("index") && any(SYMBOL) && has("from") {
            Self::Memberships
        } else if any(super::bars::OPEN) && any(super::bars::TIME) {
            Self::Bars
        } else if any(SYMBOL) && (has("name") || has("currency") || columns.iter().all(is_symbol_or_type)) {
            Self::Instruments
        } else if has("date") && columns.iter().all(|c| ["date", "opensat", "closesat"].contains(&&**c)) {
            Self::Calendar
        } else {
            return None;
        })
    }

    fn slots(self) -> &'static [ColumnNames] {
        match self {
            Self::Bars => super::bars::SLOTS,
            Self::Actions => &[SYMBOL, &["exdate"], &["kind"], &["value"]],
            Self::Instruments => &[SYMBOL, &["name"], &["currency"], TYPE],
            Self::News => &[
                PUBLISHED_NEWS,
                HEADLINE,
                &["id", "uuid", "guid"],
                &["symbols", "tickers", "symbol", "ticker"],
                &["source", "publisher", "provider"],
                &["body", "text", "summary", "content", "description"],
                &["url", "link"],
            ],
            Self::Fundamentals => &[
                SYMBOL,
                &["metric"],
                &["periodend", "fiscaldateending", "period"],
                &["value"],
                &["unit"],
                PUBLISHED,
            ],
            Self::Macros => &[&["series"], &["period", "date"], &["value"], &["unit"], PUBLISHED],
            Self::Memberships => {
                &[&["index"], SYMBOL, &["from"], &["until"], ANNOUNCED, &["untilannouncedat"]]
            }
            Self::Calendar => &[&["date"], &["opensat"], &["closesat"]],
        }
    }
}

/// Whether a column is one of these two: a file whose other columns are all unknown is not about instruments.
fn is_symbol_or_type(column: &String) -> bool {
    SYMBOL.iter().chain(TYPE).any(|name| name == column)
}

const ANNOUNCED: ColumnNames = &["announcedat", "announced", "publishedat", "published"];
const TYPE: ColumnNames = &["type"];
const HEADLINE: ColumnNames = &["headline", "title"];
const PUBLISHED_NEWS: ColumnNames =
    &["publishedat", "published", "timepublished", "publicationdate", "datetime", "pubdate", "time", "date"];

/// The kind of records in a file.
fn kind_of(records: &dyn Records) -> Result<Kind, ReadAbort> {
    let columns = records.columns()?;
    Kind::of(&columns).ok_or_else(|| {
        let columns = columns.join(", ");
        ReadAbort::file(1, format!("no kind of row has these columns: {}", fields::quote(&columns)))
    })
}

/// Reads all records of a file, of whatever kind they are.
pub(super) fn read(
    records: &dyn Records,
    source: &Source,
    hints: &Hints,
    sink: &mut dyn Sink,
) -> Result<(), ReadAbort> {
    let kind = kind_of(records)?;
    let bars = match kind {
        Kind::Bars => Some(BarReader::new(records, source, hints)?),
        _ => None,
    };
    records.each(kind.slots(), &mut |line, fields, raw| {
        let row = fields.and_then(|fields| match (&bars, kind) {
            (Some(bars), _) => bars.row(fields),
            (None, Kind::Actions) => action(fields),
            (None, Kind::Instruments) => instrument(fields),
            (None, Kind::News) => news(fields, &hints.zone),
            (None, Kind::Fundamentals) => fundamental(fields, &hints.zone),
            (None, Kind::Macros) => macro_point(fields, &hints.zone),
            (None, Kind::Memberships) => membership(fields, &hints.zone),
            (None, _) => calendar_day(fields, &hints.zone),
        });
        sink.row(Location::line(line), row, raw)
    })
}

fn action(fields: &[&str]) -> Result<ImportedRow, String> {
    let [symbol, ex_date, kind, value] = *fields else { return Err(short()) };
    let symbol = fields::symbol(symbol)?;
    let kind = match kind {
        "split" => CorporateActionKind::Split { ratio: ratio(value)? },
        "dividend" => CorporateActionKind::Dividend { amount: Price(fields::decimal(value)?) },
        "delisting" => CorporateActionKind::Delisting { pays: pays(value)? },
        "splits_complete" => return Ok(ImportedRow::SplitsComplete { symbol }),
        other => return Err(format!("unknown kind of action {}", fields::quote(other))),
    };
    let ex_date = fields::day(ex_date)?;
    Ok(ImportedRow::Action(CorporateAction { symbol, ex_date, kind }))
}

/// What a delisting pays for one share: an amount, `nothing`, or `last_price`.
fn pays(text: &str) -> Result<Option<Price>, String> {
    Ok(match text {
        "last_price" => None,
        "nothing" => Some(Price::ZERO),
        amount => Some(Price(fields::decimal(amount)?)),
    })
}

/// New shares for one old: `2`, `0.1`, `3:2` or `1/10`.
fn ratio(text: &str) -> Result<Decimal, String> {
    let Some((new, old)) = text.split_once([':', '/']) else { return fields::decimal(text) };
    let (new, old) = (fields::decimal(new)?, fields::decimal(old)?);
    new.checked_div(old).ok_or_else(|| format!("{} is not a ratio", fields::quote(text)))
}

fn instrument(fields: &[&str]) -> Result<ImportedRow, String> {
    let [symbol, name, currency, instrument_type] = *fields else { return Err(short()) };
    let symbol = fields::symbol(symbol)?;
    if currency.len() > 10 {
        return Err(format!("{} is not a currency", fields::quote(currency)));
    }
    let instrument_type = match instrument_type {
        "" => None,
        "stock" => Some(InstrumentType::Stock),
        "index" => Some(InstrumentType::Index),
        other => {
            let other = fields::quote(other);
            return Err(format!("{other} is not a type of instrument; expected `stock` or `index`"));
        }
    };
    let (name, currency) = (some(name), some(currency));
    Ok(ImportedRow::Instrument(InstrumentRow { symbol, name, currency, instrument_type }))
}

fn news(fields: &[&str], zone: &TimeZone) -> Result<ImportedRow, String> {
    let [published_at, headline, id, symbols, source, body, url] = *fields else { return Err(short()) };
    let published_at = published(published_at, zone)?;
    if headline.is_empty() {
        return Err("it has no headline".to_owned());
    }
    let separators = [',', ';', '|', ' '];
    let symbols = symbols.split(separators).filter(|symbol| !symbol.trim().is_empty()).map(fields::symbol);
    let mut symbols = symbols.collect::<Result<Vec<Symbol>, _>>()?;
    symbols.sort_unstable();
    symbols.dedup();
    let id = some(id).unwrap_or_else(|| {
        let text = format!("{published_at:?}\n{source}\n{headline}\n{url}");
        ContentHash::of(text.as_bytes()).to_hex()[..16].to_owned()
    });
    let item = News {
        id,
        symbols,
        source: source.to_owned(),
        headline: headline.to_owned(),
        body: some(body),
        url: some(url),
    };
    Ok(ImportedRow::News { published_at, item })
}

fn fundamental(fields: &[&str], zone: &TimeZone) -> Result<ImportedRow, String> {
    let [symbol, metric, period_end, value, unit, published_at] = *fields else { return Err(short()) };
    let item = Fundamental {
        symbol: fields::symbol(symbol)?,
        metric: name("metric", metric)?,
        period_end: fields::day(period_end)?,
        value: fields::decimal(value)?,
        unit: unit.to_owned(),
    };
    Ok(ImportedRow::Fundamental { published_at: published(published_at, zone)?, item })
}

fn macro_point(fields: &[&str], zone: &TimeZone) -> Result<ImportedRow, String> {
    let [series, period, value, unit, published_at] = *fields else { return Err(short()) };
    let item = MacroPoint {
        series: name("series", series)?,
        period: fields::day(period)?,
        value: fields::decimal(value)?,
        unit: unit.to_owned(),
    };
    Ok(ImportedRow::Macro { published_at: published(published_at, zone)?, item })
}

fn membership(fields: &[&str], zone: &TimeZone) -> Result<ImportedRow, String> {
    let [index, symbol, from, until, announced_at, until_announced_at] = *fields else { return Err(short()) };
    if from.is_empty() {
        return Err("from: it is missing".to_owned());
    }
    let day = |name: &str, text: &str| fields::day(text).map_err(|reason| format!("{name}: {reason}"));
    let until = some(until).map(|until| day("until", &until)).transpose()?;
    Ok(ImportedRow::Membership(Membership {
        index: fields::index(index)?,
        symbol: fields::symbol(symbol)?,
        from: day("from", from)?,
        until,
        announced_at: published(announced_at, zone)?,
        until_announced_at: published(until_announced_at, zone)?,
    }))
}

fn calendar_day(fields: &[&str], zone: &TimeZone) -> Result<ImportedRow, String> {
    let [date, opens_at, closes_at] = *fields else { return Err(short()) };
    let date = fields::day(date)?;
    let at = |text: &str| -> Result<Option<Timestamp>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        if let Ok(time) = text.parse::<jiff::civil::Time>() {
            return fields::at_wall_clock(date.to_datetime(time), zone).map(Some);
        }
        fields::instant(text, zone).map(Some)
    };
    Ok(ImportedRow::Day(DayRow { date, open: at(opens_at)?, close: at(closes_at)? }))
}

/// When something was published; `None` where it is undated. A date alone means that it was known when
/// that day was over at the exchange: later than it was, never earlier.
fn published(text: &str, zone: &TimeZone) -> Result<Option<Timestamp>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(date) = fields::date(text) {
        let next = date.tomorrow().map_err(|error| error.to_string())?;
        let midnight = zone.to_ambiguous_timestamp(next.to_datetime(jiff::civil::Time::midnight()));
        return midnight.later().map(Some).map_err(|error| error.to_string());
    }
    fields::instant(text, zone).map(Some)
}

fn name(what: &str, text: &str) -> Result<String, String> {
    some(text).ok_or_else(|| format!("{what}: it is missing"))
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Never seen: there are as many fields as slots.
fn short() -> String {
    "fields are missing".to_owned()
}
