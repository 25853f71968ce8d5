//! The calls that the assistant's jobs make: each is an action step of the tape.

use papertape_core::message::CallFailure;
use papertape_core::ports::ExternalCall;
use papertape_core::tape::{ActionOptions, ActionRequest};
use serde_json::Value;
use std::time::Duration;

/// The server name in the arguments of an action's step.
const SERVER: &str = "assistant";

/// Internal calls, which no model can request: reads the job's turn and the history before it.
pub(crate) const TURN: &str = "$turn";
/// Reads a plan with all its tasks.
pub(crate) const PLAN: &str = "$plan";
/// Sets a task's status and result.
pub(crate) const SET_TASK: &str = "$set_task";
/// Sets a plan's status.
pub(crate) const SET_PLAN: &str = "$set_plan";

/// The outcome of a call.
pub(crate) type CallResult<T> = Result<T, CallFailure>;

pub(crate) fn call(tool: &str, arguments: Value) -> ExternalCall {
    ExternalCall { server: SERVER.to_owned(), tool: tool.to_owned(), arguments }
}

/// A request without a row in the action log.
pub(crate) fn request(tool: &str, arguments: Value, options: ActionOptions) -> ActionRequest {
    ActionRequest { call: call(tool, arguments), row: None, hold: None, options }
}

/// The options of a call that is not retried.
pub(crate) fn once(timeout: Duration) -> ActionOptions {
    ActionOptions { timeout, retries: 0, backoff: Duration::ZERO }
}
