//! The metrics of a job's agents, one row per metric.

use super::Tables;
use super::schema::METRICS;
use super::writer::row;
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_core::id::JobId;
use papertape_protocol::results::benchmark::RelativeMetrics;
use papertape_protocol::results::metrics::Metrics;
use papertape_protocol::results::range::RangeResult;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};

/// A metric: name, unit, value, bounds, and whether it is annualized.
struct Metric {
    name: &'static str,
    unit: &'static str,
    value: Option<f64>,
    bounds: Option<(f64, f64)>,
    is_annualized: bool,
}

const FRACTION: &str = "fraction";
const RATIO: &str = "ratio";
const MONEY: &str = "money";

pub(super) async fn export(app: &App, tables: &mut Tables, job: &JobId) -> Result<(), ServiceError> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let results = match view::results(app, query).await {
        Ok(ResultsResponse::Range(range)) => range.results,
        // No day is closed, or the job trades nothing.
        Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    for result in &results {
        of_agent(tables, result)?;
    }
    Ok(())
}

fn of_agent(tables: &mut Tables, result: &RangeResult) -> anyhow::Result<()> {
    let mut write =
        |series: &str, days: usize, why: Option<&str>, metrics: Vec<Metric>| -> anyhow::Result<()> {
            for metric in metrics {
                let unavailable = metric.value.is_none().then_some(match why {
                    Some(why) => why,
                    None if metric.is_annualized && days < papertape_core::metric::MIN_ANNUALIZED_DAYS => {
                        "too_few_days"
                    }
                    None => "undefined",
                });
                let cells = row![
                    result.job_id.as_str(),
                    result.model.as_str(),
                    series,
                    metric.name,
                    metric.unit,
                    metric.value,
                    metric.bounds.map(|(low, _)| low),
                    metric.bounds.map(|(_, high)| high),
                    days,
                    result.start_date,
                    result.end_date,
                    unavailable,
                ];
                tables.push(METRICS, cells)?;
            }
            Ok(())
        };
    let own = &result.period_metrics;
    write("agent", own.days, None, period(own))?;
    let full = &result.full_research;
    write("full_research", full.days, None, period(&full.period_metrics))?;
    if let Some(baselines) = &result.baselines {
        for (name, baseline) in
            [("buy_and_hold", &baselines.buy_and_hold), ("equal_weight", &baselines.equal_weight)]
        {
            write(name, baseline.period_metrics.days, None, period(&baseline.period_metrics))?;
        }
    }
    if let Some(benchmark) = &result.benchmark {
        if let Some(metrics) = &benchmark.period_metrics {
            write("benchmark", metrics.days, None, period(metrics))?;
        }
        write("relative", own.days, benchmark.unavailable.as_deref(), relative(&benchmark.relative_metrics))?;
    }
    Ok(())
}

fn metric(name: &'static str, unit: &'static str, value: Option<f64>) -> Metric {
    Metric { name, unit, value, bounds: None, is_annualized: false }
}

fn annual(name: &'static str, unit: &'static str, value: Option<f64>) -> Metric {
    Metric { is_annualized: true, ..metric(name, unit, value) }
}

fn period(metrics: &Metrics) -> Vec<Metric> {
    let mean = metrics.mean_interval;
    vec![
        metric("total_return", FRACTION, metrics.total_return),
        Metric {
            bounds: mean.map(|mean| (mean.low, mean.high)),
            ..metric("mean_daily_log_return", FRACTION, mean.map(|mean| mean.mean))
        },
        metric("daily_deviation", FRACTION, metrics.daily_deviation),
        annual("annualized_return", FRACTION, metrics.annualized_return),
        annual("volatility", FRACTION, metrics.volatility),
        Metric {
            bounds: metrics.sharpe_interval.map(|bounds| (bounds.low, bounds.high)),
            ..annual("sharpe", RATIO, metrics.sharpe)
        },
        annual("sortino", RATIO, metrics.sortino),
        metric("max_drawdown", FRACTION, metrics.max_drawdown),
        annual("calmar", RATIO, metrics.calmar),
        metric("value_at_risk", FRACTION, metrics.value_at_risk),
        metric("conditional_value_at_risk", FRACTION, metrics.conditional_value_at_risk),
        metric("tail_ratio", RATIO, metrics.tail_ratio),
        metric("profit_factor", RATIO, metrics.profit_factor),
        metric("profit_factor_days", RATIO, metrics.profit_factor_days),
        metric("win_rate", FRACTION, metrics.win_rate),
        metric("turnover", RATIO, metrics.turnover),
        metric("costs", MONEY, Some(metrics.costs)),
        metric("exposure", RATIO, metrics.exposure),
    ]
}

fn relative(metrics: &RelativeMetrics) -> Vec<Metric> {
    vec![
        metric("benchmark_return", FRACTION, metrics.benchmark_return),
        metric("excess_return", FRACTION, metrics.excess_return),
        annual("alpha", FRACTION, metrics.alpha),
        annual("beta", RATIO, metrics.beta),
        annual("correlation", RATIO, metrics.correlation),
        annual("tracking_error", FRACTION, metrics.tracking_error),
        annual("information_ratio", RATIO, metrics.information_ratio),
        annual("up_capture", RATIO, metrics.up_capture),
        annual("down_capture", RATIO, metrics.down_capture),
    ]
}
