//! Benchmarks: the daily value of a buy-and-hold position in one symbol or index.

use super::contents::DatasetStats;
use super::dataset::Dataset;
use crate::id::Symbol;
use crate::ledger::{CorporateAction, CorporateActionKind};
use crate::money::Price;
use crate::time::Date;
use std::collections::BTreeMap;

/// The value at each close of 1 invested in an instrument, without costs.
///
/// A dividend is reinvested at the close of its ex-date; a split changes the quantity. So the return from one
/// close to the next is `ratio x (C(t) + D(t)) / C(t-1) - 1`, with D in the share units of its ex-date. An
/// index has neither.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkSeries {
    /// Its starting point.
    pub start: BenchmarkStart,
    /// One value per day, in order.
    pub values: Vec<f64>,
    /// The days without a complete bar; they repeat the previous value, plus payments since.
    pub missing: Vec<Date>,
}

/// The starting price of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchmarkStart {
    /// Its day.
    pub date: Date,
    /// The price, in the share units of that day.
    pub price: Price,
    /// Whether it is the open of the first day. If not, it is the last close before.
    pub is_first_open: bool,
}

/// Why there is no benchmark.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBenchmark {
    /// The dataset has no such symbol.
    #[error("the dataset has no symbol or index `{0}`")]
    Unknown(Symbol),
    /// Its bars begin after the first day.
    #[error("{symbol} has no bar until {}, and the first day is {first}", listed(.from))]
    NotYet {
        /// The symbol.
        symbol: Symbol,
        /// Its first bar's day; `None` if it has no complete one.
        from: Option<Date>,
        /// The first of the days.
        first: Date,
    },
    /// It was delisted before the first day.
    #[error("{symbol} was delisted on {on}, and the first day is {first}")]
    Delisted {
        /// The symbol.
        symbol: Symbol,
        /// Its delisting's ex-date.
        on: Date,
        /// The first of the days.
        first: Date,
    },
}

fn listed(from: &Option<Date>) -> String {
    from.map_or_else(|| "its data end".to_owned(), |date| date.to_string())
}

impl Dataset {
    /// The benchmark of a symbol or an index over these days, oldest first. It starts like the agent: at the
    /// first day's open if the account opens then, otherwise at the last close before it. If there is no such
    /// price, it starts at the other one. It reads the whole dataset without an instant, so agents must never
    /// see it.
    ///
    /// # Errors
    /// See [`NoBenchmark`].
    pub fn benchmark(
        &self,
        symbol: &Symbol,
        days: &[Date],
        opens_account: bool,
    ) -> Result<BenchmarkSeries, NoBenchmark> {
        if self.instrument(symbol).is_none() {
            return Err(NoBenchmark::Unknown(symbol.clone()));
        }
        let contents = self.contents();
        let first = days.first().copied().unwrap_or(Date::MIN);
        let start = start(contents, symbol, first, opens_account)?;
        let mut actions: BTreeMap<Date, Vec<&CorporateAction>> = BTreeMap::new();
        for action in contents.actions().filter(|action| action.symbol == *symbol) {
            actions.entry(action.ex_date).or_default().push(action);
        }
        if let Some(on) = delisting(&actions).filter(|on| *on < first) {
            return Err(NoBenchmark::Delisted { symbol: symbol.clone(), on, first });
        }
        let closes: BTreeMap<Date, f64> = contents
            .daily_bars(symbol)
            .into_iter()
            .filter_map(|bar| Some((bar.date, bar.rest?.close.to_f64())))
            .collect();
        let mut holding = Holding::bought(start);
        let mut reached = start.date;
        let (mut values, mut missing) = (Vec::with_capacity(days.len()), Vec::new());
        for day in days {
            // A buyer at the open gets the day's return, but not its dividend.
            let mut due: Vec<Date> = Vec::new();
            if let Some(next) = reached.tomorrow().ok().filter(|next| next <= day) {
                due.extend(actions.range(next..=*day).map(|(date, _)| *date));
                due.extend(closes.range(next..=*day).map(|(date, _)| *date));
            } else if start.is_first_open {
                due.push(*day);
            }
            due.sort_unstable();
            due.dedup();
            for date in due {
                let is_held = date > start.date;
                for action in actions.get(&date).into_iter().flatten().filter(|_| is_held) {
                    holding.act(action.kind);
                }
                if let Some(close) = closes.get(&date) {
                    holding.close(*close);
                }
            }
            if !closes.contains_key(day) {
                missing.push(*day);
            }
            values.push(holding.value());
            reached = reached.max(*day);
        }
        Ok(BenchmarkSeries { start, values, missing })
    }
}

fn start(
    contents: DatasetStats<'_>,
    symbol: &Symbol,
    first: Date,
    opens_account: bool,
) -> Result<BenchmarkStart, NoBenchmark> {
    let bars = contents.daily_bars(symbol);
    let (before, from) = bars.split_at(bars.partition_point(|bar| bar.date < first));
    let open = from.first().filter(|bar| bar.date == first);
    let open = open.map(|bar| BenchmarkStart { date: first, price: bar.open, is_first_open: true });
    let close = before.iter().rev().find_map(|bar| Some((bar.date, bar.rest?.close)));
    let close = close.map(|(date, price)| BenchmarkStart { date, price, is_first_open: false });
    let start = if opens_account { open.or(close) } else { close.or(open) };
    start.ok_or_else(|| {
        let from = from.first().map(|bar| bar.date);
        NoBenchmark::NotYet { symbol: symbol.clone(), from, first }
    })
}

fn delisting(actions: &BTreeMap<Date, Vec<&CorporateAction>>) -> Option<Date> {
    let mut all = actions.values().flatten();
    all.find(|action| matches!(action.kind, CorporateActionKind::Delisting { .. }))
        .map(|action| action.ex_date)
}

/// The current value of 1.
struct Holding {
    units: f64,
    price: f64,
    /// Payments that are not reinvested yet; after a delisting they never are.
    cash: f64,
}

impl Holding {
    fn bought(start: BenchmarkStart) -> Self {
        let price = start.price.to_f64();
        Self { units: 1.0 / price, price, cash: 0.0 }
    }

    fn act(&mut self, kind: CorporateActionKind) {
        match kind {
            CorporateActionKind::Split { ratio } => {
                let ratio = Price(ratio).to_f64();
                self.units *= ratio;
                self.price /= ratio;
            }
            CorporateActionKind::Dividend { amount } => self.cash += self.units * amount.to_f64(),
            CorporateActionKind::Delisting { pays } => {
                self.cash += self.units * pays.map_or(self.price, Price::to_f64);
                self.units = 0.0;
            }
        }
    }

    fn close(&mut self, price: f64) {
        self.price = price;
        self.units += self.cash / price;
        self.cash = 0.0;
    }

    fn value(&self) -> f64 {
        self.units * self.price + self.cash
    }
}
