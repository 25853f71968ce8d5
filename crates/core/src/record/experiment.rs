//! Experiments: jobs that run one configuration several times, and share a budget.

use crate::budget::Limit;
use crate::id::{AgentName, ExperimentId};
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
    /// The number of parts that its agents are split into; 0 or 1: it is not split.
    pub parts: u32,
    /// Its agents, in the order of its config.
    pub agents: Vec<AgentName>,
}
