//! Which sessions count, and what they came to.

use super::super::{Configs, ViewError};
use crate::app::App;
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::Date;
use papertape_store::{Page, PageRequest, ResultFilter, SessionResult};
use std::collections::BTreeSet;

/// Sessions are read in pages of this many.
const PAGE: u32 = 200;

/// The jobs that count, by agent: the one that is asked for, or each agent's newest completed one.
pub(super) async fn chosen(app: &App, filter: &ResultFilter) -> Result<Vec<(AgentName, JobId)>, ViewError> {
    let Some(job) = &filter.job else { return Ok(app.store.newest_results(filter).await?) };
    let Some(details) = app.store.job_details(job).await? else {
        return Err(ViewError::NotFound(format!("there is no job {job}")));
    };
    let agents: BTreeSet<AgentName> = details.days.into_iter().map(|day| day.agent).collect();
    let wanted = |agent: &AgentName| filter.agent.as_ref().is_none_or(|wanted| wanted == agent);
    Ok(agents.into_iter().filter(wanted).map(|agent| (agent, job.clone())).collect())
}

/// All sessions of one agent in one job that lie in the filter's days, by day.
pub(super) async fn sessions(
    app: &App,
    (agent, job): (&AgentName, &JobId),
    (from, to): (Option<Date>, Option<Date>),
) -> Result<Vec<SessionResult>, ViewError> {
    let filter = ResultFilter { from, to, agent: Some(agent.clone()), job: Some(job.clone()) };
    let mut all = Vec::new();
    let mut request = PageRequest::first(PAGE);
    loop {
        let Page { items, next } = app.store.results(&filter, &request).await?;
        all.extend(items);
        match next {
            Some(cursor) => request = PageRequest::after(PAGE, &cursor),
            None => return Ok(all),
        }
    }
}

/// The same, with what came before in the jobs that this one goes on from: an account's whole history.
pub(super) async fn history(
    app: &App,
    configs: &mut Configs,
    (agent, job): (&AgentName, &JobId),
    (from, to): (Option<Date>, Option<Date>),
) -> Result<Vec<SessionResult>, ViewError> {
    let mut all = sessions(app, (agent, job), (from, to)).await?;
    let mut seen = BTreeSet::from([job.clone()]);
    let mut job = job.clone();
    while let Some(before) =
        configs.of(app, &job).await?.and_then(|config| config.continues.get(agent)).cloned()
    {
        let begins = all.first().map(|session| session.date);
        if from.is_some_and(|from| before.date < from) || !seen.insert(before.job.clone()) {
            break;
        }
        let to = to.map_or(before.date, |to| to.min(before.date));
        let mut earlier = sessions(app, (agent, &before.job), (from, Some(to))).await?;
        earlier.retain(|session| begins.is_none_or(|begins| session.date < begins));
        earlier.append(&mut all);
        all = earlier;
        job = before.job;
    }
    Ok(all)
}
