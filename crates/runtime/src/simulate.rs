//! A simulation: agents run concurrently, each one's days in order.

use crate::branch::before_cut;
use crate::budget::Budgets;
use crate::cancellation::StopReason;
use crate::config::{Branch, SimulationConfig};
use crate::day::{AgentDay, JobInputs};
use crate::host::LiveHost;
use crate::job_run::JobRun;
use crate::job_runner::ClaimedJob;
use crate::shared_budgets;
use crate::start_state;
use crate::summaries;
use crate::tape_reader::{self, stop_of};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_agents::graph::DOOR;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::job::stop_reason;
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::money::Money;
use papertape_core::part::agents_of_part;
use papertape_core::ports::RecordStore;
use papertape_core::record::{DayStatus, JobStatus, NewSession, ReusedSession, Write};
use papertape_core::tape::{SessionStop, StepClass, Tape};
use papertape_core::time::Date;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use crate::job_runner::{JobOutcome, NoopObserver, Observer};

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
/// [`SessionStop::LostLease`].
pub(crate) async fn run(job: ClaimedJob<'_>) -> Result<JobOutcome, SessionStop> {
    let (services, id) = (job.services, &job.row.id);
    let (mut config, dataset) = match services.open_simulation(job.row) {
        Ok(opened) => opened,
        Err(error) => return Ok(JobOutcome::failed(error)),
    };
    let mut usage = services.record.load_usage(id).await.map_err(stop_of)?;
    let is_part = job.lease.part > 0;
    if is_part {
        // Only the part's agents run, sum up and spend here.
        let own = agents_of_part(config.agents.len(), job.row.parts, job.lease.part);
        config.agents = config.agents.drain(own).collect();
        usage.retain(|usage| config.agents.iter().any(|agent| agent.name == usage.agent));
    }
    let experiment = services.shared_budgets.experiment_limit(id).await.map_err(stop_of)?;
    let owner = experiment.as_ref().map_or(id.as_str(), |(experiment, _)| experiment.as_str());
    let overrun = services.overruns.of(owner);
    let limit = experiment.as_ref().map(|(_, limit)| *limit);
    let budgets = Budgets::rebuild(config.budget, usage).sharing(limit, is_part, overrun);
    let is_own = |name: &AgentName| config.agents.iter().any(|agent| agent.name == *name);
    let open_calls = shared_budgets::reserve_open_calls(services, job.lease, &budgets, is_own);
    let open_calls = open_calls.await.map_err(stop_of)?;
    let run = Arc::new(JobRun::new(job, budgets).with_open_calls(open_calls));
    let simulation = Arc::new(RunningSimulation { run: Arc::clone(&run), config, dataset, job: id.clone() });
    let ends = run_agents(&simulation, job.observer).await;
    let config = &simulation.config;
    let mut summaries = Ok(());
    if config.summaries && ends.iter().all(|end| !matches!(end.stop, Some(SessionStop::LostLease))) {
        // A resumed job requests its summaries again; a finished one never does.
        let denied = match ends.iter().all(|end| end.stop.is_none()) {
            true => summaries::OnDenied::Record,
            false => summaries::OnDenied::Leave,
        };
        summaries = summaries::run(&run, config, id, denied).await;
    }
    conclude(&run, ends, summaries)
}

/// Runs all agents concurrently, each as its own task so that they share the CPUs; results are in the order of
/// the config. Dropping this aborts them.
async fn run_agents(simulation: &Arc<RunningSimulation>, observer: &dyn Observer) -> Vec<AgentEnd> {
    let (progress, mut days) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for at in 0..simulation.config.agents.len() {
        let (simulation, progress) = (Arc::clone(simulation), progress.clone());
        tasks
            .spawn(async move { (at, simulation.run_agent(&simulation.config.agents[at], &progress).await) });
    }
    drop(progress);
    // Ends when the last agent does.
    while let Some(DayEnd { agent, date, status, value }) = days.recv().await {
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
    let status = match run.cancel.reason() {
        Some(StopReason::Cancelled) if !stops.is_empty() => JobStatus::Cancelled,
        Some(StopReason::Shutdown) if !stops.is_empty() => JobStatus::Queued,
        Some(StopReason::LostLease) => return Err(SessionStop::LostLease),
        _ if stops.is_empty() && failed == 0 => JobStatus::Completed,
        _ if completed == 0 => JobStatus::Failed,
        _ => JobStatus::Partial,
    };
    let reasons: BTreeSet<String> = stops.into_iter().map(|(_, reason)| reason).collect();
    let error = stop_reason(&reasons, failed);
    Ok(JobOutcome { reasons, ..JobOutcome::of(status, error) })
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
    async fn run_agent(&self, agent: &AgentConfig, progress: &mpsc::UnboundedSender<DayEnd>) -> AgentEnd {
        let mut end = AgentEnd { agent: agent.name.clone(), completed: 0, failed: 0, stop: None };
        end.stop = self.run_days(agent, progress, &mut end).await.err();
        if let Some(stop) = &end.stop {
            tracing::info!(job = %self.job, agent = %agent.name, reason = %stop, "agent stopped");
        }
        end
    }

    async fn run_days(
        &self,
        agent: &AgentConfig,
        progress: &mpsc::UnboundedSender<DayEnd>,
        end: &mut AgentEnd,
    ) -> Result<(), SessionStop> {
        let record = &*self.run.services.record;
        let (mut state, after) = start_state::newest(record, &self.config, &self.job, agent).await?;
        let days = self.dataset.trading_days(self.config.start_date, self.config.end_date);
        let done = days.partition_point(|day| after.is_some_and(|after| day.date <= after));
        if done > 0 {
            let ended = record.ended_days(&self.job, &agent.name).await.map_err(stop_of)?;
            let is_failed = |day: &&TradingDay| ended.get(&day.date) == Some(&DayStatus::Failed);
            end.failed = days[..done].iter().filter(is_failed).count();
            // Including the days completed in another job.
            end.completed = done - end.failed;
        }
        let mut written = BTreeSet::new();
        for (index, day) in days.iter().enumerate().skip(done) {
            self.run.cancel.check()?;
            let is_last = index + 1 == days.len();
            let session = self.run_session(agent, (*day, is_last), state, &mut written);
            let (next, status) = Box::pin(session).await?;
            match status {
                DayStatus::Failed => end.failed += 1,
                _ => end.completed += 1,
            }
            let (agent, value) = (agent.name.clone(), next.books.last_value());
            // The receiver is gone while the job is being dropped.
            let _ = progress.send(DayEnd { agent, date: day.date, status, value });
            state = next;
        }
        Ok(())
    }

    /// One agent's day: replayed from its tape as far as that goes, then live. `written`: the texts of the newest state
    /// that this run has committed; the next state has most of them too.
    async fn run_session(
        &self,
        agent: &AgentConfig,
        (day, is_last): (TradingDay, bool),
        start: StartState,
        written: &mut BTreeSet<ContentHash>,
    ) -> Result<(StartState, DayStatus), SessionStop> {
        let services = &self.run.services;
        let record = &*services.record;
        let new = NewSession { agent: agent.name.clone(), date: day.date, at: services.clock.now() };
        let opened = record.open_session(&self.run.lease, new).await.map_err(stop_of)?;
        let mut tape = tape_reader::opened(record, &opened).await?;
        let inputs = JobInputs { services, config: &self.config, dataset: &self.dataset };
        let agent_day = AgentDay::of(inputs, agent, (day, is_last), &start).await?;
        let agent = agent_day.agent();
        if let Some(branch) = &self.config.branch {
            tape = inherit(record, tape, branch, &agent_day, day.date).await?;
        }
        let host = LiveHost::new(Arc::clone(&self.run), opened.id, (agent.name.clone(), day.date));
        let host = host.with_external(agent.external.clone());
        let host = Arc::new(host.with_timeout(Duration::from_secs(agent.limits.session_timeout_secs)));
        let ended = agent_day.run(Arc::clone(&host) as _, tape, start).await;
        let (result, session) = match host.ended(ended).await {
            Err(stop @ SessionStop::Denied { .. }) => {
                host.write(vec![Write::FailDay { error: stop.to_string() }]).await?;
                return Err(stop);
            }
            ended => ended?,
        };
        let status = result.closing.status;
        let hashes = result.texts.iter().map(|text| text.hash).collect();
        let new = result.texts.into_iter().filter(|text| !written.contains(&text.hash));
        let mut writes: Vec<Write> = new.map(Write::Text).collect();
        writes.extend(result.vectors.into_iter().map(Write::Vector));
        writes.push(Write::Text(result.closing.state.clone()));
        writes.push(Write::CloseSession(Box::new(result.closing)));
        session.finish(writes).await?;
        *written = hashes;
        Ok((result.state, status))
    }
}

/// Copies what the parent did before the cut into a branch's session.
async fn inherit(
    record: &dyn RecordStore,
    tape: Tape,
    branch: &Branch,
    agent_day: &AgentDay<'_>,
    date: Date,
) -> Result<Tape, SessionStop> {
    if date > branch.date {
        return Ok(tape);
    }
    let parent = record.find_session(&branch.job, &agent_day.agent().name, date).await.map_err(stop_of)?;
    let Some(parent) = parent else { return Ok(tape) };
    let mut rows = tape_reader::rows(record, parent.id, false).await.map_err(stop_of)?;
    if date == branch.date {
        rows = before_cut(rows, agent_day.graph(), &branch.at);
    }
    // Nothing below a guard outcome runs again, nor do the model calls of an external agent whose requests are copied: the
    // rows derived from those steps are copied with them.
    if rows.iter().any(|row| row.class == StepClass::Guard || row.path.is_within(DOOR)) {
        let mut implied = record.load_derived_rows(parent.id).await.map_err(stop_of)?;
        for row in &mut rows {
            row.implied = implied.remove(&row.path).unwrap_or_default();
        }
    }
    let agent = agent_day.agent().name.clone();
    Ok(tape.with_parent(ReusedSession { job: branch.job.clone(), agent, date }, rows))
}
