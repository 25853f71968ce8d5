//! Experiments: jobs that run one configuration several times, and share a budget.

use crate::budget::{Grant, Limit};
use crate::id::ExperimentId;
use crate::job::NewJob;
use crate::time::Timestamp;
use serde_json::Value;

/// An experiment to enqueue, with all its jobs.
#[derive(Clone, Debug)]
pub struct NewExperiment {
    /// Its ID.
    pub id: ExperimentId,
    /// When it was requested.
    pub created_at: Timestamp,
    /// What is planned. It never changes.
    pub manifest: Value,
    /// The limit that its jobs share.
    pub limit: Limit,
    /// Its jobs.
    pub jobs: Vec<ExperimentJob>,
}

/// A job of an experiment to enqueue.
#[derive(Clone, Debug)]
pub struct ExperimentJob {
    /// The job.
    pub job: NewJob,
    /// Its window, from 1.
    pub window: u32,
    /// Its trial, from 1.
    pub trial: u32,
}

/// What a running job requests from the budget of its experiment, in addition to earlier grants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrantRequest {
    /// What its next call may need. It gets at least this or nothing.
    pub needed: Grant,
    /// What it gets if that much is left, so that not every call needs a grant.
    pub preferred: Grant,
}

/// The answer to a [`GrantRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantOutcome {
    /// This is granted in addition.
    Granted(Grant),
    /// Less is left than is needed.
    Denied {
        /// What the other jobs and this one have used or hold.
        committed: Grant,
        /// The limit.
        limit: Limit,
    },
}
