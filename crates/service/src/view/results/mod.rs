//! Results of a day, or of a range with its baselines: `GET /results`.

use super::{Configs, masked, plain};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use benchmark::Requested;
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::Date;
use papertape_protocol::results::baseline::SharedBaselines;
use papertape_protocol::results::range::RangeResult;
use papertape_protocol::results::{
    BaselinePlace, DailyLevel, DayResults, RangeResults, ResultsQuery, ResultsResponse, SPARSE_DAYS,
};
use papertape_store::ResultFilter;

mod account;
mod baseline;
mod benchmark;
mod conventions;
mod day;
mod decision_texts;
mod head;
mod ledger;
mod load;
mod measure;
mod point_in_time;
mod provenance;
mod range;
mod range_reasoning;
mod recorded;
mod refill;
mod researched;
mod schedule;
mod series;
mod trades;

pub(crate) use benchmark::unknown_benchmark;
pub use conventions::conventions_of;
pub(crate) use day::{recorded_trades, session_trades};
pub use head::session_head;
pub(crate) use ledger::{RecordedDay, recorded_days};
pub(crate) use measure::{DayFigures, history, metrics};

pub(super) use baseline::BaselineCache;
pub(super) use benchmark::opens_account;
pub(super) use load::sessions;
pub(super) use point_in_time::{reason as unverified_reason, reason_of_mark};
pub(crate) use researched::is_full_research;
pub(super) use researched::{FullResearch, Researched};
pub(super) use schedule::ScheduleGround;
pub(super) use series::{AgentSeries, RefilledValues, SeriesDay, agent_series};

/// The results of a day, or of a range if no day is given.
///
/// # Errors
/// An invalid field; no match; a database error.
pub async fn results(app: &App, query: ResultsQuery) -> Result<ResultsResponse, ServiceError> {
    let model = plain("model", query.model.as_ref())?.map(AgentName::from);
    let job = plain("job_id", query.job_id.as_ref())?.map(JobId::from);
    let mut requested = Requested::of(plain("benchmark", query.benchmark.as_ref())?);
    let mut configs = Configs::default();
    // Only a job that is requested can be masked: others are never the newest of an agent.
    let of_job = match &job {
        Some(job) => configs.of(app, job).await?.cloned(),
        None => None,
    };
    let own = |date: Option<Date>| date.map(|date| masked::own_date(of_job.as_ref(), date));
    if let (Some(config), Some(real)) = (&of_job, requested.symbol()) {
        let masked = masked::own_symbol(app, config, real);
        requested = requested.masked(masked);
    }
    if let Some(date) = query.date {
        if requested.symbol().is_some() {
            return Err(ServiceError::invalid(
                "benchmark",
                "only a range is compared with a benchmark; omit `date`",
            ));
        }
        if query.baselines == BaselinePlace::Shared {
            return Err(ServiceError::invalid("baselines", "only a range has baselines; omit `date`"));
        }
        if query.daily != DailyLevel::All {
            return Err(ServiceError::invalid("daily", "only a range lists its days; omit `date`"));
        }
        if query.start_date.is_some() || query.end_date.is_some() {
            return Err(ServiceError::invalid("date", "give a day or a range, not both"));
        }
        let filter = ResultFilter { from: own(Some(date)), to: own(Some(date)), agent: model, job };
        let results = day::results(app, &mut configs, &filter, query.reasoning).await?;
        if results.is_empty() {
            return Err(nothing(&filter));
        }
        let count = results.len();
        return Ok(ResultsResponse::Day(DayResults { date, results, count, deployment: deployment(app) }));
    }
    if let (Some(start), Some(end)) = (query.start_date, query.end_date)
        && end < start
    {
        return Err(ServiceError::invalid("end_date", format!("{end} is before start_date {start}")));
    }
    let filter = ResultFilter { from: own(query.start_date), to: own(query.end_date), agent: model, job };
    let mut results = range::results(app, &mut configs, &filter, (query.reasoning, &mut requested)).await?;
    requested.finish()?;
    if query.daily != DailyLevel::All {
        for result in &mut results {
            result.history.rolling_sharpe = Vec::new();
            let days = std::mem::take(&mut result.daily_portfolio_values);
            if query.daily == DailyLevel::Sparse {
                result.daily_portfolio_values = evenly_spaced(days, SPARSE_DAYS);
            }
        }
    }
    let first = results.iter().map(|result| result.start_date).min();
    let last = results.iter().map(|result| result.end_date).max();
    let (Some(start_date), Some(end_date)) = (first, last) else { return Err(nothing(&filter)) };
    let shared_baselines = (query.baselines == BaselinePlace::Shared).then(|| share_baselines(&mut results));
    Ok(ResultsResponse::Range(RangeResults {
        start_date,
        end_date,
        count: results.len(),
        results,
        shared_baselines,
        deployment: deployment(app),
    }))
}

/// At most `max` items, which is two or more, evenly spaced, with the first and the last.
fn evenly_spaced<T: Clone>(items: Vec<T>, max: usize) -> Vec<T> {
    match items.len().checked_sub(1) {
        Some(last) if last >= max => (0..max).map(|at| items[at * last / (max - 1)].clone()).collect(),
        _ => items,
    }
}

/// Moves the results' baselines to a list with each of them once.
fn share_baselines(results: &mut [RangeResult]) -> Vec<SharedBaselines> {
    let mut shared: Vec<SharedBaselines> = Vec::new();
    for result in results {
        let Some(baselines) = result.baselines.take() else { continue };
        match shared.iter_mut().find(|known| known.baselines == baselines) {
            Some(known) => known.models.push(result.model.clone()),
            None => shared.push(SharedBaselines { models: vec![result.model.clone()], baselines }),
        }
    }
    shared
}

fn nothing(filter: &ResultFilter) -> ServiceError {
    ServiceError::NotFound(match filter.job {
        Some(_) => "no session of this job matches".to_owned(),
        None => "no completed job matches; set job_id to read a running one".to_owned(),
    })
}
