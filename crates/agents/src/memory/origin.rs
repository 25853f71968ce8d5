//! The origin of a memory. It travels with the memory across any chain of jobs.

use papertape_core::id::JobId;
use papertape_core::point_in_time::Unverified;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};

/// The session that wrote a memory, and whether that session is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The job that the memory was carried over from; absent: the job that the document belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The session's trading day; absent in states of rules version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Date>,
    /// The session's mark; absent: the session is verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<Unverified>,
}

impl Origin {
    /// The origin of what a session of this job writes.
    #[must_use]
    pub fn here(session: Date, unverified: Option<Unverified>) -> Self {
        Self { job: None, session: Some(session), unverified }
    }

    /// The origin after another job takes over the memory: a missing job is set to `job`. `unmarked`: the
    /// job's mark, for memories without an origin.
    pub(super) fn take_over(&mut self, job: &JobId, unmarked: Option<&Unverified>) {
        if self.session.is_none() && self.unverified.is_none() {
            self.unverified = unmarked.cloned();
        }
        self.job.get_or_insert_with(|| job.clone());
        self.unverified = self.unverified.take().map(|mark| mark.of_job(job));
    }
}

/// A memory with its origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RecalledFrom<T> {
    #[serde(flatten)]
    pub(super) origin: Origin,
    pub(super) row: T,
}
