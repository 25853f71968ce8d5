//! Indicators: a value is the same whether it is computed from scratch or continued from a cached state, and it does not
//! depend on what was read before.

use crate::market_rows::Rows;
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{DailyBar, Dataset, Exposure, Indicator, TradingDay, TradingHours};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use proptest::prelude::*;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use std::collections::BTreeMap;

/// More than three of the cache's intervals.
const DAYS: usize = 430;

const INDICATORS: [&str; 12] = [
    "sma(20)",
    "sma(200)",
    "ema(3)",
    "ema(200)",
    "macd",
    "macd(5,35,5)",
    "rsi",
    "rsi(140)",
    "bollinger",
    "atr",
    "vwma",
    "mfi",
];

/// The original formulas: each takes the whole series.
mod from_scratch {
    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn finite(value: f64) -> Option<f64> {
        value.is_finite().then_some(value)
    }

    fn smoothed(values: &[f64], window: usize, weight: f64) -> Vec<Option<f64>> {
        let mut average = None;
        (0..values.len())
            .map(|at| {
                average = match average {
                    Some(average) => Some(average + weight * (values[at] - average)),
                    None if at + 1 == window => Some(mean(&values[..window])),
                    None => None,
                };
                average
            })
            .collect()
    }

    fn pairwise(
        left: &[Option<f64>],
        right: &[Option<f64>],
        value: impl Fn(f64, f64) -> f64,
    ) -> Vec<Option<f64>> {
        left.iter().zip(right).map(|(&left, &right)| finite(value(left?, right?))).collect()
    }

    pub(super) fn ema(values: &[f64], window: usize) -> Vec<Option<f64>> {
        smoothed(values, window, 2.0 / (window as f64 + 1.0))
    }

    pub(super) fn macd(values: &[f64], [fast, slow, signal]: [usize; 3]) -> [Vec<Option<f64>>; 3] {
        let line = pairwise(&ema(values, fast), &ema(values, slow), |fast, slow| fast - slow);
        let missing = line.iter().take_while(|value| value.is_none()).count();
        let known: Vec<f64> = line.iter().flatten().copied().collect();
        let mut signal_line = vec![None; missing];
        signal_line.extend(ema(&known, signal));
        let histogram = pairwise(&line, &signal_line, |line, signal| line - signal);
        [line, signal_line, histogram]
    }

    pub(super) fn rsi(closes: &[f64], window: usize) -> Vec<Option<f64>> {
        let changes: Vec<f64> = closes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let gains: Vec<f64> = changes.iter().map(|change| change.max(0.0)).collect();
        let losses: Vec<f64> = changes.iter().map(|change| (-change).max(0.0)).collect();
        let weight = 1.0 / window as f64;
        let (gains, losses) = (smoothed(&gains, window, weight), smoothed(&losses, window, weight));
        let mut share = pairwise(&gains, &losses, |gain, loss| 100.0 * gain / (gain + loss));
        share.insert(0, None);
        share
    }

    pub(super) fn atr(highs: &[f64], lows: &[f64], closes: &[f64], window: usize) -> Vec<Option<f64>> {
        let ranges: Vec<f64> = (1..closes.len())
            .map(|at| highs[at].max(closes[at - 1]) - lows[at].min(closes[at - 1]))
            .collect();
        let mut average = smoothed(&ranges, window, 1.0 / window as f64);
        average.insert(0, None);
        average
    }

    fn rolling(
        length: usize,
        window: usize,
        value: impl Fn(std::ops::Range<usize>) -> f64,
    ) -> Vec<Option<f64>> {
        (1..=length).map(|end| finite(value(end.checked_sub(window)?..end))).collect()
    }

    pub(super) fn sma(values: &[f64], window: usize) -> Vec<Option<f64>> {
        rolling(values.len(), window, |range| mean(&values[range]))
    }

    pub(super) fn bollinger(values: &[f64]) -> [Vec<Option<f64>>; 3] {
        let middle = sma(values, 20);
        let spread = rolling(values.len(), 20, |range| {
            let values = &values[range];
            let mean = mean(values);
            2.0 * (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 20.0).sqrt()
        });
        let upper = pairwise(&middle, &spread, |middle, spread| middle + spread);
        let lower = pairwise(&middle, &spread, |middle, spread| middle - spread);
        [middle, upper, lower]
    }

    pub(super) fn vwma(closes: &[f64], volumes: &[f64]) -> Vec<Option<f64>> {
        rolling(closes.len(), 20, |range| {
            let volume: f64 = volumes[range.clone()].iter().sum();
            range.map(|at| closes[at] * volumes[at]).sum::<f64>() / volume
        })
    }

    pub(super) fn mfi(highs: &[f64], lows: &[f64], closes: &[f64], volumes: &[f64]) -> Vec<Option<f64>> {
        let typical: Vec<f64> =
            (0..closes.len()).map(|at| (highs[at] + lows[at] + closes[at]) / 3.0).collect();
        let flow = |counts: fn(f64, f64) -> bool| -> Vec<f64> {
            (1..typical.len())
                .map(|at| if counts(typical[at], typical[at - 1]) { typical[at] * volumes[at] } else { 0.0 })
                .collect()
        };
        let (ups, downs) = (flow(|now, before| now > before), flow(|now, before| now < before));
        let mut share = rolling(ups.len(), 14, |range| {
            let up: f64 = ups[range.clone()].iter().sum();
            let down: f64 = downs[range].iter().sum();
            100.0 * up / (up + down)
        });
        share.insert(0, None);
        share
    }
}

/// One symbol's bars in cents, and its splits.
#[derive(Clone, Debug)]
struct Story {
    days: Vec<TradingDay>,
    /// High, low, close and volume by the position of their day.
    bars: BTreeMap<usize, [i64; 4]>,
    splits: BTreeMap<usize, Decimal>,
}

fn story() -> impl Strategy<Value = Story> {
    let bar = (500..90_000_i64, 500..90_000_i64, 0..=100_i64, 0..9_000_000_i64);
    let ratios = ["2", "1.5", "0.1", "7"].map(|ratio| ratio.parse().expect("a ratio"));
    let splits = prop::collection::btree_map(1..DAYS, prop::sample::select(ratios.to_vec()), 0..4);
    let missing = prop::collection::btree_set(1..DAYS, 0..8);
    (prop::collection::vec(bar, DAYS), splits, missing).prop_map(|(bars, splits, missing)| {
        let bar = |(one, other, at, volume): (i64, i64, i64, i64)| {
            let (low, high) = (one.min(other), one.max(other));
            [high, low, low + (high - low) * at / 100, volume]
        };
        let bars = bars.into_iter().map(bar).enumerate().filter(|(at, _)| !missing.contains(at)).collect();
        Story { days: days(), bars, splits }
    })
}

fn days() -> Vec<TradingDay> {
    let hours = TradingHours::us_equity();
    let dates = std::iter::successors(Some(Date::constant(2019, 1, 1)), |date| date.tomorrow().ok());
    dates.take(DAYS).map(|date| hours.day(date).expect("a day")).collect()
}

impl Story {
    fn build(&self) -> Dataset {
        let cents = |cents: i64| Price(Decimal::new(cents, 2));
        let bars = self.bars.iter().map(|(at, [high, low, close, volume])| {
            let date = self.days[*at].date;
            let (high, low, close) = (cents(*high), cents(*low), cents(*close));
            let volume = Quantity(Decimal::from(*volume));
            (Symbol::new("AAA"), DailyBar { date, open: close, high, low, close, volume })
        });
        let actions = self.splits.iter().map(|(at, ratio)| CorporateAction {
            symbol: Symbol::new("AAA"),
            ex_date: self.days[*at].date,
            kind: CorporateActionKind::Split { ratio: *ratio },
        });
        Rows {
            days: self.days.clone(),
            bars: bars.collect(),
            actions: actions.collect(),
            news: Vec::new(),
            fundamentals: Vec::new(),
            macros: Vec::new(),
            memberships: Vec::new(),
        }
        .build()
    }

    /// The columns at the close of a day, from scratch.
    fn columns(&self, today: usize) -> Vec<Vec<Option<f64>>> {
        let known = || self.bars.range(..=today);
        let factor = |at: usize| {
            let splits = self.splits.range(at + 1..today + 1).rev();
            splits.fold(Decimal::ONE, |factor, (_, ratio)| factor * ratio).to_f64().expect("a float")
        };
        let prices = |which: usize| -> Vec<f64> {
            known().map(|(at, bar)| bar[which] as f64 / 100.0 / factor(*at)).collect()
        };
        let (highs, lows, closes) = (prices(0), prices(1), prices(2));
        let volumes: Vec<f64> = known().map(|(at, bar)| bar[3] as f64 * factor(*at)).collect();
        use from_scratch::{atr, bollinger, ema, macd, mfi, rsi, sma, vwma};
        let mut columns = vec![sma(&closes, 20), sma(&closes, 200), ema(&closes, 3), ema(&closes, 200)];
        columns.extend(macd(&closes, [12, 26, 9]));
        columns.extend(macd(&closes, [5, 35, 5]));
        columns.extend([rsi(&closes, 14), rsi(&closes, 140)]);
        columns.extend(bollinger(&closes));
        columns.extend([
            atr(&highs, &lows, &closes, 14),
            vwma(&closes, &volumes),
            mfi(&highs, &lows, &closes, &volumes),
        ]);
        columns
    }

    fn exposure(&self, dataset: &Dataset, today: usize) -> Exposure {
        let known: Vec<usize> = self.bars.range(..=today).map(|(at, _)| *at).collect();
        let (first, last) = (known[0], known[known.len() - 1]);
        let split = self.splits.range(first + 1..=today.max(first + 1)).rev().find(|(at, _)| **at <= today);
        let close = self.days[last].close;
        Exposure {
            dataset: dataset.hash(),
            series: "AAA/bars".to_owned(),
            first: Some(self.days[first].date),
            last: Some(self.days[last].date),
            rows: known.len() as u64,
            latest_known_at: Some(split.map_or(close, |(at, _)| self.days[*at].open.max(close))),
        }
    }
}

fn bits(values: &[Option<f64>]) -> Vec<Option<u64>> {
    values.iter().map(|value| value.map(f64::to_bits)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    // Goal: whatever was read before, at earlier or at later instants, a value equals the one computed from scratch over
    // the bars known at its instant, to the last bit; and the data read is the whole series.
    #[test]
    fn a_continued_value_is_the_one_from_scratch(
        story in story(),
        reads in prop::collection::vec((0..DAYS, 1..300_usize), 1..12),
    ) {
        let dataset = story.build();
        let indicators: Vec<Indicator> =
            INDICATORS.iter().map(|text| text.parse().expect("an indicator")).collect();
        for (today, limit) in reads {
            let view = dataset.view(story.days[today].close);
            let read = view.indicators(&Symbol::new("AAA"), &indicators, limit).expect("a table");
            prop_assert_eq!(&read.exposure, &story.exposure(&dataset, today));
            let wanted = story.columns(today);
            prop_assert_eq!(read.value.columns.len(), wanted.len());
            for (column, wanted) in read.value.columns.iter().zip(&wanted) {
                let newest = &wanted[wanted.len().saturating_sub(limit)..];
                prop_assert_eq!(read.value.dates.len(), newest.len());
                prop_assert_eq!(bits(&column.values), bits(newest), "{} on day {}", column.name, today);
            }
        }
    }
}
