//! Tails, profit factors, months, drawdowns and the rolling Sharpe ratio, against the values of empyrical-reloaded and
//! quantstats (`scripts/evidence_oracle.py`) and against arithmetic.

use papertape_core::metric::{
    Drawdown, PeriodMetrics, RelativeMetrics, conditional_value_at_risk, drawdowns, max_drawdown,
    monthly_returns, percentile, profit_factor, profit_factor_days, rolling_sharpe, tail_ratio,
    value_at_risk,
};
use papertape_core::money::Money;
use papertape_core::time::Date;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    seed: u64,
    n: usize,
    drift: f64,
    value_at_risk: f64,
    conditional_value_at_risk: f64,
    tail_ratio: f64,
    profit_factor_days: f64,
    rolling_sharpe: Vec<f64>,
    drawdowns: Vec<OracleDrawdown>,
    months: Vec<f64>,
}

#[derive(Deserialize)]
struct OracleDrawdown {
    trough: Date,
    depth_pct: f64,
}

/// The generator of the script.
fn returns(case: &Case) -> Vec<f64> {
    let mut state = case.seed;
    let mut uniform = || {
        state = (1_103_515_245 * state + 12_345) % (1 << 31);
        state as f64 / (1_u64 << 31) as f64
    };
    (0..case.n).map(|_| case.drift + 0.03 * (uniform() - 0.5)).collect()
}

fn dated(returns: &[f64]) -> Vec<(Date, f64)> {
    let first: Date = "2023-01-01".parse().expect("a date");
    first.series(jiff::Span::new().days(1)).zip(returns.iter().copied()).collect()
}

#[track_caller]
fn assert_close(ours: Option<f64>, theirs: f64) {
    let ours = ours.expect("a value");
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{ours} is not {theirs}");
}

// Goal: every added metric is that of its oracle.
#[test]
fn metrics_equal_their_oracles() {
    let fixture: Fixture =
        serde_json::from_str(include_str!("fixtures/metrics_history.json")).expect("the fixture");
    assert!(fixture.cases.len() > 3);
    for case in &fixture.cases {
        let returns = returns(case);
        let dated = dated(&returns);
        assert_close(value_at_risk(&returns), case.value_at_risk);
        assert_close(conditional_value_at_risk(&returns), case.conditional_value_at_risk);
        assert_close(tail_ratio(&returns), case.tail_ratio);
        assert_close(profit_factor_days(&returns), case.profit_factor_days);
        let rolling = rolling_sharpe(&dated, 0.0, 252.0);
        assert_eq!(rolling.len(), case.rolling_sharpe.len());
        for ((_, ours), theirs) in rolling.iter().zip(&case.rolling_sharpe) {
            assert_close(*ours, *theirs);
        }
        let months = monthly_returns(&dated, |_, _| 31);
        assert_eq!(months.len(), case.months.len());
        for (ours, theirs) in months.iter().zip(&case.months) {
            assert_close(Some(ours.total_return), *theirs);
            assert_eq!(ours.is_partial, ours.days < 31);
        }
        let falls = drawdowns(&dated);
        assert_eq!(falls.len(), case.drawdowns.len(), "case {}", case.seed);
        for (ours, theirs) in falls.iter().zip(&case.drawdowns) {
            assert_eq!(ours.trough, theirs.trough);
            assert_close(Some(100.0 * ours.depth), theirs.depth_pct);
        }
        let deepest = falls.iter().map(|fall| fall.depth).fold(0.0, f64::min);
        assert_close(max_drawdown(&returns), deepest);
    }
}

// Goal: peaks, troughs and recoveries are the right days; the start is a peak, and the last fall is open.
#[test]
fn drawdowns_have_days() {
    let rows = dated(&[-0.1, 0.2, -0.05, -0.05, 0.2, -0.01]);
    let day = |at: usize| rows[at].0;
    let found = drawdowns(&rows);
    let of = |fall: &Drawdown| (fall.peak, fall.trough, fall.recovery, fall.days);
    let expected = [
        (None, day(0), Some(day(1)), 2),
        (Some(day(1)), day(3), Some(day(4)), 3),
        (Some(day(4)), day(5), None, 1),
    ];
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected);
}

// Goal: too few days, no loss, and no value give no number.
#[test]
fn absent_metrics() {
    let few = [0.01; 99];
    assert_eq!([value_at_risk(&few), conditional_value_at_risk(&few), tail_ratio(&few)], [None; 3]);
    let money = |amounts: &[i64]| amounts.iter().copied().map(Money::from).collect::<Vec<_>>();
    assert_eq!(profit_factor(&money(&[30, -10, -2, 0])), Some(2.5));
    assert_eq!(profit_factor(&money(&[30])), None);
    assert_eq!(profit_factor(&[]), None);
    assert_eq!(percentile(&[], 5.0), None);
    assert_eq!(rolling_sharpe(&dated(&few[..59]), 0.0, 252.0), []);
}

// Goal: nothing of a period under 60 days is annualized; what is not per year remains.
#[test]
fn short_periods_are_not_annualized() {
    let of = |days| {
        let (total_return, max_drawdown) = (Some(0.1), Some(-0.1));
        let year = Some(1.0);
        let all = PeriodMetrics {
            days: 60,
            returns: days,
            total_return,
            max_drawdown,
            annualized_return: year,
            volatility: year,
            sharpe: year,
            sortino: year,
            calmar: year,
            ..PeriodMetrics::default()
        };
        (all.clone(), all.without_short_annualized())
    };
    let (long, same) = of(60);
    assert_eq!(long, same);
    let (_, short) = of(59);
    assert_eq!((short.total_return, short.max_drawdown), (Some(0.1), Some(-0.1)));
    let yearly = [short.annualized_return, short.volatility, short.sharpe, short.sortino, short.calmar];
    assert_eq!(yearly, [None; 5]);
    let relative = RelativeMetrics { beta: Some(1.0), alpha: Some(1.0), ..RelativeMetrics::default() };
    let short = relative.without_short_annualized(59);
    assert_eq!((short.beta, short.alpha), (Some(1.0), None));
}
