//! Builds a dataset and refuses what cannot be true.

use super::calendar::{TradingDay, zone_named};
use super::column::{Bars, Column};
use super::dataset::{Dataset, Parts, Series};
use super::error::BuildError;
use super::facts::{Fundamental, Instrument, MacroPoint, News, Published};
use crate::id::Symbol;
use crate::ledger::{CorporateAction, CorporateActionKind};
use crate::money::{Price, Quantity};
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// One trading day's bar as it was traded: prices and volume in the share units of the day.
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
    /// Shares or units traded; zero where only a price was set.
    pub volume: Quantity,
}

/// Collects the rows of a [`Dataset`], in any order.
///
/// A row that is impossible by itself is refused where it is given, so that an importer can report
/// it and go on; what only shows beside the other rows is refused by [`build`](Self::build).
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    name: String,
    zone: String,
    days: Vec<TradingDay>,
    instruments: Vec<Instrument>,
    bars: BTreeMap<Symbol, Vec<DailyBar>>,
    actions: BTreeMap<Symbol, Vec<CorporateAction>>,
    news: Vec<Published<News>>,
    fundamentals: BTreeMap<Symbol, Vec<Published<Fundamental>>>,
    macros: BTreeMap<String, Vec<Published<MacroPoint>>>,
}

impl DatasetBuilder {
    /// Begins a dataset of this name, on an exchange in this zone of the IANA database.
    #[must_use]
    pub fn new(name: impl Into<String>, zone: impl Into<String>) -> Self {
        Self { name: name.into(), zone: zone.into(), ..Self::default() }
    }

    /// Adds a trading day.
    ///
    /// # Errors
    /// Where it does not close after it opens, or an instant is no whole microsecond.
    pub fn day(&mut self, day: TradingDay) -> Result<(), BuildError> {
        let refuse = |reason: &str| BuildError::Day { date: day.date, reason: reason.to_owned() };
        if day.close <= day.open {
            return Err(refuse("it closes before it opens"));
        }
        if [day.open, day.close].iter().any(|at| at.as_nanosecond() % 1_000 != 0) {
            return Err(refuse("an instant is no whole microsecond"));
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
    /// Where a price is zero or less, the volume is negative, the high is below the low, or the open
    /// or close lies outside of them.
    pub fn bar(&mut self, symbol: &Symbol, bar: DailyBar) -> Result<(), BuildError> {
        if let Some(reason) = impossible(&bar) {
            return Err(BuildError::Bar { symbol: symbol.clone(), date: bar.date, reason });
        }
        self.bars.entry(symbol.clone()).or_default().push(bar);
        Ok(())
    }

    /// Adds a corporate action.
    ///
    /// # Errors
    /// Where a split's ratio is 1 or not positive, or a dividend is not positive.
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
        };
        if let Some(reason) = reason {
            return Err(refused_action(&action, &reason));
        }
        self.actions.entry(action.symbol.clone()).or_default().push(action);
        Ok(())
    }

    /// Adds a news item.
    ///
    /// # Errors
    /// Where it is undated: nobody could say who may see it.
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
    /// Where it is undated.
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
    /// Where it is undated.
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

    /// Puts the rows in their order and makes the dataset.
    ///
    /// # Errors
    /// The first of: an unknown zone; a day given twice or days that overlap; an instrument given
    /// twice or missing; a bar or action given twice or not on a trading day; splits that multiply
    /// to more than a million; the same news id, figure or macro point given twice.
    pub fn build(mut self) -> Result<Dataset, BuildError> {
        let zone = zone_named(&self.zone)?;
        check_days(&mut self.days)?;
        let mut instruments = self.check_instruments()?;
        let mut series = BTreeMap::new();
        for (symbol, mut bars) in std::mem::take(&mut self.bars) {
            let Some(instrument) = instruments.remove(&symbol) else {
                let reason = "it has bars but was not given".to_owned();
                return Err(BuildError::Instrument { symbol, reason });
            };
            let bars = pack_bars(&symbol, &mut bars, &self.days)?;
            let mut actions = self.actions.remove(&symbol).unwrap_or_default();
            check_actions(&mut actions, &self.days)?;
            series.insert(symbol, Series { instrument, bars, actions });
        }
        if let Some(action) = self.actions.into_values().flatten().next() {
            return Err(refused_action(&action, "the symbol has no bars"));
        }
        check_news(&mut self.news)?;
        for (symbol, list) in &mut self.fundamentals {
            let series = format!("{symbol}/fundamentals");
            sort_published(list, &series, |f| format!("{} {}", f.metric, f.period_end))?;
        }
        for (name, list) in &mut self.macros {
            sort_published(list, &format!("macro/{name}"), |point| point.period.to_string())?;
        }
        let parts = Parts {
            zone_name: self.zone,
            zone,
            days: self.days,
            series,
            news: self.news,
            fundamentals: self.fundamentals,
            macros: self.macros,
        };
        Ok(Dataset::new(self.name, parts))
    }

    fn check_instruments(&mut self) -> Result<BTreeMap<Symbol, Instrument>, BuildError> {
        let mut by_symbol = BTreeMap::new();
        for instrument in std::mem::take(&mut self.instruments) {
            let symbol = instrument.symbol.clone();
            if by_symbol.insert(symbol.clone(), instrument).is_some() {
                return Err(BuildError::Instrument { symbol, reason: "given twice".to_owned() });
            }
        }
        Ok(by_symbol)
    }
}

fn impossible(bar: &DailyBar) -> Option<String> {
    let DailyBar { open, high, low, close, volume, .. } = *bar;
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
            return Err(refuse("given twice"));
        }
        if pair[1].open < pair[0].close {
            return Err(refuse("it opens before the day before it closes"));
        }
    }
    Ok(())
}

/// Where this date stands among the trading days.
fn day_of(days: &[TradingDay], date: Date) -> Option<&TradingDay> {
    days.binary_search_by_key(&date, |day| day.date).ok().map(|at| &days[at])
}

fn pack_bars(symbol: &Symbol, bars: &mut [DailyBar], days: &[TradingDay]) -> Result<Bars, BuildError> {
    let refuse =
        |date, reason: &str| BuildError::Bar { symbol: symbol.clone(), date, reason: reason.to_owned() };
    bars.sort_by_key(|bar| bar.date);
    if let Some(pair) = bars.windows(2).find(|pair| pair[0].date == pair[1].date) {
        return Err(refuse(pair[0].date, "a second bar of the day"));
    }
    let opens_at = bars
        .iter()
        .map(|bar| day_of(days, bar.date).map(|day| day.open.as_microsecond()).ok_or(bar.date))
        .collect::<Result<_, Date>>()
        .map_err(|date| refuse(date, "no trading day"))?;
    let pack = |value: fn(&DailyBar) -> Decimal| {
        let values: Vec<Decimal> = bars.iter().map(value).collect();
        Column::pack(&values).ok_or_else(|| {
            refuse(bars[0].date, "the series needs more than 19 digits from first to last decimal")
        })
    };
    Ok(Bars {
        opens_at,
        open: pack(|bar| bar.open.0)?,
        high: pack(|bar| bar.high.0)?,
        low: pack(|bar| bar.low.0)?,
        close: pack(|bar| bar.close.0)?,
        volume: pack(|bar| bar.volume.0)?,
    })
}

fn check_actions(actions: &mut [CorporateAction], days: &[TradingDay]) -> Result<(), BuildError> {
    actions.sort_by_key(order);
    for action in &*actions {
        if day_of(days, action.ex_date).is_none() {
            return Err(refused_action(action, "its ex-date is no trading day"));
        }
    }
    for pair in actions.windows(2) {
        let splits = pair.iter().all(|action| split_ratio(action).is_some());
        if pair[0] == pair[1] || (splits && pair[0].ex_date == pair[1].ex_date) {
            return Err(refused_action(&pair[1], "given twice"));
        }
    }
    // Within these bounds no conversion of a series can overflow.
    let bound = Decimal::from(1_000_000);
    let splits: Vec<_> = actions.iter().filter_map(|a| Some((a, split_ratio(a)?))).collect();
    for first in 0..splits.len() {
        let mut product = Decimal::ONE;
        for (action, ratio) in &splits[first..] {
            product = product.checked_mul(*ratio).unwrap_or(Decimal::MAX);
            if product > bound || product * bound < Decimal::ONE {
                return Err(refused_action(action, "splits multiply to more than a million"));
            }
        }
    }
    Ok(())
}

/// By day; on one day the split first, then the dividends by amount.
fn order(action: &CorporateAction) -> (Date, bool, Decimal) {
    match action.kind {
        CorporateActionKind::Split { ratio } => (action.ex_date, false, ratio),
        CorporateActionKind::Dividend { amount } => (action.ex_date, true, amount.0),
    }
}

/// A split's new shares for one old; `None` for a dividend.
pub(super) fn split_ratio(action: &CorporateAction) -> Option<Decimal> {
    match action.kind {
        CorporateActionKind::Split { ratio } => Some(ratio),
        CorporateActionKind::Dividend { .. } => None,
    }
}

fn refused_action(action: &CorporateAction, reason: &str) -> BuildError {
    BuildError::Action { symbol: action.symbol.clone(), ex_date: action.ex_date, reason: reason.to_owned() }
}

fn check_news(news: &mut [Published<News>]) -> Result<(), BuildError> {
    let mut ids = std::collections::BTreeSet::new();
    if let Some(twice) = news.iter().find(|one| !ids.insert(one.item.id.as_str())) {
        return Err(BuildError::Fact {
            series: "news".to_owned(),
            item: twice.item.id.clone(),
            reason: "given twice".to_owned(),
        });
    }
    news.sort_unstable();
    Ok(())
}

/// Sorts by publication; one key may be published once at an instant.
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
