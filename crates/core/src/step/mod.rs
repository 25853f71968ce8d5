//! A step's class, state and digest.

mod path;

pub use path::{ScopeKey, StepPath};

use crate::id::ContentHash;
use crate::json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where a step's outcome comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepClass {
    /// From outside: a model, a tool. Re-runs return the recorded outcome.
    External,
    /// From our own pure code: recomputed on a re-run, and compared.
    Local,
    /// From the books: recomputed on a re-run, and compared.
    Order,
    /// From a guard that closed: its verdict replaces its whole body.
    Guard,
}

/// How a completed step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It succeeded.
    Ok,
    /// It failed after all retries.
    Failed,
    /// Its deadline passed.
    TimedOut,
    /// The broker rejected an order, or the provider rejected a request.
    Refused,
    /// It was sent and its outcome is unknown.
    Unknown,
}

crate::words!(StepClass { External = "external", Local = "local", Order = "order", Guard = "guard" });
crate::words!(OutcomeKind {
    Ok = "ok", Failed = "failed", TimedOut = "timed_out", Refused = "refused", Unknown = "unknown",
});

/// A step's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepState {
    /// Committed, and perhaps sent.
    Intent,
    /// Its outcome is committed.
    Done(OutcomeKind),
    /// Its guard closed before the outcome arrived.
    Abandoned,
}

/// A step's request, with the hash that identifies it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its path.
    pub path: StepPath,
    /// Its class.
    pub class: StepClass,
    /// blake3 of the request's canonical JSON.
    pub digest: ContentHash,
}

impl Step {
    /// A step whose digest covers its kind and arguments.
    #[must_use]
    pub fn new(path: StepPath, class: StepClass, arguments: &Value) -> Self {
        let digest = json::hash(&json!({ "kind": path.kind(), "arguments": arguments }));
        Self { path, class, digest }
    }
}
