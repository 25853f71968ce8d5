//! Deadlines around a part of a session, and parts side by side.

use super::ctx::{Ctx, Session};
use super::stop::Stop;
use super::tape::Lookup;
use super::{Class, Doc, Key, OutcomeKind, State, Step, StepPath};
use crate::json;
use crate::ports::BoxFuture;
use crate::record::{Intent, ReusedFrom, StepEnd, TapeRow, Write};
use futures::future::{Either, select, try_join_all};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The least time that a guard gives back at once.
const LEAST_PATIENCE: Duration = Duration::from_millis(10);

/// A part of a session: takes the scope that it works in.
pub type Branch<'a, T> = Box<dyn FnOnce(Ctx) -> BoxFuture<'a, Result<T, Stop>> + Send + 'a>;

/// A part of a session that may fail, and that a guard watches.
pub type GuardedBranch<'a, T> = Branch<'a, Result<T, NodeFailure>>;

/// A branch that was called with its scope.
type Running<'a, T> = BoxFuture<'a, Result<T, Stop>>;

/// Why a guarded node gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFailure {
    /// Machine-readable: `rate_limited`, `unparseable`, …
    pub kind: String,
    /// A sentence.
    pub message: String,
}

/// What a guard saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<T> {
    /// The body ended in time.
    Ok(T),
    /// The deadline passed first; nothing of the body goes on.
    TimedOut,
    /// The body failed.
    Failed(NodeFailure),
}

impl Ctx {
    /// Runs the branches side by side, each in a child scope of its own; results come in the order of
    /// the keys given. The first stop ends them all.
    ///
    /// # Errors
    /// A stop; a key that a sibling has already.
    pub async fn all<T: Send>(&mut self, branches: Vec<(Key, Branch<'_, T>)>) -> Result<Vec<T>, Stop> {
        try_join_all(self.fork(branches)?).await
    }

    /// As [`Self::all`], with at most `limit` branches under way at once. The limit shows nowhere on
    /// the tape.
    ///
    /// # Errors
    /// A stop; a key that a sibling has already.
    pub async fn all_bounded<T: Send>(
        &mut self,
        limit: usize,
        branches: Vec<(Key, Branch<'_, T>)>,
    ) -> Result<Vec<T>, Stop> {
        let numbered = self.fork(branches)?.into_iter().enumerate();
        let running = numbered.map(|(at, branch)| async move { branch.await.map(|value| (at, value)) });
        let running = stream::iter(running.collect::<Vec<_>>()).buffer_unordered(limit.max(1));
        let mut results: Vec<(usize, T)> = running.try_collect().await?;
        results.sort_by_key(|(at, _)| *at);
        Ok(results.into_iter().map(|(_, value)| value).collect())
    }

    /// Guarded bodies side by side, each under its own deadline as by [`Self::guard`]; verdicts come in
    /// the order of the keys given. The first stop ends them all.
    ///
    /// # Errors
    /// A stop; a key that a sibling has already.
    pub async fn guard_all<T: Send>(
        &mut self,
        bodies: Vec<(Key, Duration, GuardedBranch<'_, T>)>,
    ) -> Result<Vec<Verdict<T>>, Stop> {
        let guards = bodies
            .into_iter()
            .map(|(key, deadline, body)| Ok(self.child(key)?.guarded().watch(deadline, body)))
            .collect::<Result<Vec<_>, Stop>>()?;
        try_join_all(guards).await
    }

    /// Calls each branch with its scope. All keys are taken before anything runs.
    fn fork<'b, T>(&self, branches: Vec<(Key, Branch<'b, T>)>) -> Result<Vec<Running<'b, T>>, Stop> {
        branches.into_iter().map(|(key, branch)| Ok(branch(self.child(key)?))).collect()
    }

    /// Runs the body in a child scope under a deadline, which does not count for how long its calls wait for
    /// their turn to be sent. At the deadline the body is dropped, which
    /// cancels its calls. A timeout or a failure is committed as the scope's verdict; a run on the tape
    /// returns a recorded verdict without running the body, and a branch copies its parent's, with what
    /// the body did. A resumed, unfinished body gets the whole
    /// deadline anew.
    ///
    /// # Errors
    /// A stop, which is never a verdict; a key that a sibling has already.
    pub async fn guard<T: Send>(
        &mut self,
        key: Key,
        deadline: Duration,
        body: GuardedBranch<'_, T>,
    ) -> Result<Verdict<T>, Stop> {
        self.child(key)?.guarded().watch(deadline, body).await
    }

    /// Runs the body in this scope under a deadline.
    async fn watch<T: Send>(
        self,
        deadline: Duration,
        body: GuardedBranch<'_, T>,
    ) -> Result<Verdict<T>, Stop> {
        let session = self.shared();
        let scope = self.scope().to_owned();
        let step = Step::new(StepPath::of(&scope, "guard", 1), Class::Guard, &json!({}));
        // Looked up in a statement of its own: the lock must not be held across the body.
        let found = session.tape().verdict(&step, &scope);
        match found {
            Lookup::Done { kind, outcome, .. } => return recorded(&step.path, kind, outcome),
            Lookup::Inherited { kind, outcome, origin } => {
                let verdict = recorded(&step.path, kind, Some(outcome.clone()));
                let below = session.tape().inherited_below(&scope, &step.path);
                let body = below.into_iter().map(copied).collect::<Result<Vec<_>, Stop>>()?;
                close(&session, step, scope, kind, outcome, Some((origin, body))).await?;
                return verdict;
            }
            Lookup::Absent | Lookup::Missing => {}
            Lookup::Differs { .. } | Lookup::Open { .. } => {
                return Err(Stop::Misuse(format!("{} is no verdict", step.path)));
            }
        }
        let patience = Box::pin(patience(Arc::clone(&session), scope.clone(), deadline));
        match select(body(self), patience).await {
            Either::Left((ended, _)) => match ended? {
                Ok(value) => Ok(Verdict::Ok(value)),
                // The tape of a replay has every verdict that there was.
                Err(_) if session.tape().is_sealed() => Err(Stop::Missing(step.path)),
                Err(failure) => {
                    let failure = session.redact_failure(failure);
                    let outcome = json::to_value(&failure);
                    close(&session, step, scope, OutcomeKind::Failed, outcome, None).await?;
                    Ok(Verdict::Failed(failure))
                }
            },
            Either::Right(((), body)) => {
                drop(body);
                close(&session, step, scope, OutcomeKind::TimedOut, json!(null), None).await?;
                Ok(Verdict::TimedOut)
            }
        }
    }
}

/// Resolves when the time is up; the time for which the scope's calls waited to be sent comes on top.
async fn patience(session: Arc<Session>, scope: String, deadline: Duration) {
    let mut given = deadline;
    session.host().sleep(deadline).await;
    loop {
        let due = deadline.saturating_add(session.host().waited(&scope));
        if due <= given {
            return;
        }
        // One that has just begun to wait is not asked after at every tick.
        let more = (due - given).max(LEAST_PATIENCE);
        given = given.saturating_add(more);
        session.host().sleep(more).await;
    }
}

/// One transaction: the verdict, and the end of everything that is open below it; for a verdict of a
/// branch's parent, its origin and what its body did there.
async fn close(
    session: &Session,
    step: Step,
    scope: String,
    outcome_kind: OutcomeKind,
    outcome: serde_json::Value,
    inherited: Option<(ReusedFrom, Vec<Write>)>,
) -> Result<(), Stop> {
    let (reused_from, body) = inherited.map_or((None, Vec::new()), |(origin, body)| (Some(origin), body));
    let request = Doc::of(&json!({}));
    let outcome = Doc::of(&outcome);
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

/// A step of the parent's body as a step of the branch: done as it was there, or abandoned, for its
/// guard closed on it. What it cost stands with the parent, where its origin leads.
fn copied((row, origin): (TapeRow, ReusedFrom)) -> Result<Write, Stop> {
    let path = row.path;
    let torn = |what: &str| Stop::Record(format!("the step {path} of the parent has no {what}"));
    let request_ref = row.request_ref.ok_or_else(|| torn("request"))?;
    Ok(match row.state {
        State::Done(outcome_kind) => Write::End(StepEnd {
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
        State::Intent | State::Abandoned => {
            let step = Intent { path, digest: row.digest, request_ref };
            Write::Abandoned { step, reused_from: origin }
        }
    })
}

fn recorded<T>(
    path: &StepPath,
    kind: OutcomeKind,
    outcome: Option<serde_json::Value>,
) -> Result<Verdict<T>, Stop> {
    match (kind, outcome) {
        (OutcomeKind::TimedOut, _) => Ok(Verdict::TimedOut),
        (_, Some(outcome)) => serde_json::from_value(outcome)
            .map(Verdict::Failed)
            .map_err(|error| Stop::Record(format!("the verdict at {path} cannot be read: {error}"))),
        (_, None) => Err(Stop::Record(format!("the verdict at {path} has no outcome"))),
    }
}
