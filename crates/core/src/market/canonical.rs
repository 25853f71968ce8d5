//! The canonical form of a dataset's content, hashed.
//!
//! Everything is sorted and length-prefixed; numbers are 64-bit little-endian. The dataset's name is not part
//! of its content.

use super::column::{Bars, ColumnSlice};
use super::facts::Published;
use super::parts::DatasetParts;
use crate::id::ContentHash;
use crate::json;
use serde::Serialize;

/// Identifies the hashed form; every change of the form changes it.
const FORM: &str = "papertape.dataset.v1";

pub(super) fn hash(parts: &DatasetParts) -> ContentHash {
    let mut form = CanonicalDataset(blake3::Hasher::new());
    form.text(FORM);
    form.text(&parts.zone_name);
    form.count(parts.days.len());
    for day in &parts.days {
        form.text(&day.date.to_string());
        form.instant(day.open.as_microsecond());
        form.instant(day.close.as_microsecond());
    }
    form.count(parts.series.len());
    for series in parts.series.values() {
        form.value(&series.instrument);
        form.bars(&series.bars);
        form.list(&series.actions);
    }
    form.published(&parts.news);
    form.count(parts.fundamentals.len());
    parts.fundamentals.values().for_each(|list| form.published(list));
    form.count(parts.macros.len());
    parts.macros.values().for_each(|list| form.published(list));
    form.intraday_bars(parts);
    form.memberships(parts);
    ContentHash::from_bytes(*form.0.finalize().as_bytes())
}

struct CanonicalDataset(blake3::Hasher);

impl CanonicalDataset {
    fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    fn instant(&mut self, micros: i64) {
        self.0.update(&micros.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    fn value<T: Serialize>(&mut self, value: &T) {
        self.text(&json::canonical(&json::to_value(value)));
    }

    fn list<T: Serialize>(&mut self, list: &[T]) {
        self.count(list.len());
        list.iter().for_each(|item| self.value(item));
    }

    fn published<T: Serialize>(&mut self, list: &[Published<T>]) {
        self.list(list);
    }

    fn bars(&mut self, bars: &Bars) {
        let all = bars.first(bars.opened(), bars.closed());
        let keys: Vec<u8> = all.opens_at.iter().flat_map(i64::to_le_bytes).collect();
        self.count(all.opens_at.len());
        self.0.update(&keys);
        for column in [all.open, all.high, all.low, all.close, all.volume] {
            self.column(column);
        }
    }

    /// Intraday bars come last, and are omitted when empty: the form of a dataset with only daily bars is
    /// unchanged.
    fn intraday_bars(&mut self, parts: &DatasetParts) {
        let with = || parts.series.iter().filter(|(_, series)| !series.within.is_empty());
        if with().next().is_none() {
            return;
        }
        self.text("within");
        self.count(with().count());
        for (symbol, series) in with() {
            self.text(symbol.as_str());
            self.count(series.within.len());
            for (interval, bars) in &series.within {
                self.count(interval.minutes().into());
                self.bars(bars);
            }
        }
    }

    /// Index members come after everything else, and are omitted when empty, like intraday bars.
    fn memberships(&mut self, parts: &DatasetParts) {
        if !parts.memberships.is_empty() {
            self.text("memberships");
            self.published(&parts.memberships);
        }
    }

    fn column(&mut self, column: ColumnSlice<'_>) {
        self.0.update(&u64::from(column.scale()).to_le_bytes());
        self.count(column.len());
        let cells: Vec<u8> = (0..column.len()).flat_map(|at| column.cell(at).to_le_bytes()).collect();
        self.0.update(&cells);
    }
}
