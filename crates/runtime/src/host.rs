//! The host of a live session: makes its calls within budget and deadline, and records them.

use crate::assistant_job::AssistantRun;
use crate::budget::{self, BudgetLine, Budgets, Spend};
use crate::cancellation::CancelToken;
use crate::delta_stream::Spoken;
use crate::queue_wait::QueueWaits;
use crate::retry;
use crate::services::Services;
use crate::tape_reader::{request, stop_of};
use futures::FutureExt as _;
use futures::future::{Either, select};
use papertape_agents::memory::EMBEDDINGS;
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::message::{CallFailure, FailureKind, ModelName, ModelReply, ModelRequest, Usage};
use papertape_core::ports::{AttemptFailure, BoxFuture, ExternalCall, ExternalReply, ModelResponse};
use papertape_core::record::{AttemptEnd, Commit, Estimate, Lease, SessionId, Write};
use papertape_core::tape::{
    ActionOptions, ActionReply, CallOptions, CallOutcome, CallOutcomeWithWrites, Host, SessionStop, StepPath,
};
use papertape_core::time::{Date, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// State shared by the sessions of one running job.
pub(crate) struct JobRun {
    pub(crate) services: Services,
    pub(crate) lease: Lease,
    pub(crate) budgets: Budgets,
    pub(crate) signal: CancelToken,
    /// Additional state of an assistant job.
    pub(crate) assisting: Option<AssistantRun>,
}

/// Performs one session's effects.
pub(crate) struct LiveHost {
    run: Arc<JobRun>,
    session: SessionId,
    account: BudgetLine,
    /// After this instant, calls fail with a timeout; time spent waiting for a call slot extends it.
    deadline: Option<Timestamp>,
    waits: QueueWaits,
    reserved: Mutex<BTreeMap<StepPath, Spend>>,
    /// Crash counts of interrupted steps that are sent again.
    interrupted: Mutex<BTreeMap<StepPath, u32>>,
}

/// A step interrupted by this many crashes runs exclusively.
const ALONE_AFTER: u32 = 2;

impl LiveHost {
    /// A host for the session of an agent's day, or (`detached`) for its summaries.
    pub(crate) fn new(
        run: Arc<JobRun>,
        session: SessionId,
        (agent, date): (AgentName, Date),
        detached: bool,
        time: Option<Duration>,
    ) -> Self {
        let deadline = time.and_then(|time| run.services.clock.now().checked_add(time).ok());
        let account = BudgetLine { agent, date, detached };
        Self {
            run,
            session,
            account,
            deadline,
            waits: QueueWaits::default(),
            reserved: Mutex::default(),
            interrupted: Mutex::default(),
        }
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

    /// Acquires one of the process's call slots.
    async fn place<'p>(&self, path: &StepPath, places: &'p Semaphore) -> Option<SemaphorePermit<'p>> {
        if let Ok(place) = places.try_acquire() {
            return Some(place);
        }
        let _waiting = Waiting::new(self, path);
        // The semaphore is never closed; if it were, the call would proceed without a slot.
        places.acquire().await.ok()
    }

    /// The process's single slot for steps interrupted twice by crashes: if one of them kills the process, no
    /// other such step is interrupted with it. `None` for any other step.
    async fn exclusive_permit(&self, path: &StepPath) -> Option<SemaphorePermit<'_>> {
        let times = self.interrupted.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        if times.unwrap_or_default() < ALONE_AFTER {
            return None;
        }
        tracing::warn!(path = %path, times, "a step that crashes have cut off is sent alone");
        self.place(path, &self.run.services.alone).await
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
                let message = self.run.services.redactor.redact_text(&failed.failure.message).value;
                AttemptFailure { failure: CallFailure { message, ..failed.failure }, ..failed }
            }),
            Either::Right(((), _)) => Err(too_late(format!("no answer within {} s", time.as_secs_f64()))),
        }
    }

    /// Attempts a call until it succeeds, a retry is pointless, or the job is stopped. `places` limits
    /// concurrency; waiting for a slot does not count toward an attempt's timeout.
    async fn attempts<T, F>(
        &self,
        (path, options, first): (&StepPath, CallOptions, u32),
        places: Option<&Semaphore>,
        price: impl Fn(&Usage) -> Option<rust_decimal::Decimal>,
        mut used: impl FnMut(&AttemptEnd),
        estimate: impl Fn(Result<&T, FailureKind>) -> Option<Estimate>,
        call: impl Fn() -> F,
    ) -> Result<CallOutcome<T>, SessionStop>
    where
        F: Future<Output = Result<(T, Option<Usage>), AttemptFailure>> + Send,
    {
        let last = first.saturating_add(options.max_attempts.max(1) - 1);
        let _alone = self.exclusive_permit(path).await;
        let mut number = first;
        loop {
            let ended = |usage: Option<Usage>, error: Option<String>, result: Result<&T, FailureKind>| {
                let estimate = if usage.is_none() { estimate(result) } else { None };
                AttemptEnd { number, error, usage, cost_usd: usage.as_ref().and_then(&price), estimate }
            };
            let place = match places {
                Some(places) => self.place(path, places).await,
                None => None,
            };
            let result = self.attempt(options.timeout, call()).await;
            drop(place);
            let failed = match result {
                Ok((value, usage)) => {
                    let attempt = ended(usage, None, Ok(&value));
                    used(&attempt);
                    return Ok(CallOutcome { attempt, result: Ok(value) });
                }
                Err(failed) => failed,
            };
            let error = Some(failed.failure.to_string());
            let attempt = ended(failed.usage, error, Err(failed.failure.kind));
            used(&attempt);
            if number >= last || !failed.failure.kind.is_transient() || self.is_late() {
                return Ok(CallOutcome { result: Err(failed.failure), attempt });
            }
            let pause = retry::pause(path, number, failed.retry_after);
            let (is_asked, left) = (failed.retry_after.is_some(), self.time_left(Duration::MAX));
            let Some(pause) = retry::within(pause, is_asked, options.timeout, left) else {
                let message = format!(
                    "{}; the next attempt would have to wait {} s, longer than the time of the call or of the session",
                    failed.failure.message,
                    pause.as_secs()
                );
                let failure = CallFailure { message, ..failed.failure };
                return Ok(CallOutcome { result: Err(failure), attempt });
            };
            tracing::warn!(path = %path, attempt = number, error = %failed.failure, "call failed, trying again");
            // Pause before writing the row of the next attempt: a row means that the attempt is about to be sent.
            let pause = self.run.services.clock.sleep(pause);
            let mut signal = self.run.signal.clone();
            if let Either::Left((reason, _)) = select(Box::pin(signal.stopped()), pause).await {
                return Err(reason.into());
            }
            if self.is_late() {
                return Ok(CallOutcome { result: Err(failed.failure), attempt });
            }
            let write = Write::Attempt { path: path.clone(), ended: attempt, next: Some(number + 1) };
            self.write(vec![write]).await?;
            number += 1;
        }
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
                self.write(vec![Write::Attempt { path: path.clone(), ended: attempt, next: None }]).await?;
                Err(SessionStop::Denied { model: model.clone(), failure })
            }
            called => Ok(called),
        }
    }

    pub(crate) fn assisting(&self) -> Option<&AssistantRun> {
        self.run.assisting.as_ref()
    }

    pub(crate) fn job(&self) -> (&Services, &Lease) {
        (&self.run.services, &self.run.lease)
    }

    pub(crate) fn budgets(&self) -> &Budgets {
        &self.run.budgets
    }

    pub(crate) fn signal(&self) -> CancelToken {
        self.run.signal.clone()
    }

    pub(crate) fn pause(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.run.services.clock.sleep(duration)
    }

    /// Redacts a text.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.run.services.redactor.redact_text(text).value
    }

    pub(crate) async fn write(&self, writes: Vec<Write>) -> Result<(), SessionStop> {
        let commit = Commit {
            lease: self.run.lease.clone(),
            session: self.session,
            at: self.run.services.clock.now(),
            detached: self.account.detached,
            writes,
        };
        self.run.services.record.commit(commit).await.map_err(stop_of)
    }
}

/// A call waiting for a slot, until it gets one or is dropped.
struct Waiting<'h> {
    host: &'h LiveHost,
    path: &'h StepPath,
}

impl<'h> Waiting<'h> {
    fn new(host: &'h LiveHost, path: &'h StepPath) -> Self {
        host.waits.begin(path, host.run.services.clock.now());
        Self { host, path }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.host.waits.end(self.path, self.host.run.services.clock.now());
    }
}

/// A call's reservation, settled with the usage of its attempts when the call is over: completed, failed,
/// stopped, or dropped by its guard.
struct Reservation<'h> {
    host: &'h LiveHost,
    path: &'h StepPath,
    used: Spend,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut reserved = self.host.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(amount) = reserved.remove(self.path) {
            self.host.run.budgets.settle(&self.host.account, amount, self.used);
        }
    }
}

impl Drop for LiveHost {
    /// Releases the reservations of calls that were admitted and never made.
    fn drop(&mut self) {
        let reserved = self.reserved.get_mut().unwrap_or_else(PoisonError::into_inner);
        for amount in std::mem::take(reserved).into_values() {
            self.run.budgets.settle(&self.account, amount, Spend::default());
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
            self.run.signal.check()?;
            if let Some(request) = request {
                let price = |usage: &Usage| self.run.services.models.cost(&request.model, usage);
                let amount = Spend::estimate(request, price);
                self.run.budgets.reserve(&self.account, amount).map_err(SessionStop::Budget)?;
                let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
                reserved.insert(path.clone(), amount);
            }
            Ok(())
        }
        .boxed()
    }

    fn interrupted(&self, path: &StepPath, times: u32, request: Option<&ModelRequest>) -> Option<Estimate> {
        let mut interrupted = self.interrupted.lock().unwrap_or_else(PoisonError::into_inner);
        interrupted.insert(path.clone(), times);
        drop(interrupted);
        // The model may have responded: count the reservation as used.
        let request = request?;
        let usage = budget::reserved(request);
        let cost_usd = self.run.services.models.cost(&request.model, &usage);
        self.run.budgets.settle(&self.account, Spend::default(), Spend::of(&usage, cost_usd));
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
            let models = &self.run.services.models;
            let price = |usage: &Usage| models.cost(&request.model, usage);
            let heard = self.assisting().filter(|assisting| assisting.is_heard);
            let call = || async {
                let answer = match heard {
                    Some(assisting) => {
                        let words = Spoken::new(&self.run.services.redactor);
                        let tell = |words: String| {
                            if !words.is_empty() {
                                assisting.assistant.words.on_delta(&self.run.lease.job, &words);
                            }
                        };
                        let answer = models.call(request, Some(&|piece| tell(words.push(piece)))).await;
                        tell(words.finish());
                        answer
                    }
                    None => models.call(request, None).await,
                };
                answer.map(|ModelResponse { reply, usage }| (reply, usage))
            };
            let mut reservation = Reservation { host: self, path, used: Spend::default() };
            let used = |attempt: &AttemptEnd| {
                let estimate = attempt.estimate.unwrap_or_default();
                let usage = attempt.usage.unwrap_or(estimate.usage);
                reservation.used.add(Spend::of(&usage, attempt.cost_usd.or(estimate.cost_usd)));
            };
            let estimate = |result: Result<&ModelReply, FailureKind>| {
                let usage = budget::estimate(request, result)?;
                Some(Estimate { usage, cost_usd: price(&usage) })
            };
            let places = Some(&*self.run.services.calls);
            let called = self.attempts((path, options, first), places, price, used, estimate, call).await?;
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
            let called =
                self.attempts((path, options, first), None, |_| None, |_| {}, |_| None, once).await?;
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
        self.act(path, call, options, first).boxed()
    }

    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        self.write(writes).boxed()
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
