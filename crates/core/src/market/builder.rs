//! Builds a dataset and rejects impossible rows.

use super::calendar::{TradingDay, day_at, instant_of, zone_named};
use super::column::Bars;
use super::dataset::Dataset;
use super::error::BuildError;
use super::facts::{Fundamental, Instrument, MacroPoint, Membership, News, Published};
use super::interval::Interval;
use super::membership;
use super::parts::{DatasetParts, Series};
use super::rows::{BarAfterOpen, BarRows, DUPLICATE, IntradayBar, day_bars, impossible_bar, misplaced};
use crate::id::Symbol;
use crate::ledger::{CorporateAction, CorporateActionKind};
use crate::money::{Price, Quantity};
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// The unadjusted bar of a trading day: prices and volume in the share units of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyBar {
    /// Its trading day.
    pub date: Date,
    /// The first price.
    pub open: Price,
    /// The highest price.
    pub high: Price,
    /// The lowest price.
    pub low: Price,
    /// The last price.
    pub close: Price,
    /// Shares or units traded; zero if only a price was set.
    pub volume: Quantity,
}

/// Collects the rows of a [`Dataset`], in any order.
///
/// A row that is impossible by itself is rejected at once, so an importer can report it and continue.
/// Conflicts between rows are rejected by [`build`](Self::build).
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    name: String,
    zone: String,
    days: Vec<TradingDay>,
    instruments: Vec<Instrument>,
    bars: BTreeMap<Symbol, BarRows>,
    within: BTreeMap<Symbol, BTreeMap<Interval, BarRows>>,
    actions: BTreeMap<Symbol, Vec<CorporateAction>>,
    news: Vec<Published<News>>,
    fundamentals: BTreeMap<Symbol, Vec<Published<Fundamental>>>,
    macros: BTreeMap<String, Vec<Published<MacroPoint>>>,
    memberships: Vec<Membership>,
}

impl DatasetBuilder {
    /// Starts a dataset with this name, for an exchange in this zone of the IANA database.
    #[must_use]
    pub fn new(name: impl Into<String>, zone: impl Into<String>) -> Self {
        Self { name: name.into(), zone: zone.into(), ..Self::default() }
    }

    /// Adds a trading day.
    ///
    /// # Errors
    /// If it does not close after it opens, or an instant is not a whole microsecond.
    pub fn day(&mut self, day: TradingDay) -> Result<(), BuildError> {
        let refuse = |reason: &str| BuildError::Day { date: day.date, reason: reason.to_owned() };
        if day.close <= day.open {
            return Err(refuse("it closes before it opens"));
        }
        if [day.open, day.close].iter().any(|at| at.as_nanosecond() % 1_000 != 0) {
            return Err(refuse("an instant is not a whole microsecond"));
        }
        self.days.push(day);
        Ok(())
    }

    /// Adds an instrument; every symbol that has bars needs one.
    pub fn instrument(&mut self, instrument: Instrument) {
        self.instruments.push(instrument);
    }

    /// Adds a bar.
    ///
    /// # Errors
    /// If a price is zero or less, the volume is negative, the high is below the low, or the open or close
    /// lies outside of them.
    pub fn bar(&mut self, symbol: &Symbol, bar: DailyBar) -> Result<(), BuildError> {
        let DailyBar { date, open, high, low, close, volume } = bar;
        self.daily(symbol, date, open, Some(&BarAfterOpen { high, low, close, volume }))
    }

    /// Adds the bar of a day that has not closed: only its open. Allowed for a symbol's latest bar, on the
    /// calendar's latest day.
    ///
    /// # Errors
    /// If the price is zero or less.
    pub fn opening(&mut self, symbol: &Symbol, date: Date, open: Price) -> Result<(), BuildError> {
        self.daily(symbol, date, open, None)
    }

    fn daily(
        &mut self,
        symbol: &Symbol,
        date: Date,
        open: Price,
        rest: Option<&BarAfterOpen>,
    ) -> Result<(), BuildError> {
        if let Some(reason) = impossible_bar(open, rest) {
            return Err(BuildError::Bar { symbol: symbol.clone(), date, reason });
        }
        if !self.bars.contains_key(symbol) {
            self.bars.insert(symbol.clone(), BarRows::default());
        }
        if let Some(rows) = self.bars.get_mut(symbol) {
            rows.push(day_key(date), open, rest);
        }
        Ok(())
    }

    /// Adds an intraday bar. A day without a daily bar gets one built from its intraday bars of the shortest
    /// interval; it is known when the last of them is, at the day's close.
    ///
    /// # Errors
    /// Like [`bar`](Self::bar); and if its opening is not a whole microsecond.
    pub fn bar_within_day(
        &mut self,
        symbol: &Symbol,
        interval: Interval,
        bar: &IntradayBar,
    ) -> Result<(), BuildError> {
        let whole = bar.opens_at.as_nanosecond() % 1_000 == 0;
        let finer = (!whole).then(|| "it opens at no whole microsecond".to_owned());
        if let Some(reason) = finer.or_else(|| impossible_bar(bar.open, bar.rest.as_ref())) {
            return Err(rejected_intraday(symbol, interval, bar.opens_at, &reason));
        }
        let rows = self.within.entry(symbol.clone()).or_default().entry(interval).or_default();
        rows.push(bar.opens_at.as_microsecond(), bar.open, bar.rest.as_ref());
        Ok(())
    }

    /// Adds a corporate action.
    ///
    /// # Errors
    /// If a split's ratio is 1 or not positive, a dividend is not positive, or a delisting's payment is
    /// negative.
    pub fn action(&mut self, mut action: CorporateAction) -> Result<(), BuildError> {
        let reason = match &mut action.kind {
            CorporateActionKind::Split { ratio } => {
                *ratio = ratio.normalize();
                (*ratio <= Decimal::ZERO || *ratio == Decimal::ONE)
                    .then(|| format!("a split of {ratio} new shares for one"))
            }
            CorporateActionKind::Dividend { amount } => {
                *amount = Price(amount.0.normalize());
                (!amount.is_positive()).then(|| format!("a dividend of {amount}"))
            }
            CorporateActionKind::Delisting { pays } => {
                *pays = pays.map(|pays| Price(pays.0.normalize()));
                pays.filter(|pays| pays.0 < Decimal::ZERO).map(|pays| format!("a delisting that pays {pays}"))
            }
        };
        if let Some(reason) = reason {
            return Err(rejected_action(&action, &reason));
        }
        self.actions.entry(action.symbol.clone()).or_default().push(action);
        Ok(())
    }

    /// Adds a news item.
    ///
    /// # Errors
    /// If it is undated: it would be unknown when it may be seen.
    pub fn news(&mut self, published_at: Option<Timestamp>, mut item: News) -> Result<(), BuildError> {
        let published_at = dated(published_at, "news", &item.id)?;
        item.symbols.sort_unstable();
        item.symbols.dedup();
        self.news.push(Published { published_at, item });
        Ok(())
    }

    /// Adds a figure of a company's reports.
    ///
    /// # Errors
    /// If it is undated.
    pub fn fundamental(
        &mut self,
        published_at: Option<Timestamp>,
        mut item: Fundamental,
    ) -> Result<(), BuildError> {
        let series = format!("{}/fundamentals", item.symbol);
        let published_at = dated(published_at, &series, &item.metric)?;
        item.value = item.value.normalize();
        let list = self.fundamentals.entry(item.symbol.clone()).or_default();
        list.push(Published { published_at, item });
        Ok(())
    }

    /// Adds a value of a macroeconomic series.
    ///
    /// # Errors
    /// If it is undated.
    pub fn macro_point(
        &mut self,
        published_at: Option<Timestamp>,
        mut item: MacroPoint,
    ) -> Result<(), BuildError> {
        let series = format!("macro/{}", item.series);
        let published_at = dated(published_at, &series, &item.period.to_string())?;
        item.value = item.value.normalize();
        let list = self.macros.entry(item.series.clone()).or_default();
        list.push(Published { published_at, item });
        Ok(())
    }

    /// Adds a period of membership in an index.
    pub fn membership(&mut self, period: Membership) {
        self.memberships.push(period);
    }

    /// Sorts the rows and builds the dataset.
    ///
    /// # Errors
    /// The first of: an unknown zone; duplicate or overlapping days; a duplicate or missing instrument; a bar
    /// or action that is a duplicate or not on a trading day; splits that multiply to more than a million;
    /// only an open for a bar that is not the latest; intraday bars that overlap or lie outside of trading
    /// hours; a duplicate news ID, figure or macro point; a period of membership that ends before it begins
    /// or overlaps another.
    pub fn build(mut self) -> Result<Dataset, BuildError> {
        let zone = zone_named(&self.zone)?;
        check_days(&mut self.days)?;
        let mut instruments = self.check_instruments()?;
        let mut series = BTreeMap::new();
        let symbols: BTreeSet<Symbol> = self.bars.keys().chain(self.within.keys()).cloned().collect();
        for symbol in symbols {
            let Some(instrument) = instruments.remove(&symbol) else {
                let reason = "it has bars but was not given".to_owned();
                return Err(BuildError::Instrument { symbol, reason });
            };
            let within = pack_within(&symbol, self.within.remove(&symbol).unwrap_or_default(), &self.days)?;
            let daily = self.bars.remove(&symbol).unwrap_or_default();
            let bars = pack_days(&symbol, daily, &within, &self.days)?;
            let mut actions = self.actions.remove(&symbol).unwrap_or_default();
            if let Some(action) = actions.first().filter(|_| !instrument.instrument_type.is_tradable()) {
                return Err(rejected_action(action, "it is an index, which has no corporate actions"));
            }
            check_actions(&mut actions, &self.days)?;
            let last = bars.opens_at.all().iter().last().map(|at| day_at(&self.days, at).date);
            check_delisting(&actions, last)?;
            series.insert(symbol, Series { instrument, bars, within, actions });
        }
        if let Some(action) = self.actions.into_values().flatten().next() {
            return Err(rejected_action(&action, "the symbol has no bars"));
        }
        check_news(&mut self.news)?;
        for (symbol, list) in &mut self.fundamentals {
            let series = format!("{symbol}/fundamentals");
            sort_published(list, &series, |f| format!("{} {}", f.metric, f.period_end))?;
        }
        for (name, list) in &mut self.macros {
            sort_published(list, &format!("macro/{name}"), |point| point.period.to_string())?;
        }
        let memberships = membership::changes(self.memberships, &self.days, &zone)?;
        let parts = DatasetParts {
            zone_name: self.zone,
            zone,
            days: self.days,
            series,
            news: self.news,
            fundamentals: self.fundamentals,
            macros: self.macros,
            memberships,
        };
        Ok(Dataset::new(self.name, parts))
    }

    fn check_instruments(&mut self) -> Result<BTreeMap<Symbol, Instrument>, BuildError> {
        let mut by_symbol = BTreeMap::new();
        for instrument in std::mem::take(&mut self.instruments) {
            let symbol = instrument.symbol.clone();
            if by_symbol.insert(symbol.clone(), instrument).is_some() {
                return Err(BuildError::Instrument { symbol, reason: "duplicate".to_owned() });
            }
        }
        Ok(by_symbol)
    }
}

fn dated(at: Option<Timestamp>, series: &str, item: &str) -> Result<Timestamp, BuildError> {
    at.ok_or_else(|| BuildError::Fact {
        series: series.to_owned(),
        item: item.to_owned(),
        reason: "it is undated".to_owned(),
    })
}

fn check_days(days: &mut [TradingDay]) -> Result<(), BuildError> {
    days.sort_unstable();
    for pair in days.windows(2) {
        let refuse = |reason: &str| BuildError::Day { date: pair[1].date, reason: reason.to_owned() };
        if pair[0].date == pair[1].date {
            return Err(refuse("duplicate"));
        }
        if pair[1].open < pair[0].close {
            return Err(refuse("it opens before the day before it closes"));
        }
    }
    Ok(())
}

/// The trading day of this date.
fn day_of(days: &[TradingDay], date: Date) -> Option<&TradingDay> {
    days.binary_search_by_key(&date, |day| day.date).ok().map(|at| &days[at])
}

/// Days since the Unix epoch: the key of a daily row until the calendar is complete.
fn day_key(date: Date) -> i64 {
    date.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24
}

fn date_of(key: i64) -> Date {
    Date::constant(1970, 1, 1).saturating_add(jiff::SignedDuration::from_hours(key * 24))
}

const TOO_MANY_DIGITS: &str = "the series needs more than 19 digits from first to last decimal";

fn rejected_intraday(symbol: &Symbol, interval: Interval, opens_at: Timestamp, reason: &str) -> BuildError {
    BuildError::Within { symbol: symbol.clone(), interval, opens_at, reason: reason.to_owned() }
}

fn pack_within(
    symbol: &Symbol,
    rows: BTreeMap<Interval, BarRows>,
    days: &[TradingDay],
) -> Result<BTreeMap<Interval, Bars>, BuildError> {
    let mut packed = BTreeMap::new();
    for (interval, rows) in rows {
        let refuse = |at, reason: &str| rejected_intraday(symbol, interval, instant_of(at), reason);
        let rows = rows.ordered().map_err(|disorder| refuse(disorder.key, disorder.reason))?;
        let keys: Vec<i64> = rows.keys().collect();
        if let Some((at, reason)) = misplaced(&keys, interval, days) {
            return Err(refuse(at, reason));
        }
        let last = keys[keys.len() - 1];
        if rows.ends_open() && day_at(days, last).date != days[days.len() - 1].date {
            return Err(refuse(last, OPEN_ALONE));
        }
        let bars = rows.pack(keys).ok_or_else(|| refuse(last, TOO_MANY_DIGITS))?;
        packed.insert(interval, bars);
    }
    Ok(packed)
}

const OPEN_ALONE: &str = "only an open, but it is not on the newest day";

/// The daily bars: those added, and for other days those built from intraday bars.
fn pack_days(
    symbol: &Symbol,
    given: BarRows,
    within: &BTreeMap<Interval, Bars>,
    days: &[TradingDay],
) -> Result<Bars, BuildError> {
    let refuse =
        |date, reason: &str| BuildError::Bar { symbol: symbol.clone(), date, reason: reason.to_owned() };
    let mut rows = given.ordered().map_err(|disorder| {
        let reason = if disorder.reason == DUPLICATE { "a second bar of the day" } else { disorder.reason };
        refuse(date_of(disorder.key), reason)
    })?;
    let opens = |key| day_of(days, date_of(key)).map(|day| day.open.as_microsecond());
    let mut opens_at = Vec::new();
    for key in rows.keys() {
        opens_at.push(opens(key).ok_or_else(|| refuse(date_of(key), "no trading day"))?);
    }
    let made = day_bars(within, days);
    if !made.is_empty() {
        let day_open = |at| day_at(days, at).open.as_microsecond();
        let new: Vec<_> =
            made.into_iter().filter(|(at, _)| opens_at.binary_search(&day_open(*at)).is_err()).collect();
        let mut all = rows.keyed(&opens_at);
        for (at, bar) in new {
            all.push(at, bar.open, bar.rest.as_ref());
        }
        rows = all.ordered().map_err(|disorder| refuse(day_at(days, disorder.key).date, disorder.reason))?;
        opens_at = rows.keys().collect();
    }
    let last = opens_at.last().map(|at| day_at(days, *at).date);
    if let Some(last) = last.filter(|last| rows.ends_open() && days.last().is_some_and(|d| d.date != *last)) {
        return Err(refuse(last, OPEN_ALONE));
    }
    let first = opens_at.first().map(|at| day_at(days, *at).date);
    rows.pack(opens_at).ok_or_else(|| refuse(first.unwrap_or(Date::ZERO), TOO_MANY_DIGITS))
}

fn check_actions(actions: &mut [CorporateAction], days: &[TradingDay]) -> Result<(), BuildError> {
    actions.sort_by_key(order);
    for action in &*actions {
        if day_of(days, action.ex_date).is_none() {
            return Err(rejected_action(action, "its ex-date is not a trading day"));
        }
    }
    for pair in actions.windows(2) {
        let splits = pair.iter().all(|action| action.split_ratio().is_some());
        if pair[0] == pair[1] || (splits && pair[0].ex_date == pair[1].ex_date) {
            return Err(rejected_action(&pair[1], "duplicate"));
        }
    }
    // Within these bounds no conversion of a series can overflow.
    let bound = Decimal::from(1_000_000);
    let splits: Vec<_> = actions.iter().filter_map(|a| Some((a, a.split_ratio()?))).collect();
    for first in 0..splits.len() {
        let mut product = Decimal::ONE;
        for (action, ratio) in &splits[first..] {
            product = product.checked_mul(*ratio).unwrap_or(Decimal::MAX);
            if product > bound || product * bound < Decimal::ONE {
                return Err(rejected_action(action, "splits multiply to more than a million"));
            }
        }
    }
    Ok(())
}

/// Rejects actions after an instrument's delisting, and bars from that day on.
fn check_delisting(actions: &[CorporateAction], last: Option<Date>) -> Result<(), BuildError> {
    let Some(at) = actions.iter().position(is_delisting) else { return Ok(()) };
    let delisting = &actions[at];
    if let Some(after) = actions.get(at + 1) {
        return Err(rejected_action(
            after,
            &format!("it comes after the delisting on {}", delisting.ex_date),
        ));
    }
    match last.filter(|last| *last >= delisting.ex_date) {
        Some(last) => Err(rejected_action(delisting, &format!("there are bars until {last}"))),
        None => Ok(()),
    }
}

/// The sort key: by day; on one day the split first, then the dividends by amount, then the delisting.
fn order(action: &CorporateAction) -> (Date, u8, Decimal) {
    match action.kind {
        CorporateActionKind::Split { ratio } => (action.ex_date, 0, ratio),
        CorporateActionKind::Dividend { amount } => (action.ex_date, 1, amount.0),
        CorporateActionKind::Delisting { pays } => (action.ex_date, 2, pays.unwrap_or_default().0),
    }
}

/// Whether it is a delisting.
fn is_delisting(action: &CorporateAction) -> bool {
    matches!(action.kind, CorporateActionKind::Delisting { .. })
}

fn rejected_action(action: &CorporateAction, reason: &str) -> BuildError {
    BuildError::Action { symbol: action.symbol.clone(), ex_date: action.ex_date, reason: reason.to_owned() }
}

fn check_news(news: &mut [Published<News>]) -> Result<(), BuildError> {
    let mut ids = std::collections::BTreeSet::new();
    if let Some(twice) = news.iter().find(|one| !ids.insert(one.item.id.as_str())) {
        return Err(BuildError::Fact {
            series: "news".to_owned(),
            item: twice.item.id.clone(),
            reason: "duplicate".to_owned(),
        });
    }
    news.sort_unstable();
    Ok(())
}

/// Sorts by publication; a key can be published once per instant.
fn sort_published<T: Ord>(
    list: &mut [Published<T>],
    series: &str,
    key: impl Fn(&T) -> String,
) -> Result<(), BuildError> {
    list.sort_unstable();
    let mut seen = std::collections::BTreeSet::new();
    for one in list {
        if !seen.insert((one.published_at, key(&one.item))) {
            return Err(BuildError::Fact {
                series: series.to_owned(),
                item: key(&one.item),
                reason: format!("published twice at {}", one.published_at),
            });
        }
    }
    Ok(())
}
