//! What a report shows, read from the record.

use super::reasons;
use super::run::Run;
use super::trades::{self, TradeBook};
use super::words::Words;
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::record::{JobRow, JobStatus};
use papertape_protocol::compare::{CompareQuery, CompareResponse};
use papertape_protocol::experiments::{ExperimentResponse, ExperimentResults};
use papertape_protocol::results::range::RangeResult;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use papertape_runtime::config::SimulationConfig;
use papertape_store::UsageCost;

/// The maximum number of agents that are drawn and have a table of months.
pub(super) const MAX_DETAILED: usize = 12;

/// An experiment with its results.
pub(super) struct ExperimentData {
    pub(super) experiment: ExperimentResponse,
    pub(super) results: ExperimentResults,
}

/// Everything in a report.
pub(super) struct ReportData {
    pub(super) words: Words,
    /// The job; of an experiment, its first one.
    pub(super) job: JobRow,
    pub(super) config: SimulationConfig,
    pub(super) used: UsageCost,
    /// Agents, in the order of their colors.
    pub(super) agents: Vec<String>,
    pub(super) runs: Vec<Run>,
    /// The pairs that are listed; of an experiment, its declared family.
    pub(super) comparison: Result<CompareResponse, String>,
    /// The pairs with a baseline, if they are not in `comparison`.
    pub(super) baselines: Option<Result<CompareResponse, String>>,
    pub(super) trades: TradeBook,
    pub(super) experiment: Option<ExperimentData>,
    /// Whether it was read from a bundle, which does not say when the job was requested.
    pub(super) is_bundled: bool,
}

impl ReportData {
    /// Whether days may still be added.
    pub(super) fn is_interim(&self) -> bool {
        match &self.experiment {
            Some(found) => found.experiment.experiment.interim.is_some(),
            None => self.job.status != JobStatus::Completed,
        }
    }

    /// The runs of an agent.
    pub(super) fn runs_of<'a>(&'a self, agent: &'a str) -> impl Iterator<Item = &'a Run> {
        self.runs.iter().filter(move |run| run.result.model == agent)
    }

    /// The comparison that has the pairs with a baseline.
    pub(super) fn against_baselines(&self) -> &Result<CompareResponse, String> {
        self.baselines.as_ref().unwrap_or(&self.comparison)
    }

    /// Whether each agent ran once: one job, and no trials.
    pub(super) fn is_single(&self) -> bool {
        self.experiment.is_none()
    }
}

pub(super) async fn of_job(app: &App, id: &JobId, words: Words) -> Result<ReportData, ServiceError> {
    let id = &view::job_id(id.as_str())?;
    let details = app.store.job_details(id).await?.ok_or_else(|| view::no_job(id.as_str()))?;
    let config = config(&details.job)?;
    let mut runs: Vec<Run> =
        results(app, id).await?.into_iter().map(|result| Run { window: 1, trial: 1, result }).collect();
    if runs.is_empty() {
        return Err(nothing_closed());
    }
    let select = format!("job:{id},baseline:buy_and_hold,baseline:equal_weight");
    let comparison = compare(app, select, Some("all_pairs")).await?;
    let agents = agents(&config, &mut runs);
    let trades = trades(app, &config, &runs).await?;
    Ok(ReportData {
        words,
        used: details.used.and(details.used_by_summaries),
        agents,
        job: details.job,
        config,
        runs,
        comparison,
        baselines: None,
        trades,
        experiment: None,
        is_bundled: false,
    })
}

pub(super) async fn of_experiment(
    app: &App,
    id: &ExperimentId,
    words: Words,
) -> Result<ReportData, ServiceError> {
    let experiment = view::experiment(app, id.as_str()).await?;
    let found = view::experiment_results(app, id.as_str()).await?;
    let mut runs = Vec::new();
    let mut used = UsageCost::default();
    let mut first = None;
    for one in &experiment.jobs {
        let job = JobId::new(&one.job_id);
        for result in results(app, &job).await? {
            // A rule-based agent runs each window once; other trials only repeat its days.
            let is_repeated = runs.iter().any(|run: &Run| {
                run.window == one.window && run.result.model == result.model && repeats(run, &result)
            });
            if !is_repeated {
                runs.push(Run { window: one.window, trial: one.trial, result });
            }
        }
        if let Some(details) = app.store.job_details(&job).await? {
            used = used.and(details.used).and(details.used_by_summaries);
            first.get_or_insert(details.job);
        }
    }
    let Some(job) = first.filter(|_| !runs.is_empty()) else { return Err(nothing_closed()) };
    let config = config(&job)?;
    let comparison = compare(app, format!("experiment:{id}"), None).await?;
    let select = format!("experiment:{id},baseline:buy_and_hold,baseline:equal_weight");
    let baselines = compare(app, select, Some("all_pairs")).await?;
    let agents = agents(&config, &mut runs);
    let trades = trades(app, &config, &runs).await?;
    Ok(ReportData {
        words,
        job,
        agents,
        config,
        used,
        runs,
        comparison,
        baselines: Some(baselines),
        trades,
        experiment: Some(ExperimentData { experiment, results: found }),
        is_bundled: false,
    })
}

/// Whether all days of a result are those of a run: the job skipped them.
fn repeats(run: &Run, result: &RangeResult) -> bool {
    let days = |result: &RangeResult| -> Vec<_> {
        result.daily_portfolio_values.iter().map(|day| (day.date, day.job_id.clone())).collect()
    };
    days(&run.result) == days(result)
}

fn nothing_closed() -> ServiceError {
    ServiceError::NotFound("no day is closed yet, so there is nothing to report".to_owned())
}

fn config(job: &JobRow) -> Result<SimulationConfig, ServiceError> {
    serde_json::from_value(job.config.clone())
        .map_err(|_| ServiceError::NotFound(format!("job {} is not a simulation; it has no report", job.id)))
}

/// The agents with closed days, as configured.
pub(super) fn agents(config: &SimulationConfig, runs: &mut [Run]) -> Vec<String> {
    let mut agents: Vec<String> = Vec::new();
    for run in &*runs {
        if !agents.contains(&run.result.model) {
            agents.push(run.result.model.clone());
        }
    }
    let place = |name: &str| config.agents.iter().position(|agent| agent.name.as_str() == name);
    agents.sort_by_key(|agent| place(agent).unwrap_or(usize::MAX));
    runs.sort_by_key(|run| agents.iter().position(|agent| *agent == run.result.model));
    agents
}

async fn results(app: &App, job: &JobId) -> Result<Vec<RangeResult>, ServiceError> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    match view::results(app, query).await {
        Ok(ResultsResponse::Range(range)) => Ok(range.results),
        Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A comparison, or why there is none.
async fn compare(
    app: &App,
    select: String,
    against: Option<&str>,
) -> Result<Result<CompareResponse, String>, ServiceError> {
    let query = CompareQuery { select, against: against.map(str::to_owned), ..CompareQuery::default() };
    match view::compare(app, query).await {
        Ok(response) => Ok(Ok(response)),
        Err(ServiceError::Internal(error)) => Err(ServiceError::Internal(error)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

async fn trades(app: &App, config: &SimulationConfig, runs: &[Run]) -> Result<TradeBook, ServiceError> {
    let mut book = TradeBook::default();
    for run in runs {
        trades::read(app, config, run, &mut book).await?;
    }
    book.rank();
    for trip in book.best.iter_mut().chain(&mut book.worst) {
        reasons::fill_in(app, trip).await?;
    }
    Ok(book)
}
