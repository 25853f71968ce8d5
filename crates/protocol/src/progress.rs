//! Progress of a job.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Model-days by status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    /// Model-days in all: trading days x agents.
    pub total_model_days: u64,
    /// Done.
    pub completed: u64,
    /// Failed.
    pub failed: u64,
    /// Skipped, because an earlier job ran them.
    pub skipped: u64,
    /// Queued or running.
    pub pending: u64,
}
