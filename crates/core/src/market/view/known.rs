//! A symbol's series as known at one instant, converted to the share units of that instant.

use super::read::Bar;
use crate::ledger::CorporateAction;
use crate::ledger::checked::{PRICE_DP, QUANTITY_DP, round};
use crate::market::calendar::{TradingDay, day_at, ends_at, instant_of};
use crate::market::column::{Bars, BarsSlice, ColumnSlice};
use crate::market::facts::Instrument;
use crate::market::indicator::Input;
use crate::market::interval::Interval;
use crate::market::parts::Series;
use crate::money::{Price, Quantity};
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

/// Number of bars that decide whether an instrument has volume.
pub(in crate::market) const LOOK_BACK: u16 = 20;

/// Whether the bar of this row is complete and without volume, in an instrument whose preceding bars have
/// some.
fn is_idle(bars: &Bars, row: usize) -> bool {
    let is_zero = |row: usize| bars.volume.first(row + 1).get(row).is_zero();
    let before = row.saturating_sub(usize::from(LOOK_BACK))..row;
    row < bars.closed() && is_zero(row) && before.into_iter().any(|row| !is_zero(row))
}

/// The known prefix of a symbol's rows: at least one bar has opened.
pub(in crate::market) struct VisibleSeries<'a> {
    pub(in crate::market) instrument: &'a Instrument,
    pub(in crate::market) bars: BarsSlice<'a>,
    /// The intraday bars by interval: at least one of each has opened.
    pub(in crate::market) within: Vec<(Interval, BarsSlice<'a>)>,
    pub(in crate::market) actions: &'a [CorporateAction],
}

impl<'a> VisibleSeries<'a> {
    /// `None` before the first bar's open.
    pub(super) fn new(series: &'a Series, days: &[TradingDay], instant: Timestamp) -> Option<Self> {
        let today = days.last()?;
        let opened = series.bars.opens_at.all().until(instant.as_microsecond());
        let last = series.bars.opens_at.first(opened).last()?;
        let pending = last >= today.open.as_microsecond() && instant < today.close;
        // A bar without trades has no open that could have been seen.
        let opened = opened - usize::from(pending && is_idle(&series.bars, opened - 1));
        let pending = pending && series.bars.opens_at.first(opened).last()? == last;
        let closed = (opened - usize::from(pending)).min(series.bars.closed());
        let actions = series.actions.partition_point(|action| action.ex_date <= today.date);
        let within = |(interval, bars): (&Interval, &'a Bars)| {
            let known = known_within(bars, *interval, days, instant);
            (known.opens_at.len() > 0).then_some((*interval, known))
        };
        Some(Self {
            instrument: &series.instrument,
            bars: series.bars.first(opened, closed),
            within: series.within.iter().filter_map(within).collect(),
            actions: &series.actions[..actions],
        })
    }

    /// The corporate actions with this ex-date.
    pub(super) fn actions_on(&self, date: Date) -> &'a [CorporateAction] {
        let first = self.actions.partition_point(|action| action.ex_date < date);
        let end = self.actions.partition_point(|action| action.ex_date <= date);
        &self.actions[first..end]
    }

    /// For each of these days, oldest first: the number of the instant's shares per share of the day.
    pub(super) fn factors(&self, days: &[&TradingDay]) -> Vec<Decimal> {
        let mut splits =
            self.actions.iter().rev().filter_map(|a| Some((a.ex_date, a.split_ratio()?))).peekable();
        let mut factor = Decimal::ONE;
        let mut factors: Vec<Decimal> = (days.iter().rev())
            .map(|day| {
                while let Some((_, ratio)) = splits.next_if(|(ex_date, _)| *ex_date > day.date) {
                    factor *= ratio;
                }
                factor
            })
            .collect();
        factors.reverse();
        factors
    }

    /// A complete bar, converted; its key is its opening.
    pub(super) fn bar(
        bars: &BarsSlice<'_>,
        row: usize,
        date: Date,
        closes_at: Timestamp,
        factor: Decimal,
    ) -> Bar {
        let is_converted = factor != Decimal::ONE;
        let price = |column: ColumnSlice<'_>| {
            Price(match is_converted {
                false => column.get_normalized(row),
                true => round(column.get(row) / factor, PRICE_DP),
            })
        };
        Bar {
            date,
            opens_at: instant_of(bars.opens_at.get(row)),
            closes_at,
            open: price(bars.open),
            high: price(bars.high),
            low: price(bars.low),
            close: price(bars.close),
            volume: Quantity(match is_converted {
                false => bars.volume.get_normalized(row),
                true => round(bars.volume.get(row) * factor, QUANTITY_DP),
            }),
        }
    }

    /// The ex-date of the latest split in effect; `None` if there is none.
    pub(super) fn latest_split(&self) -> Option<Date> {
        let split = self.actions.iter().rev().find(|action| action.split_ratio().is_some());
        split.map(|action| action.ex_date)
    }

    /// The complete bars from a row on, converted, as floats.
    pub(super) fn input(&self, from: usize, days: &[TradingDay]) -> Input {
        let factors = self.factors_from(from, days);
        let prices = |column: ColumnSlice<'_>| -> Vec<f64> {
            let unit = column.unit();
            let cells = (from..).zip(&factors);
            cells.map(|(row, factor)| column.get_f64(row, unit) / factor).collect()
        };
        let unit = self.bars.volume.unit();
        let volume = |(row, factor): (usize, &f64)| self.bars.volume.get_f64(row, unit) * factor;
        Input {
            high: prices(self.bars.high),
            low: prices(self.bars.low),
            close: prices(self.bars.close),
            volume: (from..).zip(&factors).map(volume).collect(),
        }
    }

    /// [`Self::factors`] of the complete bars from a row on, as floats.
    fn factors_from(&self, from: usize, days: &[TradingDay]) -> Vec<f64> {
        let mut factors = vec![1.0; self.bars.closed() - from];
        let mut factor = Decimal::ONE;
        let splits = self.actions.iter().rev().filter_map(|a| Some((a.ex_date, a.split_ratio()?)));
        for (ex_date, ratio) in splits {
            let day = days.get(days.partition_point(|day| day.date < ex_date));
            let before = day.map_or(usize::MAX, |day| self.bars.opens_at.before(day.open.as_microsecond()));
            let Some(count) = before.min(self.bars.closed()).checked_sub(from).filter(|count| *count > 0)
            else {
                break;
            };
            factor *= ratio;
            factors[..count].fill(factor.to_f64().unwrap_or(f64::NAN));
        }
        factors
    }
}

fn known_within<'a>(
    bars: &'a Bars,
    interval: Interval,
    days: &[TradingDay],
    instant: Timestamp,
) -> BarsSlice<'a> {
    let opened = bars.opens_at.all().until(instant.as_microsecond());
    // Bars do not overlap, so only the last one can be incomplete.
    let pending = bars
        .opens_at
        .first(opened)
        .last()
        .is_some_and(|last| instant.as_microsecond() < ends_at(last, interval, day_at(days, last)));
    bars.first(opened, (opened - usize::from(pending)).min(bars.closed()))
}
