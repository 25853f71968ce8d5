//! What a session needs from its host.

use super::stop::SessionStop;
use crate::external::{AgentTurn, ModelDoorCall, ModelDoorReply, SessionEnding, Turn};
use crate::id::{ContentHash, PlanId};
use crate::message::{CallFailure, ModelReply, ModelRequest};
use crate::ports::{BoxFuture, ExternalCall, ExternalReply};
use crate::record::{AttemptEnd, Estimate, Write};
use crate::step::StepPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// How to make a call; no digest covers these options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallOptions {
    /// The deadline of one attempt.
    pub timeout: Duration,
    /// Maximum attempts, at least one.
    pub max_attempts: u32,
}

/// How to run an action; no digest covers these options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionOptions {
    /// The deadline of one attempt.
    pub timeout: Duration,
    /// Maximum retries after a failed attempt.
    pub retries: u32,
    /// The delay before each retry.
    pub backoff: Duration,
}

/// The result of an action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionReply {
    /// The result in a sentence.
    pub message: String,
    /// The complete result.
    pub data: Value,
    /// The plan it belongs to, if that is known only now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
}

/// The outcome of a call, with its last attempt.
#[derive(Clone, Debug)]
pub struct CallOutcome<T> {
    /// The response, or the failure.
    pub result: Result<T, CallFailure>,
    /// The attempt that returned it.
    pub attempt: AttemptEnd,
}

/// The outcome of a call, with further writes for the outcome's transaction.
pub type CallOutcomeWithWrites<T> = (CallOutcome<T>, Vec<Write>);

/// Performs and records a session's effects: the runtime, the replayer, or a test.
///
/// It makes no decisions about the tape; those are [`Ctx`](super::Ctx)'s.
pub trait Host: Send + Sync {
    /// Checks whether another external step may run, and reserves its budget. Called before the step's
    /// intent.
    fn reserve<'a>(
        &'a self,
        path: &'a StepPath,
        request: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>>;

    /// Reports that the step is sent again after `times` crashes of its process, the last of them new.
    /// Returns the estimated usage of the attempt that was cut off. Called before the step is admitted.
    fn interrupted(
        &self,
        _path: &StepPath,
        _times: u32,
        _request: Option<&ModelRequest>,
    ) -> Option<Estimate> {
        None
    }

    /// Calls the model, with retries, starting with attempt number `first`. Records every attempt but the
    /// last, which it returns.
    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        request: &'a ModelRequest,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>>;

    /// Calls an external tool.
    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>>;

    /// Performs an action, and returns its writes for the outcome's transaction. The default rejects every
    /// action.
    fn action<'a>(
        &'a self,
        path: &'a StepPath,
        _call: &'a ExternalCall,
        _options: ActionOptions,
        _first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ActionReply>, SessionStop>> {
        let message = format!("there is nobody to perform the action {path}");
        Box::pin(async move { Err(SessionStop::ContractViolation(message)) })
    }

    /// Delivers the reply to an external agent's last request, starting the agent first if need be, and waits for its
    /// next request. The default has no such agents.
    fn turn<'a>(
        &'a self,
        path: &'a StepPath,
        _turn: &'a Turn<'a>,
        _options: CallOptions,
        _first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<AgentTurn>, SessionStop>> {
        let message = format!("this host has no external agent for the turn {path}");
        Box::pin(async move { Err(SessionStop::ContractViolation(message)) })
    }

    /// The next call at the model endpoint of the session's agent. Dropping the future loses no call. The default never
    /// resolves.
    fn next_model_call(&self) -> BoxFuture<'_, ModelDoorCall> {
        Box::pin(std::future::pending())
    }

    /// Makes a call of the model endpoint, with retries, like [`Host::model`].
    fn forward<'a>(
        &'a self,
        path: &'a StepPath,
        _call: &'a ModelDoorCall,
        _options: CallOptions,
        _first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelDoorReply>, SessionStop>> {
        let message = format!("this host cannot forward the model call {path}");
        Box::pin(async move { Err(SessionStop::ContractViolation(message)) })
    }

    /// Delivers the last reply of `turn`, tells the agent that its session is over, and closes its doors. Everything
    /// that the agent learns from it is durable. The default, and a host that took no turn, do nothing.
    fn end_turns<'a>(&'a self, _turn: &'a Turn<'a>, _ending: SessionEnding) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Commits the writes in one transaction and returns when they, and everything handed over before, are
    /// durable. Dropping the future does not undo them.
    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>>;

    /// Hands the writes over: they become durable after everything committed or handed over before them, and
    /// nothing after them is stored if they are not. May return before they are durable.
    fn hand_over<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        self.commit(writes)
    }

    /// Resolves after the duration: a guard's deadline. On a replay it never resolves.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// How long, so far, a call in the scope or below has waited in our queue. A guard's deadline excludes
    /// this time: a node is not slow because we queue its calls.
    fn queue_wait(&self, _scope: &str) -> Duration {
        Duration::ZERO
    }

    /// The recorded request document of a step; `None` when it is not available.
    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>>;
}
