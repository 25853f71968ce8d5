//! Trading days and trading hours.

use super::error::BuildError;
use crate::time::{Date, Timestamp};
use jiff::civil::{Time, time};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A day on which the exchange was open, with the instants between which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TradingDay {
    /// The day at the exchange.
    pub date: Date,
    /// When trading begins.
    pub open: Timestamp,
    /// When trading ends.
    pub close: Timestamp,
}

/// The trading day after a date. Within the calendar it is the calendar's; behind its end it is the next date
/// but for weekdays on which the exchange never traded in the calendar's last four weeks, which knows weekends
/// and no holidays.
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

/// So many of the calendar's last days say on which weekdays an exchange trades.
const PATTERN_DAYS: usize = 28;

/// An exchange's regular hours: wall-clock times in its zone, so the instants follow daylight saving
/// time. Early closes are not known here; a day that has one is given as a [`TradingDay`] itself.
#[derive(Clone, Debug)]
pub struct TradingHours {
    zone: TimeZone,
    open: Time,
    close: Time,
}

impl TradingHours {
    /// The zone of US equities.
    pub const US_ZONE: &str = "America/New_York";

    /// Regular hours in a zone of the IANA database. Hours that end when they begin or before it end on
    /// the next day; those of a market that never closes, from 00:00 to 00:00, end one microsecond before
    /// the next day begins, so that no instant belongs to two days.
    ///
    /// # Errors
    /// Where the zone is unknown.
    pub fn new(zone: &str, open: Time, close: Time) -> Result<Self, BuildError> {
        Ok(Self { zone: zone_named(zone)?, open, close })
    }

    /// The zone that its times are in.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The day to whose trading hours an instant belongs; `None` outside of them.
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
    /// Where an instant is out of range, as none of the years 1 to 9998 is.
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

/// Looks a zone up in the compiled-in database, so that the machine's own files play no part.
pub(super) fn zone_named(zone: &str) -> Result<TimeZone, BuildError> {
    TimeZoneDatabase::bundled().get(zone).map_err(|_| BuildError::Zone { zone: zone.to_owned() })
}
