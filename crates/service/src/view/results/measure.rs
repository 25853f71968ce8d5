//! Metrics of a period with what needs its daily returns: intervals, tails, profit factors, and the period's parts.

use papertape_core::market::{Dataset, Masking};
use papertape_core::metric::{
    self, DayValue, MonthReturn, PeriodInput, TradedAmount, conditional_value_at_risk, daily_returns,
    deviation, drawdowns, monthly_returns, period_metrics, profit_factor, profit_factor_days, rolling_sharpe,
    tail_ratio, value_at_risk,
};
use papertape_core::money::Money;
use papertape_core::time::Date;
use papertape_evidence::{MeanEstimate, sharpe_estimate};
use papertape_protocol::compare::pair::IntervalResponse;
use papertape_protocol::number::figure;
use papertape_protocol::results::history::{DrawdownResponse, HistoryResponse, MonthResponse, RollingSharpe};
use papertape_protocol::results::metrics::{MeanIntervalResponse, Metrics};
use rust_decimal::Decimal;

/// The maximum number of listed drawdowns.
const MAX_DRAWDOWNS: usize = 10;

/// The inputs of a day to the metrics of a period.
#[derive(Clone, Debug)]
pub(crate) struct DayFigures {
    /// The portfolio value before the day.
    pub(crate) before: Money,
    /// The close.
    pub(crate) value: DayValue,
    /// The fills.
    pub(crate) fills: Vec<TradedAmount>,
    /// The net results of the closing fills.
    pub(crate) closed_pnl: Vec<Money>,
}

/// The metrics of a period. An insolvent account has no intervals.
pub(super) fn measured(input: &PeriodInput<'_>) -> Metrics {
    let values: Vec<f64> = input.days.iter().map(|day| day.portfolio_value.to_f64()).collect();
    let returns = daily_returns(input.initial.to_f64(), &values).unwrap_or_default();
    let plain: Metrics = period_metrics(input).into();
    Metrics {
        profit_factor: profit_factor(input.closed_pnl).map(figure),
        ..with_returns(plain, &returns, f64::from(input.trading_days_per_year))
    }
}

/// The metrics of some of the days. If days are omitted, the returns of the others are chained from the first
/// starting value, with each day's exposure and fills in the same proportion; costs are as paid. Nothing follows
/// an insolvency.
pub(crate) fn metrics(days: &[&DayFigures], trading_days_per_year: u16) -> Metrics {
    let initial = days.first().map_or(Money::ZERO, |day| day.before);
    let mut level = initial;
    let mut values = Vec::with_capacity(days.len());
    let mut fills = Vec::new();
    for day in days {
        if !values.is_empty() && !level.is_positive() && level != day.before {
            break;
        }
        // 1 as long as each day begins where the previous one ended.
        let scale = if level == day.before { Some(Decimal::ONE) } else { level.0.checked_div(day.before.0) };
        let scaled = |money: Money| Money(scale.and_then(|by| money.0.checked_mul(by)).unwrap_or(money.0));
        level = scaled(day.value.portfolio_value);
        values.push(DayValue {
            day: day.value.day,
            portfolio_value: level,
            gross_exposure: scaled(day.value.gross_exposure),
        });
        let of = |fill: &TradedAmount| TradedAmount { notional: scaled(fill.notional), ..*fill };
        fills.extend(day.fills.iter().map(of));
    }
    let closed_pnl: Vec<Money> = days.iter().flat_map(|day| day.closed_pnl.iter().copied()).collect();
    let input = PeriodInput {
        initial,
        days: &values,
        fills: &fills,
        closed_pnl: &closed_pnl,
        daily_risk_free: 0.0,
        trading_days_per_year,
    };
    measured(&input)
}

/// Adds what the daily returns say.
pub(super) fn with_returns(plain: Metrics, returns: &[f64], trading_days_per_year: f64) -> Metrics {
    let is_solvent = plain.insolvent_on.is_none();
    let logs: Vec<f64> = returns.iter().map(|r| r.ln_1p()).collect();
    let mean = MeanEstimate::of(&logs).filter(|_| is_solvent).map(|found| {
        let bounds = found.interval();
        MeanIntervalResponse { mean: figure(found.mean), low: figure(bounds.low), high: figure(bounds.high) }
    });
    let sharpe = sharpe_estimate(returns).filter(|_| is_solvent && plain.sharpe.is_some());
    Metrics {
        mean_interval: mean,
        daily_deviation: deviation(returns).map(figure),
        sharpe_interval: sharpe.map(|found| {
            let (_, bounds) = found.annualized(trading_days_per_year);
            IntervalResponse { low: figure(bounds.low), high: figure(bounds.high) }
        }),
        value_at_risk: value_at_risk(returns).map(figure),
        conditional_value_at_risk: conditional_value_at_risk(returns).map(figure),
        tail_ratio: tail_ratio(returns).map(figure),
        profit_factor_days: profit_factor_days(returns).map(figure),
        ..plain
    }
}

/// The parts of a range. The months of a masked job are real ones.
pub(crate) fn history(
    initial: Money,
    days: &[DayValue],
    (dataset, masking): (Option<&Dataset>, Option<&Masking>),
    trading_days_per_year: u16,
) -> HistoryResponse {
    let values: Vec<f64> = days.iter().map(|day| day.portfolio_value.to_f64()).collect();
    let returns = daily_returns(initial.to_f64(), &values).unwrap_or_default();
    let rows: Vec<(Date, f64)> = days.iter().map(|day| day.day).zip(returns).collect();
    let real = |date: Date| masking.map_or(date, |masking| masking.real_date(date));
    let trading_days = |year: i16, month: i8| {
        let all = dataset.map(Dataset::days).unwrap_or_default().iter().map(|day| real(day.date));
        all.filter(|date| (date.year(), date.month()) == (year, month)).count()
    };
    let in_months: Vec<(Date, f64)> = rows.iter().map(|(date, value)| (real(*date), *value)).collect();
    let month = |found: MonthReturn| MonthResponse {
        year: found.year,
        month: found.month,
        total_return: figure(found.total_return),
        days: found.days,
        is_partial: dataset.map(|_| found.is_partial),
    };
    let mut deepest: Vec<metric::Drawdown> = drawdowns(&rows);
    deepest.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    let drawdown = |found: &metric::Drawdown| DrawdownResponse {
        peak: found.peak,
        trough: found.trough,
        recovery: found.recovery,
        depth: figure(found.depth),
        days: found.days,
    };
    let rolling = rolling_sharpe(&rows, 0.0, f64::from(trading_days_per_year));
    HistoryResponse {
        months: monthly_returns(&in_months, trading_days).into_iter().map(month).collect(),
        drawdowns: deepest.iter().take(MAX_DRAWDOWNS).map(drawdown).collect(),
        rolling_sharpe: rolling
            .into_iter()
            .map(|(date, sharpe)| RollingSharpe { date, sharpe: sharpe.map(figure) })
            .collect(),
    }
}
