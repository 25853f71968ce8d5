//! Metrics against the values of empyrical-reloaded (`scripts/metrics_oracle.py`).

use papertape_core::broker::MarketProfile;
use papertape_core::metric::{
    DayValue, PeriodInput, TradedAmount, daily_returns, downside_risk, period_metrics,
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
    #[serde(rename = "risk_free_a_day")]
    daily_risk_free: f64,
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
            daily_risk_free: case.daily_risk_free,
            trading_days_per_year: 252,
        });
        let values: Vec<f64> = case.values.iter().map(|value| value.to_f64()).collect();
        let returns = daily_returns(case.initial.to_f64(), &values).expect("returns");
        let ours = [
            ("total_return", metrics.total_return),
            ("annualised_return", metrics.annualized_return),
            ("volatility", metrics.volatility),
            ("sharpe", metrics.sharpe),
            ("sortino", metrics.sortino),
            ("max_drawdown", metrics.max_drawdown),
            ("calmar", metrics.calmar),
            ("downside_risk", downside_risk(&returns, case.daily_risk_free, 252.0)),
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

/// Metrics that a series cannot support are absent.
#[test]
fn nothing_is_made_up() {
    let none = period_metrics(&PeriodInput {
        initial: Money::from(100),
        days: &[],
        fills: &[],
        closed_pnl: &[],
        daily_risk_free: 0.0,
        trading_days_per_year: 252,
    });
    assert_eq!((none.total_return, none.sharpe, none.win_rate), (None, None, None));
    assert_eq!((none.turnover, none.exposure, none.max_drawdown), (None, None, None));
    assert_eq!(daily_returns(0.0, &[1.0]), None);
    assert_eq!(daily_returns(1.0, &[-1.0, 2.0]), Some(vec![-2.0]), "a return on debt says nothing");
    assert_eq!(daily_returns(1.0, &[f64::NAN]), None);
}

/// Goal: a ruin is named and has metrics. The expected values are worked out by hand: 100, 120, -30, -40.
#[test]
fn a_ruin_is_named_and_has_figures() {
    let values = [Money::from(120), Money::from(-30), Money::from(-40)];
    let days = days(&values, Money::from(60));
    let fill = TradedAmount { notional: Money::from(60), fee: Money::from(1), slippage: Money::ZERO };
    let of = |initial: i64, days: &[DayValue]| {
        period_metrics(&PeriodInput {
            initial: Money::from(initial),
            days,
            fills: &[fill],
            closed_pnl: &[],
            daily_risk_free: 0.0,
            trading_days_per_year: 252,
        })
    };
    let metrics = of(100, &days);
    let near =
        |value: Option<f64>, expected: f64| value.is_some_and(|value| (value - expected).abs() < 1e-12);
    assert_eq!((metrics.days, metrics.insolvent_on), (3, Some(days[1].day)));
    assert!(near(metrics.total_return, -1.4), "of the whole period: {metrics:?}");
    assert!(near(metrics.annualized_return, -1.0), "nobody loses more than everything twice: {metrics:?}");
    assert!(near(metrics.max_drawdown, -160.0 / 120.0) && near(metrics.calmar, -0.75), "{metrics:?}");
    // Returns of 0.2 and -1.25: their deviation is 1.45 / sqrt(2).
    assert!(near(metrics.volatility, 1.45 / 2_f64.sqrt() * 252_f64.sqrt()), "{metrics:?}");
    assert!(metrics.sharpe.is_some_and(|sharpe| sharpe < 0.0) && metrics.sortino.is_some(), "{metrics:?}");
    assert!(
        near(metrics.exposure, 0.5) && near(metrics.turnover, 0.5),
        "of the first day alone: {metrics:?}"
    );

    let nothing_left = of(100, &days[..1]);
    assert_eq!(nothing_left.insolvent_on, None);
    let at_zero = [DayValue { portfolio_value: Money::ZERO, ..days[0] }];
    let zero = of(100, &at_zero);
    assert_eq!((zero.insolvent_on, zero.total_return), (Some(days[0].day), Some(-1.0)));
    assert!(near(zero.annualized_return, -1.0) && near(zero.max_drawdown, -1.0), "{zero:?}");
    assert_eq!((zero.exposure, zero.turnover, zero.volatility), (None, None, None));
    let after = of(-30, &days[2..]);
    assert_eq!((after.total_return, after.max_drawdown, after.insolvent_on), (None, None, Some(days[2].day)));
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
        daily_risk_free: 0.0,
        trading_days_per_year: 252,
    });
    let near =
        |value: Option<f64>, expected: f64| value.is_some_and(|value| (value - expected).abs() < 1e-12);
    assert!(near(metrics.win_rate, 0.5), "no gain is no win: {metrics:?}");
    assert!(near(metrics.turnover, 0.5) && near(Some(metrics.costs), 6.0), "{metrics:?}");
    assert!(near(metrics.exposure, 1.0), "the mean of 1.5 and 0.5: {metrics:?}");
}

/// The year is the market's: metrics are annualized by 365 days for a market that never closes and by 252
/// for US shares. The oracle is arithmetic: `sqrt(365 / 252)` between the volatilities, powers of one growth
/// between the returns.
#[test]
fn a_year_is_the_markets_own() {
    let values = [Money::from(101), Money::from(99), Money::from(102)];
    let days = days(&values, Money::ZERO);
    let over = |profile: MarketProfile| {
        period_metrics(&PeriodInput {
            initial: Money::from(100),
            days: &days,
            fills: &[],
            closed_pnl: &[],
            daily_risk_free: 0.0,
            trading_days_per_year: profile.trading_days_per_year,
        })
    };
    let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9 * b.abs().max(1.0));
    let us = over(MarketProfile::us_equity());
    let expected = [(MarketProfile::cn_a_share(), 243_u16), (MarketProfile::crypto(), 365)];
    for (profile, trading_days_per_year) in expected {
        let year = f64::from(trading_days_per_year);
        let name = profile.name.clone();
        let here = over(profile);
        let scale = (year / 252.0).sqrt();
        assert!(near(here.annualized_return, 1.02_f64.powf(year / 3.0) - 1.0), "{name}: {here:?}");
        for (here, us) in
            [(here.volatility, us.volatility), (here.sharpe, us.sharpe), (here.sortino, us.sortino)]
        {
            assert!(near(here, us.expect("a figure") * scale), "{name}");
        }
        assert_eq!((here.total_return, here.max_drawdown), (us.total_return, us.max_drawdown));
        assert_eq!(here.trading_days_per_year, trading_days_per_year);
    }
}

/// Goal: no metric of any period is a negative zero: not for a period without fills, a flat one, or one with
/// a value of zero.
#[test]
fn no_figure_is_a_negative_zero() {
    use papertape_core::metric::{DayValue, PeriodInput, TradedAmount, period_metrics};
    use papertape_core::money::Money;
    let money = |text: &str| Money(text.parse().expect("a decimal"));
    let still = |values: &[&str]| -> Vec<DayValue> {
        let day = |(at, value): (usize, &&str)| DayValue {
            day: papertape_core::time::Date::constant(2024, 1, 2 + i8::try_from(at).expect("is small")),
            portfolio_value: money(value),
            gross_exposure: money("-0"),
        };
        values.iter().enumerate().map(day).collect()
    };
    let fill = TradedAmount { notional: money("-0"), fee: money("-0"), slippage: money("-0.00") };
    for days in [
        still(&[]),
        still(&["100"]),
        still(&["100", "100", "100"]),
        still(&["0", "-0"]),
        still(&["90", "100"]),
    ] {
        for fills in [Vec::new(), vec![fill; 2]] {
            let input = PeriodInput {
                initial: money("100"),
                days: &days,
                fills: &fills,
                closed_pnl: &[money("-0")],
                daily_risk_free: 0.0,
                trading_days_per_year: 252,
            };
            let told = format!("{:?}", period_metrics(&input));
            let numbers = told.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
            assert!(numbers.into_iter().all(|number| number != "-0.0"), "{told}");
        }
    }
}
