//! The session of an assistant job: opened, run by the job's kind, closed.

use super::action_attempts::AssistantActions;
use super::child_budgets::ChildBudgets;
use super::{Assistant, AssistantConfig};
use crate::budget::Budgets;
use crate::cancellation::StopReason;
use crate::child_jobs::session_key;
use crate::config::decode;
use crate::host::LiveHost;
use crate::job_run::JobRun;
use crate::job_runner::{ClaimedJob, JobOutcome};
use crate::services::Services;
use crate::tape_reader::{self, stop_of};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::money::Money;
use papertape_core::ports::BoxFuture;
use papertape_core::record::{
    CloseSession, DayStatus, JobKind, JobRow, JobStatus, NewSession, StartingPosition, Write,
};
use papertape_core::tape::{ContentDoc, Ctx, SessionRun, SessionStop};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::Arc;

/// What a session resulted in.
pub(crate) struct SessionResult {
    pub(crate) outcome: JobOutcome,
    /// Stored with the session.
    pub(crate) result: Value,
    /// Committed with the session's end.
    pub(crate) writes: Vec<Write>,
}

impl SessionResult {
    pub(crate) fn of(status: JobStatus, error: Option<String>) -> Self {
        Self { outcome: JobOutcome::of(status, error), result: Value::Null, writes: Vec::new() }
    }

    pub(crate) fn failed(error: String) -> Self {
        Self::of(JobStatus::Failed, Some(error))
    }

    /// The close of the session, which trades nothing.
    fn closing(&self) -> CloseSession {
        let (state, _) = ContentDoc::of(&json!({})).into_parts();
        let nothing = Money(Decimal::ZERO);
        let status = match self.outcome.status {
            JobStatus::Failed => DayStatus::Failed,
            _ => DayStatus::Completed,
        };
        CloseSession {
            status,
            error: self.outcome.error.clone(),
            metadata: json!({ "assistant": self.result }),
            state,
            holdings: Vec::new(),
            starting: StartingPosition { holdings: Vec::new(), cash: nothing, portfolio_value: nothing },
            cash: nothing,
            portfolio_value: nothing,
            daily_profit: nothing,
            daily_return_pct: None,
        }
    }
}

/// A running session: replayed from its tape as far as that goes, then live.
pub(crate) struct AssistantSession {
    pub(crate) root: Ctx,
    pub(crate) config: AssistantConfig,
    pub(crate) assistant: Arc<Assistant>,
    pub(crate) host: Arc<LiveHost>,
    /// Whether it ended before, and is replayed only to find out how.
    pub(crate) has_ended: bool,
    kind: JobKind,
    run: Arc<JobRun>,
    session: Arc<SessionRun>,
}

impl AssistantSession {
    /// Runs a job: opens its session, runs the kind's `program`, and closes the session. `is_streamed`: users
    /// read its text while it is written.
    ///
    /// # Errors
    /// [`SessionStop::LostLease`].
    pub(crate) async fn run(
        job: ClaimedJob<'_>,
        assistant: &Arc<Assistant>,
        is_streamed: bool,
        program: impl for<'s> FnOnce(&'s mut Self) -> BoxFuture<'s, Result<SessionResult, SessionStop>> + Send,
    ) -> Result<JobOutcome, SessionStop> {
        let (services, row) = (job.services, job.row);
        let config: AssistantConfig = match decode(row) {
            Ok(config) => config,
            Err(error) => return Ok(JobOutcome::failed(error)),
        };
        let usage = services.record.load_usage(&row.id).await.map_err(stop_of)?;
        let budgets = Budgets::rebuild(config.budget, usage);
        let child_budgets = ChildBudgets::rebuild(services, row, config.simulations, &budgets);
        let child_budgets = child_budgets.await.map_err(stop_of)?;
        let run = Arc::new(JobRun::new(job, budgets));
        let actions = AssistantActions::new(row, &config, assistant, child_budgets, is_streamed);
        let ended = async {
            let mut session = Self::start(&run, row, config, actions).await?;
            let host = Arc::clone(&session.host);
            let closed = async {
                let result = program(&mut session).await?;
                let closing = result.closing();
                let mut writes = result.writes;
                writes.push(Write::Text(closing.state.clone()));
                writes.push(Write::CloseSession(Box::new(closing)));
                session.session.finish(writes).await?;
                Ok(result.outcome)
            };
            host.ended(closed.await).await
        };
        let stop = match ended.await {
            Ok(outcome) => return Ok(outcome),
            Err(stop) => stop,
        };
        let status = match (&stop, run.cancel.reason()) {
            (SessionStop::LostLease, _) | (_, Some(StopReason::LostLease)) => {
                return Err(SessionStop::LostLease);
            }
            (_, Some(StopReason::Shutdown)) => JobStatus::Queued,
            (_, Some(StopReason::Cancelled)) => JobStatus::Cancelled,
            (_, None) => JobStatus::Failed,
        };
        Ok(JobOutcome::of(status, Some(stop.to_string())))
    }

    async fn start(
        run: &Arc<JobRun>,
        row: &JobRow,
        config: AssistantConfig,
        actions: AssistantActions,
    ) -> Result<Self, SessionStop> {
        let services = &run.services;
        let (agent, date) = session_key(row);
        let new = NewSession { agent: agent.clone(), date, at: services.clock.now() };
        let opened = services.record.open_session(&run.lease, new).await.map_err(stop_of)?;
        let has_ended = opened.ended.is_some();
        let tape = tape_reader::opened(&*services.record, &opened).await?;
        let tape = if has_ended { tape.replay_only() } else { tape };
        let assistant = Arc::clone(&actions.assistant);
        let host = LiveHost::new(Arc::clone(run), opened.id, (agent, date));
        let host = Arc::new(host.with_actions(Box::new(actions)));
        let seed = ContentHash::of(row.id.as_str().as_bytes());
        let session = SessionRun::new(Arc::clone(&host) as _, tape, Arc::clone(&services.redactor), seed);
        let (root, run, kind) = (session.root(), Arc::clone(run), row.kind.clone());
        Ok(Self { root, config, assistant, host, has_ended, kind, run, session })
    }

    pub(crate) fn job(&self) -> &JobId {
        &self.run.lease.job
    }

    pub(crate) fn services(&self) -> &Services {
        &self.run.services
    }

    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        self.run.cancel.reason()
    }

    /// The result if the config does not have the parameters of the job's kind.
    pub(crate) fn without_parameters(&self) -> SessionResult {
        SessionResult::failed(format!("the job's config does not say what to do as `{}`", self.kind))
    }
}
