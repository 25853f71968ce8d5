//! Counterfactual futures: a dataset with the real past and a resampled future, and the real returns to score positions
//! with.
//!
//! From the first day on, the bars continue on a path of real daily returns of the days before it, drawn in blocks of a
//! mean length of 20 days (the stationary bootstrap), the same days for all symbols. News, fundamentals and macro series
//! end before the last real close. Nothing of the real future is in such a dataset, so positions on it can correlate with
//! the real future only through memory.
//!
//! Its name has the hash of the real dataset, the first day and the seed. Who reads a job derives the dataset again and
//! compares the hashes, so a score never rests on a name.

use papertape_core::id::Symbol;
use papertape_core::ledger::CorporateActionKind;
use papertape_core::market::{BarInput, DailyBar, Dataset, DatasetBuilder};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_evidence::{Random, Seed};
use papertape_runtime::memory_probe::histories;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use std::collections::{BTreeMap, BTreeSet};

/// The mean length of a block of days.
const BLOCK_DAYS: f64 = 20.0;
/// With fewer real days before the first one, there is nothing to resample.
const MIN_PAST_DAYS: usize = 60;
/// The days of a real return that a position is scored with.
const RETURN_DAYS: usize = 5;
pub(crate) const PREFIX: &str = "counterfactual";
/// Hex digits of the real dataset's hash in a name.
const HASH_DIGITS: usize = 12;

/// What a counterfactual dataset was derived from, by its name: digits of the real dataset's hash, the first day of the
/// path, and the seed.
#[must_use]
pub(crate) fn origin(name: &str) -> Option<(&str, Date, u64)> {
    let rest = name.strip_prefix(PREFIX)?.strip_prefix('-')?;
    let (hash, rest) = rest.split_once('-')?;
    let (date, seed) = rest.split_at_checked(10)?;
    Some((hash, parse_date(date).ok()?, seed.strip_prefix('-')?.parse().ok()?))
}

/// The symbols with a bar on the last day before the path, and enough days before that.
pub(crate) fn with_bars(real: &Dataset, first: Date) -> BTreeSet<Symbol> {
    let contents = real.contents();
    let last = real.days().iter().map(|day| day.date).take_while(|day| *day < first).last();
    let has = |symbol: &&Symbol| {
        let dates: Vec<Date> = contents.daily_bars(symbol).iter().map(|bar| bar.date).collect();
        let past = dates.partition_point(|date| *date < first);
        past > MIN_PAST_DAYS && dates.get(past - 1).copied() == last
    };
    real.tradable_symbols().filter(has).cloned().collect()
}

/// A day's bar relative to the close before it, and its volume in the share units of the last real day.
#[derive(Clone, Copy)]
struct RelativeBar {
    open: f64,
    high: f64,
    low: f64,
    close: f64,
    volume: f64,
}

/// Derives the dataset of the days up to `last`, resampled from `first` on.
///
/// # Errors
/// Symbols that are unknown or have too few days before the first one.
pub(crate) fn derive(
    real: &Dataset,
    symbols: &BTreeSet<Symbol>,
    (first, last): (Date, Date),
    seed: u64,
) -> Result<Dataset, String> {
    let days: Vec<_> = real.days().iter().filter(|day| day.date <= last).collect();
    let cut = days.partition_point(|day| day.date < first);
    let (Some(first_day), Some(last_real)) = (days.get(cut), cut.checked_sub(1).map(|at| days[at])) else {
        return Err(format!("{} has no trading day from {first} to {last}, or none before it", real.name()));
    };
    let past: BTreeMap<&Symbol, BTreeMap<Date, BarInput>> =
        symbols.iter().map(|symbol| (symbol, bars_before(real, symbol, first_day.date))).collect();
    let common: Vec<usize> = (1..cut)
        .filter(|at| {
            past.values().all(|bars| [at - 1, *at].iter().all(|at| bars.contains_key(&days[*at].date)))
        })
        .collect();
    let lacks = |bars: &BTreeMap<Date, BarInput>| !bars.contains_key(&last_real.date);
    if let Some((symbol, _)) = past.iter().find(|(_, bars)| lacks(bars)) {
        return Err(format!(
            "{symbol} has no complete bar on {}, the last day before the path",
            last_real.date
        ));
    }
    if common.len() < MIN_PAST_DAYS || symbols.is_empty() {
        return Err(format!(
            "the symbols share {} days with bars before {first}; {MIN_PAST_DAYS} are needed",
            common.len()
        ));
    }
    let hash = &real.hash().to_hex()[..HASH_DIGITS];
    let name = format!("{PREFIX}-{hash}-{}-{seed}", first_day.date);
    let path = resampled(&name, common.len(), days.len() - cut);
    let mut builder = DatasetBuilder::new(name, real.zone());
    let failed = |error: papertape_core::market::BuildError| error.to_string();
    for day in &days {
        builder.day(**day).map_err(failed)?;
    }
    for (symbol, bars) in &past {
        builder
            .instrument(real.instrument(symbol).cloned().ok_or_else(|| format!("unknown symbol {symbol}"))?);
        for bar in bars.values() {
            builder.bar(symbol, daily(bar).ok_or("a bar without a close")?).map_err(failed)?;
        }
        let scale = split_factors(real, symbol, first_day.date);
        let relative: Vec<RelativeBar> = common
            .iter()
            .filter_map(|at| {
                let [before, own] = [days[at - 1].date, days[*at].date];
                relative((&bars[&before], scale(before)), (&bars[&own], scale(own)))
            })
            .collect();
        let mut close =
            bars.get(&last_real.date).and_then(|bar| bar.rest?.close.0.to_f64()).unwrap_or_default();
        for (day, at) in days[cut..].iter().zip(&path) {
            let bar = relative.get(*at).ok_or("a bar without a price")?;
            let next = continued(day.date, close, bar).ok_or("a price that is too large")?;
            close = next.close.0.to_f64().unwrap_or_default();
            builder.bar(symbol, next).map_err(failed)?;
        }
    }
    facts(real, &mut builder, symbols, (first_day.date, last_real.close))?;
    builder.build().map_err(failed)
}

/// The complete daily bars of a symbol before a day.
fn bars_before(real: &Dataset, symbol: &Symbol, first: Date) -> BTreeMap<Date, BarInput> {
    let bars = real.contents().daily_bars(symbol).into_iter();
    bars.filter(|bar| bar.date < first && bar.rest.is_some()).map(|bar| (bar.date, bar)).collect()
}

/// For a date, how many shares of the last real day one share became.
fn split_factors(real: &Dataset, symbol: &Symbol, first: Date) -> impl Fn(Date) -> f64 {
    let splits: Vec<(Date, f64)> = real
        .contents()
        .actions()
        .filter(|action| action.symbol == *symbol && action.ex_date < first)
        .filter_map(|action| match action.kind {
            CorporateActionKind::Split { ratio } => Some((action.ex_date, ratio.to_f64()?)),
            CorporateActionKind::Dividend { .. } | CorporateActionKind::Delisting { .. } => None,
        })
        .collect();
    move |date| splits.iter().filter(|(ex_date, _)| *ex_date > date).map(|(_, ratio)| ratio).product()
}

fn relative((before, scale): (&BarInput, f64), (bar, own): (&BarInput, f64)) -> Option<RelativeBar> {
    let base = before.rest?.close.0.to_f64()? / scale;
    let rest = bar.rest?;
    let of = |price: Price| Some(price.0.to_f64()? / own / base);
    Some(RelativeBar {
        open: of(bar.open)?,
        high: of(rest.high)?,
        low: of(rest.low)?,
        close: of(rest.close)?,
        volume: rest.volume.0.to_f64()? * own,
    })
}

/// The next bar of a path, in cents, or in hundredths of them below 1.
fn continued(date: Date, close: f64, bar: &RelativeBar) -> Option<DailyBar> {
    let digits = if close < 1.0 { 6 } else { 2 };
    let least = Decimal::new(1, digits);
    let price = |ratio: f64| Some(Decimal::from_f64_retain(close * ratio)?.round_dp(digits).max(least));
    let (open, end) = (price(bar.open)?, price(bar.close)?);
    Some(DailyBar {
        date,
        open: Price(open),
        high: Price(price(bar.high)?.max(open).max(end)),
        low: Price(price(bar.low)?.min(open).min(end)),
        close: Price(end),
        volume: Quantity(Decimal::from_f64_retain(bar.volume)?.round()),
    })
}

fn daily(bar: &BarInput) -> Option<DailyBar> {
    let rest = bar.rest?;
    Some(DailyBar {
        date: bar.date,
        open: bar.open,
        high: rest.high,
        low: rest.low,
        close: rest.close,
        volume: rest.volume,
    })
}

/// Days of the past, in blocks.
fn resampled(name: &str, past: usize, days: usize) -> Vec<usize> {
    let mut random = Random::new(Seed::derive(&[name], &[], "counterfactual path"));
    let mut path = Vec::with_capacity(days);
    let mut at = random.below(past);
    for _ in 0..days {
        path.push(at);
        at = if random.uniform() < 1.0 / BLOCK_DAYS { random.below(past) } else { (at + 1) % past };
    }
    path
}

/// What was public before the last real close.
fn facts(
    real: &Dataset,
    builder: &mut DatasetBuilder,
    symbols: &BTreeSet<Symbol>,
    (first, until): (Date, Timestamp),
) -> Result<(), String> {
    let contents = real.contents();
    let failed = |error: papertape_core::market::BuildError| error.to_string();
    for action in
        contents.actions().filter(|action| symbols.contains(&action.symbol) && action.ex_date < first)
    {
        builder.action(action.clone()).map_err(failed)?;
    }
    for news in contents.news().iter().filter(|news| news.published_at < until) {
        builder.news(Some(news.published_at), news.item.clone()).map_err(failed)?;
    }
    for one in
        contents.fundamentals().filter(|one| one.published_at < until && symbols.contains(&one.item.symbol))
    {
        builder.fundamental(Some(one.published_at), one.item.clone()).map_err(failed)?;
    }
    for one in contents.macros().filter(|one| one.published_at < until) {
        builder.macro_point(Some(one.published_at), one.item.clone()).map_err(failed)?;
    }
    Ok(())
}

/// By date: the real return of each symbol over the next five trading days. Days without all of them are left out.
pub(crate) fn real_returns(real: &Dataset, symbols: &BTreeSet<Symbol>) -> BTreeMap<Date, Vec<f64>> {
    let closes: Vec<BTreeMap<Date, f64>> = histories(real, symbols, None, None)
        .into_iter()
        .map(|history| history.closes.iter().map(|close| (close.date, close.adjusted)).collect())
        .collect();
    let days: Vec<Date> = real.days().iter().map(|day| day.date).collect();
    let of_day = |pair: &[Date]| {
        let [day, .., end] = pair else { return None };
        let returns = closes.iter().map(|closes| Some(closes.get(end)? / closes.get(day)? - 1.0));
        Some((*day, returns.collect::<Option<Vec<f64>>>()?))
    };
    days.windows(RETURN_DAYS + 1).filter_map(of_day).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_market::bundled;

    const FIRST: Date = jiff::civil::date(2008, 1, 2);
    const LAST: Date = jiff::civil::date(2008, 6, 30);

    fn symbols(names: &[&str]) -> BTreeSet<Symbol> {
        names.iter().map(|name| Symbol::new(*name)).collect()
    }

    fn derived(seed: u64) -> Dataset {
        derive(&bundled(), &symbols(&["AAPL", "IBM"]), (FIRST, LAST), seed).expect("it is derived")
    }

    // Goal: the past is real to the bar, splits and dividends included; from the first day on, every close differs from the
    // real one, no action remains, and the calendar ends with the last day. The same seed gives the same data.
    #[test]
    fn the_past_is_real_and_the_future_is_not() {
        let (real, derived) = (bundled(), derived(1));
        assert_eq!(derived.days().last().map(|day| day.date), Some(LAST));
        for symbol in symbols(&["AAPL", "IBM"]) {
            let of = |dataset: &Dataset| dataset.contents().daily_bars(&symbol);
            let (past, future): (Vec<_>, Vec<_>) = of(&derived).into_iter().partition(|bar| bar.date < FIRST);
            let all = of(&real);
            assert_eq!(past, all[..past.len()]);
            let same = future.iter().filter(|bar| all.iter().any(|other| other == *bar)).count();
            assert_eq!((same, future.len()), (0, 125));
            // A path of real returns: no day moves further than the worst of the past.
            let closes: Vec<f64> = future.iter().filter_map(|bar| bar.rest?.close.0.to_f64()).collect();
            assert!(closes.windows(2).all(|pair| (pair[1] / pair[0] - 1.0).abs() < 0.55), "{closes:?}");
        }
        let actions =
            |dataset: &Dataset| dataset.contents().actions().filter(|action| action.ex_date < FIRST).count();
        assert!(derived.contents().actions().all(|action| action.ex_date < FIRST));
        assert!(actions(&derived) > 10);
        assert_eq!(derived.hash(), self::derived(1).hash());
        assert_ne!(derived.hash(), self::derived(2).hash());
        assert_eq!(derived.hash(), derived.computed_hash());
    }

    // Goal: both symbols take the same days of the past, so their joint moves stay.
    #[test]
    fn symbols_share_the_days_of_the_path() {
        let derived = derived(1);
        let returns = |name: &str| {
            let bars = derived.contents().daily_bars(&Symbol::new(name));
            let closes: Vec<f64> = bars.iter().filter_map(|bar| bar.rest?.close.0.to_f64()).collect();
            let future = &closes[closes.len() - 125..];
            future.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect::<Vec<f64>>()
        };
        let (a, b) = (returns("AAPL"), returns("IBM"));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (of_a, of_b) = (mean(&a), mean(&b));
        let sum = |product: &dyn Fn(f64, f64) -> f64| {
            a.iter().zip(&b).map(|(a, b)| product(a - of_a, b - of_b)).sum::<f64>()
        };
        let correlation = sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
        assert!(correlation > 0.15, "{correlation}");
    }

    // Goal: the name leads back to the real data; what cannot be resampled is an error that says why.
    #[test]
    fn names_lead_back_and_gaps_are_errors() {
        let derived = derived(7);
        let (hash, first, seed) = origin(derived.name()).expect("a counterfactual name");
        assert!(bundled().hash().to_hex().starts_with(hash));
        assert_eq!((first, seed), (FIRST, 7));
        assert_eq!(origin("counterfactual-x"), None);
        assert_eq!(origin("us-daily-2000-2013"), None);
        let fail = |names: &[&str], first: &str| {
            let first = first.parse().expect("a date");
            derive(&bundled(), &symbols(names), (first, jiff::civil::date(2013, 1, 31)), 1)
                .expect_err("too early")
        };
        assert!(fail(&["FB"], "2012-06-15").contains("60 are needed"));
        assert!(fail(&["FB"], "2005-01-03").contains("FB has no complete bar"));
        assert!(fail(&["IBM"], "2000-03-01").contains("none before it"));
    }

    // Goal: real returns are over five trading days, adjusted for splits: AAPL's of 2005-02-28 does not halve them.
    #[test]
    fn real_returns_are_adjusted_for_splits() {
        let returns = real_returns(&bundled(), &symbols(&["AAPL"]));
        let around = returns.range(jiff::civil::date(2005, 2, 18)..jiff::civil::date(2005, 3, 5));
        assert!(around.clone().count() > 8 && around.clone().all(|(_, returns)| returns[0].abs() < 0.2));
    }
}
