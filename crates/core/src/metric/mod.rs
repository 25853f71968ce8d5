//! Metrics of a period: what a run earned, at what risk, at what cost.
//!
//! Statistics are `f64`; the books behind them are decimal. The conventions are those of
//! `empyrical-reloaded`; every formula stands in `docs/metrics.md`. What a series cannot say is
//! `None`, never a number that stands for it.

mod period;
mod relative;
mod returns;

pub use period::{DayValue, PeriodInput, PeriodMetrics, TradedAmount, period_metrics};
pub use relative::{RelativeInput, RelativeMetrics, relative_metrics};
pub use returns::{
    annualized_return, annualized_volatility, calmar, daily_returns, downside_risk, max_drawdown, sharpe,
    sortino, total_return,
};
