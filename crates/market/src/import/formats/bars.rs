//! Bars as records: the time of a record, and the share units of its prices.

use super::records::{ColumnNames, Records};
use crate::input::Source;
use crate::input::fields;
use crate::input::{BarRow, BarTime, Basis, ImportedRow};
use crate::input::{Hints, ReadAbort};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::market::{BarAfterOpen, Interval};
use papertape_core::money::Quantity;
use papertape_core::time::{Date, Timestamp};
use std::cell::RefCell;
use std::collections::BTreeMap;

pub(super) const OPEN: ColumnNames = &["open"];
pub(super) const TIME: ColumnNames =
    &["date", "datetime", "timestamp", "opensat", "opentime", "indexlevel0", "time"];

/// The fields of a bar. Stooq's `<DATE>` and `<TIME>` are one time.
pub(super) const SLOTS: &[ColumnNames] = &[
    &["symbol", "ticker", "code", "instrument"],
    TIME,
    &["time"],
    OPEN,
    &["high"],
    &["low"],
    &["close"],
    &["volume", "vol"],
    &["adjclose", "adjustedclose"],
    &["interval", "per"],
];

/// How many records are read to infer the length of bars.
const SAMPLE_ROWS: usize = 5_000;

/// Builds bars from records.
pub(super) struct BarReader {
    symbol: Option<Symbol>,
    zone: TimeZone,
    basis: Basis,
    /// `None`: days.
    interval: Option<Interval>,
    /// Whether symbols are in Stooq's form, `AAPL.US`.
    of_stooq: bool,
    /// The previous record's symbol: most records repeat it.
    last: RefCell<Option<Symbol>>,
}

/// A time as a record gives it.
enum Moment {
    Day(Date),
    /// An instant, and the wall clock time that the record shows for it.
    At(Timestamp, DateTime),
    /// A wall clock time at the exchange, which may be a day's midnight.
    Wall(DateTime),
}

impl BarReader {
    pub(super) fn new(records: &dyn Records, source: &Source, hints: &Hints) -> Result<Self, ReadAbort> {
        let columns = records.columns()?;
        let has = |slot: ColumnNames| slot.iter().any(|name| columns.iter().any(|column| column == name));
        for slot in [SLOTS[4], SLOTS[5], SLOTS[6]] {
            if !has(slot) {
                let shown = fields::quote(&columns.join(", "));
                return Err(ReadAbort::file(1, format!("there is no column `{}` among: {shown}", slot[0])));
            }
        }
        let symbol = hints.symbol_of(source);
        if !has(SLOTS[0]) && symbol.is_none() {
            return Err(ReadAbort::file(1, "no column, option or file name gives a symbol"));
        }
        // Yahoo's files have both closes, of which the plain one is adjusted for splits; Stooq's bulk files,
        // recognized by their column names, are adjusted as well.
        let is_stooq = has(&["per"]) && has(&["openint"]);
        let is_adjusted = has(SLOTS[8]) || is_stooq;
        let basis = if is_adjusted { Basis::SplitAdjusted } else { Basis::AsTraded };
        let mut reader = Self {
            symbol,
            zone: hints.zone.clone(),
            basis: hints.basis.unwrap_or(basis),
            interval: hints.interval,
            of_stooq: is_stooq,
            last: RefCell::new(None),
        };
        if hints.interval.is_none() && !has(SLOTS[9]) {
            reader.interval = reader.shortest(records)?;
        }
        Ok(reader)
    }

    /// The length of bars, inferred from the shortest distance between two bars of a symbol; `None` for daily bars.
    fn shortest(&self, records: &dyn Records) -> Result<Option<Interval>, ReadAbort> {
        let mut times: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let (mut count, mut timed) = (0, None);
        let ended = records.each(SLOTS, &mut |line, fields, _| {
            if let Ok(fields) = fields
                && let Ok(moment) = moment(fields[1], if fields[1] == fields[2] { "" } else { fields[2] })
            {
                let instant = match moment {
                    Moment::Day(_) => None,
                    Moment::Wall(wall) => fields::at_wall_clock(wall, &self.zone).ok(),
                    Moment::At(at, _) => Some(at),
                };
                if let Some(at) = instant {
                    let midnight = at.to_zoned(self.zone.clone()).time() == Time::midnight();
                    if !midnight && timed.is_none() {
                        timed = Some(line);
                    }
                    times.entry(fields[0].to_owned()).or_default().push(at.as_second());
                }
            }
            count += 1;
            if count < SAMPLE_ROWS { Ok(()) } else { Err(ReadAbort::Enough) }
        });
        match ended {
            Ok(()) | Err(ReadAbort::Enough) => {}
            Err(halt) => return Err(halt),
        }
        let mut shortest: Option<i64> = None;
        for list in times.values_mut() {
            list.sort_unstable();
            list.dedup();
            let nearest = list.windows(2).map(|pair| pair[1] - pair[0]).min();
            shortest = [shortest, nearest].into_iter().flatten().min();
        }
        match (shortest, timed) {
            // Days that start at midnight in another time zone, such as UTC, still mean daily bars.
            (Some(seconds), _) if seconds >= 23 * 3_600 => Ok(None),
            (Some(seconds), _) => {
                let minutes = (seconds % 60 == 0).then(|| u16::try_from(seconds / 60).ok()).flatten();
                minutes.and_then(Interval::from_minutes).map(Some).ok_or_else(|| {
                    ReadAbort::file(1, format!("bars are {seconds} seconds apart: give their interval"))
                })
            }
            (None, Some(line)) => {
                Err(ReadAbort::file(line, "a time of day, but no second bar: give the interval"))
            }
            (None, None) => Ok(None),
        }
    }

    pub(super) fn row(&self, fields: &[&str]) -> Result<ImportedRow, String> {
        let [symbol, time, clock, open, high, low, close, volume, adjusted, interval] = *fields else {
            return Err("fields are missing".to_owned());
        };
        let interval = match interval {
            "" => self.interval,
            "D" | "d" | "1d" | "1D" | "day" | "daily" => None,
            // Stooq writes minutes as a plain number.
            text if text.bytes().all(|byte| byte.is_ascii_digit()) => Some(format!("{text}m").parse()?),
            text => Some(text.parse::<Interval>()?),
        };
        // There may be only a column `time`.
        let clock = if clock == time { "" } else { clock };
        let at = self.time(moment(time, clock)?, interval)?;
        let symbol = self.symbol(symbol)?;
        let open = fields::price("open", open)?;
        let rest = match [high, low, close] {
            ["", "", ""] => None,
            _ => Some(BarAfterOpen {
                high: fields::price("high", high)?,
                low: fields::price("low", low)?,
                close: fields::price("close", close)?,
                volume: match volume {
                    "" => Quantity::ZERO,
                    volume => fields::quantity("volume", volume)?,
                },
            }),
        };
        let adjusted_close = match adjusted {
            "" => None,
            text => Some(fields::price("adjusted close", text)?),
        };
        Ok(ImportedRow::Bar(BarRow { symbol, at, open, rest, basis: self.basis, adjusted_close }))
    }

    fn time(&self, moment: Moment, interval: Option<Interval>) -> Result<BarTime, String> {
        match (moment, interval) {
            (Moment::Day(date), None) => Ok(BarTime::Day(date)),
            (Moment::Wall(wall), None) => Ok(BarTime::Day(wall.date())),
            // Midnight means the day itself, in whatever zone it was written.
            (Moment::At(_, wall), None) if wall.time() == Time::midnight() => Ok(BarTime::Day(wall.date())),
            (Moment::At(at, _), None) => Ok(BarTime::Day(at.to_zoned(self.zone.clone()).date())),
            (Moment::Day(_), Some(interval)) => Err(format!("a bar of {interval} without a time of day")),
            (Moment::Wall(wall), Some(interval)) => {
                Ok(BarTime::Within { opens_at: fields::at_wall_clock(wall, &self.zone)?, interval })
            }
            (Moment::At(opens_at, _), Some(interval)) => Ok(BarTime::Within { opens_at, interval }),
        }
    }

    fn symbol(&self, text: &str) -> Result<Symbol, String> {
        if text.is_empty() {
            return self.symbol.clone().ok_or_else(|| "it has no symbol".to_owned());
        }
        let text = if self.of_stooq { text.strip_suffix(".US").unwrap_or(text) } else { text };
        let mut last = self.last.borrow_mut();
        match &*last {
            Some(symbol) if symbol.as_str() == text => Ok(symbol.clone()),
            _ => {
                let symbol = fields::symbol(text)?;
                *last = Some(symbol.clone());
                Ok(symbol)
            }
        }
    }
}

/// The day or the time of a record. Integers of ten or more digits are seconds, milliseconds, microseconds or
/// nanoseconds since the Unix epoch.
fn moment(time: &str, clock: &str) -> Result<Moment, String> {
    if let Some(at) = fields::epoch(time) {
        let at = at?;
        return Ok(Moment::At(at, TimeZone::UTC.to_datetime(at)));
    }
    if let Ok(date) = fields::date(time) {
        return match clock {
            "" => Ok(Moment::Day(date)),
            clock => wall_clock(clock).map(|time| Moment::Wall(date.to_datetime(time))),
        };
    }
    let (wall, at) = fields::moment(time)?;
    Ok(at.map_or(Moment::Wall(wall), |at| Moment::At(at, wall)))
}

/// `15:30`, `15:30:00` or Stooq's `153000`.
fn wall_clock(text: &str) -> Result<Time, String> {
    let spelt = match text.len() {
        6 if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}:{}:{}", &text[..2], &text[2..4], &text[4..])
        }
        _ => text.to_owned(),
    };
    spelt.parse().map_err(|_| format!("{} is not a time of day", fields::quote(text)))
}
