//! Where in a job something was created, and the IDs derived from that place.

use crate::id::{ContentHash, JobId};
use serde::{Deserialize, Serialize};

/// The place in a job where something was created. The same place gives the same IDs, so an action that runs
/// again after a crash finds what it created before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The job.
    pub job: JobId,
    /// The action's step path, with the suffix `#n` for the nth item that one action creates.
    pub path: String,
}

impl Origin {
    /// The origin of item `nth` (from 0) that the action at `path` creates.
    #[must_use]
    pub fn new(job: &JobId, path: &str, nth: usize) -> Self {
        let path = if nth == 0 { path.to_owned() } else { format!("{path}#{nth}") };
        Self { job: job.clone(), path }
    }

    /// The ID of the job that is started here, always the same: a UUID of version 8 derived from a hash.
    #[must_use]
    pub fn job_id(&self) -> JobId {
        let hash = ContentHash::of(format!("job\n{}\n{}", self.job, self.path).as_bytes());
        let mut bytes = [0_u8; 16];
        bytes.copy_from_slice(&hash.as_bytes()[..16]);
        bytes[6] = (bytes[6] & 0x0f) | 0x80;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        JobId::new(parts.join("-"))
    }
}

/// What a small numeric ID identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdKind {
    /// A plan.
    Plan,
    /// A task.
    Task,
}

crate::words!(IdKind { Plan = "plan", Task = "task" });
