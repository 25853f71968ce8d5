//! Small datasets.

use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BarAfterOpen, DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, Interval, IntradayBar,
    Membership, News, TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp, parse_date};
use rust_decimal::Decimal;
use std::time::Duration;

/// Builds a small dataset with US trading hours: days are consecutive dates, including weekends.
pub struct SmallData {
    builder: DatasetBuilder,
    days: Vec<TradingDay>,
}

impl SmallData {
    /// A dataset whose days start on this date (`YYYY-MM-DD`).
    ///
    /// # Panics
    /// Panics if the date is invalid.
    #[must_use]
    pub fn new(first: &str, days: usize) -> Self {
        let mut builder = DatasetBuilder::new("small", TradingHours::US_ZONE);
        let hours = TradingHours::us_equity();
        let mut date = parse_date(first).expect("a date");
        let mut list = Vec::new();
        for _ in 0..days {
            let day = hours.day(date).expect("a day");
            builder.day(day).expect("a new day");
            list.push(day);
            date = date.tomorrow().expect("a date");
        }
        Self { builder, days: list }
    }

    /// Adds a symbol with (open, high, low, close) of each day, from the first day on.
    ///
    /// # Panics
    /// Panics on an invalid bar.
    #[must_use]
    pub fn symbol(self, symbol: &str, bars: &[[&str; 4]]) -> Self {
        self.symbol_from(symbol, 0, bars)
    }

    /// The same for a symbol whose first bar is on the nth day, from 0.
    ///
    /// # Panics
    /// Panics on an invalid bar.
    #[must_use]
    pub fn symbol_from(mut self, symbol: &str, first: usize, bars: &[[&str; 4]]) -> Self {
        let symbol = Symbol::new(symbol);
        self.builder.instrument(Instrument {
            symbol: symbol.clone(),
            name: format!("{symbol} Inc."),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Stock,
        });
        for (day, bar) in self.days.iter().skip(first).zip(bars) {
            let [open, high, low, close] = bar.map(price);
            let volume = Quantity(Decimal::from(1_000));
            let bar = DailyBar { date: day.date, open, high, low, close, volume };
            self.builder.bar(&symbol, bar).expect("a possible bar");
        }
        self
    }

    /// Adds an index with these levels (open, high, low, close), each on its nth day, from 0.
    ///
    /// # Panics
    /// On an impossible bar.
    #[must_use]
    pub fn index(mut self, symbol: &str, bars: &[(usize, [&str; 4])]) -> Self {
        let symbol = Symbol::new(symbol);
        self.builder.instrument(Instrument {
            symbol: symbol.clone(),
            name: format!("{symbol} Index"),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Index,
        });
        for (day, bar) in bars {
            let [open, high, low, close] = bar.map(price);
            let volume = Quantity(Decimal::ZERO);
            let bar = DailyBar { date: self.days[*day].date, open, high, low, close, volume };
            self.builder.bar(&symbol, bar).expect("a possible bar");
        }
        self
    }

    /// Adds hourly bars (open, high, low, close) to the nth day, from 0, starting at its open.
    ///
    /// # Panics
    /// Panics on an invalid bar.
    #[must_use]
    pub fn hours(mut self, symbol: &str, day: usize, bars: &[[&str; 4]]) -> Self {
        let hour = Interval::from_minutes(60).expect("an interval");
        let mut opens_at = self.days[day].open;
        for bar in bars {
            let [open, high, low, close] = bar.map(price);
            let rest = Some(BarAfterOpen { high, low, close, volume: Quantity(Decimal::from(100)) });
            let bar = IntradayBar { opens_at, open, rest };
            self.builder.bar_within_day(&symbol.into(), hour, &bar).expect("a possible bar");
            opens_at += Duration::from_secs(3_600);
        }
        self
    }

    /// Adds a dividend of this amount per share on the nth day, from 0.
    #[must_use]
    pub fn dividend(self, symbol: &str, day: usize, amount: &str) -> Self {
        self.action(symbol, day, CorporateActionKind::Dividend { amount: price(amount) })
    }

    /// Adds a split on the nth day, from 0.
    #[must_use]
    pub fn split(self, symbol: &str, day: usize, ratio: u32) -> Self {
        self.action(symbol, day, CorporateActionKind::Split { ratio: Decimal::from(ratio) })
    }

    /// Adds a headline about a symbol, published at this instant.
    ///
    /// # Panics
    /// Panics if it cannot be added.
    #[must_use]
    pub fn news(mut self, symbol: &str, at: Timestamp, headline: &str) -> Self {
        let news = News {
            id: headline.to_owned(),
            symbols: vec![symbol.into()],
            source: "wire".to_owned(),
            headline: headline.to_owned(),
            body: None,
            url: None,
        };
        self.builder.news(Some(at), news).expect("news");
        self
    }

    /// Makes a symbol a member of an index from the nth day on, until another where one is given. Either is known at
    /// its open.
    #[must_use]
    pub fn member(mut self, index: &str, symbol: &str, from: usize, until: Option<usize>) -> Self {
        self.builder.membership(Membership {
            index: index.to_owned(),
            symbol: symbol.into(),
            from: self.days[from].date,
            until: until.map(|day| self.days[day].date),
            announced_at: None,
            until_announced_at: None,
        });
        self
    }

    /// The nth day, from 0.
    #[must_use]
    pub fn day(&self, n: usize) -> TradingDay {
        self.days[n]
    }

    /// The nth day's date, from 0.
    #[must_use]
    pub fn date(&self, n: usize) -> Date {
        self.days[n].date
    }

    /// The dataset.
    ///
    /// # Panics
    /// Panics on invalid rows.
    #[must_use]
    pub fn build(self) -> Dataset {
        self.builder.build().expect("possible rows")
    }

    fn action(mut self, symbol: &str, day: usize, kind: CorporateActionKind) -> Self {
        let action = CorporateAction { symbol: symbol.into(), ex_date: self.days[day].date, kind };
        self.builder.action(action).expect("a possible action");
        self
    }
}

fn price(text: &str) -> Price {
    Price(text.parse().expect("a decimal"))
}
