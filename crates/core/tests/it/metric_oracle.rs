//! Metrics against the values of empyrical-reloaded (`scripts/metrics_oracle.py`).

use papertape_core::metric::{
    DayValue, PeriodInput, TradedAmount, annualised_return, daily_returns, downside_risk, period_metrics,
};
use papertape_core::money::Money;
use papertape_core::time::Date;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    initial: Money,
    risk_free_a_day: f64,
    values: Vec<Money>,
    expected: BTreeMap<String, Option<f64>>,
}

fn days(values: &[Money], exposure: Money) -> Vec<DayValue> {
    let first: Date = "2020-01-01".parse().expect("a date");
    let days = first.series(jiff::Span::new().days(1));
    let of =
        |(day, value): (Date, &Money)| DayValue { day, portfolio_value: *value, gross_exposure: exposure };
    days.zip(values).map(of).collect()
}

#[test]
fn metrics_equal_the_oracle() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/metrics.json")).expect("the fixture");
    assert!(fixture.cases.len() >= 15);
    for case in &fixture.cases {
        let days = days(&case.values, Money::ZERO);
        let metrics = period_metrics(&PeriodInput {
            initial: case.initial,
            days: &days,
            fills: &[],
            closed_pnl: &[],
            risk_free_a_day: case.risk_free_a_day,
        });
        let values: Vec<f64> = case.values.iter().map(|value| value.to_f64()).collect();
        let returns = daily_returns(case.initial.to_f64(), &values).expect("returns");
        let ours = [
            ("total_return", metrics.total_return),
            ("annualised_return", metrics.annualised_return),
            ("volatility", metrics.volatility),
            ("sharpe", metrics.sharpe),
            ("sortino", metrics.sortino),
            ("max_drawdown", metrics.max_drawdown),
            ("calmar", metrics.calmar),
            ("downside_risk", downside_risk(&returns, case.risk_free_a_day)),
        ];
        assert_eq!(ours.len(), case.expected.len());
        for (name, ours) in ours {
            let theirs = case.expected[name];
            let close = match (ours, theirs) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs().max(1.0),
                (None, None) => true,
                _ => false,
            };
            assert!(close, "{} of {}: {ours:?}, the oracle says {theirs:?}", name, case.name);
        }
    }
}

/// What a series cannot say is absent.
#[test]
fn nothing_is_made_up() {
    let none = period_metrics(&PeriodInput {
        initial: Money::from(100),
        days: &[],
        fills: &[],
        closed_pnl: &[],
        risk_free_a_day: 0.0,
    });
    assert_eq!((none.total_return, none.sharpe, none.win_rate), (None, None, None));
    assert_eq!((none.turnover, none.exposure, none.max_drawdown), (None, None, None));
    assert_eq!(daily_returns(0.0, &[1.0]), None);
    assert_eq!(daily_returns(1.0, &[-1.0, 2.0]), None, "a return on debt says nothing");
    assert_eq!(daily_returns(1.0, &[f64::NAN]), None);
    assert_eq!(annualised_return(&[-3.0]), None, "more than everything was lost");
}

#[test]
fn trades_give_win_rate_turnover_costs_and_exposure() {
    let days = days(&[Money::from(100), Money::from(300)], Money::from(150));
    let fill = TradedAmount { notional: Money::from(50), fee: Money::from(2), slippage: Money::from(1) };
    let metrics = period_metrics(&PeriodInput {
        initial: Money::from(100),
        days: &days,
        fills: &[fill, fill],
        closed_pnl: &[Money::from(5), Money::from(-5), Money::ZERO, Money::from(1)],
        risk_free_a_day: 0.0,
    });
    let near =
        |value: Option<f64>, expected: f64| value.is_some_and(|value| (value - expected).abs() < 1e-12);
    assert!(near(metrics.win_rate, 0.5), "no gain is no win: {metrics:?}");
    assert!(near(metrics.turnover, 0.5) && near(Some(metrics.costs), 6.0), "{metrics:?}");
    assert!(near(metrics.exposure, 1.0), "the mean of 1.5 and 0.5: {metrics:?}");
}
