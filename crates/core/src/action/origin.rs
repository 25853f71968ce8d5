//! Where something comes from that an action has made, and the ids that follow from that.

use crate::id::{ContentHash, JobId};
use crate::record::words;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The place in a job at which something was made. What is made at the same place again is the same
/// thing: an action that is done again after a crash finds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The job.
    pub job: JobId,
    /// The action's step path; with `#n` behind it for the nth thing that one action makes.
    pub path: String,
}

impl Origin {
    /// The nth thing (from 0) that the action at `path` makes.
    #[must_use]
    pub fn new(job: &JobId, path: &str, nth: usize) -> Self {
        let path = if nth == 0 { path.to_owned() } else { format!("{path}#{nth}") };
        Self { job: job.clone(), path }
    }

    /// The id of the job that is started here: always the same one. A UUID of version 8, made of a hash.
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

/// What a small number is the id of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdKind {
    /// A plan.
    Plan,
    /// A task.
    Task,
}

words!(IdKind { Plan = "plan", Task = "task" });
