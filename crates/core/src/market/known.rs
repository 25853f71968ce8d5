//! What is known of one symbol at one instant, and its conversion to the share units of then.

use super::builder::split_ratio;
use super::calendar::TradingDay;
use super::column::{BarsSlice, ColumnSlice};
use super::dataset::Series;
use super::facts::Instrument;
use super::indicator::Input;
use super::read::Bar;
use crate::ledger::CorporateAction;
use crate::ledger::exact::{PRICE_DP, QUANTITY_DP, round};
use crate::money::{Price, Quantity};
use crate::time::Timestamp;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

/// The beginning of a symbol's rows: at least one bar has opened.
pub(super) struct Known<'a> {
    pub(super) instrument: &'a Instrument,
    pub(super) bars: BarsSlice<'a>,
    pub(super) actions: &'a [CorporateAction],
}

impl<'a> Known<'a> {
    /// `None` before the first bar's open.
    pub(super) fn new(series: &'a Series, days: &[TradingDay], instant: Timestamp) -> Option<Self> {
        let today = days.last()?;
        let begun = |at: &i64| *at <= today.open.as_microsecond();
        let opened = series.bars.opens_at.partition_point(begun);
        let last = *series.bars.opens_at[..opened].last()?;
        let pending = last == today.open.as_microsecond() && instant < today.close;
        let closed = (opened - usize::from(pending)).min(series.bars.closed());
        let actions = series.actions.partition_point(|action| action.ex_date <= today.date);
        Some(Self {
            instrument: &series.instrument,
            bars: series.bars.first(opened, closed),
            actions: &series.actions[..actions],
        })
    }

    /// For each of these days, oldest first: how many shares of the instant one share of the day is.
    pub(super) fn factors(&self, days: &[&TradingDay]) -> Vec<Decimal> {
        let mut splits =
            self.actions.iter().rev().filter_map(|a| Some((a.ex_date, split_ratio(a)?))).peekable();
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

    pub(super) fn bar(&self, row: usize, day: &TradingDay, factor: Decimal) -> Bar {
        let price = |column: ColumnSlice<'_>| {
            let raw = column.get(row);
            Price(if factor == Decimal::ONE { raw.normalize() } else { round(raw / factor, PRICE_DP) })
        };
        let volume = self.bars.volume.get(row);
        Bar {
            date: day.date,
            opens_at: day.open,
            closes_at: day.close,
            open: price(self.bars.open),
            high: price(self.bars.high),
            low: price(self.bars.low),
            close: price(self.bars.close),
            volume: Quantity(if factor == Decimal::ONE {
                volume.normalize()
            } else {
                round(volume * factor, QUANTITY_DP)
            }),
        }
    }

    /// All complete bars, converted, as floats.
    pub(super) fn input(&self, factors: &[Decimal]) -> Input {
        let factors: Vec<f64> = factors.iter().map(|f| f.to_f64().unwrap_or(f64::NAN)).collect();
        let prices = |column: ColumnSlice<'_>| -> Vec<f64> {
            factors.iter().enumerate().map(|(row, factor)| column.get_f64(row) / factor).collect()
        };
        let volume = |(row, factor)| self.bars.volume.get_f64(row) * factor;
        Input {
            high: prices(self.bars.high),
            low: prices(self.bars.low),
            close: prices(self.bars.close),
            volume: factors.iter().enumerate().map(volume).collect(),
        }
    }
}
