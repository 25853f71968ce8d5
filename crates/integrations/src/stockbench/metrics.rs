//! Compares a run's NAV and metrics with those that follow from its trades.
//!
//! The formulas are StockBench's own: daily returns of the NAV with 0 for the first day, standard deviations with
//! `ddof = 1`, 252 days per year. Rolling metrics are not compared.

use super::run::Run;
use crate::imports::{Disagreement, RowPlace, RunReport, files};
use papertape_agents::imported::ImportedOutcome;
use papertape_agents::recorded::Difference;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive as _, ToPrimitive as _};
use serde_json::Value;
use std::collections::BTreeMap;

/// Trading days per year.
const DAYS: f64 = 252.0;
/// The largest relative difference of two numbers that count as equal: both are sums of floating-point numbers.
const TOLERANCE: f64 = 1e-6;

/// Reports every day on which the NAV differs from the one that follows from the trades, and every metric that does.
/// `outcomes` are those of the dry run.
pub fn compare(run: &Run, outcomes: &[(Date, ImportedOutcome)], report: &mut RunReport) {
    let cash = run.agent.initial_cash.0;
    let computed: BTreeMap<Date, Decimal> = outcomes
        .iter()
        .filter_map(|(date, outcome)| Some((*date, outcome.computed_value?.checked_div(cash)?)))
        .collect();
    let mut series: Vec<(Date, f64)> = Vec::new();
    for (date, (recorded, row)) in &run.nav {
        let own = computed.get(date).copied().unwrap_or(*recorded);
        series.push((*date, own.to_f64().unwrap_or(f64::NAN)));
        if is_different(recorded.to_f64(), own.to_f64()) {
            let at =
                RowPlace { file: run.folder.file("daily_nav.parquet").display().to_string(), line: *row };
            add(run, *date, at, ("nav", *recorded, own), report);
        }
    }
    let Some((text, metrics)) = &run.metrics else { return };
    let Some((last, _)) = series.last().copied() else { return };
    let values: Vec<f64> = series.iter().map(|(_, value)| *value).collect();
    let mut own = of_nav(&values);
    own.insert("trades_count", run.trades.0 as f64);
    own.insert("trades_notional", run.trades.1.to_f64().unwrap_or(f64::NAN));
    let both: Vec<(f64, f64)> = series
        .iter()
        .filter_map(|(date, value)| Some((*value, run.benchmark.get(date)?.to_f64()?)))
        .collect();
    own.extend(of_benchmark(&both));
    let mut unknown = Vec::new();
    for (name, value) in metrics {
        let file = run.folder.file("metrics.json").display().to_string();
        let at = RowPlace { line: files::line_of_key(text, name), file };
        let recorded = match value {
            // StockBench writes null for what is not a number.
            Value::Null => None,
            Value::Number(number) => number.as_f64(),
            _ if own.contains_key(name.as_str()) => {
                report.problem(at, format!("`{name}` is not a number"));
                continue;
            }
            _ => continue,
        };
        match own.get(name.as_str()) {
            None if recorded.is_some() => unknown.push(name.as_str()),
            None => {}
            Some(computed) => {
                let computed = Some(*computed).filter(|computed| computed.is_finite());
                if is_different(recorded, computed) {
                    let decimal =
                        |number: Option<f64>| number.and_then(Decimal::from_f64).unwrap_or_default();
                    add(run, last, at, (name, decimal(recorded), decimal(computed)), report);
                }
            }
        }
    }
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        report.note(format!("{}: metrics that are not compared: {names}", run.folder.name));
    }
}

fn add(
    run: &Run,
    date: Date,
    at: RowPlace,
    (name, recorded, computed): (&str, Decimal, Decimal),
    report: &mut RunReport,
) {
    let amounts = Some(Difference { what: name.to_owned(), recorded, computed });
    let agent = run.folder.name.clone();
    let what = format!("{date}: it does not follow from the trades");
    report.disagreements.add(Disagreement { agent, date, at: Some(at), what, amounts });
}

fn is_different(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            (one - other).abs() > TOLERANCE * one.abs().max(other.abs()).max(TOLERANCE)
        }
        (None, None) => false,
        // StockBench has 0 or null where a ratio has no denominator.
        (one, other) => one.or(other).is_some_and(|number| number.abs() > TOLERANCE),
    }
}

/// Daily returns, 0 for the first day.
fn returns(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let after = values.clone().skip(1).zip(values);
    std::iter::once(0.0).chain(after.map(|(value, before)| value / before - 1.0)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation with `ddof = 1`; not a number for fewer than two values.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

fn ratio(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

fn negative(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| *value < 0.0).collect()
}

/// The metrics of a NAV.
fn of_nav(values: &[f64]) -> BTreeMap<&'static str, f64> {
    let returns = returns(values.iter().copied());
    let (average, daily) = (mean(&returns), deviation(&returns));
    let downside = deviation(&negative(&returns));
    let mut high = f64::MIN;
    let drawdowns = values.iter().map(|value| {
        high = high.max(*value);
        value / high - 1.0
    });
    let drawdown = drawdowns.fold(0.0, f64::min);
    let yearly = daily * DAYS.sqrt();
    BTreeMap::from([
        ("cum_return", values.last().map_or(0.0, |last| last - 1.0)),
        ("max_drawdown", drawdown),
        ("volatility_daily", daily),
        ("sortino", ratio(average, downside)),
        ("volatility", yearly),
        ("sharpe", ratio(average * DAYS, yearly)),
        ("sortino_annual", ratio(average * DAYS, downside * DAYS.sqrt())),
    ])
}

/// The metrics of a NAV against the benchmark's, on the days that both have; empty for fewer than two.
fn of_benchmark(both: &[(f64, f64)]) -> BTreeMap<&'static str, f64> {
    if both.len() < 2 {
        return BTreeMap::new();
    }
    let own = returns(both.iter().map(|(own, _)| *own));
    let other = returns(both.iter().map(|(_, other)| *other));
    let excess: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own - other).collect();
    let (average, daily) = (mean(&excess), deviation(&excess));
    let (yearly, error) = (average * DAYS, daily * DAYS.sqrt());
    let (own_mean, other_mean) = (mean(&own), mean(&other));
    let moment = |a: &[f64], a_mean: f64, b: &[f64], b_mean: f64| {
        let products: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean)).collect();
        mean(&products)
    };
    let covariance = moment(&own, own_mean, &other, other_mean);
    let own_variance = moment(&own, own_mean, &own, own_mean);
    let variance = moment(&other, other_mean, &other, other_mean);
    let capture = |is_meant: fn(f64) -> bool| {
        let days = || own.iter().zip(&other).filter(|(_, other)| is_meant(**other));
        let count = days().count() as f64;
        let of_other = days().map(|(_, other)| *other).sum::<f64>() / count;
        if count == 0.0 || of_other == 0.0 {
            0.0
        } else {
            days().map(|(own, _)| *own).sum::<f64>() / count / of_other
        }
    };
    let ahead = excess.iter().filter(|excess| **excess > 0.0).count() as f64;
    let downside = deviation(&negative(&excess)) * DAYS.sqrt();
    BTreeMap::from([
        ("excess_return_total", excess.iter().sum()),
        ("tracking_error_daily", daily),
        ("information_ratio_daily", ratio(average, daily)),
        ("beta", ratio(covariance, variance)),
        ("corr", ratio(covariance, (own_variance * variance).sqrt())),
        ("up_capture", capture(|other| other > 0.0)),
        ("down_capture", capture(|other| other < 0.0)),
        ("hit_ratio_active", ahead / excess.len() as f64),
        ("sortino_excess", ratio(yearly, downside)),
        ("excess_return_annual", yearly),
        ("tracking_error", error),
        ("information_ratio", ratio(yearly, error)),
        ("alpha_simple", yearly),
        ("n", both.len() as f64),
    ])
}
