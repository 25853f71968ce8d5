//! Checks rows against one another, independent of their order, and passes the valid ones to a builder.
//!
//! Of duplicate rows, one is used and the others are rejected. Contradictory rows are all rejected: nothing
//! says which is right, and the order of the files must not decide.

mod membership;
mod series;
mod state;

use super::adjust::{Splits, check_dividends};
use super::collect::{ActionKey, Bars, Collected, Keyed, RowLocation, SeriesKey};
use super::options::ImportOptions;
use super::shifted;
use crate::input::{Basis, DayRow, InstrumentRow};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{DatasetBuilder, Instrument, InstrumentType, Interval, IntradayBar, TradingDay};
use papertape_core::time::{Date, Timestamp, from_micros};
use state::Reconciler;
use std::collections::{BTreeMap, BTreeSet};

/// Checks the rows against one another and adds the valid ones to a builder.
pub(super) fn reconcile(collected: Collected, options: &ImportOptions, is_strict: bool) -> Reconciler<'_> {
    let mut reconciler = Reconciler::new(options, is_strict);
    reconciler.add_all(collected);
    reconciler
}

/// The actions without contradictions.
type Actions = BTreeMap<ActionKey, (CorporateAction, RowLocation)>;

impl Reconciler<'_> {
    fn add_all(&mut self, mut collected: Collected) {
        self.read_calendar(std::mem::take(&mut collected.days));
        // Contradictory actions must not be used to convert prices.
        let actions = self.dedupe(std::mem::take(&mut collected.actions), "the action is given");
        let mut splits: BTreeMap<Symbol, Splits> = BTreeMap::new();
        for ((symbol, date, _), (action, _)) in &actions {
            if let CorporateActionKind::Split { ratio } = action.kind {
                splits.entry(symbol.clone()).or_default().add(*date, ratio);
            }
        }
        for symbol in &collected.splits_complete {
            splits.entry(symbol.clone()).or_default();
        }
        let instruments = self.dedupe(std::mem::take(&mut collected.instruments), "the instrument is given");
        let is_index = |row: &InstrumentRow| row.instrument_type == Some(InstrumentType::Index);
        let indexes =
            instruments.values().filter(|(row, _)| is_index(row)).map(|(row, _)| row.symbol.clone());
        let indexes: BTreeSet<Symbol> = indexes.collect();
        // An index is never split, so a source that adjusts prices for splits leaves its levels as they are.
        for symbol in &indexes {
            splits.insert(symbol.clone(), Splits::default());
        }
        for (series, bars) in by_series(std::mem::take(&mut collected.bars)) {
            series::add_series(self, &series, bars, splits.get(&series.0));
        }
        self.report_out_of_hours();
        self.newest();
        let (first, last) = (self.days.keys().next().copied(), self.days.keys().next_back().copied());
        if let (Some(first), Some(last)) = (first, last) {
            if let Some(calendar) = self.calendar.take() {
                self.days = calendar.range(first..=last).map(|(date, day)| (*date, *day)).collect();
            }
            for day in self.days.clone().into_values() {
                let added = self.builder.day(day);
                self.note_error(added);
            }
            self.actions(&actions, &indexes, first, last);
        }
        let given: Vec<_> = actions.values().map(|(action, _)| action).collect();
        self.notes.extend(check_dividends(&collected.adjusted_closes, &given));
        membership::add_memberships(self, std::mem::take(&mut collected.memberships));
        self.instruments(instruments);
        let zone = self.options.hours.zone().clone();
        let news = self.dedupe(collected.news, "the id is given");
        let times: Vec<Timestamp> = news.values().map(|(published, _)| published.published_at).collect();
        self.notes.extend(shifted::notes(&times, &zone));
        for (published, _) in news.into_values() {
            let added = self.builder.news(Some(published.published_at), published.item);
            self.note_error(added);
        }
        let mut early = shifted::Foreknown::default();
        for (published, _) in self.dedupe(collected.fundamentals, "the figure is given").into_values() {
            let what = format!("{} {}", published.item.symbol, published.item.metric);
            early.check(&what, published.item.period_end, published.published_at, &zone);
            let added = self.builder.fundamental(Some(published.published_at), published.item);
            self.note_error(added);
        }
        for (published, _) in self.dedupe(collected.macros, "the value is given").into_values() {
            let added = self.builder.macro_point(Some(published.published_at), published.item);
            self.note_error(added);
        }
        self.notes.extend(early.notes());
    }

    /// Adds one sentence for all symbols with bars outside trading hours.
    fn report_out_of_hours(&mut self) {
        let mut outside = std::mem::take(&mut self.outside);
        let (bars, inside) = outside.iter().fold((0, 0), |sum, one| (sum.0 + one.bars, sum.1 + one.inside));
        if bars == 0 {
            return;
        }
        outside.sort_by(|a, b| b.bars.cmp(&a.bars).then_with(|| a.symbol.cmp(&b.symbol)));
        let first: Vec<String> =
            outside.iter().take(3).map(|one| format!("{} {}", one.symbol, one.bars)).collect();
        let more = match outside.len() - first.len() {
            0 => String::new(),
            more => format!(" and {more} more symbols"),
        };
        let zone = self.options.hours.zone().iana_name().unwrap_or("the exchange's zone").to_owned();
        // Half of the bars outside is too many for pre-market and after-hours trading.
        let hint = if bars > inside { "; their times look shifted: give the zone with --zone" } else { "" };
        self.notes.push(format!(
            "{bars} bars outside of trading hours in {zone} are left out ({}{more}), {inside} within them are kept{hint}",
            first.join(", ")
        ));
    }

    fn read_calendar(&mut self, days: Keyed<Date, DayRow>) {
        if days.is_empty() {
            return;
        }
        let mut calendar = BTreeMap::new();
        for (date, (row, place)) in self.dedupe(days, "the day is given") {
            let day = self.options.hours.day(date).and_then(|usual| {
                let open = row.open.unwrap_or(usual.open);
                let day = TradingDay { date, open, close: row.close.unwrap_or(usual.close) };
                // A separate builder checks whether the day is possible.
                DatasetBuilder::new("", "").day(day).map(|()| day)
            });
            match day {
                Ok(day) => drop(calendar.insert(date, day)),
                Err(error) => self.refuse(place, error.to_string()),
            }
        }
        self.calendar = Some(calendar);
    }

    /// Adds the newest bars that have only an open: they must be on the newest day.
    fn newest(&mut self) {
        let mut open_only = std::mem::take(&mut self.open_only);
        let last = open_only.iter().map(|one| one.date).chain(self.days.keys().copied()).max();
        open_only.retain(|one| {
            let is_last = Some(one.date) == last;
            if !is_last {
                self.refused.insert(one.place, "only an open, but it is not on the newest day".to_owned());
            }
            is_last
        });
        for one in open_only {
            let Ok(day) = self.day(one.date) else { continue };
            self.days.insert(one.date, day);
            self.symbols.insert(one.symbol.clone());
            let added = match one.interval {
                None => self.builder.opening(&one.symbol, one.date, one.open),
                Some(interval) => {
                    let opens_at = from_micros(one.key).unwrap_or_default();
                    let bar = IntradayBar { opens_at, open: one.open, rest: None };
                    self.builder.bar_within_day(&one.symbol, interval, &bar)
                }
            };
            self.note_error(added);
        }
    }

    fn actions(&mut self, actions: &Actions, indexes: &BTreeSet<Symbol>, first: Date, last: Date) {
        let mut beyond = 0;
        for ((symbol, ex_date, _), (action, place)) in actions {
            if indexes.contains(symbol) {
                self.refuse(*place, format!("{symbol} is an index, which has no corporate actions"));
            } else if !self.symbols.contains(symbol) {
                self.refuse(*place, format!("there is no bar of {symbol}"));
            } else if *ex_date < first || *ex_date > last {
                beyond += 1;
            } else if !self.days.contains_key(ex_date) {
                self.refuse(*place, "its ex-date is not a trading day");
            } else {
                let added = self.builder.action(action.clone());
                self.note_error(added);
            }
        }
        if beyond > 0 {
            self.notes.push(format!(
                "{beyond} corporate actions lie before {first} or after {last} and are left out"
            ));
        }
    }

    /// Adds an instrument for every symbol that has bars.
    fn instruments(&mut self, mut given: BTreeMap<Symbol, (InstrumentRow, RowLocation)>) {
        for symbol in &self.symbols {
            let row = given.remove(symbol).map(|(row, _)| row);
            let (name, currency, instrument_type) =
                row.map_or((None, None, None), |row| (row.name, row.currency, row.instrument_type));
            self.builder.instrument(Instrument {
                name: name.unwrap_or_else(|| symbol.to_string()),
                currency: currency.unwrap_or_else(|| self.options.currency.clone()),
                symbol: symbol.clone(),
                instrument_type: instrument_type.unwrap_or_default(),
            });
        }
        if !given.is_empty() {
            self.notes.push(format!("{} instruments have no bars and are left out", given.len()));
        }
    }
}

/// The bars of each symbol and length, by basis.
type BySeries = BTreeMap<(Symbol, Option<Interval>), Vec<(Basis, Bars)>>;

/// Groups the bars of a symbol and a length, whatever their basis.
fn by_series(bars: BTreeMap<SeriesKey, Bars>) -> BySeries {
    let mut series = BySeries::new();
    for ((symbol, interval, basis), bars) in bars {
        series.entry((symbol, interval)).or_default().push((basis, bars));
    }
    series
}
