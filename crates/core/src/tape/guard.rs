//! Guards: deadlines around parts of a session, and parts that run concurrently.

use super::ctx::Ctx;
use super::session::SessionRun;
use super::stop::SessionStop;
use super::tape::Lookup;
use crate::content::ContentDoc;
use crate::json;
use crate::ports::BoxFuture;
use crate::record::{Intent, ReusedFrom, StepEnd, TapeRow, Write};
use crate::step::{OutcomeKind, ScopeKey, Step, StepClass, StepPath, StepState};
use futures::future::{Either, select, try_join_all};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The shortest extension that a deadline timer grants at once.
const MIN_TIMER: Duration = Duration::from_millis(10);

/// A part of a session: a function of its scope.
pub type Branch<'a, T> = Box<dyn FnOnce(Ctx) -> BoxFuture<'a, Result<T, SessionStop>> + Send + 'a>;

/// A part of a session that may fail and runs under a guard.
pub type GuardedBranch<'a, T> = Branch<'a, Result<T, NodeFailure>>;

/// A branch that has been called with its scope.
type Running<'a, T> = BoxFuture<'a, Result<T, SessionStop>>;

/// Why a guarded node returned nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFailure {
    /// Machine-readable: `rate_limited`, `unparseable`, …
    pub kind: String,
    /// The reason in a sentence.
    pub message: String,
}

/// The outcome of a guarded body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardOutcome<T> {
    /// The body ended in time.
    Ok(T),
    /// The deadline passed first; the body was dropped.
    TimedOut,
    /// The body failed.
    Failed(NodeFailure),
}

impl Ctx {
    /// Runs the branches concurrently, each in its own child scope; results come in the order of the keys.
    /// The first stop ends all of them.
    ///
    /// # Errors
    /// A stop; a duplicate key.
    pub async fn all<T: Send>(
        &mut self,
        branches: Vec<(ScopeKey, Branch<'_, T>)>,
    ) -> Result<Vec<T>, SessionStop> {
        try_join_all(self.fork(branches)?).await
    }

    /// Like [`Self::all`], with at most `limit` branches running at once. The limit does not affect the tape.
    ///
    /// # Errors
    /// A stop; a duplicate key.
    pub async fn all_bounded<T: Send>(
        &mut self,
        limit: usize,
        branches: Vec<(ScopeKey, Branch<'_, T>)>,
    ) -> Result<Vec<T>, SessionStop> {
        let numbered = self.fork(branches)?.into_iter().enumerate();
        let running = numbered.map(|(at, branch)| async move { branch.await.map(|value| (at, value)) });
        let running = stream::iter(running.collect::<Vec<_>>()).buffer_unordered(limit.max(1));
        let mut results: Vec<(usize, T)> = running.try_collect().await?;
        results.sort_by_key(|(at, _)| *at);
        Ok(results.into_iter().map(|(_, value)| value).collect())
    }

    /// Runs guarded bodies concurrently, each under its own deadline as in [`Self::guard`]; verdicts come in
    /// the order of the keys. The first stop ends all of them.
    ///
    /// # Errors
    /// A stop; a duplicate key.
    pub async fn guard_all<T: Send>(
        &mut self,
        bodies: Vec<(ScopeKey, Duration, GuardedBranch<'_, T>)>,
    ) -> Result<Vec<GuardOutcome<T>>, SessionStop> {
        let guards = bodies
            .into_iter()
            .map(|(key, deadline, body)| Ok(self.child(key)?.guarded().run_with_deadline(deadline, body)))
            .collect::<Result<Vec<_>, SessionStop>>()?;
        try_join_all(guards).await
    }

    /// Calls each branch with its scope. All keys are registered before anything runs.
    fn fork<'b, T>(
        &self,
        branches: Vec<(ScopeKey, Branch<'b, T>)>,
    ) -> Result<Vec<Running<'b, T>>, SessionStop> {
        branches.into_iter().map(|(key, branch)| Ok(branch(self.child(key)?))).collect()
    }

    /// Runs the body in a child scope under a deadline. Time that its calls spend in our queue does not
    /// count. At the deadline the body is dropped, which cancels its calls. A timeout or failure is committed
    /// as the scope's verdict. A run on the tape returns a recorded verdict without running the body; a
    /// branch copies its parent's verdict with the steps of the body. When a session is resumed, an
    /// unfinished body gets the full deadline again.
    ///
    /// # Errors
    /// A stop, which is never a verdict; a duplicate key.
    pub async fn guard<T: Send>(
        &mut self,
        key: ScopeKey,
        deadline: Duration,
        body: GuardedBranch<'_, T>,
    ) -> Result<GuardOutcome<T>, SessionStop> {
        self.child(key)?.guarded().run_with_deadline(deadline, body).await
    }

    /// Runs the body in this scope under a deadline.
    async fn run_with_deadline<T: Send>(
        self,
        deadline: Duration,
        body: GuardedBranch<'_, T>,
    ) -> Result<GuardOutcome<T>, SessionStop> {
        let session = self.shared();
        let scope = self.scope().to_owned();
        let step = Step::new(StepPath::of(&scope, "guard", 1), StepClass::Guard, &json!({}));
        // A separate statement: the lock must not be held while the body runs.
        let found = session.tape().verdict(&step, &scope);
        match found {
            Lookup::Done { kind, outcome, .. } => return recorded(&step.path, kind, outcome),
            Lookup::Inherited { kind, outcome, origin } => {
                let verdict = recorded(&step.path, kind, Some(outcome.clone()));
                let below = session.tape().inherited_below(&scope, &step.path);
                let body = below.into_iter().map(copied).collect::<Result<Vec<_>, SessionStop>>()?;
                close(&session, step, scope, kind, outcome, Some((origin, body))).await?;
                return verdict;
            }
            Lookup::Absent | Lookup::Missing => {}
            Lookup::Differs { .. } | Lookup::Open { .. } => {
                return Err(SessionStop::ContractViolation(format!("{} is not a verdict", step.path)));
            }
        }
        let timeout = Box::pin(deadline_timer(Arc::clone(&session), scope.clone(), deadline));
        match select(body(self), timeout).await {
            Either::Left((ended, _)) => match ended? {
                Ok(value) => Ok(GuardOutcome::Ok(value)),
                // A replay's tape has every verdict, so a missing one is an error.
                Err(_) if session.tape().is_sealed() => Err(SessionStop::Missing(step.path)),
                Err(failure) => {
                    let failure = session.redact_failure(failure);
                    let outcome = json::to_value(&failure);
                    close(&session, step, scope, OutcomeKind::Failed, outcome, None).await?;
                    Ok(GuardOutcome::Failed(failure))
                }
            },
            Either::Right(((), body)) => {
                drop(body);
                close(&session, step, scope, OutcomeKind::TimedOut, json!(null), None).await?;
                Ok(GuardOutcome::TimedOut)
            }
        }
    }
}

impl SessionRun {
    fn redact_failure(&self, failure: NodeFailure) -> NodeFailure {
        let message = self.redactor().redact_text(&failure.message).value;
        NodeFailure { message, ..failure }
    }
}

/// Resolves when the deadline has passed, extended by the time that the scope's calls spent in the queue. The time runs
/// from this call, not from the first poll: the body may by then have sent a request.
fn deadline_timer(session: Arc<SessionRun>, scope: String, deadline: Duration) -> impl Future<Output = ()> {
    let mut sleep = session.host().sleep(deadline);
    let mut given = deadline;
    async move {
        loop {
            sleep.await;
            let due = deadline.saturating_add(session.host().queue_wait(&scope));
            if due <= given {
                return;
            }
            // A call that has just been queued must not wake this timer at every tick.
            let more = (due - given).max(MIN_TIMER);
            given = given.saturating_add(more);
            sleep = session.host().sleep(more);
        }
    }
}

/// One transaction: the verdict, and the end of everything that is open below it. For a verdict copied from a
/// branch's parent, also its origin and the steps of its body.
async fn close(
    session: &SessionRun,
    step: Step,
    scope: String,
    outcome_kind: OutcomeKind,
    outcome: serde_json::Value,
    inherited: Option<(ReusedFrom, Vec<Write>)>,
) -> Result<(), SessionStop> {
    let (reused_from, body) = inherited.map_or((None, Vec::new()), |(origin, body)| (Some(origin), body));
    let request = ContentDoc::of(&json!({}));
    let outcome = ContentDoc::of(&outcome);
    let end = StepEnd {
        path: step.path,
        class: step.class,
        digest: step.digest,
        request_ref: request.hash,
        outcome_kind,
        outcome_ref: outcome.hash,
        attempt: None,
        reused_from,
        implied: Vec::new(),
    };
    let mut writes = session.new_texts(request.texts.into_iter().chain(outcome.texts));
    writes.extend(body);
    writes.extend([Write::End(end), Write::CloseScope { scope }]);
    session.commit(writes).await
}

/// A step of the parent as a step of the branch, without running again: done as recorded there, or abandoned because its
/// guard closed or its session ended. Its cost is counted with the parent, which the origin references.
pub(super) fn copied((row, origin): (TapeRow, ReusedFrom)) -> Result<Write, SessionStop> {
    let path = row.path;
    let torn = |what: &str| SessionStop::Record(format!("the step {path} of the parent has no {what}"));
    let request_ref = row.request_ref.ok_or_else(|| torn("request"))?;
    Ok(match row.state {
        StepState::Done(outcome_kind) => Write::End(StepEnd {
            outcome_ref: row.outcome_ref.ok_or_else(|| torn("outcome"))?,
            path,
            class: row.class,
            digest: row.digest,
            request_ref,
            outcome_kind,
            attempt: None,
            reused_from: Some(origin),
            implied: row.implied,
        }),
        StepState::Intent | StepState::Abandoned => {
            let step = Intent { path, digest: row.digest, request_ref };
            Write::Abandoned { step, reused_from: origin }
        }
    })
}

fn recorded<T>(
    path: &StepPath,
    kind: OutcomeKind,
    outcome: Option<serde_json::Value>,
) -> Result<GuardOutcome<T>, SessionStop> {
    match (kind, outcome) {
        (OutcomeKind::TimedOut, _) => Ok(GuardOutcome::TimedOut),
        (_, Some(outcome)) => serde_json::from_value(outcome)
            .map(GuardOutcome::Failed)
            .map_err(|error| SessionStop::Record(format!("the verdict at {path} cannot be read: {error}"))),
        (_, None) => Err(SessionStop::Record(format!("the verdict at {path} has no outcome"))),
    }
}
