//! One model's range of days, and its metrics.

use super::super::Configs;
use super::super::cutoff::{language_models, training_cutoffs};
use super::account;
use super::baseline::BaselineCache;
use super::benchmark::{self, Compared};
use super::load::{self, SelectedJob, chain, chosen};
use super::measure::{DayFigures, history, metrics};
use super::range_reasoning::{conversations, summaries};
use super::{Requested, Researched, point_in_time, trades};
use crate::app::App;
use crate::error::ServiceError;
use crate::result_cache::ResultKey;
use crate::view::masked;
use crate::view::results::conventions::conventions;
use crate::view::results::refill::refill;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::market::{Dataset, Masking};
use papertape_core::metric::DayValue;
use papertape_core::provenance::DayQuality;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_protocol::masking::MaskedResponse;
use papertape_protocol::number::number;
use papertape_protocol::quality::DegradedDayResponse;
use papertape_protocol::results::ReasoningLevel;
use papertape_protocol::results::range::{
    DailyPortfolioValue, DoneBefore, FullResearch, RangeProvenance, RangeResult,
};
use papertape_runtime::config::SimulationConfig;
use papertape_store::{ClosedDay, ResultFilter};
use serde_json::Value;
use std::sync::Arc;

/// The maximum number of model-days with full transcripts in one response.
const MAX_CONVERSATIONS: usize = 500;

/// A closed day.
pub(super) struct Closed {
    pub(super) day: ClosedDay,
    figures: DayFigures,
    is_full: bool,
    quality: Option<DayQuality>,
    /// Of an unverified day, the metadata that says why.
    unverified: Option<Value>,
}

/// The range of each model, by model.
pub(super) async fn results(
    app: &App,
    configs: &mut Configs,
    filter: &ResultFilter,
    (level, requested): (ReasoningLevel, &mut Requested),
) -> Result<Vec<RangeResult>, ServiceError> {
    let mut results = Vec::new();
    let mut beside = BaselineCache::default();
    let mut conversations = 0;
    for SelectedJob { agent, job, from } in chosen(app, filter).await? {
        let days = (from, filter.to);
        let chain = chain(app, configs, (&agent, &job), days).await?;
        let dataset = match configs.of(app, &job).await? {
            Some(config) => app.services.datasets.open(config.dataset.hash).ok(),
            None => None,
        };
        requested.check(dataset.as_deref());
        // Before the days are read, so a cached result is at least as new as its key.
        let key = match level {
            ReasoningLevel::None => {
                let with = (dataset.is_some(), requested.symbol());
                ResultKey::of(&app.store, &agent, days, &chain, with).await?
            }
            ReasoningLevel::Summary | ReasoningLevel::Full => None,
        };
        let translation = configs
            .of(app, &job)
            .await?
            .and_then(|config| Some((masked::translation(config, requested.both())?, masked::mark(config))));
        if let Some(known) = key.as_ref().and_then(|key| app.results.get(key)) {
            results.push(real(translation, RangeResult::clone(&known))?);
            continue;
        }
        let mut closed = Vec::new();
        for day in load::closed(app, &agent, from, &chain).await? {
            closed.push(close(app, day).await?);
        }
        if level == ReasoningLevel::Full {
            conversations += closed.len();
            if conversations > MAX_CONVERSATIONS {
                let message = format!(
                    "full is for at most {MAX_CONVERSATIONS} model-days; GET /reasoning gives any number in pages"
                );
                return Err(ServiceError::invalid("reasoning", message));
            }
        }
        if !closed.is_empty() {
            let with = (level, requested.symbol());
            let found = result(app, (configs, &mut beside), (&agent, &job), dataset, closed, with).await?;
            if let Some(key) = key {
                app.results.insert(key, &found);
            }
            results.push(real(translation, found)?);
        }
    }
    Ok(results)
}

/// The range of a masked job under real names and dates. What agents wrote stays as it is.
fn real(
    translation: Option<(Masking, Option<MaskedResponse>)>,
    mut result: RangeResult,
) -> Result<RangeResult, ServiceError> {
    let Some((masking, mark)) = translation else { return Ok(result) };
    let mut reasoning = result.reasoning.take();
    for day in reasoning.iter_mut().flatten() {
        day.date = masking.real_date(day.date);
    }
    if let Some(benchmark) = result.benchmark.as_mut().filter(|_| masking.kind.replaces_entities()) {
        benchmark.name = None;
    }
    let result = masked::real(&masking, result)?;
    Ok(RangeResult { reasoning, masked: mark, ..result })
}

/// The metric inputs of a closed day.
async fn close(app: &App, day: ClosedDay) -> Result<Closed, ServiceError> {
    let fills = trades::fills(app, day.id, &day.fills, &day.filled).await?;
    let researched = Researched::read(day.metadata.as_deref());
    let value =
        DayValue { day: day.date, portfolio_value: day.portfolio_value, gross_exposure: day.gross_exposure };
    let figures = DayFigures {
        before: day.starting_value,
        value,
        fills: fills.iter().map(|filled| filled.amount).collect(),
        closed_pnl: fills.iter().filter_map(|filled| filled.closed_pnl).collect(),
    };
    let unverified = (!researched.is_verified()).then(|| researched.point_in_time());
    let quality = researched.quality(day.status, day.error.as_deref());
    Ok(Closed { figures, is_full: researched.is_full(), quality, unverified, day })
}

async fn result(
    app: &App,
    (configs, beside): (&mut Configs, &mut BaselineCache),
    (agent, job): (&AgentName, &JobId),
    dataset: Option<Arc<Dataset>>,
    days: Vec<Closed>,
    (level, requested): (ReasoningLevel, Option<&Symbol>),
) -> Result<RangeResult, ServiceError> {
    let closed: Vec<&ClosedDay> = days.iter().map(|day| &day.day).collect();
    let reasoning = match level {
        ReasoningLevel::None => None,
        ReasoningLevel::Summary => Some(summaries(app, &closed).await?),
        ReasoningLevel::Full => Some(conversations(app, &closed).await?),
    };
    let (first, last) = (&days[0], &days[days.len() - 1]);
    let all: Vec<&DayFigures> = days.iter().map(|day| &day.figures).collect();
    let full: Vec<&DayFigures> = days.iter().filter(|day| day.is_full).map(|day| &day.figures).collect();
    let dates: Vec<Date> = days.iter().map(|day| day.day.date).collect();
    let those = |wanted: fn(&Closed) -> bool| -> Vec<Date> {
        days.iter().filter(|day| wanted(day)).map(|day| day.day.date).collect()
    };
    let opens_account = configs
        .of(app, &first.day.job)
        .await?
        .is_none_or(|config| benchmark::opens_account(config, dataset.as_deref(), agent, first.day.date));
    let config = configs.of(app, job).await?;
    // A job of another kind names no market; its metrics use the default market.
    let year =
        config.map_or_else(MarketProfile::us_equity, |config| config.market.clone()).trading_days_per_year;
    let models = config.map(|config| language_models(config, agent)).unwrap_or_default();
    let training_cutoffs = training_cutoffs(app, &models, &dates.iter().copied().collect());
    let span = (first.day.date, last.day.date);
    let conventions = config.map(|config| conventions(config, dataset.as_deref(), span));
    let refilled_at_next_open = match config {
        Some(config) => refill(app, config, dataset.clone(), &closed).await?.map(|found| found.response),
        None => None,
    };
    let period_metrics = metrics(&all, year);
    let benchmark = requested.or(config.and_then(|config| config.benchmark.as_ref())).map(|symbol| {
        let values: Vec<_> = all.iter().map(|day| (day.before, day.value.portfolio_value)).collect();
        let compared = Compared { dates: &dates, values: &values, opens_account, metrics: &period_metrics };
        benchmark::benchmark(symbol, dataset.as_deref(), compared)
    });
    let values: Vec<DayValue> = all.iter().map(|day| day.value).collect();
    let masking = config.and_then(SimulationConfig::translation);
    let history = history(first.figures.before, &values, (dataset.as_deref(), masking), year);
    let baselines = match (dataset, config) {
        (Some(dataset), Some(config)) => {
            beside.of(dataset, (job, config), first.figures.before, dates).await?
        }
        _ => None,
    };
    let unverified = days.iter().find(|day| day.unverified.is_some());
    let point_in_time_reason = match unverified {
        Some(day) => {
            let of = (&day.day.job, &day.day.agent, day.day.date);
            point_in_time::reason(app, configs, of, day.unverified.as_ref()).await?
        }
        None => None,
    };
    Ok(RangeResult {
        model: agent.to_string(),
        job_id: job.to_string(),
        done_before: DoneBefore::spans(job, days.iter().map(|day| (day.day.date, &day.day.job))),
        rules_version: configs.rules_version(app, job).await?,
        is_llm: configs.is_llm(app, job, agent).await?,
        training_cutoffs,
        start_date: first.day.date,
        end_date: last.day.date,
        starting_portfolio_value: number(first.figures.before.0),
        ending_portfolio_value: number(last.figures.value.portfolio_value.0),
        insolvent: account::insolvency_of(last.day.metadata.as_deref()),
        conventions,
        refilled_at_next_open,
        daily_portfolio_values: days.iter().map(at_close).collect(),
        period_metrics,
        history,
        full_research: FullResearch {
            days: full.len(),
            total_days: days.len(),
            period_metrics: metrics(&full, year),
        },
        provenance: RangeProvenance {
            point_in_time: Some(if unverified.is_none() { "verified" } else { "unverified" }.to_owned()),
            point_in_time_reason,
            failed_days: those(|day| day.day.status == DayStatus::Failed),
            degraded_days: those(|day| !day.is_full),
            reasons: days.iter().filter(|day| !day.is_full).filter_map(reason).collect(),
        },
        baselines,
        benchmark,
        reasoning,
        masked: None,
    })
}

fn reason(day: &Closed) -> Option<DegradedDayResponse> {
    let quality = day.quality.clone()?;
    Some(DegradedDayResponse::of(day.day.date, day.day.agent.as_str(), quality))
}

fn at_close(day: &Closed) -> DailyPortfolioValue {
    DailyPortfolioValue {
        date: day.day.date,
        portfolio_value: number(day.figures.value.portfolio_value.0),
        cash: number(day.day.cash.0),
        status: day.day.status,
        full_research: day.is_full,
        job_id: day.day.job.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::metric::TradedAmount;
    use papertape_core::money::Money;
    use papertape_protocol::number::figure;
    use rust_decimal::Decimal;

    fn day(number: i8, before: i64, after: i64) -> DayFigures {
        let (before, portfolio_value) = (Money::from(before), Money::from(after));
        let value = DayValue {
            day: jiff::civil::date(2012, 10, number),
            portfolio_value,
            gross_exposure: Money(portfolio_value.0 / Decimal::TWO),
        };
        let fill = TradedAmount { notional: before, fee: Money::from(1), slippage: Money::ZERO };
        DayFigures { before, value, fills: vec![fill], closed_pnl: Vec::new() }
    }

    /// Up 10%, down by half, up 10%: without the middle day that is up 21%, half invested as before, each
    /// day's trades as large as its portfolio, and costs as they were paid.
    #[test]
    fn left_out_days_leave_no_trace_in_the_returns() {
        let (first, second, third) = (day(1, 1000, 1100), day(2, 1100, 550), day(3, 550, 605));
        let whole = metrics(&[&first, &second, &third], 252);
        let close = |a: Option<f64>, b: f64| assert!((a.expect("a figure") - b).abs() < 1e-12, "{a:?} {b}");
        close(whole.total_return, -0.395);
        let part = metrics(&[&first, &third], 252);
        close(part.total_return, 0.21);
        close(part.exposure, 0.5);
        close(part.turnover, figure((1000.0 + 1100.0) / ((1100.0 + 1210.0) / 2.0)));
        close(Some(part.costs), 2.0);
        assert_eq!((part.days, part.max_drawdown), (2, Some(0.0)));
        assert_eq!(metrics(&[], 252).total_return, None);
    }
}
