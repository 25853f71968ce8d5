//! What a session asks of its host.

use super::act::{ActionOptions, ActionReply};
use super::{StepPath, Stop};
use crate::id::ContentHash;
use crate::message::{CallFailure, ModelReply, ModelRequest};
use crate::ports::{BoxFuture, ExternalCall, ExternalReply};
use crate::record::{AttemptEnd, Estimate, Write};
use serde_json::Value;
use std::time::Duration;

/// How a call is to be made; nothing of it reaches a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallOptions {
    /// After so long one attempt is cancelled.
    pub timeout: Duration,
    /// So many attempts are made in all, at least one.
    pub max_attempts: u32,
}

/// What a call came to, with its last attempt.
#[derive(Clone, Debug)]
pub struct Called<T> {
    /// The answer, or why there is none.
    pub result: Result<T, CallFailure>,
    /// The attempt that brought it.
    pub attempt: AttemptEnd,
}

/// What a call came to, with what it writes beside its outcome.
pub type Performed<T> = (Called<T>, Vec<Write>);

/// What performs and keeps a session's effects: the runtime's, the replayer's, or a test's.
///
/// It takes no decisions about the tape; those are [`Ctx`](super::Ctx)'s.
pub trait Host: Send + Sync {
    /// May another external step be performed? Reserves its budget. Called before its intent.
    fn admit<'a>(
        &'a self,
        path: &'a StepPath,
        request: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), Stop>>;

    /// Says that the step is sent again after so many crashes of its process, the last of them new. Gives what
    /// the attempt that was cut off is thought to have used. Called before the step is admitted.
    fn interrupted(
        &self,
        _path: &StepPath,
        _times: u32,
        _request: Option<&ModelRequest>,
    ) -> Option<Estimate> {
        None
    }

    /// Calls the model, with retries, from attempt number `first` on. Keeps every attempt but the
    /// last, which it returns.
    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        request: &'a ModelRequest,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<Called<ModelReply>, Stop>>;

    /// Calls an outside tool.
    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<Called<ExternalReply>, Stop>>;

    /// Does an action, and gives what it writes with it: kept with its outcome. A host that performs
    /// none says so.
    fn action<'a>(
        &'a self,
        path: &'a StepPath,
        _call: &'a ExternalCall,
        _options: ActionOptions,
        _first: u32,
    ) -> BoxFuture<'a, Result<Performed<ActionReply>, Stop>> {
        let message = format!("there is nobody to perform the action {path}");
        Box::pin(async move { Err(Stop::Misuse(message)) })
    }

    /// Keeps the writes in one transaction and returns when they are durable. Dropping the future
    /// does not take them back.
    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), Stop>>;

    /// Resolves after the duration: a guard's deadline. Never, on a replay.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// For how long, up to now, some call in the scope or below it has waited for its turn to be sent. A
    /// guard's deadline does not count it: who waits in our own queue has not been slow.
    fn waited(&self, _scope: &str) -> Duration {
        Duration::ZERO
    }

    /// The recorded document that a step asked with; `None` where it cannot be had.
    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>>;
}
