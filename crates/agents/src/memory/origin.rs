//! Where a memory was written. It travels with the memory, over any chain of jobs.

use papertape_core::id::JobId;
use papertape_core::point_in_time::Unverified;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};

/// The session that wrote a memory, and whether it is known to have seen nothing of its future.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The job that the memory was taken over from; absent: the job that the document belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The session's trading day; absent in states of rules version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Date>,
    /// The session's mark; absent: it is verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<Unverified>,
}

impl Origin {
    /// Of what a session of this job writes.
    #[must_use]
    pub fn here(session: Date, unverified: Option<Unverified>) -> Self {
        Self { job: None, session: Some(session), unverified }
    }

    /// As another job takes it over: what has no job yet is that job's. `unmarked`: the job's mark, for what
    /// does not say who wrote it.
    pub(super) fn take_over(&mut self, job: &JobId, unmarked: Option<&Unverified>) {
        if self.session.is_none() && self.unverified.is_none() {
            self.unverified = unmarked.cloned();
        }
        self.job.get_or_insert_with(|| job.clone());
        self.unverified = self.unverified.take().map(|mark| mark.of_job(job));
    }
}
