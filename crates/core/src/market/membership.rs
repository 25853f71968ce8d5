//! Memberships in indexes.

use super::calendar::TradingDay;
use super::error::BuildError;
use super::facts::{Membership, MembershipChange, Published};
use super::parts::DatasetParts;
use crate::time::{Date, Timestamp};
use jiff::tz::TimeZone;

/// The series of an index's members.
pub(super) fn series(index: &str) -> String {
    format!("index/{index}")
}

/// The changes of these periods of membership, ordered by when they became known.
///
/// # Errors
/// [`BuildError::Fact`]: a period that ends before it begins, or that overlaps another of its symbol and index.
pub(super) fn changes(
    mut periods: Vec<Membership>,
    days: &[TradingDay],
    zone: &TimeZone,
) -> Result<Vec<Published<MembershipChange>>, BuildError> {
    periods.sort_unstable();
    for pair in periods.windows(2) {
        let alike = (&pair[0].index, &pair[0].symbol) == (&pair[1].index, &pair[1].symbol);
        if alike && pair[0].until.is_none_or(|until| pair[1].from < until) {
            return Err(rejected(&pair[1], "it overlaps another period"));
        }
    }
    let mut changes = Vec::new();
    for period in periods {
        if period.until.is_some_and(|until| until <= period.from) {
            return Err(rejected(&period, "it ends before it begins"));
        }
        let mut add = |date: Date, joins: bool, announced_at: Option<Timestamp>| {
            let published_at = announced_at.or_else(|| effective_at(date, days, zone));
            let published_at = published_at.ok_or_else(|| rejected(&period, "its date is out of range"))?;
            let (index, symbol) = (period.index.clone(), period.symbol.clone());
            changes.push(Published { published_at, item: MembershipChange { index, symbol, date, joins } });
            Ok::<_, BuildError>(())
        };
        add(period.from, true, period.announced_at)?;
        if let Some(until) = period.until {
            add(until, false, period.until_announced_at)?;
        }
    }
    changes.sort_unstable();
    Ok(changes)
}

/// The open of the first trading day from a date on; after the calendar's end, the date's midnight.
fn effective_at(date: Date, days: &[TradingDay], zone: &TimeZone) -> Option<Timestamp> {
    let day = days.get(days.partition_point(|day| day.date < date));
    let midnight =
        || zone.to_ambiguous_timestamp(date.to_datetime(jiff::civil::Time::midnight())).later().ok();
    day.map_or_else(midnight, |day| Some(day.open))
}

fn rejected(period: &Membership, reason: &str) -> BuildError {
    BuildError::Fact {
        series: series(&period.index),
        item: format!("{} {}", period.symbol, period.from),
        reason: reason.to_owned(),
    }
}

/// A dataset's periods of membership, by index, symbol and first day.
pub(super) fn periods(parts: &DatasetParts) -> Vec<Membership> {
    let mut changes: Vec<&Published<MembershipChange>> = parts.memberships.iter().collect();
    changes.sort_by_key(|change| {
        let MembershipChange { index, symbol, date, joins } = &change.item;
        (index, symbol, *date, *joins)
    });
    let mut periods: Vec<Membership> = Vec::new();
    for Published { published_at, item } in changes {
        if item.joins {
            periods.push(Membership {
                index: item.index.clone(),
                symbol: item.symbol.clone(),
                from: item.date,
                until: None,
                announced_at: Some(*published_at),
                until_announced_at: None,
            });
        } else if let Some(period) = periods.last_mut().filter(|period| {
            period.until.is_none() && (&period.index, &period.symbol) == (&item.index, &item.symbol)
        }) {
            (period.until, period.until_announced_at) = (Some(item.date), Some(*published_at));
        }
    }
    periods
}
