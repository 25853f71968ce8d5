//! Which rows of a series were known at an instant.
//!
//! Written apart from the views on purpose: a view that knows too much must not decide what an audit cuts away.

use crate::market::calendar::{TradingDay, day_at, ends_at};
use crate::market::column::Bars;
use crate::market::facts::Published;
use crate::market::interval::Interval;
use crate::time::Timestamp;

/// Number of preceding bars that decide whether an instrument has volume.
const VOLUME_BARS: usize = 20;

/// How many bars of a series have opened, and how many are complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownRows {
    pub(super) opened: usize,
    pub(super) closed: usize,
}

/// The calendar up to an instant.
#[derive(Clone, Copy)]
pub(super) struct Clock<'a> {
    pub(super) instant: Timestamp,
    /// The days that have begun.
    pub(super) days: &'a [TradingDay],
}

impl<'a> Clock<'a> {
    pub(super) fn new(days: &'a [TradingDay], instant: Timestamp) -> Self {
        let begun = days.iter().rev().skip_while(|day| day.open > instant).count();
        Self { instant, days: &days[..begun] }
    }

    /// The known rows of daily bars. A day without trades has no open that could have been seen before its close.
    pub(super) fn daily(&self, bars: &Bars) -> KnownRows {
        let Some(today) = self.days.last() else { return KnownRows::default() };
        let is_running = self.instant < today.close;
        let opened = self.opened(bars);
        let last_is_today = opened > 0 && self.key(bars, opened - 1) >= today.open.as_microsecond();
        let incomplete = usize::from(is_running && last_is_today);
        let unseen = usize::from(incomplete > 0 && has_no_trades(bars, opened - 1));
        KnownRows { opened: opened - unseen, closed: (opened - incomplete).min(bars.closed()) }
    }

    /// The known rows of intraday bars.
    pub(super) fn intraday(&self, bars: &Bars, interval: Interval) -> KnownRows {
        if self.days.is_empty() {
            return KnownRows::default();
        }
        let opened = self.opened(bars);
        let mut closed = opened;
        while closed > 0 && self.ends(bars, closed - 1, interval) > self.instant.as_microsecond() {
            closed -= 1;
        }
        KnownRows { opened, closed: closed.min(bars.closed()) }
    }

    fn ends(&self, bars: &Bars, row: usize, interval: Interval) -> i64 {
        let key = self.key(bars, row);
        ends_at(key, interval, day_at(self.days, key))
    }

    fn key(&self, bars: &Bars, row: usize) -> i64 {
        bars.opens_at.all().get(row)
    }

    fn opened(&self, bars: &Bars) -> usize {
        bars.opens_at.all().until(self.instant.as_microsecond())
    }

    /// The number of items published so far.
    pub(super) fn published<T>(&self, list: &[Published<T>]) -> usize {
        list.partition_point(|one| one.published_at <= self.instant)
    }
}

fn has_no_trades(bars: &Bars, row: usize) -> bool {
    let traded = |row: usize| bars.volume.cell(row) > 0;
    row < bars.closed() && !traded(row) && (row.saturating_sub(VOLUME_BARS)..row).any(traded)
}
