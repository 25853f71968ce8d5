//! The configurations in the database that ran on an item's days, for the deflated Sharpe ratio.

use super::conditions::{Ground, Settings, agent_of};
use super::items::{Item, Kind};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::Configs;
use papertape_core::id::{AgentName, JobId};
use papertape_core::metric::daily_returns;
use papertape_core::time::Date;
use papertape_evidence::{MIN_VERDICT_DAYS, SharpeMoments};
use papertape_store::ResultFilter;
use std::collections::BTreeMap;

/// By item: the daily Sharpe ratio of each configuration that ran on its days, its own included. Trials of one configuration
/// count once. Empty for items without a deflated Sharpe ratio.
pub(super) async fn tried(
    app: &App,
    configs: &mut Configs,
    items: &[Item],
) -> Result<Vec<Vec<f64>>, ServiceError> {
    let mut found: Vec<Vec<f64>> = Vec::new();
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
                known.push((dataset.clone(), days.to_vec(), on_days(app, configs, dataset, days).await?));
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

/// The Sharpe ratio of each configuration that closed all of these days, by fingerprint. The newest trial counts.
async fn on_days(
    app: &App,
    configs: &mut Configs,
    dataset: &str,
    days: &[Date],
) -> Result<BTreeMap<String, f64>, ServiceError> {
    let mut sharpes = BTreeMap::new();
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(sharpes) };
    for job in &app.store.jobs_on(*first, *last).await? {
        let config = configs.of(app, job).await?.filter(|config| config.dataset.hash.to_hex() == dataset);
        let Some(config) = config else { continue };
        let ground = Ground::of(config, None);
        // Of a branch, the changed agent.
        for agent in config.agents.iter().filter_map(|agent| agent_of(config, &agent.name)) {
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
