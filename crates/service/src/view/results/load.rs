//! Which sessions count, and their results.

use super::super::Configs;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::Date;
use papertape_store::{ClosedDay, Page, PageRequest, ResultFilter, SessionResult};
use std::collections::BTreeMap;

/// Sessions are read in pages of this many.
const PAGE: u32 = 200;

/// The job that counts for an agent.
pub(super) struct SelectedJob {
    pub(super) agent: AgentName,
    pub(super) job: JobId,
    /// The first day that is wanted: of a job that is requested, not before its own first.
    pub(super) from: Option<Date>,
}

/// The jobs that count, by agent: the requested one, or each agent's newest completed one.
pub(super) async fn chosen(app: &App, filter: &ResultFilter) -> Result<Vec<SelectedJob>, ServiceError> {
    let Some(job) = &filter.job else {
        let newest = app.store.newest_results(filter).await?.into_iter();
        return Ok(newest.map(|(agent, job)| SelectedJob { agent, job, from: filter.from }).collect());
    };
    let Some(details) = app.store.job_details(job).await? else {
        return Err(ServiceError::NotFound(format!("there is no job {job}")));
    };
    let mut first: BTreeMap<AgentName, Date> = BTreeMap::new();
    for day in details.days {
        first.entry(day.agent).and_modify(|first| *first = day.date.min(*first)).or_insert(day.date);
    }
    let wanted = |agent: &AgentName| filter.agent.as_ref().is_none_or(|wanted| wanted == agent);
    let chosen = first.into_iter().filter(|(agent, _)| wanted(agent));
    Ok(chosen
        .map(|(agent, first)| SelectedJob { agent, job: job.clone(), from: filter.from.max(Some(first)) })
        .collect())
}

/// All sessions of one agent in one job that lie in the filter's days, by day.
pub(in crate::view) async fn sessions(
    app: &App,
    (agent, job): (&AgentName, &JobId),
    (from, to): (Option<Date>, Option<Date>),
) -> Result<Vec<SessionResult>, ServiceError> {
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

/// The jobs in which an agent's account has its history, newest first, each with the last day that counts:
/// this one, and those that it continues, as far back as `from`.
pub(super) async fn chain(
    app: &App,
    configs: &mut Configs,
    (agent, job): (&AgentName, &JobId),
    (from, to): (Option<Date>, Option<Date>),
) -> Result<Vec<(JobId, Option<Date>)>, ServiceError> {
    let mut chain = vec![(job.clone(), to)];
    let mut job = job.clone();
    while let Some(before) =
        configs.of(app, &job).await?.and_then(|config| config.continues.get(agent)).cloned()
    {
        let is_seen = chain.iter().any(|(seen, _)| *seen == before.job);
        if from.is_some_and(|from| before.date < from) || is_seen {
            break;
        }
        chain.push((before.job.clone(), Some(to.map_or(before.date, |to| to.min(before.date)))));
        job = before.job;
    }
    Ok(chain)
}

/// The closed days of an agent in such jobs, by day. A day that a later job has is that job's.
pub(super) async fn closed(
    app: &App,
    agent: &AgentName,
    from: Option<Date>,
    chain: &[(JobId, Option<Date>)],
) -> Result<Vec<ClosedDay>, ServiceError> {
    let mut all: Vec<ClosedDay> = Vec::new();
    for (job, to) in chain {
        let filter = ResultFilter { from, to: *to, agent: Some(agent.clone()), job: Some(job.clone()) };
        let mut earlier = app.store.closed_days(&filter).await?;
        if let Some(begins) = all.first().map(|day| day.date) {
            earlier.retain(|day| day.date < begins);
        }
        earlier.append(&mut all);
        all = earlier;
    }
    Ok(all)
}
