//! Metrics of a period: what a run earned, at what risk, at what cost.
//!
//! Statistics are `f64`; the books behind them are decimal. The conventions are those of
//! `empyrical-reloaded`; every formula stands in `docs/metrics.md`. What a series cannot say is
//! `None`, never a number that stands for it.

mod history;
mod period;
mod profit;
mod relative;
mod returns;
mod tail;

pub use history::{Drawdown, MonthReturn, ROLLING_DAYS, drawdowns, monthly_returns, rolling_sharpe};
pub use period::{DayValue, PeriodInput, PeriodMetrics, TradedAmount, period_metrics};
pub use profit::{profit_factor, profit_factor_days};
pub use relative::{RelativeInput, RelativeMetrics, relative_metrics};
pub use returns::{
    MIN_ANNUALIZED_DAYS, annualized_return, annualized_volatility, calmar, daily_returns, deepest_fall,
    deviation, downside_risk, max_drawdown, mean, sharpe, sortino, total_return,
};
pub use tail::{MIN_TAIL_DAYS, conditional_value_at_risk, percentile, tail_ratio, value_at_risk};
