//! Yahoo's chart responses: prices divided by every split up to the day of the request, and the splits
//! themselves, with which the traded prices are restored.

use crate::input::{
    BarRow, BarTime, Basis, Format, Hints, ImportedRow, InstrumentRow, Location, ReadAbort, Sink, Source,
    fields, whole_json,
};
use crate::vendors::CacheMeta;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{BarAfterOpen, InstrumentType, Interval};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::Value;

/// The significant digits of its numbers, which have passed through single precision.
const GOOD_DIGITS: u32 = 7;
/// The number of decimals of its dividends.
const DIVIDEND_DECIMALS: u32 = 6;

/// `/v8/finance/chart/SYMBOL`, requested with `events=div,split` up to now. `adjclose` is ignored.
pub(super) const CHART: Format = Format {
    name: "yahoo-chart",
    description: "Yahoo's chart API: bars, splits and dividends; adjusted prices are converted back to as-traded",
    detect: |_, head| {
        let head = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
        head.take(10).eq(*br#"{"chart":{"#)
    },
    read,
};

fn read(source: &Source, hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    let body = whole_json(source)?;
    if let Some(error) = body.pointer("/chart/error").filter(|error| !error.is_null()) {
        let message = error.get("description").and_then(Value::as_str).unwrap_or("an error");
        return Err(ReadAbort::file(
            1,
            format!("it holds an error instead of a chart: {}", fields::quote(message)),
        ));
    }
    let chart = Chart::read(&body).map_err(|reason| ReadAbort::file(1, reason))?;
    chart.emit(CacheMeta::fetched_at(source)?, hints, sink)
}

/// A chart as received.
pub(super) struct Chart {
    symbol: Symbol,
    /// The exchange's time zone.
    pub(super) zone: TimeZone,
    currency: Option<String>,
    /// Whether its `meta` says that it is an index.
    is_index: bool,
    /// The value of one unit in the currency: London's prices are in pence.
    unit: Decimal,
    /// `None`: days.
    interval: Option<Interval>,
    /// When its bars open.
    pub(super) times: Vec<Timestamp>,
    /// Open, high, low, close and volume, one value per time; `None` for null.
    columns: [Vec<Option<Decimal>>; 5],
    /// By day, in order: new shares per old share.
    splits: Vec<(Date, Decimal)>,
    dividends: Vec<(Date, Decimal)>,
    /// The trading session that was current or next at the time of the request.
    session: Option<(Timestamp, Timestamp)>,
    last_trade: Option<Timestamp>,
}

const COLUMNS: [&str; 5] = ["open", "high", "low", "close", "volume"];

impl Chart {
    /// Parses a response without an error.
    pub(super) fn read(body: &Value) -> Result<Self, String> {
        let result = body.pointer("/chart/result/0").ok_or("it has no `chart.result[0]`")?;
        let meta = result.get("meta").ok_or("it has no `meta`")?;
        let text = |key: &str| meta.get(key).and_then(Value::as_str);
        let symbol = fields::symbol(text("symbol").ok_or("its `meta` names no symbol")?)?;
        let zone = text("exchangeTimezoneName").unwrap_or("America/New_York");
        let zone = TimeZoneDatabase::bundled()
            .get(zone)
            .map_err(|_| format!("its zone {} is unknown", fields::quote(zone)))?;
        let (currency, unit) = currency(text("currency"));
        let interval = match text("dataGranularity").unwrap_or("1d") {
            "1d" => None,
            other => Some(other.parse()?),
        };
        let times = match result.get("timestamp") {
            None | Some(Value::Null) => Vec::new(),
            Some(times) => {
                let times = times.as_array().ok_or("`timestamp` is not a list")?;
                times.iter().map(instant).collect::<Result<Vec<_>, _>>()?
            }
        };
        if times.windows(2).any(|pair| pair[1] < pair[0]) {
            return Err("its bars are not in the order of time".to_owned());
        }
        let quote = result.pointer("/indicators/quote/0");
        let mut columns: [Vec<Option<Decimal>>; 5] = Default::default();
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            *column = values(quote.and_then(|quote| quote.get(name)), name, times.len())?;
        }
        let session = meta.pointer("/currentTradingPeriod/regular");
        let session =
            session.and_then(|at| Some((instant(at.get("start")?).ok()?, instant(at.get("end")?).ok()?)));
        let mut chart = Self {
            symbol,
            zone,
            currency,
            is_index: text("instrumentType") == Some("INDEX"),
            unit,
            interval,
            times,
            columns,
            splits: Vec::new(),
            dividends: Vec::new(),
            session,
            last_trade: meta.get("regularMarketTime").and_then(|at| instant(at).ok()),
        };
        chart.splits = chart.events(result, "splits", |event| {
            let (new, old) = (decimal(event.get("numerator")?)?, decimal(event.get("denominator")?)?);
            new.checked_div(old).filter(|ratio| *ratio > Decimal::ZERO)
        })?;
        chart.dividends = chart.events(result, "dividends", |event| decimal(event.get("amount")?))?;
        Ok(chart)
    }

    fn events(
        &self,
        result: &Value,
        kind: &str,
        value: impl Fn(&Value) -> Option<Decimal>,
    ) -> Result<Vec<(Date, Decimal)>, String> {
        let mut found = Vec::new();
        let Some(events) = result.pointer(&format!("/events/{kind}")) else { return Ok(found) };
        for (key, event) in events.as_object().ok_or_else(|| format!("`events.{kind}` is not an object"))? {
            let refuse = || format!("`events.{kind}.{key}` cannot be read");
            let at = event.get("date").and_then(|at| instant(at).ok()).ok_or_else(refuse)?;
            found.push((self.date(at), value(event).ok_or_else(refuse)?));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The exchange's local date of an instant.
    pub(super) fn date(&self, at: Timestamp) -> Date {
        at.to_zoned(self.zone.clone()).date()
    }

    /// How many rows have no price at all.
    pub(super) fn empty_rows(&self) -> usize {
        (0..self.times.len()).filter(|&at| self.is_empty(at)).count()
    }

    fn is_empty(&self, at: usize) -> bool {
        self.columns[..4].iter().all(|column| column[at].is_none())
    }

    /// Whether its last bar was incomplete at the time of the request, `fetched_at`; if that is unknown, the
    /// time of its last trade is used.
    pub(super) fn is_unfinished_at_its_end(&self, fetched_at: Option<Timestamp>) -> bool {
        let Some(&last) = self.times.last() else { return false };
        let Some(now) = fetched_at.or(self.last_trade) else { return false };
        if let Some(interval) = self.interval {
            return now.as_microsecond() < last.as_microsecond().saturating_add(interval.micros());
        }
        match self.session {
            Some((opens, closes)) if self.date(opens) == self.date(last) => now < closes,
            // The session is a later one: the bar's day is over.
            Some((opens, _)) if opens > last => false,
            _ => self.date(now) <= self.date(last),
        }
    }

    /// Whether its events include all splits up to now. If it ends before the last trade, later splits are
    /// missing. A response stored by the download was requested up to its own time.
    fn knows_all_splits(&self, fetched_at: Option<Timestamp>) -> bool {
        let last = self.times.last().map(|at| self.date(*at));
        let traded = self.last_trade.map(|at| self.date(at));
        fetched_at.is_some() || last.zip(traded).is_none_or(|(last, traded)| last >= traded)
    }

    fn emit(
        &self,
        fetched_at: Option<Timestamp>,
        hints: &Hints,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadAbort> {
        let symbol = hints.symbol.as_ref().unwrap_or(&self.symbol);
        let turns_back = hints.basis.is_none() && self.knows_all_splits(fetched_at);
        let basis = hints.basis.unwrap_or(if turns_back { Basis::AsTraded } else { Basis::SplitAdjusted });
        let place = |path: String| {
            move |sink: &mut dyn Sink, row: Result<ImportedRow, String>, raw: &str| {
                sink.row(Location { line: 1, path: Some(&path) }, row, &raw)
            }
        };
        let instrument = InstrumentRow {
            symbol: symbol.clone(),
            name: None,
            currency: self.currency.clone(),
            instrument_type: self.is_index.then_some(InstrumentType::Index),
        };
        place("$.chart.result[0].meta".to_owned())(sink, Ok(ImportedRow::Instrument(instrument)), "meta")?;
        for (date, ratio) in &self.splits {
            let kind = CorporateActionKind::Split { ratio: *ratio };
            let action = CorporateAction { symbol: symbol.clone(), ex_date: *date, kind };
            let raw = format!("split of {ratio} on {date}");
            place("$.chart.result[0].events.splits".to_owned())(sink, Ok(ImportedRow::Action(action)), &raw)?;
        }
        for (date, amount) in &self.dividends {
            let raw = format!("dividend of {amount} on {date}");
            let amount = self.dividend(*date, *amount).map(|amount| {
                let kind = CorporateActionKind::Dividend { amount: Price(amount) };
                ImportedRow::Action(CorporateAction { symbol: symbol.clone(), ex_date: *date, kind })
            });
            place("$.chart.result[0].events.dividends".to_owned())(sink, amount, &raw)?;
        }
        let mut last_day = None;
        for (at, time) in self.times.iter().enumerate().filter(|(at, _)| !self.is_empty(*at)) {
            let date = self.date(*time);
            let is_last = at + 1 == self.times.len();
            let is_open_only = is_last && self.is_unfinished_at_its_end(fetched_at);
            // Besides the bar of the day there may be a real-time one.
            let row = if self.interval.is_none() && last_day.replace(date) == Some(date) {
                Err("a second bar of the day; the first one is taken".to_owned())
            } else {
                self.bar(at, symbol, turns_back, basis, is_open_only).map(ImportedRow::Bar)
            };
            let raw = self.raw(at);
            place(format!("$.chart.result[0].timestamp[{at}]"))(sink, row, &raw)?;
        }
        Ok(())
    }

    fn bar(
        &self,
        at: usize,
        symbol: &Symbol,
        turns_back: bool,
        basis: Basis,
        is_open_only: bool,
    ) -> Result<BarRow, String> {
        let time = self.times[at];
        let date = self.date(time);
        let ratio = if turns_back { self.ratio_after(date)? } else { Decimal::ONE };
        let price = |column: usize| -> Result<Price, String> {
            let value = self.columns[column][at].ok_or_else(|| format!("`{}` is null", COLUMNS[column]))?;
            let whole = value.checked_mul(ratio).and_then(|value| value.checked_mul(self.unit));
            let whole = whole.ok_or_else(|| format!("`{}` is too large", COLUMNS[column]))?;
            Ok(Price(good_digits(whole)))
        };
        let rest = if is_open_only {
            None
        } else {
            let volume = self.columns[4][at].unwrap_or_default().checked_div(ratio).unwrap_or_default();
            let volume = volume.round_dp_with_strategy(0, RoundingStrategy::MidpointNearestEven);
            Some(BarAfterOpen { high: price(1)?, low: price(2)?, close: price(3)?, volume: Quantity(volume) })
        };
        let bar_time = match self.interval {
            None => BarTime::Day(date),
            Some(interval) => BarTime::Within { opens_at: time, interval },
        };
        let symbol = symbol.clone();
        Ok(BarRow { symbol, at: bar_time, open: price(0)?, rest, basis, adjusted_close: None })
    }

    /// The product of all splits after a day.
    fn ratio_after(&self, date: Date) -> Result<Decimal, String> {
        let mut later = self.splits.iter().filter(|(split, _)| *split > date);
        let product = later.try_fold(Decimal::ONE, |product, (_, ratio)| product.checked_mul(*ratio));
        product.ok_or_else(|| "the splits after it multiply to too much".to_owned())
    }

    /// A dividend per share on its ex-date.
    fn dividend(&self, date: Date, amount: Decimal) -> Result<Decimal, String> {
        let ratio = self.ratio_after(date)?;
        let whole = amount.checked_mul(ratio).and_then(|whole| whole.checked_mul(self.unit));
        let whole = whole.ok_or_else(|| "the dividend is too large".to_owned())?;
        // The amount was rounded after it was divided: the multiplication costs some of its decimals, and
        // only the remaining ones are kept.
        let mut decimals = DIVIDEND_DECIMALS;
        let mut bound = Decimal::ONE;
        while bound < ratio && decimals > 0 {
            bound *= Decimal::TEN;
            decimals -= 1;
        }
        Ok(whole.round_dp_with_strategy(decimals, RoundingStrategy::MidpointNearestEven).normalize())
    }

    fn raw(&self, at: usize) -> String {
        let values = self.columns.iter().zip(COLUMNS).map(|(column, name)| match column[at] {
            Some(value) => format!("{name} {value}"),
            None => format!("{name} null"),
        });
        format!("{}: {}", self.times[at], values.collect::<Vec<_>>().join(", "))
    }
}

/// An ISO currency, and how much of it a unit of this name is.
fn currency(name: Option<&str>) -> (Option<String>, Decimal) {
    let hundredth = Decimal::new(1, 2);
    match name {
        Some("GBp" | "GBX") => (Some("GBP".to_owned()), hundredth),
        Some("ZAc") => (Some("ZAR".to_owned()), hundredth),
        Some("ILA") => (Some("ILS".to_owned()), hundredth),
        other => (other.map(str::to_owned), Decimal::ONE),
    }
}

fn values(list: Option<&Value>, name: &str, count: usize) -> Result<Vec<Option<Decimal>>, String> {
    let Some(list) = list.filter(|list| !list.is_null()) else {
        return if count == 0 || name == "volume" {
            Ok(vec![None; count])
        } else {
            Err(format!("it has no `{name}`"))
        };
    };
    let list = list.as_array().ok_or_else(|| format!("`{name}` is not a list"))?;
    if list.len() != count {
        return Err(format!("`{name}` has {} values for {count} times", list.len()));
    }
    let read = |value: &Value| match value {
        Value::Null => Ok(None),
        other => {
            decimal(other).map(Some).ok_or_else(|| format!("`{name}` holds {other}, which is not a number"))
        }
    };
    list.iter().map(read).collect()
}

/// A number; 28 digits are more than enough.
fn decimal(value: &Value) -> Option<Decimal> {
    let text = value.as_number()?.to_string();
    text.parse().ok().or_else(|| Decimal::from_scientific(&text).ok())
}

fn instant(value: &Value) -> Result<Timestamp, String> {
    let seconds = value.as_i64().ok_or_else(|| format!("{value} is not a time"))?;
    Timestamp::from_second(seconds).map_err(|_| format!("{value} is not a time"))
}

/// Its significant digits, without the noise after them.
fn good_digits(value: Decimal) -> Decimal {
    value
        .round_sf_with_strategy(GOOD_DIGITS, RoundingStrategy::MidpointNearestEven)
        .unwrap_or(value)
        .normalize()
}
