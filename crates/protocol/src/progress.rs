//! Progress of a job.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many model-days are where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// Model-days in all: trading days x agents.
    pub total_model_days: u64,
    /// Done.
    pub completed: u64,
    /// Broken off.
    pub failed: u64,
    /// Done already by an earlier job.
    pub skipped: u64,
    /// Queued or running.
    pub pending: u64,
}
