//! The configurations in the database that ran on an item's days, for the deflated Sharpe ratio.

use super::conditions::{Ground, Settings};
use super::items::{Item, Kind};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::metric::daily_returns;
use papertape_core::record::JobKind;
use papertape_core::time::Date;
use papertape_evidence::{MIN_VERDICT_DAYS, SharpeMoments};
use papertape_runtime::config::SimulationConfig;
use papertape_store::{JobFilter, PageRequest, ResultFilter};
use std::collections::BTreeMap;

/// At most this many jobs are read, newest first.
const MAX_JOBS: usize = 1_000;

/// A recorded simulation.
struct Ran {
    job: JobId,
    config: SimulationConfig,
}

/// By item: the daily Sharpe ratio of each configuration that ran on its days, including its own. Trials of one
/// configuration count once. Empty for items without a deflated Sharpe ratio.
pub(super) async fn tried(app: &App, items: &[Item]) -> Result<Vec<Vec<f64>>, ServiceError> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut ran = None;
    // Items of one job share their days.
    let mut known: Vec<(String, Vec<Date>, BTreeMap<String, f64>)> = Vec::new();
    for item in items {
        let single = match item.trials.as_slice() {
            [only] if item.kind == Kind::Agent && only.actual.days().len() >= MIN_VERDICT_DAYS => only,
            _ => {
                found.push(Vec::new());
                continue;
            }
        };
        let (dataset, days) = (&item.ground.conditions.dataset, single.actual.days());
        let at = match known.iter().position(|(of, known, _)| of == dataset && known == days) {
            Some(at) => at,
            None => {
                let ran = match &ran {
                    Some(ran) => ran,
                    None => ran.insert(simulations(app).await?),
                };
                known.push((dataset.clone(), days.to_vec(), on_days(app, ran, dataset, days).await?));
                known.len() - 1
            }
        };
        let mut sharpes = known[at].2.clone();
        if let (Some(settings), Some(own)) = (&item.settings, SharpeMoments::of(&single.actual.returns())) {
            sharpes.insert(settings.fingerprint(&item.ground), own.sharpe);
        }
        found.push(sharpes.into_values().collect());
    }
    Ok(found)
}

async fn simulations(app: &App) -> Result<Vec<Ran>, ServiceError> {
    let filter = JobFilter { kind: Some(JobKind::Simulate), ..JobFilter::default() };
    let (mut all, mut request) = (Vec::new(), PageRequest::first(200));
    loop {
        let page = app.store.jobs(&filter, &request).await?;
        for item in page.items {
            if let Ok(config) = serde_json::from_value(item.job.config) {
                all.push(Ran { job: item.job.id, config });
            }
        }
        match page.next.filter(|_| all.len() < MAX_JOBS) {
            Some(next) => request = PageRequest::after(200, &next),
            None => return Ok(all),
        }
    }
}

/// The Sharpe ratio of each configuration that closed all of these days, by fingerprint. The newest trial counts.
async fn on_days(
    app: &App,
    ran: &[Ran],
    dataset: &str,
    days: &[Date],
) -> Result<BTreeMap<String, f64>, ServiceError> {
    let mut sharpes = BTreeMap::new();
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(sharpes) };
    for Ran { job, config } in ran {
        let covers = config.start_date <= *first && config.end_date >= *last;
        if !covers || config.dataset.hash.to_hex() != dataset {
            continue;
        }
        let ground = Ground::of(config, None);
        for agent in &config.agents {
            let fingerprint = Settings::of(config, agent).fingerprint(&ground);
            if sharpes.contains_key(&fingerprint) {
                continue;
            }
            if let Some(sharpe) = sharpe(app, (job, &agent.name), days).await? {
                sharpes.insert(fingerprint, sharpe);
            }
        }
    }
    Ok(sharpes)
}

/// `None` unless the job itself closed exactly these days of the span, with returns that vary.
async fn sharpe(
    app: &App,
    (job, agent): (&JobId, &AgentName),
    days: &[Date],
) -> Result<Option<f64>, ServiceError> {
    let filter = ResultFilter {
        from: days.first().copied(),
        to: days.last().copied(),
        agent: Some(agent.clone()),
        job: Some(job.clone()),
    };
    let closed = app.store.closed_days(&filter).await?;
    if !closed.iter().map(|day| day.date).eq(days.iter().copied()) {
        return Ok(None);
    }
    let values: Vec<f64> = closed.iter().map(|day| day.portfolio_value.to_f64()).collect();
    let returns = closed.first().and_then(|first| daily_returns(first.starting_value.to_f64(), &values));
    let solvent = returns.filter(|returns| returns.len() == days.len());
    Ok(solvent.and_then(|returns| SharpeMoments::of(&returns)).map(|moments| moments.sharpe))
}
