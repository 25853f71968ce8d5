//! A simulation: agents run concurrently, each one's days in order.

use crate::branch::before_cut;
use crate::budget::Budgets;
use crate::cancellation::{CancelToken, StopReason};
use crate::config::{Branch, SimulationConfig};
use crate::day::AgentDay;
use crate::host::{JobRun, LiveHost};
use crate::services::Services;
use crate::summarise;
use crate::tape_reader::{self, stop_of};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::{StartState, run_day};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::money::Money;
use papertape_core::ports::RecordStore;
use papertape_core::record::{DayStatus, JobRow, JobStatus, Lease, NewSession, ReusedSession, Write};
use papertape_core::tape::{SessionRun, SessionStop, StepClass, Tape};
use papertape_core::time::Date;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Notified of progress, for progress bars. Has no influence on the run.
pub trait Observer: Send + Sync {
    /// Called after an agent's day.
    fn day_ended(&self, agent: &AgentName, date: Date, status: DayStatus, portfolio_value: Money);
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {
    fn day_ended(&self, _: &AgentName, _: Date, _: DayStatus, _: Money) {}
}

/// How a job ended, or stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutcome {
    /// Its status now.
    pub status: JobStatus,
    /// Why it is not `completed`.
    pub error: Option<String>,
    /// A sentence on the result, if there is more to say than its status.
    pub note: Option<String>,
    /// Structured details: fields of the details of the job's last log row.
    pub details: serde_json::Map<String, serde_json::Value>,
}

impl JobOutcome {
    /// An end with this status, and an error unless it is `completed`.
    pub(crate) fn of(status: JobStatus, error: Option<String>) -> Self {
        Self { status, error, note: None, details: serde_json::Map::new() }
    }

    /// A job that failed before it started.
    pub(crate) fn failed(error: String) -> Self {
        Self::of(JobStatus::Failed, Some(error))
    }
}

/// Result of one agent's days.
struct AgentEnd {
    agent: AgentName,
    completed: usize,
    failed: usize,
    stop: Option<SessionStop>,
}

/// Runs a claimed job until it ends or stops. Writes everything except the job's own status.
///
/// # Errors
/// [`SessionStop::LostLease`] if another worker has claimed the job; nothing more may be written for it.
pub async fn run(
    services: &Services,
    (lease, job): (&Lease, &JobRow),
    signal: CancelToken,
    observer: &dyn Observer,
) -> Result<JobOutcome, SessionStop> {
    let failed = |error: String| Ok(JobOutcome::failed(error));
    let config: SimulationConfig = match serde_json::from_value(job.config.clone()) {
        Ok(config) => config,
        Err(error) => return failed(format!("the job's config cannot be read: {error}")),
    };
    let dataset = match services.datasets.open(config.dataset.hash) {
        Ok(dataset) => dataset,
        Err(error) => return failed(error),
    };
    let spent = services.record.load_usage(&job.id).await.map_err(stop_of)?;
    let run = Arc::new(JobRun {
        services: services.clone(),
        lease: lease.clone(),
        budgets: Budgets::rebuild(config.budget, spent),
        signal,
        assisting: None,
    });
    let plan = Arc::new(RunningSimulation { run: Arc::clone(&run), config, dataset, job: job.id.clone() });
    let ends = side_by_side(&plan, observer).await;
    let config = &plan.config;
    let mut summaries = Ok(());
    if config.summaries && ends.iter().all(|end| !matches!(end.stop, Some(SessionStop::LostLease))) {
        // A resumed job requests its summaries again; a finished one never does.
        let denied = match ends.iter().all(|end| end.stop.is_none()) {
            true => summarise::OnDenied::Record,
            false => summarise::OnDenied::Leave,
        };
        summaries = summarise::run(&run, config, &job.id, denied).await;
    }
    conclude(&run, ends, summaries)
}

/// Runs all agents concurrently, each as its own task so that they share the CPUs; results are in the order of
/// the config. Dropping this aborts them.
async fn side_by_side(plan: &Arc<RunningSimulation>, observer: &dyn Observer) -> Vec<AgentEnd> {
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for at in 0..plan.config.agents.len() {
        let (plan, tell) = (Arc::clone(plan), tell.clone());
        tasks.spawn(async move { (at, plan.run_agent(&plan.config.agents[at], &tell).await) });
    }
    drop(tell);
    // Ends when the last agent does.
    while let Some(day) = told.recv().await {
        let DayEnd { agent, date, status, value } = day;
        observer.day_ended(&agent, date, status, value);
    }
    let mut ends = tasks.join_all().await;
    ends.sort_by_key(|(at, _)| *at);
    ends.into_iter().map(|(_, end)| end).collect()
}

/// Derives the job's status from its agents' results.
fn conclude(
    run: &JobRun,
    ends: Vec<AgentEnd>,
    summaries: Result<(), SessionStop>,
) -> Result<JobOutcome, SessionStop> {
    let completed: usize = ends.iter().map(|end| end.completed).sum();
    let failed: usize = ends.iter().map(|end| end.failed).sum();
    let mut stops: Vec<(SessionStop, String)> = Vec::new();
    for end in ends {
        if let Some(stop) = end.stop {
            let reason = match &stop {
                // Only this agent's model needs fixing; the others may use a different one.
                SessionStop::Denied { .. } => format!("agent {} stopped: {stop}", end.agent),
                _ => stop.to_string(),
            };
            stops.push((stop, reason));
        }
    }
    // A used-up summary budget, or a model that denies summaries, does not affect the job.
    let summaries =
        summaries.err().filter(|stop| !matches!(stop, SessionStop::Budget(_) | SessionStop::Denied { .. }));
    stops.extend(summaries.map(|stop| (stop.clone(), stop.to_string())));
    if stops.iter().any(|(stop, _)| matches!(stop, SessionStop::LostLease)) {
        return Err(SessionStop::LostLease);
    }
    let status = match run.signal.reason() {
        Some(StopReason::Cancelled) if !stops.is_empty() => JobStatus::Cancelled,
        Some(StopReason::Shutdown) if !stops.is_empty() => JobStatus::Queued,
        Some(StopReason::LostLease) => return Err(SessionStop::LostLease),
        _ if stops.is_empty() && failed == 0 => JobStatus::Completed,
        _ if completed == 0 => JobStatus::Failed,
        _ => JobStatus::Partial,
    };
    let reasons: std::collections::BTreeSet<String> = stops.into_iter().map(|(_, reason)| reason).collect();
    let error = match (reasons.is_empty(), failed) {
        (true, 0) => None,
        (true, failed) => Some(format!("{failed} model-day(s) failed")),
        (false, _) => Some(reasons.into_iter().collect::<Vec<_>>().join("; ")),
    };
    Ok(JobOutcome::of(status, error))
}

/// A finished day, on its way to the observer.
struct DayEnd {
    agent: AgentName,
    date: Date,
    status: DayStatus,
    value: Money,
}

/// One running job, as its agents see it.
struct RunningSimulation {
    run: Arc<JobRun>,
    config: SimulationConfig,
    dataset: Arc<Dataset>,
    job: JobId,
}

impl RunningSimulation {
    /// Runs all days of one agent that are not done yet.
    async fn run_agent(&self, agent: &AgentConfig, tell: &mpsc::UnboundedSender<DayEnd>) -> AgentEnd {
        let mut end = AgentEnd { agent: agent.name.clone(), completed: 0, failed: 0, stop: None };
        end.stop = self.run_days(agent, tell, &mut end).await.err();
        if let Some(stop) = &end.stop {
            tracing::info!(job = %self.job, agent = %agent.name, reason = %stop, "agent stopped");
        }
        end
    }

    async fn run_days(
        &self,
        agent: &AgentConfig,
        tell: &mpsc::UnboundedSender<DayEnd>,
        end: &mut AgentEnd,
    ) -> Result<(), SessionStop> {
        let record = &*self.run.services.record;
        let (mut state, after) = start_state(record, &self.config, &self.job, agent).await?;
        let days = self.dataset.trading_days(self.config.start_date, self.config.end_date);
        for (index, day) in days.iter().enumerate() {
            if after.is_some_and(|after| day.date <= after) {
                let done = record.find_session(&self.job, &agent.name, day.date).await.map_err(stop_of)?;
                match done.and_then(|done| done.ended) {
                    Some(DayStatus::Failed) => end.failed += 1,
                    // Including a day completed in another job.
                    _ => end.completed += 1,
                }
                continue;
            }
            self.run.signal.check()?;
            let last = index + 1 == days.len();
            let (next, status) = Box::pin(self.run_session(agent, *day, last, state)).await?;
            match status {
                DayStatus::Failed => end.failed += 1,
                _ => end.completed += 1,
            }
            let (agent, value) = (agent.name.clone(), next.books.last_value());
            // The receiver is gone while the job is being dropped.
            let _ = tell.send(DayEnd { agent, date: day.date, status, value });
            state = next;
        }
        Ok(())
    }

    /// One agent's day: replayed from its tape as far as that goes, then live.
    async fn run_session(
        &self,
        agent: &AgentConfig,
        day: TradingDay,
        last: bool,
        start: StartState,
    ) -> Result<(StartState, DayStatus), SessionStop> {
        let services = &self.run.services;
        let record = &*services.record;
        let new = NewSession { agent: agent.name.clone(), date: day.date, at: services.clock.now() };
        let opened = record.open_session(&self.run.lease, new).await.map_err(stop_of)?;
        let mut tape = Tape::new(tape_reader::rows(record, opened.id, false).await.map_err(stop_of)?);
        let of_day = AgentDay::of(services, &self.config, agent, (&self.dataset, day), &start).await?;
        let agent = of_day.agent();
        if let Some(branch) = &self.config.branch {
            tape = inherit(record, tape, branch, &of_day, day.date).await?;
        }
        let time = Duration::from_secs(agent.limits.session_timeout_secs);
        let who = (agent.name.clone(), day.date);
        let host = LiveHost::new(Arc::clone(&self.run), opened.id, who, false, Some(time));
        let seed = start.day_seed(agent, day.date);
        let host = Arc::new(host);
        let session = SessionRun::new(Arc::clone(&host) as _, tape, Arc::clone(&services.redactor), seed);
        let input = of_day.input(services, &self.config, &self.dataset, (day, last));
        let mut root = session.root();
        let result = match run_day(&mut root, &input, start).await {
            Err(stop @ SessionStop::Denied { .. }) => {
                host.write(vec![Write::FailDay { error: stop.to_string() }]).await?;
                return Err(stop);
            }
            ended => ended?,
        };
        let status = result.closing.status;
        let mut writes: Vec<Write> = result.texts.into_iter().map(Write::Text).collect();
        writes.extend(result.vectors.into_iter().map(Write::Vector));
        writes.push(Write::Text(result.closing.state.clone()));
        writes.push(Write::CloseSession(Box::new(result.closing)));
        session.finish(writes).await?;
        Ok((result.state, status))
    }
}

/// The newest state of an agent in a job, and the day after which it was stored.
pub(crate) async fn start_state(
    record: &dyn RecordStore,
    config: &SimulationConfig,
    job: &JobId,
    agent: &AgentConfig,
) -> Result<(StartState, Option<Date>), SessionStop> {
    match record.agent_state(job, &agent.name, None).await.map_err(stop_of)? {
        Some(found) => {
            let whole = tape_reader::expand_stored(record, &found.state).await.map_err(stop_of)?;
            Ok((read_state(whole)?, found.after))
        }
        None => {
            let hash = config.starts.get(&agent.name).copied();
            let hash =
                hash.ok_or_else(|| SessionStop::Record(format!("{} has no start state", agent.name)))?;
            Ok((state_of(record, hash).await?, config.done_until(&agent.name)))
        }
    }
}

/// A stored start state.
pub(crate) async fn state_of(record: &dyn RecordStore, hash: ContentHash) -> Result<StartState, SessionStop> {
    let whole = tape_reader::document(record, hash).await.map_err(stop_of)?;
    read_state(
        whole.ok_or_else(|| SessionStop::Record(format!("the start state {hash} is not in the record")))?,
    )
}

fn read_state(whole: serde_json::Value) -> Result<StartState, SessionStop> {
    serde_json::from_value(whole)
        .map_err(|error| SessionStop::Record(format!("a start state cannot be read: {error}")))
}

/// Copies what the parent did before the cut into a branch's session.
async fn inherit(
    record: &dyn RecordStore,
    tape: Tape,
    branch: &Branch,
    of_day: &AgentDay,
    date: Date,
) -> Result<Tape, SessionStop> {
    if date > branch.date {
        return Ok(tape);
    }
    let parent = record.find_session(&branch.job, &of_day.agent().name, date).await.map_err(stop_of)?;
    let Some(parent) = parent else { return Ok(tape) };
    let mut rows = tape_reader::rows(record, parent.id, false).await.map_err(stop_of)?;
    if date == branch.date {
        rows = before_cut(rows, of_day.graph(), &branch.at);
    }
    // Nothing below a guard outcome runs again, so the rows derived from those steps are copied with them.
    if rows.iter().any(|row| row.class == StepClass::Guard) {
        let mut implied = record.load_derived_rows(parent.id).await.map_err(stop_of)?;
        for row in &mut rows {
            row.implied = implied.remove(&row.path).unwrap_or_default();
        }
    }
    let agent = of_day.agent().name.clone();
    Ok(tape.with_parent(ReusedSession { job: branch.job.clone(), agent, date }, rows))
}
