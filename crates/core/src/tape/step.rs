//! A step's class, state and digest.

use super::StepPath;
use crate::id::ContentHash;
use crate::json;
use crate::record::words;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// Who answers for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The outside: a model, a tool. Its outcome is returned from the tape.
    External,
    /// Our own pure code: recomputed on a re-run, and compared.
    Local,
    /// The books: recomputed on a re-run, and compared.
    Order,
    /// A guard that closed: its verdict stands for its whole body.
    Guard,
}

/// How a step that is done ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It gave what was asked.
    Ok,
    /// It failed for good.
    Failed,
    /// It met its deadline.
    TimedOut,
    /// The broker refused an order, or a model to answer.
    Refused,
    /// It was sent, and nobody knows what became of it.
    Unknown,
}

words!(Class { External = "external", Local = "local", Order = "order", Guard = "guard" });
words!(OutcomeKind {
    Ok = "ok",
    Failed = "failed",
    TimedOut = "timed_out",
    Refused = "refused",
    Unknown = "unknown",
});

/// Where a step stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Committed, and perhaps sent.
    Intent,
    /// Its outcome is committed.
    Done(OutcomeKind),
    /// Its guard closed before the outcome came.
    Abandoned,
}

/// What a step asks, with the hash that identifies it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where it stands.
    pub path: StepPath,
    /// Its class.
    pub class: Class,
    /// blake3 of the canonical JSON of what is asked.
    pub digest: ContentHash,
}

impl Step {
    /// A step whose digest is made of its kind and arguments.
    #[must_use]
    pub fn new(path: StepPath, class: Class, arguments: &Value) -> Self {
        let digest = json::hash(&json!({ "kind": path.kind(), "arguments": arguments }));
        Self { path, class, digest }
    }
}
