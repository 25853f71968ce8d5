//! The score of a counterfactual run: whether its positions follow the real future.

use super::results::{agent_series, sessions};
use super::{Configs, cutoff, deployment, job_id};
use crate::app::App;
use crate::counterfactual::{derive, origin, real_returns};
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::time::Date;
use papertape_evidence::{Seed, counterfactual_future};
use papertape_protocol::number::figure;
use papertape_protocol::probes::{CounterfactualResponse, CounterfactualScore};
use papertape_runtime::config::SimulationConfig;
use papertape_store::SessionResult;
use rust_decimal::prelude::ToPrimitive as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Scores every agent of a simulation on a counterfactual dataset.
///
/// # Errors
/// No such job; a job on other data; the real dataset is not available, or the job's dataset was not derived from it; a
/// database error.
pub async fn counterfactual(app: &App, job: &str) -> Result<CounterfactualResponse, ServiceError> {
    let id = job_id(job)?;
    let mut configs = Configs::default();
    let config = configs.of(app, &id).await?.cloned();
    let config = config.ok_or_else(|| ServiceError::NotFound(format!("job {id} is not a simulation")))?;
    let real = real_dataset(app, &config)?;
    let mut agents = Vec::new();
    for series in agent_series(app, &mut configs, &id, None).await? {
        // A day may have been completed by an earlier job.
        let mut by_job: BTreeMap<JobId, Vec<Date>> = BTreeMap::new();
        for day in &series.days {
            by_job.entry(day.closed.job.clone()).or_default().push(day.date);
        }
        let mut found = Vec::new();
        for (job, dates) in &by_job {
            let span = (dates.first().copied(), dates.last().copied());
            found.extend(sessions(app, (&series.agent, job), span).await?);
        }
        agents.push(score(app, (&config, &id), &series.agent, &found, &real));
    }
    Ok(CounterfactualResponse {
        job_id: id.to_string(),
        dataset: config.dataset.name,
        real_dataset: real.name().to_owned(),
        start_date: config.start_date,
        end_date: config.end_date,
        agents,
        deployment: deployment(app),
    })
}

/// The dataset that the job's was derived from. The derivation is repeated, so that the hash proves it.
fn real_dataset(app: &App, config: &SimulationConfig) -> Result<Arc<Dataset>, ServiceError> {
    let name = &config.dataset.name;
    let Some((hash, first, seed)) = origin(name) else {
        return Err(ServiceError::Conflict(format!("{name} is not a counterfactual dataset")));
    };
    let real = app.catalogue.open(hash).map_err(|error| ServiceError::of_dataset("dataset", error))?;
    let derived = app.services.datasets.open(config.dataset.hash).map_err(ServiceError::Conflict)?;
    let symbols = derived.all_symbols().cloned().collect();
    let last = derived.days().last().map_or(first, |day| day.date);
    let again = derive(&real, &symbols, (first, last), seed).map_err(ServiceError::Conflict)?;
    if again.hash() != config.dataset.hash {
        return Err(ServiceError::Conflict(format!("{name} was not derived from {}", real.name())));
    }
    Ok(real)
}

fn score(
    app: &App,
    (config, job): (&SimulationConfig, &JobId),
    agent: &AgentName,
    sessions: &[SessionResult],
    real: &Dataset,
) -> CounterfactualScore {
    let symbols: Vec<&Symbol> = config.symbols.iter().collect();
    let returns = real_returns(real, &config.symbols);
    let weights: BTreeMap<Date, Vec<f64>> =
        sessions.iter().filter_map(|session| Some((session.date, weights(session, &symbols)?))).collect();
    let (held, next): (Vec<Vec<f64>>, Vec<Vec<f64>>) = weights
        .iter()
        .filter_map(|(date, weights)| Some((weights.clone(), returns.get(date)?.clone())))
        .unzip();
    let statistic = format!("counterfactual future {agent}");
    let seed = Seed::derive(&[&config.dataset.hash.to_hex()], &[job.as_str()], &statistic);
    let is_invested = held.iter().flatten().any(|weight| *weight != 0.0);
    let found = counterfactual_future(&held, &next, seed).filter(|_| is_invested);
    let models = cutoff::language_models(config, agent);
    CounterfactualScore {
        agent: agent.to_string(),
        is_llm: !models.is_empty(),
        days: held.len(),
        statistic: found.map(|found| figure(found.statistic)),
        p_value: found.map(|found| figure(found.p_value)),
        draws: found.map(|found| found.draws),
        detectable: found.map(|found| figure(found.detectable)),
        words: found.map_or_else(|| "not testable".to_owned(), |found| found.words()),
        training_cutoffs: cutoff::training_cutoffs(app, &models, &weights.keys().copied().collect()),
    }
}

/// The fractions of equity at the close; `None` while the session is open, or without equity.
fn weights(session: &SessionResult, symbols: &[&Symbol]) -> Option<Vec<f64>> {
    let equity = session.portfolio_value?.to_f64();
    let held = |symbol: &&Symbol| {
        let of = session.holdings.iter().filter(|held| held.symbol == **symbol);
        of.filter_map(|held| (held.quantity.0 * held.price.0).to_f64()).sum::<f64>() / equity
    };
    (equity > 0.0).then(|| symbols.iter().map(held).collect())
}
