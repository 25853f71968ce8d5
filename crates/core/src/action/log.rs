//! The action log as it is read back.

use super::{ActionDraft, ActionStatus};
use crate::id::JobId;
use crate::id::PlanId;
use crate::job::{JobKind, JobStatus};
use crate::time::Timestamp;

/// Maximum rows per page.
pub const MAX_ROWS: u32 = 500;
/// Rows per page when the request names no number.
pub const USUAL_ROWS: u32 = 200;

/// A stored row of the action log.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRow {
    /// Its ID, unique within one database.
    pub id: i64,
    /// The job.
    pub job: JobId,
    /// Its number in the job's log, from 1, without gaps.
    pub sequence: i64,
    /// What the row says.
    pub row: ActionDraft,
    /// How many secrets were redacted before the row was written.
    pub redactions: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed: a job that gets its plan later updates its earlier rows.
    pub updated_at: Timestamp,
}

impl ActionRow {
    /// Whether the action succeeded; `None` while it has not ended.
    #[must_use]
    pub const fn success(&self) -> Option<bool> {
        self.row.status.success()
    }

    /// The action's status.
    #[must_use]
    pub const fn status(&self) -> ActionStatus {
        self.row.status
    }
}

/// Which part of a job's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogPosition {
    /// The newest rows.
    #[default]
    Newest,
    /// The rows that follow a [`LogPage::cursor`].
    After(String),
    /// The rows that come before a [`LogPage::before`].
    Before(String),
}

/// A part of a job's log, oldest row first.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPage {
    /// The rows.
    pub rows: Vec<ActionRow>,
    /// Newer rows follow this cursor, including rows that are not written yet.
    pub cursor: String,
    /// Older rows precede this cursor; `None` when there are none.
    pub before: Option<String>,
}

/// A job of a plan: a row of `plan_job_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanJob {
    /// The job.
    pub job: JobId,
    /// The plan; `None` when the job belongs to none.
    pub plan: Option<PlanId>,
    /// The job's kind.
    pub job_type: JobKind,
    /// The job's status.
    pub status: JobStatus,
    /// The number that the job's next row gets.
    pub next_sequence: i64,
    /// How many of its rows retention has left in place.
    pub rows_kept: i64,
    /// When the job was added to the index.
    pub created_at: Timestamp,
    /// When this row was last changed.
    pub updated_at: Timestamp,
}

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanupReport {
    /// Rows removed because of their age.
    pub by_age: u64,
    /// Rows removed because their job had more than the maximum.
    pub by_count: u64,
    /// Jobs that lost rows.
    pub jobs: u64,
}
