//! The value of money held in one symbol or index, day by day: the benchmark of a run.

use super::contents::DatasetStats;
use super::dataset::Dataset;
use crate::id::Symbol;
use crate::ledger::{CorporateAction, CorporateActionKind};
use crate::money::Price;
use crate::time::Date;
use std::collections::BTreeMap;

/// The value, close by close, of 1 that is put into an instrument, without costs.
///
/// A dividend buys more of the instrument at the close of its ex-date; a split changes how much is held. So from one close
/// to the next the return is `ratio x (C(t) + D(t)) / C(t-1) - 1`, with D in the share units of its ex-date. An index has
/// neither: its returns go from level to level.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkSeries {
    /// Where it begins.
    pub start: BenchmarkStart,
    /// One for each of the days, in their order.
    pub values: Vec<f64>,
    /// Those of the days without a complete bar: the value before them, with what was paid since, stands for theirs.
    pub missing: Vec<Date>,
}

/// The price at which a benchmark begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchmarkStart {
    /// Its day.
    pub date: Date,
    /// The price, in the share units of that day.
    pub price: Price,
    /// Whether it is the open of the first day. If not, it is the last close before.
    pub is_first_open: bool,
}

/// Why there is no series.
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
        /// Its first bar's day; `None` where it has no complete one.
        from: Option<Date>,
        /// The first of the days.
        first: Date,
    },
    /// It ended before the first day.
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
    /// The benchmark that a symbol or an index is over these days, oldest first. It begins where the agent does: at the
    /// first day's open if the account opens then, else at the last close before it. If there is no such price, it
    /// begins at the other one. It knows the whole dataset and no instant, so nothing of it may be shown to an agent.
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
            // Whoever buys at a day's open has the day's close, and no claim to what it pays.
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

/// What 1 has become.
struct Holding {
    units: f64,
    price: f64,
    /// Paid, and not invested again: until the next close, or for good after a delisting.
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
