//! Trading days and trading hours.

use super::error::BuildError;
use super::interval::Interval;
use crate::time::{Date, Timestamp, from_micros};
use jiff::civil::{Time, time};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A trading day with its opening and closing instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TradingDay {
    /// The date in the exchange's time zone.
    pub date: Date,
    /// When trading begins.
    pub open: Timestamp,
    /// When trading ends.
    pub close: Timestamp,
}

/// The trading day after a date. After the calendar's end, the next date except weekdays on which the
/// exchange never traded in the calendar's last four weeks; that covers weekends, not holidays.
pub(super) fn next_day(days: &[TradingDay], date: Date) -> Date {
    let after = days.partition_point(|day| day.date <= date);
    if let Some(next) = days.get(after) {
        return next.date;
    }
    let Ok(tomorrow) = date.tomorrow() else { return date };
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return tomorrow };
    let one = jiff::Span::new().days(1);
    let recent = |date: Date| date >= first.date && date <= last.date;
    let window = last.date.series(-one).take(PATTERN_DAYS).take_while(|date| recent(*date));
    let mut closed = BTreeSet::new();
    let mut open = BTreeSet::new();
    for date in window {
        let traded = days.binary_search_by_key(&date, |day| day.date).is_ok();
        let weekday = date.weekday().to_monday_zero_offset();
        if traded {
            open.insert(weekday)
        } else {
            closed.insert(weekday)
        };
    }
    let trades = |date: &Date| {
        let weekday = date.weekday().to_monday_zero_offset();
        open.contains(&weekday) || !closed.contains(&weekday)
    };
    tomorrow.series(one).take(7).find(trades).unwrap_or(tomorrow)
}

/// Number of the calendar's last days that determine the weekdays of an exchange.
const PATTERN_DAYS: usize = 28;

/// An exchange's regular hours: wall-clock times in its zone, so the instants follow daylight saving time.
/// Early closes are not covered; such a day is added as its own [`TradingDay`].
#[derive(Clone, Debug)]
pub struct TradingHours {
    zone: TimeZone,
    open: Time,
    close: Time,
}

impl TradingHours {
    /// The zone of US equities.
    pub const US_ZONE: &str = "America/New_York";

    /// Regular hours in a zone of the IANA database. Hours whose end is not after their start end on the next
    /// day. Those of a market that never closes, 00:00 to 00:00, end one microsecond before the next day, so
    /// no instant belongs to two days.
    ///
    /// # Errors
    /// If the zone is unknown.
    pub fn new(zone: &str, open: Time, close: Time) -> Result<Self, BuildError> {
        Ok(Self { zone: zone_named(zone)?, open, close })
    }

    /// The time zone of its times.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The day whose trading hours contain the instant; `None` outside of trading hours.
    #[must_use]
    pub fn day_of(&self, instant: Timestamp) -> Option<TradingDay> {
        let date = instant.to_zoned(self.zone.clone()).date();
        let days = [Some(date), date.yesterday().ok()].into_iter().flatten();
        let mut days = days.filter_map(|date| self.day(date).ok());
        days.find(|day| day.open <= instant && instant < day.close)
    }

    /// The New York Stock Exchange's core session, 09:30 to 16:00 in New York.
    ///
    /// # Panics
    /// Never: the zone is part of the compiled-in database.
    #[must_use]
    pub fn us_equity() -> Self {
        Self::new(Self::US_ZONE, time(9, 30, 0, 0), time(16, 0, 0, 0))
            .expect("the compiled-in time zone database knows New York")
    }

    /// The trading day of this date.
    ///
    /// # Errors
    /// If an instant is out of range; the years 1 to 9998 are in range.
    pub fn day(&self, date: Date) -> Result<TradingDay, BuildError> {
        let at = |date: Date, time: Time| {
            let wall = self.zone.to_ambiguous_timestamp(date.to_datetime(time));
            wall.compatible().map_err(|error| BuildError::Day { date, reason: error.to_string() })
        };
        let out_of_range = |error: jiff::Error| BuildError::Day { date, reason: error.to_string() };
        let closing = if self.close <= self.open { date.tomorrow().map_err(out_of_range)? } else { date };
        let mut close = at(closing, self.close)?;
        if self.close == self.open {
            close -= jiff::SignedDuration::from_micros(1);
        }
        Ok(TradingDay { date, open: at(date, self.open)?, close })
    }
}

/// Looks up a zone in the compiled-in database, independent of the machine's files.
pub(super) fn zone_named(zone: &str) -> Result<TimeZone, BuildError> {
    TimeZoneDatabase::bundled().get(zone).map_err(|_| BuildError::Zone { zone: zone.to_owned() })
}

/// When an intraday bar ends: after its interval, but not after the day's close.
pub(super) fn ends_at(opens_at: i64, interval: Interval, day: &TradingDay) -> i64 {
    opens_at.saturating_add(interval.micros()).min(day.close.as_microsecond())
}

/// The trading day in which a bar opens; it exists, because bars lie on trading days.
pub(super) fn day_at(days: &[TradingDay], opens_at: i64) -> &TradingDay {
    let after = days.partition_point(|day| day.open.as_microsecond() <= opens_at);
    &days[after - 1]
}

/// The instant of a key.
pub(super) fn instant_of(micros: i64) -> Timestamp {
    from_micros(micros).unwrap_or(Timestamp::MAX)
}
