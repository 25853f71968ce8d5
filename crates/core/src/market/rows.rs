//! Bars during the build of a dataset: collected in any order, sorted, and daily bars built from intraday
//! ones.

use super::calendar::{TradingDay, day_at, ends_at, instant_of};
use super::column::{Bars, ColumnBuilder};
use super::interval::Interval;
use super::keys::Keys;
use crate::money::{Price, Quantity};
use crate::time::Timestamp;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// The part of a bar that is known only at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarAfterOpen {
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The last price.
    pub close: Price,
    /// Shares or units traded; zero if only a price was set.
    pub volume: Quantity,
}

/// An unadjusted intraday bar: prices and volume in the share units of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntradayBar {
    /// When it opens.
    pub opens_at: Timestamp,
    /// The first price.
    pub open: Price,
    /// The rest; `None` if only the open is known, as for the latest bar.
    pub rest: Option<BarAfterOpen>,
}

/// Why a bar with these prices is impossible; `None` if it is possible.
#[must_use]
pub fn impossible_bar(open: Price, rest: Option<&BarAfterOpen>) -> Option<String> {
    let Some(BarAfterOpen { high, low, close, volume }) = rest.copied() else {
        return (!open.is_positive()).then(|| format!("a price of {open}"));
    };
    if let Some(price) = [open, high, low, close].into_iter().find(|price| !price.is_positive()) {
        return Some(format!("a price of {price}"));
    }
    if high < low {
        return Some(format!("the high {high} is below the low {low}"));
    }
    for (name, price) in [("open", open), ("close", close)] {
        if price < low || price > high {
            return Some(format!("the {name} {price} is outside of {low} to {high}"));
        }
    }
    volume.is_negative().then(|| format!("a volume of {volume}"))
}

/// Bars of one symbol and interval, in insertion order. A key is the day, or the opening instant in
/// microseconds.
#[derive(Clone, Debug, Default)]
pub struct BarRows {
    keys: Vec<i64>,
    open: ColumnBuilder,
    rest: [ColumnBuilder; 4],
    /// The rows with only an open; their other values are zero.
    alone: Vec<u32>,
}

/// The reason for a duplicate key.
pub(super) const DUPLICATE: &str = "duplicate";

/// Why bars cannot be sorted, and the key of the offending one.
pub(super) struct OutOfOrder {
    pub(super) key: i64,
    pub(super) reason: &'static str,
}

impl BarRows {
    /// Adds a row.
    pub fn push(&mut self, key: i64, open: Price, rest: Option<&BarAfterOpen>) {
        if rest.is_none() {
            // More rows do not fit into memory: a column would take 16 GiB.
            self.alone.push(u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
        }
        self.keys.push(key);
        self.open.push(open.0);
        let rest = rest.map_or([Price::ZERO.0; 4], |r| [r.high.0, r.low.0, r.close.0, r.volume.0]);
        self.rest.iter_mut().zip(rest).for_each(|(column, value)| column.push(value));
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn key(&self, row: usize) -> i64 {
        self.keys[row]
    }

    /// A row's open, and the rest if it has one.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> (Price, Option<BarAfterOpen>) {
        let [high, low, close, volume] = [0, 1, 2, 3].map(|column: usize| self.rest[column].get(row));
        let rest = BarAfterOpen {
            high: Price(high),
            low: Price(low),
            close: Price(close),
            volume: Quantity(volume),
        };
        let is_alone = u32::try_from(row).is_ok_and(|row| self.alone.binary_search(&row).is_ok());
        (Price(self.open.get(row)), (!is_alone).then_some(rest))
    }

    /// Whether every value is exact. A series has room for 19 digits from the first to the last decimal; with
    /// more, values are lost and [`build`](super::DatasetBuilder::build) rejects the series.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.open.overflowed() && !self.rest.iter().any(ColumnBuilder::overflowed)
    }

    /// The rows sorted by key. Keys are unique; only the latest bar may have only an open.
    pub(super) fn ordered(self) -> Result<Sorted, OutOfOrder> {
        let mut order: Vec<u32> =
            (0..self.keys.len()).map(|row| u32::try_from(row).unwrap_or(u32::MAX)).collect();
        let key = |row: u32| self.keys[row as usize];
        if !self.keys.is_sorted() {
            order.sort_by_key(|row| key(*row));
        }
        if let Some(pair) = order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
            return Err(OutOfOrder { key: key(pair[0]), reason: DUPLICATE });
        }
        if let Some(row) = self.alone.iter().find(|row| order.last() != Some(row)) {
            return Err(OutOfOrder { key: key(*row), reason: "only an open, but it is not the newest bar" });
        }
        Ok(Sorted { rows: self, order })
    }
}

/// Sorted bars.
pub(super) struct Sorted {
    rows: BarRows,
    order: Vec<u32>,
}

impl Sorted {
    /// The keys, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = i64> {
        self.order.iter().map(|row| self.rows.keys[*row as usize])
    }

    /// The same rows under other keys, one per bar in order.
    pub(super) fn keyed(&self, keys: &[i64]) -> BarRows {
        let mut rows = BarRows::default();
        for (row, key) in self.order.iter().zip(keys) {
            let (open, rest) = self.rows.get(*row as usize);
            rows.push(*key, open, rest.as_ref());
        }
        rows
    }

    /// Whether the latest bar has only an open.
    pub(super) fn ends_open(&self) -> bool {
        !self.rows.alone.is_empty()
    }

    /// Packs them under these opening instants, one per bar; `None` if a column needs more than 19 digits.
    pub(super) fn pack(&self, opens_at: Vec<i64>) -> Option<Bars> {
        let opened = self.order.len();
        let closed = opened - usize::from(self.ends_open());
        let [high, low, close, volume] = &self.rows.rest;
        Some(Bars {
            opens_at: Keys::pack(opens_at),
            open: self.rows.open.pack(&self.order, opened)?,
            high: high.pack(&self.order, closed)?,
            low: low.pack(&self.order, closed)?,
            close: close.pack(&self.order, closed)?,
            volume: volume.pack(&self.order, closed)?,
        })
    }
}

/// Why intraday bars are impossible, and the opening of the offending one.
pub(super) fn misplaced(
    opens_at: &[i64],
    interval: Interval,
    days: &[TradingDay],
) -> Option<(i64, &'static str)> {
    let mut at_day = 0;
    let mut free_from = i64::MIN;
    for &at in opens_at {
        while days.get(at_day).is_some_and(|day| day.close.as_microsecond() <= at) {
            at_day += 1;
        }
        let Some(day) = days.get(at_day).filter(|day| day.open.as_microsecond() <= at) else {
            return Some((at, "it opens outside of trading hours"));
        };
        if at < free_from {
            return Some((at, "it opens before the bar before it ends"));
        }
        free_from = ends_at(at, interval, day);
    }
    None
}

/// The daily bars built from intraday bars of the shortest interval: first open, highest high, lowest low,
/// last close, total volume. A day whose last bar has only an open also has only an open.
pub(super) fn day_bars(within: &BTreeMap<Interval, Bars>, days: &[TradingDay]) -> Vec<(i64, IntradayBar)> {
    let Some(bars) = within.values().next() else { return Vec::new() };
    let closed = bars.closed();
    let keys = bars.opens_at.all();
    let mut made = Vec::new();
    let mut row = 0;
    while row < keys.len() {
        let first = row;
        let day = day_at(days, keys.get(row));
        row = keys.before(day.close.as_microsecond()).max(first + 1);
        made.push((keys.get(first), day_bar(bars, first, row, closed)));
    }
    made
}

fn day_bar(bars: &Bars, first: usize, end: usize, closed: usize) -> IntradayBar {
    let all = bars.first(bars.opened(), closed);
    let open = Price(all.open.get(first).normalize());
    let opens_at = instant_of(all.opens_at.get(first));
    if end > closed {
        return IntradayBar { opens_at, open, rest: None };
    }
    // Cells of a column share a scale, so they compare and add as integers.
    let high = (first..end).max_by_key(|row| all.high.cell(*row)).unwrap_or(first);
    let low = (first..end).min_by_key(|row| all.low.cell(*row)).unwrap_or(first);
    let volume: i128 = (first..end).map(|row| i128::from(all.volume.cell(row))).sum();
    let rest = BarAfterOpen {
        high: Price(all.high.get(high).normalize()),
        low: Price(all.low.get(low).normalize()),
        close: Price(all.close.get(end - 1).normalize()),
        volume: Quantity(Decimal::from_i128_with_scale(volume, all.volume.scale()).normalize()),
    };
    IntradayBar { opens_at, open, rest: Some(rest) }
}
