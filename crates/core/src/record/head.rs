//! A job's head: what somebody publishes to be able to show later that nothing was rewritten.

use super::JobStatus;
use crate::id::{AgentName, ContentHash, JobId};
use crate::json;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The heads of a job's chains. Its hash commits to all that the record says of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobHead {
    /// The job.
    pub job: JobId,
    /// The rules that it was recorded under.
    pub rules_version: u32,
    /// Hash of what it was to do: config, expected days, and what it continues or branched from.
    pub anchor: ContentHash,
    /// Its status then.
    pub status: JobStatus,
    /// Its agents' chains.
    pub agents: BTreeMap<AgentName, AgentHead>,
}

/// An agent's chain of days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentHead {
    /// How many days it has: skipped and closed ones.
    pub days: u64,
    /// Its newest link.
    pub head: ContentHash,
    /// The day under way.
    pub open: Option<OpenSessionHead>,
}

/// A session that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSessionHead {
    /// The trading day.
    pub date: Date,
    /// How many links its chain has.
    pub length: u64,
    /// The newest one.
    pub head: ContentHash,
}

impl JobHead {
    /// The document's hash.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        json::hash(&json::to_value(self))
    }

    /// The document, canonical JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        json::canonical(&json::to_value(self))
    }
}
