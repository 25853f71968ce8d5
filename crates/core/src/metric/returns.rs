//! Statistics of a series of daily returns (0.01 is one percent).
//!
//! `trading_days_per_year` is the number of trading days a year in the market, above zero: 252 for US shares, 365
//! for a market that never closes.

/// Under this number of days a metric per year extrapolates too much to be displayed
/// ([`PeriodMetrics::without_short_annualized`](super::PeriodMetrics::without_short_annualized)).
pub const MIN_ANNUALIZED_DAYS: usize = 60;

/// Daily returns of a series of closing values: each over the one before, the first over `initial`, so that a
/// loss on the first day counts. The series ends with the day of a ruin, the first whose value is zero or
/// below: its return is -1 or less, and no later one has a meaning. `None` if `initial` is not above zero, or
/// a value is not finite.
#[must_use]
pub fn daily_returns(initial: f64, values: &[f64]) -> Option<Vec<f64>> {
    if !initial.is_finite() || initial <= 0.0 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut before = initial;
    let mut returns = Vec::with_capacity(values.len());
    for &value in values {
        returns.push(value / before - 1.0);
        before = value;
        if value <= 0.0 {
            break;
        }
    }
    Some(returns)
}

/// `product(1 + r) - 1`. `None` without returns.
#[must_use]
pub fn total_return(returns: &[f64]) -> Option<f64> {
    if returns.is_empty() { None } else { finite(growth(returns) - 1.0) }
}

/// `product(1 + r) ^ (trading_days_per_year / n) - 1`, and -1 where everything and more was lost. `None` without
/// returns.
#[must_use]
pub fn annualized_return(returns: &[f64], trading_days_per_year: f64) -> Option<f64> {
    if returns.is_empty() {
        return None;
    }
    // An even power would make a fortune of a debt.
    let growth = growth(returns).max(0.0);
    finite(growth.powf(trading_days_per_year / returns.len() as f64) - 1.0)
}

/// Sample standard deviation (ddof = 1) times `sqrt(trading_days_per_year)`. `None` for fewer than two returns.
#[must_use]
pub fn annualized_volatility(returns: &[f64], trading_days_per_year: f64) -> Option<f64> {
    deviation(returns).and_then(|deviation| finite(deviation * trading_days_per_year.sqrt()))
}

/// `mean(r - f) / deviation(r - f) x sqrt(trading_days_per_year)`, ddof = 1, f the risk-free return of a
/// day. `None` for fewer than two returns and for returns that are all the same.
#[must_use]
pub fn sharpe(returns: &[f64], daily_risk_free: f64, trading_days_per_year: f64) -> Option<f64> {
    let excess: Vec<f64> = returns.iter().map(|r| r - daily_risk_free).collect();
    let deviation = deviation(&excess)?;
    finite(mean(&excess) / deviation * trading_days_per_year.sqrt())
}

/// `sqrt(mean(min(r - f, 0)^2)) x sqrt(trading_days_per_year)`, over all returns. `None` without returns.
#[must_use]
pub fn downside_risk(returns: &[f64], daily_required_return: f64, trading_days_per_year: f64) -> Option<f64> {
    if returns.is_empty() {
        return None;
    }
    let squares: Vec<f64> = returns.iter().map(|r| (r - daily_required_return).min(0.0).powi(2)).collect();
    finite(mean(&squares).sqrt() * trading_days_per_year.sqrt())
}

/// `mean(r - f) x trading_days_per_year / downside_risk`. `None` for fewer than two returns or if no return is below
/// `daily_required_return`.
#[must_use]
pub fn sortino(returns: &[f64], daily_required_return: f64, trading_days_per_year: f64) -> Option<f64> {
    if returns.len() < 2 {
        return None;
    }
    let excess: Vec<f64> = returns.iter().map(|r| r - daily_required_return).collect();
    finite(
        mean(&excess) * trading_days_per_year
            / downside_risk(returns, daily_required_return, trading_days_per_year)?,
    )
}

/// The deepest fall from a peak, as a fraction at or below zero; the value before the first return
/// is a peak too. `None` without returns.
#[must_use]
pub fn max_drawdown(returns: &[f64]) -> Option<f64> {
    if returns.is_empty() {
        return None;
    }
    let (mut level, mut peak, mut deepest) = (1.0_f64, 1.0_f64, 0.0_f64);
    for r in returns {
        level *= 1.0 + r;
        peak = peak.max(level);
        deepest = deepest.min((level - peak) / peak);
    }
    finite(deepest)
}

/// `annualized_return / |max_drawdown|`. `None` if nothing was ever lost.
#[must_use]
pub fn calmar(returns: &[f64], trading_days_per_year: f64) -> Option<f64> {
    let deepest = max_drawdown(returns).filter(|deepest| *deepest < 0.0)?;
    finite(annualized_return(returns, trading_days_per_year)? / deepest.abs())
}

/// The deepest fall from a peak of a series of values, `initial` among them. `None` without values.
#[must_use]
pub fn deepest_fall(initial: f64, values: &[f64]) -> Option<f64> {
    let (mut peak, mut deepest) = (initial, 0.0_f64);
    for value in values {
        peak = peak.max(*value);
        deepest = deepest.min((value - peak) / peak);
    }
    if values.is_empty() { None } else { finite(deepest) }
}

fn growth(returns: &[f64]) -> f64 {
    returns.iter().map(|r| 1.0 + r).product()
}

/// The arithmetic mean; NaN without values.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample standard deviation (ddof = 1). `None` for fewer than two values. Exactly zero for values that are all the same:
/// their mean can differ from them in the last bit, and a ratio over that residue would be an arbitrary huge number.
#[must_use]
pub fn deviation(values: &[f64]) -> Option<f64> {
    let (&first, rest) = values.split_first()?;
    if rest.is_empty() {
        return None;
    }
    if rest.iter().all(|value| value.total_cmp(&first).is_eq()) {
        return Some(0.0);
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / rest.len() as f64).sqrt())
}

pub(super) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
