//! The host of a live session: makes its calls within budget and deadline, and records them.

mod reservation;
mod turns;

use self::reservation::{Reservation, Waiting};
use self::turns::AgentSession;
use crate::budget::{self, BudgetLine, Budgets, Spend};
use crate::cancellation::CancelToken;
use crate::delta_stream::{self, DeltaListener};
use crate::job_run::JobRun;
use crate::queue_wait::QueueWaits;
use crate::retry;
use crate::services::Services;
use crate::session_log::{LoggedSession, SessionLog};
use crate::sync::lock;
use crate::tape_reader::request;
use futures::FutureExt as _;
use futures::future::{Either, ready, select};
use papertape_agents::config::ExternalConfig;
use papertape_agents::memory::EMBEDDINGS;
use papertape_core::external::{AgentTurn, ModelDoorCall, ModelDoorReply, SessionEnding, Turn};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::{CallFailure, FailureKind, ModelName, ModelReply, ModelRequest, Usage};
use papertape_core::ports::{AttemptFailure, BoxFuture, ExternalCall, ExternalReply};
use papertape_core::record::{AttemptEnd, Estimate, Lease, SessionId, Write};
use papertape_core::tape::{
    ActionOptions, ActionReply, CallOptions, CallOutcome, CallOutcomeWithWrites, Host, SessionStop, StepPath,
};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// What an assistant job adds to its session.
pub(crate) trait HostActions: Send + Sync {
    /// Performs an action.
    fn act<'a>(
        &'a self,
        host: &'a LiveHost,
        step: (&'a StepPath, &'a ExternalCall),
        options: ActionOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ActionReply>, SessionStop>>;

    /// Receives the text of replies while they are written.
    fn listener(&self) -> Option<&dyn DeltaListener>;
}

/// Performs one session's effects.
pub(crate) struct LiveHost {
    run: Arc<JobRun>,
    log: SessionLog,
    line: BudgetLine,
    /// After this instant, calls fail with a timeout; time spent waiting for a call slot extends it.
    deadline: Option<Timestamp>,
    waits: QueueWaits,
    reserved: Mutex<BTreeMap<StepPath, Spend>>,
    /// Crash counts of interrupted steps that are sent again.
    interrupted: Mutex<BTreeMap<StepPath, u32>>,
    actions: Option<Box<dyn HostActions>>,
    external: AgentSession,
}

/// A step interrupted by this many crashes runs exclusively.
const EXCLUSIVE_AFTER: u32 = 2;

impl LiveHost {
    pub(crate) fn new(run: Arc<JobRun>, session: SessionId, (agent, date): (AgentName, Date)) -> Self {
        Self::on(run, session, BudgetLine { agent, date, detached: false })
    }

    /// For the session's summaries.
    pub(crate) fn detached(run: Arc<JobRun>, session: SessionId, (agent, date): (AgentName, Date)) -> Self {
        Self::on(run, session, BudgetLine { agent, date, detached: true })
    }

    fn on(run: Arc<JobRun>, session: SessionId, line: BudgetLine) -> Self {
        let Services { record, clock, linger, .. } = &run.services;
        let logged = LoggedSession { lease: run.lease.clone(), session, detached: line.detached };
        let log = SessionLog::new((Arc::clone(record), Arc::clone(clock), *linger), logged);
        Self {
            run,
            log,
            line,
            deadline: None,
            waits: QueueWaits::default(),
            reserved: Mutex::default(),
            interrupted: Mutex::default(),
            actions: None,
            external: AgentSession::default(),
        }
    }

    /// Limits the session's time, from now on.
    pub(crate) fn with_timeout(mut self, timeout: Duration) -> Self {
        self.deadline = self.run.services.clock.now().checked_add(timeout).ok();
        self
    }

    pub(crate) fn with_actions(mut self, actions: Box<dyn HostActions>) -> Self {
        self.actions = Some(actions);
        self
    }

    /// With the settings of the session's external agent.
    pub(crate) fn with_external(mut self, config: Option<ExternalConfig>) -> Self {
        self.external = AgentSession::of(config);
        self
    }

    /// Timeout of an attempt: its own, or what is left of the session's time.
    fn time_left(&self, timeout: Duration) -> Duration {
        let Some(deadline) = self.deadline else { return timeout };
        let now = self.run.services.clock.now();
        let deadline = deadline.checked_add(self.waits.of("", now)).unwrap_or(deadline);
        timeout.min(Duration::try_from(deadline.duration_since(now)).unwrap_or(Duration::ZERO))
    }

    fn is_late(&self) -> bool {
        self.time_left(Duration::MAX).is_zero()
    }

    /// Acquires one of the process's slots.
    async fn acquire<'s>(&self, path: &StepPath, slots: &'s Semaphore) -> Option<SemaphorePermit<'s>> {
        if let Ok(slot) = slots.try_acquire() {
            return Some(slot);
        }
        let _waiting = Waiting::new(self, path);
        // The semaphore is never closed; if it were, the call would proceed without a slot.
        slots.acquire().await.ok()
    }

    /// The process's single slot for steps interrupted twice by crashes: if one of them kills the process, no
    /// other such step is interrupted with it. `None` for any other step.
    async fn exclusive_slot(&self, path: &StepPath) -> Option<SemaphorePermit<'_>> {
        let times = lock(&self.interrupted).get(path).copied().unwrap_or_default();
        if times < EXCLUSIVE_AFTER {
            return None;
        }
        tracing::warn!(path = %path, times, "a step interrupted by crashes is sent exclusively");
        self.acquire(path, &self.run.services.exclusive_slot).await
    }

    /// One attempt, canceled at its deadline. If the session's time is up, nothing is sent.
    async fn attempt<T>(
        &self,
        timeout: Duration,
        call: impl Future<Output = Result<T, AttemptFailure>> + Send,
    ) -> Result<T, AttemptFailure> {
        let time = self.time_left(timeout);
        let too_late = |message| AttemptFailure {
            failure: CallFailure { kind: FailureKind::TimedOut, message },
            retry_after: None,
            usage: None,
        };
        if time.is_zero() {
            return Err(too_late("the session's time is up".to_owned()));
        }
        let sleep = self.run.services.clock.sleep(time);
        match select(std::pin::pin!(call), sleep).await {
            Either::Left((result, _)) => result.map_err(|failed| {
                // The provider's message is stored as the attempt's error, and logged.
                let message = self.redact(&failed.failure.message);
                AttemptFailure { failure: CallFailure { message, ..failed.failure }, ..failed }
            }),
            Either::Right(((), _)) => Err(too_late(format!("no answer within {} s", time.as_secs_f64()))),
        }
    }

    /// Attempts a call until it succeeds, a retry is pointless, or the job is stopped. `slots` limits
    /// concurrency; waiting for one does not count toward an attempt's timeout. `meter` receives the usage that
    /// an attempt reports and its result, and returns its cost or, without a report, an estimate.
    async fn attempts<T, F>(
        &self,
        (path, options, first): (&StepPath, CallOptions, u32),
        slots: Option<&Semaphore>,
        mut meter: impl FnMut(Option<Usage>, Result<&T, FailureKind>) -> (Option<Decimal>, Option<Estimate>),
        call: impl Fn() -> F,
    ) -> Result<CallOutcome<T>, SessionStop>
    where
        F: Future<Output = Result<(T, Option<Usage>), AttemptFailure>> + Send,
    {
        let last = first.saturating_add(options.max_attempts.max(1) - 1);
        let _exclusive = self.exclusive_slot(path).await;
        let mut number = first;
        loop {
            let slot = match slots {
                Some(slots) => self.acquire(path, slots).await,
                None => None,
            };
            if let Err(stop) = self.run.cancel.check() {
                // The signal came during the wait: nothing was sent.
                let error = Some("not sent: the session stopped".to_owned());
                return Err(self
                    .end_open(path, AttemptEnd { number, error, ..AttemptEnd::default() }, stop)
                    .await);
            }
            let result = self.attempt(options.timeout, call()).await;
            drop(slot);
            let (usage, result) = match result {
                Ok((value, usage)) => (usage, Ok(value)),
                Err(failed) => (failed.usage, Err(failed)),
            };
            let (cost_usd, estimate) = meter(usage, result.as_ref().map_err(|failed| failed.failure.kind));
            let mut attempt = AttemptEnd { number, error: None, usage, cost_usd, estimate };
            let AttemptFailure { failure, retry_after, .. } = match result {
                Ok(value) => return Ok(CallOutcome { attempt, result: Ok(value) }),
                Err(failed) => failed,
            };
            attempt.error = Some(failure.to_string());
            if number >= last || !failure.kind.is_transient() || self.is_late() {
                return Ok(CallOutcome { result: Err(failure), attempt });
            }
            let pause = retry::pause(path, number, retry_after);
            let left = self.time_left(Duration::MAX);
            let Some(pause) = retry::fitting_pause(pause, retry_after.is_some(), options.timeout, left)
            else {
                let message = format!(
                    "{}; the next attempt would have to wait {} s, longer than the time of the call or of the session",
                    failure.message,
                    pause.as_secs()
                );
                return Ok(CallOutcome { result: Err(CallFailure { message, ..failure }), attempt });
            };
            tracing::warn!(path = %path, attempt = number, error = %failure, "call failed, trying again");
            // Pause before writing the row of the next attempt: a row means that the attempt is about to be sent.
            if let Err(stop) = self.run.cancel.unless_stopped(self.run.services.clock.sleep(pause)).await {
                return Err(self.end_open(path, attempt, stop.into()).await);
            }
            if self.is_late() {
                return Ok(CallOutcome { result: Err(failure), attempt });
            }
            let write = Write::Attempt { path: path.clone(), ended: attempt, next: Some(number + 1) };
            self.write(vec![write]).await?;
            number += 1;
        }
    }

    /// Records the end of an attempt after which the session stops; the step stays open. Returns the stop.
    pub(crate) async fn end_open(
        &self,
        path: &StepPath,
        ended: AttemptEnd,
        stop: SessionStop,
    ) -> SessionStop {
        if matches!(stop, SessionStop::LostLease) {
            return stop;
        }
        let write = Write::Attempt { path: path.clone(), ended, next: None };
        self.write(vec![write]).await.err().unwrap_or(stop)
    }

    /// A call denied by the provider has no outcome: the end of its attempt is recorded, the step stays open, and
    /// the session stops.
    async fn unless_denied<T>(
        &self,
        path: &StepPath,
        model: &ModelName,
        called: CallOutcome<T>,
    ) -> Result<CallOutcome<T>, SessionStop> {
        match called {
            CallOutcome { result: Err(failure), attempt } if failure.kind.is_denied() => {
                let denied = SessionStop::Denied { model: model.clone(), failure };
                Err(self.end_open(path, attempt, denied).await)
            }
            called => Ok(called),
        }
    }

    pub(crate) fn services(&self) -> &Services {
        &self.run.services
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.run.lease
    }

    pub(crate) fn job(&self) -> &JobId {
        &self.run.lease.job
    }

    pub(crate) fn budgets(&self) -> &Budgets {
        &self.run.budgets
    }

    pub(crate) fn cancel(&self) -> &CancelToken {
        &self.run.cancel
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.run.services.redactor.redact_text(text).value
    }

    /// Writes, and waits until it is durable.
    pub(crate) async fn write(&self, writes: Vec<Write>) -> Result<(), SessionStop> {
        self.log.commit(writes).await
    }

    /// How the session ended, once everything that it handed over is durable. A session whose lease is lost
    /// does not wait.
    pub(crate) async fn ended<T>(&self, ended: Result<T, SessionStop>) -> Result<T, SessionStop> {
        if ended.is_err() {
            self.external.stop().await;
        }
        if ended.as_ref().is_err_and(|stop| !matches!(stop, SessionStop::LostLease)) {
            self.log.barrier().await?;
        }
        ended
    }
}

impl Drop for LiveHost {
    /// Releases the reservations of calls that were admitted and never made.
    fn drop(&mut self) {
        for amount in lock(&self.reserved).values() {
            self.run.settle(&self.line, *amount, Spend::default());
        }
    }
}

/// The model named by an embedding call.
fn embedding_model(call: &ExternalCall) -> ModelName {
    call.tool
        .parse()
        .unwrap_or_else(|_| ModelName { provider: call.server.clone(), model: call.tool.clone() })
}

impl Host for LiveHost {
    fn reserve<'a>(
        &'a self,
        path: &'a StepPath,
        request: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        async move {
            self.run.cancel.check()?;
            if let Some(request) = request {
                let price = |usage: &Usage| self.run.services.models.cost(&request.model, usage);
                let amount = Spend::estimate(request, price);
                let amount = self.run.reserve(&self.line, amount).await?;
                lock(&self.reserved).insert(path.clone(), amount);
            }
            Ok(())
        }
        .boxed()
    }

    fn interrupted(&self, path: &StepPath, times: u32, request: Option<&ModelRequest>) -> Option<Estimate> {
        lock(&self.interrupted).insert(path.clone(), times);
        // The model may have responded: count the reservation as used.
        let request = request?;
        let usage = budget::reserved(request);
        let cost_usd = self.run.services.models.cost(&request.model, &usage);
        self.run.interrupted(&self.line, path, Spend::of(&usage, cost_usd));
        Some(Estimate { usage, cost_usd })
    }

    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        request: &'a ModelRequest,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        async move {
            let Services { models, redactor, call_slots, .. } = &self.run.services;
            let listener = self.actions.as_deref().and_then(HostActions::listener);
            let call = || async {
                let response = match listener {
                    Some(listener) => {
                        delta_stream::call(&**models, request, redactor, (listener, self.job())).await
                    }
                    None => models.call(request, None).await,
                };
                response.map(|response| (response.reply, response.usage))
            };
            let mut reservation = Reservation::new(self, path);
            let meter =
                |usage, result: Result<&ModelReply, FailureKind>| reservation.meter(request, usage, result);
            let called = self.attempts((path, options, first), Some(call_slots), meter, call).await?;
            self.unless_denied(path, &request.model, called).await
        }
        .boxed()
    }

    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        async move {
            let tools = &self.run.services.tools;
            let once = || async {
                tools.call(call).await.map(|reply| (reply, None)).map_err(|failure| AttemptFailure {
                    failure,
                    retry_after: None,
                    usage: None,
                })
            };
            // A failed call may still have taken effect: one attempt, whatever the tool. Only an intent left open
            // by a crash is sent again, and only if the tool is repeatable. An embedding model has no side
            // effects and may be retried.
            let once_only = call.server != EMBEDDINGS;
            let options = if once_only { CallOptions { max_attempts: 1, ..options } } else { options };
            let called = self.attempts((path, options, first), None, |_, _| (None, None), once).await?;
            match once_only {
                true => Ok(called),
                false => self.unless_denied(path, &embedding_model(call), called).await,
            }
        }
        .boxed()
    }

    fn action<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        options: ActionOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ActionReply>, SessionStop>> {
        match &self.actions {
            Some(actions) => actions.act(self, (path, call), options, first),
            None => {
                let why = format!("the action {path} stands in a job that is none of the assistant's");
                ready(Err(SessionStop::ContractViolation(why))).boxed()
            }
        }
    }

    fn turn<'a>(
        &'a self,
        path: &'a StepPath,
        turn: &'a Turn<'a>,
        _: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<AgentTurn>, SessionStop>> {
        self.take_turn(path, turn, first).boxed()
    }

    fn next_model_call(&self) -> BoxFuture<'_, ModelDoorCall> {
        self.external.next_model_call().boxed()
    }

    fn forward<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ModelDoorCall,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelDoorReply>, SessionStop>> {
        self.forward_call((path, options, first), call).boxed()
    }

    fn end_turns<'a>(&'a self, turn: &'a Turn<'a>, ending: SessionEnding) -> BoxFuture<'a, ()> {
        self.external.end(turn, ending).boxed()
    }

    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        self.log.commit(writes).boxed()
    }

    fn hand_over<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        self.log.hand_over(writes)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.run.services.clock.sleep(duration)
    }

    fn queue_wait(&self, scope: &str) -> Duration {
        self.waits.of(scope, self.run.services.clock.now())
    }

    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>> {
        async move { request(&*self.run.services.record, at).await.ok().flatten() }.boxed()
    }
}
