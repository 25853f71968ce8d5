//! Sorts the bars of one symbol and one length and passes them to the builder.

use super::state::{OpenOnlyBar, Outside, Reconciler};
use crate::import::adjust::Splits;
use crate::import::collect::{Bars, RowLocation, day_of};
use crate::input::Basis;
use papertape_core::id::Symbol;
use papertape_core::market::{BarAfterOpen, DailyBar, Interval, IntradayBar, TradingDay, impossible_bar};
use papertape_core::money::Price;
use papertape_core::time::from_micros;

const NO_SPLITS: &str = "its prices are adjusted for splits, and no split of the symbol is given by which they \
     could be turned back into those that were traded: give its splits (or `splits_complete`, where there was \
     none), or say --prices as-traded where they are not adjusted";

/// A bar in the share units of its day.
#[derive(Clone, Copy, PartialEq)]
struct Bar {
    open: Price,
    rest: Option<BarAfterOpen>,
}

/// Adds the bars of one symbol and length.
pub(super) fn add_series(
    reconciler: &mut Reconciler<'_>,
    (symbol, interval): &(Symbol, Option<Interval>),
    mut bars: Vec<(Basis, Bars)>,
    splits: Option<&Splits>,
) {
    if splits.is_none() {
        bars.retain(|(basis, bars)| {
            let count = if reconciler.is_strict { 1 } else { bars.places.len() };
            let count = if *basis == Basis::AsTraded { 0 } else { count };
            bars.places.iter().take(count).for_each(|place| reconciler.refuse(*place, NO_SPLITS));
            *basis == Basis::AsTraded
        });
    }
    let mut order: Vec<(i64, u32, u8)> = Vec::new();
    for ((_, bars), which) in bars.iter().zip(0_u8..) {
        let rows = 0..u32::try_from(bars.rows.len()).unwrap_or(u32::MAX);
        order.extend(rows.map(|row| (bars.rows.key(row as usize), row, which)));
    }
    if !order.is_sorted() {
        order.sort_unstable();
    }
    let no_splits = Splits::default();
    let mut series = Series {
        splits: splits.unwrap_or(&no_splits),
        symbol,
        interval: *interval,
        newest: order.last().map_or(i64::MIN, |(key, ..)| *key),
        day: None,
        free_from: i64::MIN,
        outside: 0,
        inside: 0,
        reconciler,
    };
    let mut rest = order.as_slice();
    while let Some((key, ..)) = rest.first() {
        let same = rest.iter().take_while(|(other, ..)| other == key).count();
        series.bars_of(*key, &bars, &rest[..same]);
        rest = &rest[same..];
    }
    series.end();
}

struct Series<'s, 'o, 'i> {
    reconciler: &'s mut Reconciler<'o>,
    splits: &'i Splits,
    symbol: &'i Symbol,
    interval: Option<Interval>,
    /// The key of the newest bar.
    newest: i64,
    /// The previous bar's day: most bars have the same one.
    day: Option<TradingDay>,
    /// The next intraday bar may not open before this.
    free_from: i64,
    outside: u64,
    inside: u64,
}

impl Series<'_, '_, '_> {
    /// Handles the bars of one key: one, or several of which at most one is used.
    fn bars_of(&mut self, key: i64, bars: &[(Basis, Bars)], rows: &[(i64, u32, u8)]) {
        let place = |(_, row, which): &(i64, u32, u8)| bars[usize::from(*which)].1.places[*row as usize];
        let day = match self.day_of(key) {
            Ok(Some(day)) => day,
            Ok(None) => {
                self.outside += rows.len() as u64;
                return;
            }
            Err(reason) => {
                rows.iter().for_each(|row| self.reconciler.refuse(place(row), reason.clone()));
                return;
            }
        };
        let read = |(_, row, which): &(i64, u32, u8)| {
            let (basis, bars) = &bars[usize::from(*which)];
            let (open, rest) = bars.rows.get(*row as usize);
            match basis {
                Basis::AsTraded => Bar { open, rest },
                Basis::SplitAdjusted => {
                    let (open, rest) = self.splits.to_traded(day.date, open, rest);
                    Bar { open, rest }
                }
            }
        };
        let bar = read(&rows[0]);
        let what =
            if self.interval.is_some() { "a second bar of the time" } else { "a second bar of the day" };
        if rows.iter().skip(1).any(|row| read(row) != bar) {
            rows.iter()
                .for_each(|row| self.reconciler.refuse(place(row), format!("{what}, with different values")));
            return;
        }
        rows.iter().skip(1).for_each(|row| self.reconciler.refuse(place(row), what));
        let place = place(&rows[0]);
        if let Some(reason) = impossible_bar(bar.open, bar.rest.as_ref()) {
            self.reconciler.refuse(place, format!("turned back into what was traded: {reason}"));
        } else {
            self.store_bar(key, &day, bar, place);
        }
    }

    /// The trading day of a key; `None` outside trading hours.
    fn day_of(&mut self, key: i64) -> Result<Option<TradingDay>, String> {
        if self.interval.is_none() {
            return self.reconciler.day(day_of(key)).map(Some);
        }
        let instant = from_micros(key).ok_or("its time is out of range")?;
        if let Some(day) = self.day.filter(|day| day.open <= instant && instant < day.close) {
            return Ok(Some(day));
        }
        let day = self.reconciler.day_with(instant);
        if day.is_none() && self.reconciler.is_closed_on(instant) {
            return Err("no trading day of the calendar".to_owned());
        }
        self.day = day.or(self.day);
        Ok(day)
    }

    fn store_bar(&mut self, key: i64, day: &TradingDay, bar: Bar, place: RowLocation) {
        if let Some(interval) = self.interval {
            if key < self.free_from {
                self.reconciler.refuse(place, "it opens before the bar before it ends");
                return;
            }
            self.free_from = key.saturating_add(interval.micros()).min(day.close.as_microsecond());
        }
        let Bar { open, rest } = bar;
        let (symbol, date) = (self.symbol, day.date);
        let Some(rest) = rest else {
            if key < self.newest {
                self.reconciler.refuse(place, "only an open, but it is not the newest bar");
                return;
            }
            let (symbol, interval) = (symbol.clone(), self.interval);
            self.reconciler.open_only.push(OpenOnlyBar { symbol, interval, date, key, open, place });
            return;
        };
        let added = match self.interval {
            None => {
                let BarAfterOpen { high, low, close, volume } = rest;
                self.reconciler.builder.bar(symbol, DailyBar { date, open, high, low, close, volume })
            }
            Some(interval) => {
                let opens_at = from_micros(key).unwrap_or_default();
                let bar = IntradayBar { opens_at, open, rest: Some(rest) };
                self.reconciler.builder.bar_within_day(symbol, interval, &bar)
            }
        };
        self.reconciler.note_error(added);
        self.inside += 1;
        self.reconciler.days.entry(date).or_insert(*day);
    }

    fn end(self) {
        if self.inside > 0 {
            self.reconciler.symbols.insert(self.symbol.clone());
        }
        if self.outside > 0 {
            let symbol = self.symbol.clone();
            self.reconciler.outside.push(Outside { symbol, bars: self.outside, inside: self.inside });
        }
    }
}
