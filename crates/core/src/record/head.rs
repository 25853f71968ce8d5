//! A job's head: publish it to be able to show later that nothing was rewritten.

use crate::id::{AgentName, ContentHash, JobId};
use crate::job::JobStatus;
use crate::json;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The heads of a job's chains. Its hash commits to the job's whole record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobHead {
    /// The job.
    pub job: JobId,
    /// The rules version it was recorded under.
    pub rules_version: u32,
    /// Hash of the job's inputs: config, expected days, and what it continues or branched from.
    pub anchor: ContentHash,
    /// Its status when the head was taken.
    pub status: JobStatus,
    /// Its agents' chains.
    pub agents: BTreeMap<AgentName, AgentHead>,
}

/// An agent's chain of days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentHead {
    /// Number of days in the chain, skipped and closed ones.
    pub days: u64,
    /// Its latest link.
    pub head: ContentHash,
    /// The day in progress.
    pub open: Option<OpenSessionHead>,
}

/// A session that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSessionHead {
    /// The trading day.
    pub date: Date,
    /// Number of links in its chain.
    pub length: u64,
    /// The latest link.
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
