//! Which of an agent's days are done already. A day is skipped only as part of one account: from the range's
//! first day on, without a gap, in one job or in jobs that continue each other.

use super::TriggerError;
use super::inherit::{Ancestor, continued};
use crate::app::App;
use crate::states::{start_state, whole};
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

/// What can be skipped of an agent's days.
pub(super) struct Done {
    /// The days, from the first one of the range on.
    pub(super) days: Vec<SkippedDay>,
    /// The days among all that were found done, skipped or not, that are degraded: at most the first of an account
    /// whose days are to be run again from there.
    pub(super) degraded: Vec<Date>,
}

/// What is looked for.
pub(super) struct Wanted<'a> {
    pub(super) config: &'a SimulationConfig,
    pub(super) agent: &'a AgentConfig,
    /// See `SimulationConfig::agent_hash`.
    pub(super) hash: ContentHash,
    /// The agent's days, oldest first.
    pub(super) dates: &'a [Date],
    /// Are days from the first degraded one on not done?
    pub(super) rerun_degraded: bool,
}

/// The longest account that the new job can continue; of several, the one begun last.
pub(super) async fn done(app: &App, wanted: &Wanted<'_>) -> Result<Done, TriggerError> {
    let mut best: Option<Done> = None;
    for account in accounts(app, wanted).await? {
        let found = usable(app, wanted, &account).await?;
        if best.as_ref().is_none_or(|best| best.days.len() < found.days.len()) {
            best = Some(found);
        }
    }
    Ok(best.unwrap_or(Done { days: Vec::new(), degraded: Vec::new() }))
}

/// The accounts that begin on the range's first day, each as far as its days are done, by way of every job that
/// continues it.
async fn accounts(app: &App, wanted: &Wanted<'_>) -> Result<Vec<Vec<AccountDay>>, TriggerError> {
    let Some(first) = wanted.dates.first() else { return Ok(Vec::new()) };
    let agent = &wanted.agent.name;
    let roots = app.store.accounts_from(agent, wanted.hash, *first).await.map_err(anyhow::Error::from)?;
    let mut open: VecDeque<(JobId, Vec<AccountDay>)> =
        roots.into_iter().map(|root| (root.job.clone(), extend(&[], &root, wanted.dates))).collect();
    let mut seen = BTreeSet::new();
    let mut accounts = Vec::new();
    while let Some((job, days)) = open.pop_front() {
        if seen.insert(job.clone()) && days.len() < wanted.dates.len() {
            for next in app.store.continuations_of(&job, agent).await.map_err(anyhow::Error::from)? {
                let shared = days.iter().position(|day| Some(day.date) == next.continued);
                let shared = shared.map_or(&days[..0], |at| &days[..=at]);
                if let Some(last) = shared.last()
                    && next.days.first().map(|day| day.date) == wanted.dates.get(shared.len()).copied()
                    && continued_hash(app, wanted, &job, last.date).await? == Some(next.agent_hash)
                {
                    open.push_back((next.job.clone(), extend(shared, &next, wanted.dates)));
                }
            }
        }
        accounts.push(days);
    }
    Ok(accounts)
}

/// The days of an account with those that a job adds, up to the first that is not done or not wanted.
fn extend(before: &[AccountDay], job: &AccountDays, dates: &[Date]) -> Vec<AccountDay> {
    let is_done = |day: &&AccountDay| {
        matches!(day.status, DayStatus::Completed | DayStatus::Skipped) && day.done.is_some()
    };
    let more = job.days.iter().zip(&dates[before.len()..]);
    let more = more.take_while(|(day, date)| day.date == **date && is_done(day)).map(|(day, _)| day);
    before.iter().chain(more).cloned().collect()
}

/// The hash of the agent's days in a job that continues this one with the same config.
async fn continued_hash(
    app: &App,
    wanted: &Wanted<'_>,
    job: &JobId,
    date: Date,
) -> Result<Option<ContentHash>, TriggerError> {
    let agent = &wanted.agent.name;
    let state = app.store.agent_state(job, agent, Some(date)).await.map_err(anyhow::Error::from)?;
    let Some(state) = state.filter(|state| state.after == Some(date)) else { return Ok(None) };
    let (start, _) = imported(app, Ancestor { job, agent, until: date }, &state.state).await?;
    Ok(Some(wanted.config.agent_hash(wanted.agent, start.hash)))
}

/// How much of an account can be skipped. One run over the whole range must have come to the same days: orders
/// expire at a run's last day and no other, and nothing follows from a degraded day that is to be run again.
async fn usable(app: &App, wanted: &Wanted<'_>, account: &[AccountDay]) -> Result<Done, TriggerError> {
    let all = wanted.dates.len();
    let ends_early = |(at, day): (usize, &AccountDay)| day.has_expired_orders && at + 1 < all;
    let mut count =
        account.iter().enumerate().position(|(at, day)| ends_early((at, day))).unwrap_or(account.len());
    let mut degraded = degraded(app, &account[..count]).await?;
    if wanted.rerun_degraded
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
            && has_pending_orders(app, job, &wanted.agent.name, last.date).await?
        {
            count -= 1;
            degraded.retain(|date| *date < last.date);
        }
    }
    Ok(Done { days: days(count), degraded })
}

/// The degraded ones among days that are done.
async fn degraded(app: &App, days: &[AccountDay]) -> Result<Vec<Date>, TriggerError> {
    let session = |day: &AccountDay| day.done.as_ref().map(|done| done.session);
    let sessions: Vec<SessionId> = days.iter().filter_map(session).collect();
    let metadata: BTreeMap<SessionId, String> =
        app.store.metadata_of(&sessions).await.map_err(anyhow::Error::from)?;
    let is_full = |day: &&AccountDay| {
        let metadata = session(day).and_then(|session| metadata.get(&session));
        is_full_research(metadata.map(String::as_str))
    };
    Ok(days.iter().filter(|day| !is_full(day)).map(|day| day.date).collect())
}

/// Do orders wait at a close for the next open?
async fn has_pending_orders(
    app: &App,
    job: &JobId,
    agent: &AgentName,
    date: Date,
) -> Result<bool, TriggerError> {
    let state = app.store.agent_state(job, agent, Some(date)).await.map_err(anyhow::Error::from)?;
    let Some(state) = state.filter(|state| state.after == Some(date)) else { return Ok(false) };
    Ok(!start_state(app, &state.state).await?.books.pending().is_empty())
}

/// A state of the record as a document of another job, with the mark that it carries.
pub(super) async fn imported(
    app: &App,
    ancestor: Ancestor<'_>,
    stored: &serde_json::Value,
) -> Result<(ContentDoc, Option<Unverified>), TriggerError> {
    let mut whole = whole(app, stored).await?;
    let mark = continued(app, ancestor, &mut whole).await?;
    Ok((ContentDoc::of(&whole), mark))
}

/// The days that jobs have done, one after the other, as a person reads them.
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
            let one = |(job, first, last): &(&JobId, Date, Date)| format!("job {job} ({first} to {last})");
            spans.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }
}

/// The jobs in which replaced days lie, those included that continue them.
pub(super) async fn replaced(
    app: &App,
    wanted: &Wanted<'_>,
) -> Result<(Vec<JobId>, Vec<JobId>), TriggerError> {
    let agent = &wanted.agent.name;
    let Some(first) = wanted.dates.first() else { return Ok((Vec::new(), Vec::new())) };
    let roots = app.store.accounts_from(agent, wanted.hash, *first).await.map_err(anyhow::Error::from)?;
    let roots: Vec<JobId> = roots.into_iter().map(|root| root.job).collect();
    let mut open = roots.clone();
    let mut following = Vec::new();
    while let Some(job) = open.pop() {
        for next in app.store.continuations_of(&job, agent).await.map_err(anyhow::Error::from)? {
            if !roots.contains(&next.job) && !following.contains(&next.job) {
                following.push(next.job.clone());
                open.push(next.job);
            }
        }
    }
    Ok((roots, following))
}
