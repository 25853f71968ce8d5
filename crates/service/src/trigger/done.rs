//! Finds an agent's completed days. A day is skipped only as part of one account: from the range's first day on, without
//! a gap, in one job or in jobs that continue each other.

use super::inherit::{Ancestor, continued};
use crate::app::App;
use crate::error::ServiceError;
use crate::states::{full_document, start_state};
use crate::view::is_full_research;
use papertape_agents::config::AgentConfig;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::point_in_time::Unverified;
use papertape_core::ports::RecordStore as _;
use papertape_core::record::{DayStatus, SessionId, SkippedDay};
use papertape_core::tape::ContentDoc;
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{AccountDay, AccountDays};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The days of an agent that can be skipped.
pub(super) struct SkippableDays {
    /// The days, from the range's first day on.
    pub(super) days: Vec<SkippedDay>,
    /// The degraded days among all completed days, skipped or not. If days run again from the first degraded one on,
    /// only that one.
    pub(super) degraded: Vec<Date>,
}

/// An agent's days in a planned job.
pub(super) struct PlannedDays<'a> {
    pub(super) config: &'a SimulationConfig,
    pub(super) agent: &'a AgentConfig,
    /// See `SimulationConfig::agent_hash`.
    pub(super) hash: ContentHash,
    /// The agent's days, oldest first.
    pub(super) dates: &'a [Date],
    /// Whether days from the first degraded one on run again.
    pub(super) rerun_degraded: bool,
}

/// The days of the longest account that the new job can continue; of several, the one that started last.
pub(super) async fn skippable_days(
    app: &App,
    planned: &PlannedDays<'_>,
) -> Result<SkippableDays, ServiceError> {
    let mut best: Option<SkippableDays> = None;
    for account in accounts(app, planned).await? {
        let found = usable(app, planned, &account).await?;
        if best.as_ref().is_none_or(|best| best.days.len() < found.days.len()) {
            best = Some(found);
        }
    }
    Ok(best.unwrap_or(SkippableDays { days: Vec::new(), degraded: Vec::new() }))
}

/// The accounts that start on the range's first day, each up to its last completed day, through every job that
/// continues it.
async fn accounts(app: &App, planned: &PlannedDays<'_>) -> Result<Vec<Vec<AccountDay>>, ServiceError> {
    let Some(first) = planned.dates.first() else { return Ok(Vec::new()) };
    let agent = &planned.agent.name;
    let roots = app.store.accounts_from(agent, planned.hash, *first).await?;
    let mut open: VecDeque<(JobId, Vec<AccountDay>)> =
        roots.into_iter().map(|root| (root.job.clone(), extend(&[], &root, planned.dates))).collect();
    let mut seen = BTreeSet::new();
    let mut accounts = Vec::new();
    while let Some((job, days)) = open.pop_front() {
        if seen.insert(job.clone()) && days.len() < planned.dates.len() {
            for next in app.store.continuations_of(&job, agent).await? {
                let shared = days.iter().position(|day| Some(day.date) == next.continued);
                let shared = shared.map_or(&days[..0], |at| &days[..=at]);
                if let Some(last) = shared.last()
                    && next.days.first().map(|day| day.date) == planned.dates.get(shared.len()).copied()
                    && continued_hash(app, planned, &job, last.date).await? == Some(next.agent_hash)
                {
                    open.push_back((next.job.clone(), extend(shared, &next, planned.dates)));
                }
            }
        }
        accounts.push(days);
    }
    Ok(accounts)
}

/// The days of an account with those that a job adds, up to the first that is not completed or not in the range.
fn extend(before: &[AccountDay], job: &AccountDays, dates: &[Date]) -> Vec<AccountDay> {
    let is_completed = |day: &&AccountDay| {
        matches!(day.status, DayStatus::Completed | DayStatus::Skipped) && day.done.is_some()
    };
    let more = job.days.iter().zip(&dates[before.len()..]);
    let more = more.take_while(|(day, date)| day.date == **date && is_completed(day)).map(|(day, _)| day);
    before.iter().chain(more).cloned().collect()
}

/// The hash of the agent's days in a job that continues this one with the same config.
async fn continued_hash(
    app: &App,
    planned: &PlannedDays<'_>,
    job: &JobId,
    date: Date,
) -> Result<Option<ContentHash>, ServiceError> {
    let agent = &planned.agent.name;
    let state = app.store.agent_state(job, agent, Some(date)).await?;
    let Some(state) = state.filter(|state| state.after == Some(date)) else { return Ok(None) };
    let (start, _) = import_state(app, Ancestor { job, agent, until: date }, &state.state).await?;
    Ok(Some(planned.config.agent_hash(planned.agent, start.hash)))
}

/// How much of an account can be skipped. The days must equal those of one run over the whole range: orders expire only
/// on a run's last day, and nothing may follow from a degraded day that runs again.
async fn usable(
    app: &App,
    planned: &PlannedDays<'_>,
    account: &[AccountDay],
) -> Result<SkippableDays, ServiceError> {
    let all = planned.dates.len();
    let ends_early = |(at, day): (usize, &AccountDay)| day.has_expired_orders && at + 1 < all;
    let mut count =
        account.iter().enumerate().position(|(at, day)| ends_early((at, day))).unwrap_or(account.len());
    let mut degraded = degraded(app, &account[..count]).await?;
    if planned.rerun_degraded
        && let Some(first) = degraded.first().copied()
    {
        count = account.iter().position(|day| day.date == first).unwrap_or(count);
        degraded.truncate(1);
    }
    let days = |count: usize| account[..count].iter().filter_map(|day| day.done.clone()).collect();
    if count == all
        && let Some(last) = account.last().filter(|last| !last.has_expired_orders)
    {
        let job = last.done.as_ref().map(|done| &done.job);
        if let Some(job) = job
            && has_pending_orders(app, job, &planned.agent.name, last.date).await?
        {
            count -= 1;
            degraded.retain(|date| *date < last.date);
        }
    }
    Ok(SkippableDays { days: days(count), degraded })
}

/// The degraded days among completed ones.
async fn degraded(app: &App, days: &[AccountDay]) -> Result<Vec<Date>, ServiceError> {
    let session = |day: &AccountDay| day.done.as_ref().map(|done| done.session);
    let sessions: Vec<SessionId> = days.iter().filter_map(session).collect();
    let metadata: BTreeMap<SessionId, String> = app.store.metadata_of(&sessions).await?;
    let is_full = |day: &&AccountDay| {
        let metadata = session(day).and_then(|session| metadata.get(&session));
        is_full_research(metadata.map(String::as_str))
    };
    Ok(days.iter().filter(|day| !is_full(day)).map(|day| day.date).collect())
}

/// Whether orders wait at a close for the next open.
async fn has_pending_orders(
    app: &App,
    job: &JobId,
    agent: &AgentName,
    date: Date,
) -> Result<bool, ServiceError> {
    let state = app.store.agent_state(job, agent, Some(date)).await?;
    let Some(state) = state.filter(|state| state.after == Some(date)) else { return Ok(false) };
    Ok(!start_state(app, &state.state).await?.books.pending().is_empty())
}

/// A stored state as a document of another job, with its `unverified` mark.
pub(super) async fn import_state(
    app: &App,
    ancestor: Ancestor<'_>,
    stored: &serde_json::Value,
) -> Result<(ContentDoc, Option<Unverified>), ServiceError> {
    let mut document = full_document(app, stored).await?;
    let mark = continued(app, ancestor, &mut document).await?;
    Ok((ContentDoc::of(&document), mark))
}

/// The jobs that completed the days, in order, as text.
pub(super) fn by_jobs(days: &[SkippedDay], dates: &[Date]) -> String {
    let mut spans: Vec<(&JobId, Date, Date)> = Vec::new();
    for (day, date) in days.iter().zip(dates) {
        match spans.last_mut() {
            Some((job, _, last)) if **job == day.job => *last = *date,
            _ => spans.push((&day.job, *date, *date)),
        }
    }
    match &spans[..] {
        [(job, ..)] => format!("job {job}"),
        spans => {
            let text = |(job, first, last): &(&JobId, Date, Date)| format!("job {job} ({first} to {last})");
            spans.iter().map(text).collect::<Vec<_>>().join(", ")
        }
    }
}

/// The jobs with the replaced days, and the jobs that continue those.
pub(super) async fn replaced(
    app: &App,
    planned: &PlannedDays<'_>,
) -> Result<(Vec<JobId>, Vec<JobId>), ServiceError> {
    let agent = &planned.agent.name;
    let Some(first) = planned.dates.first() else { return Ok((Vec::new(), Vec::new())) };
    let roots = app.store.accounts_from(agent, planned.hash, *first).await?;
    let roots: Vec<JobId> = roots.into_iter().map(|root| root.job).collect();
    let mut open = roots.clone();
    let mut following = Vec::new();
    while let Some(job) = open.pop() {
        for next in app.store.continuations_of(&job, agent).await? {
            if !roots.contains(&next.job) && !following.contains(&next.job) {
                following.push(next.job.clone());
                open.push(next.job);
            }
        }
    }
    Ok((roots, following))
}
