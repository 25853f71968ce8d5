//! Replay: the same days on the same tape, with a host that makes no calls.

use crate::day::{AgentDay, JobInputs};
use crate::services::Services;
use crate::start_state;
use crate::tape_reader::{self, stop_of};
use futures::FutureExt as _;
use futures::future::ready;
use papertape_agents::config::AgentConfig;
use papertape_agents::day::StartState;
use papertape_core::RULES_VERSION;
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::json::difference;
use papertape_core::market::TradingDay;
use papertape_core::message::{ModelReply, ModelRequest};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply, RecordStore};
use papertape_core::record::{JobRow, Write};
use papertape_core::tape::{CallOptions, CallOutcome, Host, SessionStop, StepPath, Tape};
use papertape_core::time::Date;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayReport {
    /// The rules version of the job, if it is not this program's: nothing was replayed.
    pub recorded_under: Option<u32>,
    /// Number of sessions that reproduced exactly.
    pub equal: usize,
    /// Number of steps read.
    pub steps: usize,
    /// Number of sessions that have not ended and were not replayed.
    pub unfinished: usize,
    /// Sessions that did not reproduce, only the first of each agent: its later days start from it.
    pub faults: Vec<ReplayDifference>,
}

/// A session that did not reproduce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayDifference {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// What differs, and where.
    pub reason: String,
}

/// Runs every finished session of a job on its tape and compares requests, books and end states. Needs neither
/// provider nor network. A job with another rules version is not replayed: the report names the version.
///
/// # Errors
/// A message, if the job cannot be replayed at all: its config or its data cannot be read.
pub async fn run(services: &Services, job: &JobRow) -> Result<ReplayReport, String> {
    if job.rules_version != RULES_VERSION {
        // Under other rules the result differs, which says nothing about the record.
        return Ok(ReplayReport { recorded_under: Some(job.rules_version), ..ReplayReport::default() });
    }
    let (config, dataset) = services.open_simulation(job)?;
    let mut report = ReplayReport::default();
    for agent in &config.agents {
        let replay = Replay { inputs: JobInputs { services, config: &config, dataset: &dataset }, job };
        if let Err((date, stop)) = replay.run_agent(agent, &mut report).await {
            let fault = ReplayDifference { agent: agent.name.clone(), date, reason: stop.to_string() };
            report.faults.push(fault);
        }
    }
    Ok(report)
}

struct Replay<'a> {
    inputs: JobInputs<'a>,
    job: &'a JobRow,
}

impl Replay<'_> {
    async fn run_agent(
        &self,
        agent: &AgentConfig,
        report: &mut ReplayReport,
    ) -> Result<(), (Date, SessionStop)> {
        let JobInputs { services, config, dataset } = self.inputs;
        let record = &*services.record;
        let state = start_state::initial(record, config, agent).await;
        let mut state = state.map_err(|stop| (config.start_date, stop))?;
        let days = dataset.trading_days(config.start_date, config.end_date);
        for (index, day) in days.iter().enumerate() {
            let at = |stop| (day.date, stop);
            let found = record.find_session(&self.job.id, &agent.name, day.date).await;
            let Some(found) = found.map_err(|error| at(stop_of(error)))? else { continue };
            if found.ended.is_none() {
                report.unfinished += 1;
                continue;
            }
            let is_last = index + 1 == days.len();
            let rows =
                tape_reader::rows(record, found.id, false).await.map_err(|error| at(stop_of(error)))?;
            report.steps += rows.len();
            let replayed = self.run_session(agent, (*day, is_last), state, Tape::new(rows).replay_only());
            state = Box::pin(replayed).await.map_err(at)?;
            self.compare(agent, day.date, &state).await.map_err(at)?;
            report.equal += 1;
        }
        Ok(())
    }

    async fn run_session(
        &self,
        agent: &AgentConfig,
        day: (TradingDay, bool),
        start: StartState,
        tape: Tape,
    ) -> Result<StartState, SessionStop> {
        let host = ReplayHost { record: Arc::clone(&self.inputs.services.record) };
        let agent_day = AgentDay::of(self.inputs, agent, day, &start).await?;
        let (result, session) = agent_day.run(Arc::new(host), tape, start).await?;
        session.finish(Vec::new()).await?;
        Ok(result.state)
    }

    /// Compares the state after the day with the stored one.
    async fn compare(&self, agent: &AgentConfig, date: Date, state: &StartState) -> Result<(), SessionStop> {
        let record = &*self.inputs.services.record;
        let stored = record.agent_state(&self.job.id, &agent.name, Some(date)).await.map_err(stop_of)?;
        let now = state.to_doc();
        match stored {
            Some(stored) if stored.hash == now.hash && stored.after == Some(date) => Ok(()),
            Some(stored) => {
                let was = tape_reader::expand_stored(record, &stored.state).await.map_err(stop_of)?;
                let found = difference(&was, &papertape_core::json::to_value(state));
                let place = found.map_or_else(|| "its day".to_owned(), |found| found.pointer);
                Err(SessionStop::Record(format!(
                    "the state after {date} differs from the stored one at {place}"
                )))
            }
            None => Err(SessionStop::Record(format!("there is no stored state after {date}"))),
        }
    }
}

/// Makes no calls. A replay-only tape only loads recorded requests from it.
pub(crate) struct ReplayHost {
    pub(crate) record: Arc<dyn RecordStore>,
}

fn missing<'a, T: Send + 'a>(path: &StepPath) -> BoxFuture<'a, Result<T, SessionStop>> {
    ready(Err(SessionStop::Missing(path.clone()))).boxed()
}

impl Host for ReplayHost {
    fn reserve<'a>(
        &'a self,
        path: &'a StepPath,
        _: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        missing(path)
    }

    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        _: &'a ModelRequest,
        _: CallOptions,
        _: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        missing(path)
    }

    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        _: &'a ExternalCall,
        _: CallOptions,
        _: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        missing(path)
    }

    fn commit<'a>(&'a self, _: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        ready(Err(SessionStop::ContractViolation("a replay writes nothing".to_owned()))).boxed()
    }

    /// Never resolves: what met its deadline then meets it now.
    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>> {
        async move { tape_reader::request(&*self.record, at).await.ok().flatten() }.boxed()
    }
}
