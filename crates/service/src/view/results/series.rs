//! The daily values of an agent in one job, with what a comparison needs of each day.

use super::super::{Configs, masked};
use super::refill::refill;
use super::{load, researched::Researched};
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_core::market::Dataset;
use papertape_core::message::Usage;
use papertape_core::money::Money;
use papertape_core::ports::RecordStore as _;
use papertape_core::provenance::QualityState;
use papertape_core::record::{DayStatus, SessionId};
use papertape_core::tape::StepClass;
use papertape_core::time::Date;
use papertape_store::{ClosedDay, DayRow, PageRequest, ResultFilter, StepView};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Steps are read in pages of this many.
const PAGE: u32 = 1_000;

/// An agent's days in one job, those included that earlier jobs completed.
pub(in crate::view) struct AgentSeries {
    pub(in crate::view) job: JobId,
    pub(in crate::view) agent: AgentName,
    /// The planned days.
    pub(in crate::view) planned: Vec<Date>,
    /// Planned days that have not ended.
    pub(in crate::view) open: usize,
    /// The portfolio value before the first day.
    pub(in crate::view) initial: Money,
    /// The closed days, oldest first.
    pub(in crate::view) days: Vec<SeriesDay>,
    /// The values of the same orders at the next open.
    pub(in crate::view) refilled: RefilledValues,
    /// The dataset, if it is available.
    pub(in crate::view) dataset: Option<Arc<Dataset>>,
    /// The first day that is not verified as point-in-time.
    pub(in crate::view) unverified: Option<UnverifiedDay>,
}

/// A day that is not verified as point-in-time, with the metadata that says why.
pub(in crate::view) struct UnverifiedDay {
    pub(in crate::view) job: JobId,
    /// The day in the job's own books.
    pub(in crate::view) date: Date,
    pub(in crate::view) metadata: Value,
}

/// A closed day.
pub(in crate::view) struct SeriesDay {
    /// The real day; that of the job's own books is in `closed`.
    pub(in crate::view) date: Date,
    pub(in crate::view) value: Money,
    pub(in crate::view) is_full: bool,
    /// `None` if nothing is known about it.
    pub(in crate::view) quality: Option<QualityState>,
    /// In US dollars, of the calls whose price is known. On the day of a branch's cut with what its parent paid for the steps
    /// that the branch reuses.
    pub(in crate::view) cost: Decimal,
    /// Calls without a known price.
    pub(in crate::view) unpriced: u64,
    pub(in crate::view) closed: ClosedDay,
}

/// The values of the same orders at the next open.
pub(in crate::view) enum RefilledValues {
    /// The orders filled there anyway.
    Same,
    /// The values at the closes.
    Values(Vec<(Date, Money)>),
    /// Why there are none.
    Unavailable(String),
}

/// Reads the series of each agent of a job, or of one; by agent.
pub(in crate::view) async fn agent_series(
    app: &App,
    configs: &mut Configs,
    job: &JobId,
    only: Option<&AgentName>,
) -> Result<Vec<AgentSeries>, ServiceError> {
    let Some(details) = app.store.job_details(job).await? else {
        return Err(ServiceError::NotFound(format!("there is no job {job}")));
    };
    let mut planned: BTreeMap<AgentName, Vec<DayRow>> = BTreeMap::new();
    for day in details.days {
        if only.is_none_or(|only| day.agent == *only) {
            planned.entry(day.agent.clone()).or_default().push(day);
        }
    }
    let mut all = Vec::new();
    for (agent, rows) in planned {
        all.push(series(app, configs, (&agent, job), rows).await?);
    }
    Ok(all)
}

async fn series(
    app: &App,
    configs: &mut Configs,
    (agent, job): (&AgentName, &JobId),
    rows: Vec<DayRow>,
) -> Result<AgentSeries, ServiceError> {
    let mut planned: Vec<Date> = rows.iter().map(|row| row.date).collect();
    planned.sort_unstable();
    let is_open = |row: &&DayRow| matches!(row.status, DayStatus::Queued | DayStatus::Running);
    let open = rows.iter().filter(is_open).count();
    let from = planned.first().copied();
    let chain = load::chain(app, configs, (agent, job), (from, None)).await?;
    let closed = load::closed(app, agent, from, &chain).await?;
    let mut costs: BTreeMap<(JobId, Date), (Decimal, u64)> = BTreeMap::new();
    for (job, _) in &chain {
        for row in app.store.load_usage(job).await?.iter().filter(|row| row.agent == *agent) {
            let (cost, unpriced) = costs.entry((job.clone(), row.date)).or_default();
            *cost += row.cost_usd;
            *unpriced += row.unpriced_calls;
        }
    }
    for (date, (cost, unpriced)) in reused(app, configs, (agent, &chain), &closed).await? {
        let of_day = costs.entry(date).or_default();
        of_day.0 += cost;
        of_day.1 += unpriced;
    }
    let config = configs.of(app, job).await?;
    let dataset = config.and_then(|config| app.services.datasets.open(config.dataset.hash).ok());
    let days: Vec<&ClosedDay> = closed.iter().collect();
    let refilled = match config {
        Some(config) => match refill(app, config, dataset.clone(), &days).await? {
            None => RefilledValues::Same,
            Some(found) => match found.response.unavailable {
                Some(why) => RefilledValues::Unavailable(why),
                None => RefilledValues::Values(found.values),
            },
        },
        None => RefilledValues::Unavailable("the job is not a simulation".to_owned()),
    };
    let initial = closed.first().map_or(Money::ZERO, |day| day.starting_value);
    let real = |date: Date| masked::real_date(config, date);
    let refilled = match refilled {
        RefilledValues::Values(values) => {
            RefilledValues::Values(values.into_iter().map(|(date, value)| (real(date), value)).collect())
        }
        other => other,
    };
    let planned = planned.into_iter().map(real).collect();
    let mut unverified = None;
    let days = closed.into_iter().map(|closed| {
        let researched = Researched::read(closed.metadata.as_deref());
        if unverified.is_none() && !researched.is_verified() {
            let (job, date) = (closed.job.clone(), closed.date);
            unverified = Some(UnverifiedDay { job, date, metadata: researched.point_in_time() });
        }
        let (cost, unpriced) = costs.get(&(closed.job.clone(), closed.date)).copied().unwrap_or_default();
        SeriesDay {
            date: real(closed.date),
            value: closed.portfolio_value,
            is_full: researched.is_full(),
            quality: researched.quality(closed.status, closed.error.as_deref()).map(|day| day.state),
            cost,
            unpriced,
            closed,
        }
    });
    let days = days.collect();
    Ok(AgentSeries {
        job: job.clone(),
        agent: agent.clone(),
        planned,
        open,
        initial,
        days,
        refilled,
        dataset,
        unverified,
    })
}

/// By job and day: the cost of what branches reuse from their parents, and the calls without a known price.
async fn reused(
    app: &App,
    configs: &mut Configs,
    (agent, chain): (&AgentName, &[(JobId, Option<Date>)]),
    closed: &[ClosedDay],
) -> Result<BTreeMap<(JobId, Date), (Decimal, u64)>, ServiceError> {
    let mut all = BTreeMap::new();
    for (job, _) in chain {
        let Some(date) = branch_of(app, configs, job).await?.map(|(_, date)| date) else { continue };
        let Some(day) = closed.iter().find(|day| day.job == *job && day.date == date) else { continue };
        let copied = |step: &StepView| step.reused_from.is_some();
        let mut paths: BTreeSet<String> =
            external(app, day.id).await?.iter().filter(|step| copied(step)).map(path).collect();
        let (mut child, mut cost, mut unpriced) = (job.clone(), Decimal::ZERO, 0);
        // What the parent copied itself, an earlier one paid.
        while !paths.is_empty() {
            let Some((parent, _)) = branch_of(app, configs, &child).await? else { break };
            let on = Some(date);
            let filter =
                ResultFilter { from: on, to: on, agent: Some(agent.clone()), job: Some(parent.clone()) };
            let Some(of_parent) = app.store.closed_days(&filter).await?.first().map(|day| day.id) else {
                break;
            };
            let steps = external(app, of_parent).await?;
            let (before, own): (Vec<_>, Vec<_>) =
                steps.iter().filter(|step| paths.contains(&path(step))).partition(|step| copied(step));
            for step in own {
                cost += step.cost_usd.unwrap_or_default();
                unpriced += u64::from(step.cost_usd.is_none() && step.usage != Usage::default());
            }
            (paths, child) = (before.into_iter().map(path).collect(), parent);
        }
        all.insert((job.clone(), date), (cost, unpriced));
    }
    Ok(all)
}

/// The parent of a branch, and the day of the cut.
async fn branch_of(
    app: &App,
    configs: &mut Configs,
    job: &JobId,
) -> Result<Option<(JobId, Date)>, ServiceError> {
    let config = configs.of(app, job).await?;
    Ok(config.and_then(|config| config.branch.as_ref()).map(|branch| (branch.job.clone(), branch.date)))
}

fn path(step: &StepView) -> String {
    step.path.to_string()
}

/// The external steps of a session without those of summaries.
async fn external(app: &App, session: SessionId) -> Result<Vec<StepView>, ServiceError> {
    let (mut all, mut request) = (Vec::new(), PageRequest::first(PAGE));
    loop {
        let page = app.store.steps(session, &request).await?;
        let own = |step: &StepView| !step.detached && step.class == StepClass::External;
        all.extend(page.items.into_iter().filter(own));
        match page.next {
            Some(next) => request = PageRequest::after(PAGE, &next),
            None => return Ok(all),
        }
    }
}
