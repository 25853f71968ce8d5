//! Metrics relative to a benchmark, against the values of empyrical-reloaded (`scripts/metrics_oracle.py`) and against
//! arithmetic.

use papertape_core::metric::{RelativeInput, RelativeMetrics, daily_returns, relative_metrics, total_return};
use papertape_core::money::Money;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    initial: Money,
    values: Vec<Money>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    benchmark: String,
    expected: BTreeMap<String, Option<f64>>,
}

fn fields(metrics: RelativeMetrics) -> [(&'static str, Option<f64>); 9] {
    let RelativeMetrics {
        benchmark_return,
        excess_return,
        alpha,
        beta,
        correlation,
        tracking_error,
        information_ratio,
        up_capture,
        down_capture,
    } = metrics;
    [
        ("benchmark_return", benchmark_return),
        ("excess_return", excess_return),
        ("alpha", alpha),
        ("beta", beta),
        ("correlation", correlation),
        ("tracking_error", tracking_error),
        ("information_ratio", information_ratio),
        ("up_capture", up_capture),
        ("down_capture", down_capture),
    ]
}

fn of(returns: &[f64], benchmark: &[f64]) -> RelativeMetrics {
    relative_metrics(&RelativeInput {
        returns,
        benchmark,
        total_return: total_return(returns),
        trading_days_per_year: 252,
    })
}

// Goal: every figure relative to a benchmark is empyrical's to 1e-9, the absent ones included, for real series, short ones
// and ones that do not vary.
#[test]
fn relative_metrics_equal_the_oracle() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/metrics.json")).expect("the fixture");
    assert!(fixture.pairs.len() >= 15);
    let returns: BTreeMap<&str, Vec<f64>> = (fixture.cases.iter())
        .map(|case| {
            let values: Vec<f64> = case.values.iter().map(|value| value.to_f64()).collect();
            (case.name.as_str(), daily_returns(case.initial.to_f64(), &values).expect("returns"))
        })
        .collect();
    for pair in &fixture.pairs {
        let ours = fields(of(&returns[pair.name.as_str()], &returns[pair.benchmark.as_str()]));
        assert_eq!(ours.len(), pair.expected.len());
        for (name, ours) in ours {
            let theirs = pair.expected[name];
            let close = match (ours, theirs) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs().max(1.0),
                (None, None) => true,
                _ => false,
            };
            let (own, other) = (&pair.name, &pair.benchmark);
            assert!(close, "{name} of {own} against {other}: {ours:?}, the oracle says {theirs:?}");
        }
    }
}

// Goal: figures that can be worked out by hand: returns that are half the benchmark's and 0.1 % more have a beta of a half, an
// alpha of 0.1 % on every day of the year, and move exactly with it.
#[test]
fn half_of_the_benchmark_and_a_little_more() {
    let benchmark = [0.02, -0.01, 0.03, -0.04];
    let returns = benchmark.map(|b| b / 2.0 + 0.001);
    let metrics = of(&returns, &benchmark);
    let near = |ours: Option<f64>, expected: f64| {
        assert!(ours.is_some_and(|ours| (ours - expected).abs() < 1e-9), "{ours:?}, not {expected}");
    };
    near(metrics.beta, 0.5);
    near(metrics.alpha, 1.001_f64.powi(252) - 1.0);
    near(metrics.correlation, 1.0);
    // r - b is 0.001 - b / 2: its mean is 0.001, its deviation half that of b, whose squares sum to 0.003.
    let spread = 0.003_f64.sqrt() / 3_f64.sqrt() / 2.0;
    near(metrics.tracking_error, spread * 252_f64.sqrt());
    near(metrics.information_ratio, 0.001 / spread * 252_f64.sqrt());
    near(metrics.benchmark_return, 1.02 * 0.99 * 1.03 * 0.96 - 1.0);
    near(metrics.excess_return, 1.011 * 0.996 * 1.016 * 0.981 - 1.02 * 0.99 * 1.03 * 0.96);
    let year = |growth: f64| growth.powf(252.0 / 2.0) - 1.0;
    near(metrics.down_capture, year(0.996 * 0.981) / year(0.99 * 0.96));
    near(metrics.up_capture, year(1.011 * 1.016) / year(1.02 * 1.03));
}

// Goal: nothing stands for a figure that there is not: no days, one day, the benchmark itself with the last bits of its returns
// off, and an account that was lost before the benchmark's days end.
#[test]
fn nothing_relative_is_made_up() {
    assert_eq!(of(&[], &[]), RelativeMetrics::default());
    let one = of(&[0.01], &[0.02]);
    assert_eq!((one.alpha, one.beta, one.correlation), (None, None, None));
    assert_eq!((one.tracking_error, one.information_ratio, one.down_capture), (None, None, None));
    assert!(one.excess_return.is_some_and(|excess| (excess + 0.01).abs() < 1e-12));

    let benchmark = [0.01, -0.02, 0.015, 0.003];
    let same = of(&benchmark.map(|b| b + b * f64::EPSILON), &benchmark);
    assert_eq!(same.information_ratio, None, "rounding is not skill: {same:?}");

    let lost = relative_metrics(&RelativeInput {
        returns: &[0.5, -1.25],
        benchmark: &benchmark,
        total_return: Some(-1.6),
        trading_days_per_year: 252,
    });
    let until = of(&[0.5, -1.25], &benchmark[..2]);
    assert_eq!((lost.beta, lost.tracking_error), (until.beta, until.tracking_error), "the days until then");
    let all: f64 = benchmark.iter().map(|b| 1.0 + b).product::<f64>() - 1.0;
    assert!(lost.benchmark_return.is_some_and(|b| (b - all).abs() < 1e-12), "of all days: {lost:?}");
    assert!(lost.excess_return.is_some_and(|excess| (excess - (-1.6 - all)).abs() < 1e-12));
}
