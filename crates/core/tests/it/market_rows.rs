//! Random rows for a dataset, with splits, dividends, news and fundamentals.

use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    DailyBar, Dataset, DatasetBuilder, Fundamental, Instrument, InstrumentType, MacroPoint, Membership, News,
    Published, TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of a dataset, before it is built.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) days: Vec<TradingDay>,
    pub(crate) bars: Vec<(Symbol, DailyBar)>,
    pub(crate) actions: Vec<CorporateAction>,
    pub(crate) news: Vec<Published<News>>,
    pub(crate) fundamentals: Vec<Published<Fundamental>>,
    pub(crate) macros: Vec<Published<MacroPoint>>,
    pub(crate) memberships: Vec<Membership>,
}

impl Rows {
    pub(crate) fn build(&self) -> Dataset {
        let mut builder = DatasetBuilder::new("random", TradingHours::US_ZONE);
        let mut symbols: Vec<&Symbol> = self.bars.iter().map(|(symbol, _)| symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        for symbol in symbols {
            builder.instrument(Instrument {
                symbol: symbol.clone(),
                name: format!("{symbol} Company"),
                currency: "USD".into(),
                instrument_type: InstrumentType::Stock,
            });
        }
        self.days.iter().for_each(|day| builder.day(*day).expect("day"));
        for (symbol, bar) in &self.bars {
            builder.bar(symbol, *bar).expect("bar");
        }
        self.actions.iter().for_each(|one| builder.action(one.clone()).expect("action"));
        for Published { published_at, item } in self.news.iter().cloned() {
            builder.news(Some(published_at), item).expect("news");
        }
        for Published { published_at, item } in self.fundamentals.iter().cloned() {
            builder.fundamental(Some(published_at), item).expect("fundamental");
        }
        for Published { published_at, item } in self.macros.iter().cloned() {
            builder.macro_point(Some(published_at), item).expect("macro point");
        }
        self.memberships.iter().for_each(|one| builder.membership(one.clone()));
        builder.build().expect("dataset")
    }

    /// The trading day of a date.
    pub(crate) fn day(&self, date: Date) -> TradingDay {
        *self.days.iter().find(|day| day.date == date).expect("a trading day")
    }

    /// Keeps the rows whose facts are all known at this instant; an independent implementation of the rule.
    pub(crate) fn keep_known(&mut self, instant: Timestamp) {
        let days = self.days.clone();
        let day = |date| *days.iter().find(|day| day.date == date).expect("a trading day");
        self.bars.retain(|(_, bar)| day(bar.date).close <= instant);
        let symbols: Vec<Symbol> = self.bars.iter().map(|(symbol, _)| symbol.clone()).collect();
        self.actions.retain(|a| day(a.ex_date).open <= instant && symbols.contains(&a.symbol));
        self.keep_published(instant);
        self.days.retain(|day| day.open <= instant);
    }

    /// Changes everything that is not known at this instant, and drops everything after it.
    pub(crate) fn garble_unknown(&mut self, instant: Timestamp) {
        let days = self.days.clone();
        let day = |date| *days.iter().find(|day| day.date == date).expect("a trading day");
        self.bars.retain(|(_, bar)| day(bar.date).open <= instant);
        for (_, bar) in self.bars.iter_mut().filter(|(_, bar)| day(bar.date).close > instant) {
            bar.high = Price(bar.high.0 * Decimal::TEN);
            bar.low = Price(bar.low.0 / Decimal::TEN);
            bar.close = bar.high;
            bar.volume = Quantity(bar.volume.0 + Decimal::ONE);
        }
        let symbols: Vec<Symbol> = self.bars.iter().map(|(symbol, _)| symbol.clone()).collect();
        self.actions.retain(|a| day(a.ex_date).open <= instant && symbols.contains(&a.symbol));
        self.keep_published(instant);
    }

    /// Changes every split to a ratio by which decimals can be divided without a remainder.
    pub(crate) fn make_splits_even(&mut self) {
        for action in &mut self.actions {
            if let CorporateActionKind::Split { ratio } = &mut action.kind
                && [Decimal::from(3), Decimal::new(15, 1)].contains(ratio)
            {
                *ratio = Decimal::new(125, 2);
            }
        }
    }

    /// Drops every symbol but these, with all that is about others only.
    pub(crate) fn keep_symbols(&mut self, symbols: &BTreeSet<Symbol>) {
        self.bars.retain(|(symbol, _)| symbols.contains(symbol));
        self.actions.retain(|action| symbols.contains(&action.symbol));
        self.fundamentals.retain(|one| symbols.contains(&one.item.symbol));
        let is_about = |news: &News| {
            news.symbols.is_empty() || news.symbols.iter().any(|symbol| symbols.contains(symbol))
        };
        self.news.retain(|one| is_about(&one.item));
    }

    fn keep_published(&mut self, instant: Timestamp) {
        self.news.retain(|one| one.published_at <= instant);
        self.fundamentals.retain(|one| one.published_at <= instant);
        self.macros.retain(|one| one.published_at <= instant);
    }
}

/// Two weeks around the start of daylight saving time, up to four symbols that start and pause at random.
pub(crate) fn rows() -> impl Strategy<Value = Rows> {
    let key = || (0..4_usize, 0..10_usize);
    let bar = (1..500_u32, 0..500_u32, 0..=100_u32, 0..=100_u32, 0..9_000_000_000_u64, 0..5_u32);
    let publication = (0..10_usize, -200_000_i64..200_000, 0..5_u8);
    (
        prop::collection::btree_map(key(), bar, 8..40),
        prop::collection::btree_map(key(), 0..5_usize, 0..4),
        prop::collection::btree_map(key(), 1..500_i64, 0..4),
        prop::collection::vec((publication.clone(), 0..16_u8), 0..8),
        prop::collection::vec((publication, 0..4_usize, 0..3_u8, -100..100_i64), 0..8),
    )
        .prop_map(|(bars, splits, dividends, news, figures)| {
            let days = days();
            let bars: Vec<(Symbol, DailyBar)> =
                bars.into_iter().map(|((s, day), raw)| (symbol(s), daily(days[day].date, raw))).collect();
            let has_bars = |s: usize| bars.iter().any(|(other, _)| *other == symbol(s));
            let action = |(s, day): (usize, usize), kind| CorporateAction {
                symbol: symbol(s),
                ex_date: days[day].date,
                kind,
            };
            let ratios = ["2", "3", "0.5", "1.5", "0.1"].map(|r| r.parse::<Decimal>().expect("ratio"));
            let splits = splits
                .into_iter()
                .filter(|((s, _), _)| has_bars(*s))
                .map(|(key, ratio)| action(key, CorporateActionKind::Split { ratio: ratios[ratio] }));
            let dividends = dividends.into_iter().filter(|((s, _), _)| has_bars(*s));
            let dividends = dividends.map(|(key, cents)| {
                let amount = Price(Decimal::new(cents, 2));
                action(key, CorporateActionKind::Dividend { amount })
            });
            let actions = splits.chain(dividends).collect();
            let mut fundamentals = BTreeMap::new();
            let mut macros = BTreeMap::new();
            for (at, s, period, value) in figures {
                let published_at = instant(&days, at);
                let value = Decimal::new(value, 1);
                let period = Date::constant(2023, 10 + i8::try_from(period).expect("small"), 1);
                let (metric, unit) = ("revenue".to_owned(), "USD".to_owned());
                let item = Fundamental { symbol: symbol(s), metric, period_end: period, value, unit };
                fundamentals.insert((published_at, s, period), Published { published_at, item });
                let (series, unit) = ("CPI".to_owned(), "index".to_owned());
                let item = MacroPoint { series, period, value, unit };
                macros.insert((published_at, period), Published { published_at, item });
            }
            let item = |id: usize, about: u8| News {
                id: format!("n{id}"),
                symbols: (0..4).filter(|bit| about & (1 << bit) != 0).map(symbol).collect(),
                source: "wire".into(),
                headline: format!("headline {id}"),
                body: None,
                url: None,
            };
            let news = (news.into_iter().enumerate())
                .map(|(id, (at, about))| Published {
                    published_at: instant(&days, at),
                    item: item(id, about),
                })
                .collect();
            Rows {
                bars,
                actions,
                news,
                fundamentals: fundamentals.into_values().collect(),
                macros: macros.into_values().collect(),
                memberships: Vec::new(),
                days,
            }
        })
}

fn days() -> Vec<TradingDay> {
    let hours = TradingHours::us_equity();
    let dates = (4..=8).chain(11..=15).map(|day| Date::constant(2024, 3, day));
    dates.map(|date| hours.day(date).expect("day")).collect()
}

fn symbol(at: usize) -> Symbol {
    Symbol::new(["AAA", "BBB", "CCC", "DDD"][at])
}

fn daily(date: Date, raw: (u32, u32, u32, u32, u64, u32)) -> DailyBar {
    let (low, range, open, close, volume, scale) = raw;
    let price = |percent: u32| {
        Price(Decimal::new(i64::from(low) * 100 + i64::from(range) * i64::from(percent), scale))
    };
    DailyBar {
        date,
        open: price(open),
        high: price(100),
        low: price(0),
        close: price(close),
        volume: Quantity(Decimal::from(volume)),
    }
}

/// On the open or the close of a day, or some seconds after its open.
fn instant(days: &[TradingDay], (day, seconds, kind): (usize, i64, u8)) -> Timestamp {
    match kind {
        0 => days[day].open,
        1 => days[day].close,
        _ => {
            days[day].open + std::time::Duration::from_secs(200_000)
                - std::time::Duration::from_secs(u64::try_from(seconds + 200_000).expect("positive"))
        }
    }
}
