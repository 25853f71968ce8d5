//! Results of an experiment: every trial, and the mean and the spread of each window's trials.

use super::cutoff::training_cutoffs;
use super::experiments::{Stored, interim, seed, stored};
use super::{deployment, results};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::JobId;
use papertape_core::ports::RecordStore as _;
use papertape_core::record::UsageTotal;
use papertape_protocol::cutoff::TrainingCutoffResponse;
use papertape_protocol::experiments::{
    AgentTrials, ExperimentResults, PlannedAgent, Spread, TrialResult, TrialSpread, Window, WindowTrials,
};
use papertape_protocol::number::{figure, number};
use papertape_protocol::results::range::RangeResult;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use papertape_store::ExperimentJobOverview;
use rust_decimal::Decimal;

/// A job's results.
struct JobResults {
    results: Vec<RangeResult>,
    usage: Vec<UsageTotal>,
}

/// The results of an experiment.
///
/// # Errors
/// No such experiment; a database error.
pub async fn experiment_results(app: &App, id: &str) -> Result<ExperimentResults, ServiceError> {
    let Stored { row, manifest, jobs } = stored(app, id).await?;
    let mut loaded = Vec::new();
    for one in &jobs {
        loaded.push((one, load(app, &one.job).await?));
    }
    let cell = |agent: &PlannedAgent, place: u32, (number, mask, window): (u32, Option<&str>, &Window)| {
        let mut trials = Vec::new();
        let mut buy_and_hold = None;
        for (one, found) in loaded.iter().filter(|(one, _)| one.window == place && one.trial <= agent.trials)
        {
            let result = found.results.iter().find(|result| result.model == agent.name);
            let trial = trial(one, seed(&manifest, one.trial), window, (result, &found.usage, agent));
            if trial.is_complete {
                let baselines = result.and_then(|result| result.baselines.as_ref());
                let held = baselines.and_then(|both| both.buy_and_hold.period_metrics.total_return);
                buy_and_hold = buy_and_hold.or(held);
            }
            trials.push(trial);
        }
        let mask = mask.map(str::to_owned);
        WindowTrials { number, mask, window: window.clone(), buy_and_hold, spread: spread(&trials), trials }
    };
    let arms = manifest.arms();
    let agents = manifest.agents.iter().map(|agent| {
        let numbered = |mask| (1..).zip(&manifest.windows).map(move |(number, one)| (number, mask, one));
        let places = (1..).zip(arms.iter().flat_map(|mask| numbered(*mask)));
        let windows = places.map(|(place, of)| cell(agent, place, of));
        let results = loaded.iter().flat_map(|(_, found)| &found.results);
        let own: Vec<&RangeResult> = results.filter(|result| result.model == agent.name).collect();
        AgentTrials { agent: agent.clone(), training_cutoffs: cutoffs(app, &own), windows: windows.collect() }
    });
    Ok(ExperimentResults {
        experiment_id: row.id.to_string(),
        interim: interim(&manifest, &jobs),
        agents: agents.collect(),
        deployment: deployment(app),
    })
}

/// The training cut-offs of an agent's models, compared with all days of its trials.
fn cutoffs(app: &App, results: &[&RangeResult]) -> Vec<TrainingCutoffResponse> {
    let models = results.iter().flat_map(|result| &result.training_cutoffs);
    let models = models.filter_map(|cutoff| cutoff.model.parse().ok()).collect();
    let days = results.iter().flat_map(|result| result.daily_portfolio_values.iter().map(|day| day.date));
    training_cutoffs(app, &models, &days.collect())
}

async fn load(app: &App, job: &JobId) -> Result<JobResults, ServiceError> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let results = match results(app, query).await {
        Ok(ResultsResponse::Range(range)) => range.results,
        // No day is closed yet.
        Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    Ok(JobResults { results, usage: app.store.load_usage(job).await? })
}

fn trial(
    one: &ExperimentJobOverview,
    seed: u64,
    window: &Window,
    (result, usage, agent): (Option<&RangeResult>, &[UsageTotal], &PlannedAgent),
) -> TrialResult {
    let metrics = result.map(|result| &result.period_metrics);
    let days = metrics.map_or(0, |metrics| metrics.days);
    let short = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let total_return = metrics.and_then(|metrics| metrics.total_return);
    let own = usage.iter().filter(|row| row.agent.as_str() == agent.name);
    let (cost, unpriced) = own.fold((Decimal::ZERO, 0), |(cost, unpriced), row| {
        (cost + row.cost_usd, unpriced + row.unpriced_calls)
    });
    TrialResult {
        trial: one.trial,
        seed,
        job_id: one.job.to_string(),
        status: one.status,
        is_complete: short(days) >= window.days,
        days: short(days),
        failed_days: result.map_or(0, |result| short(result.provenance.failed_days.len())),
        degraded_days: result.map_or(0, |result| short(result.provenance.degraded_days.len())),
        ending_portfolio_value: result.map(|result| result.ending_portfolio_value),
        total_return,
        // The mean of ln(V(t) / V(t-1)) telescopes.
        mean_daily_log_return: total_return
            .filter(|total| *total > -1.0 && days > 0)
            .map(|total| figure(total.ln_1p() / days as f64)),
        daily_deviation: metrics.and_then(|metrics| metrics.daily_deviation),
        max_drawdown: metrics.and_then(|metrics| metrics.max_drawdown),
        annualized_return: metrics.and_then(|metrics| metrics.annualized_return),
        sharpe: metrics.and_then(|metrics| metrics.sharpe),
        insolvent_on: metrics.and_then(|metrics| metrics.insolvent_on),
        cost_usd: (unpriced == 0).then(|| number(cost)),
    }
}

/// Of the trials that have completed the window: others cover fewer days.
fn spread(trials: &[TrialResult]) -> TrialSpread {
    let complete: Vec<&TrialResult> = trials.iter().filter(|trial| trial.is_complete).collect();
    let of = |get: fn(&TrialResult) -> Option<f64>| {
        Spread::of(complete.iter().filter_map(|trial| get(trial))).map(|spread| Spread {
            mean: figure(spread.mean),
            deviation: spread.deviation.map(figure),
            ..spread
        })
    };
    TrialSpread {
        trials: u32::try_from(complete.len()).unwrap_or(u32::MAX),
        total_return: of(|trial| trial.total_return),
        mean_daily_log_return: of(|trial| trial.mean_daily_log_return),
        max_drawdown: of(|trial| trial.max_drawdown),
        sharpe: of(|trial| trial.sharpe),
    }
}
