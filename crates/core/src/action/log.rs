//! The action log as it is read back.

use super::{ActionDraft, ActionStatus};
use crate::id::JobId;
use crate::plan::PlanId;
use crate::record::JobStatus;
use crate::time::Timestamp;

/// The most rows of one answer.
pub const MOST_ROWS: u32 = 500;
/// The rows of an answer for which no number was asked.
pub const USUAL_ROWS: u32 = 200;

/// A row of the action log.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRow {
    /// Its id in this record.
    pub id: i64,
    /// The job.
    pub job: JobId,
    /// Its number in the job's log, from 1, without gaps.
    pub sequence: i64,
    /// What it says.
    pub row: ActionDraft,
    /// How many secrets were removed from it before it was written.
    pub redactions: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was changed: where the job got its plan after the row was written.
    pub updated_at: Timestamp,
}

impl ActionRow {
    /// Did the action succeed? `None` until it has ended.
    #[must_use]
    pub const fn success(&self) -> Option<bool> {
        self.row.status.success()
    }

    /// How far the action is.
    #[must_use]
    pub const fn status(&self) -> ActionStatus {
        self.row.status
    }
}

/// Which part of a job's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogFrom {
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
    /// Newer rows follow here, those that are still to be written included.
    pub cursor: String,
    /// Older rows come before this; `None`: there are none.
    pub before: Option<String>,
}

/// A job of a plan: a row of `plan_job_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanJob {
    /// The job.
    pub job: JobId,
    /// The plan; `None`: it belongs to none.
    pub plan: Option<PlanId>,
    /// `plan_execute`, `simulate`, …
    pub job_type: String,
    /// The job's status.
    pub status: JobStatus,
    /// The number that the job's next row gets.
    pub next_sequence: i64,
    /// How many of its rows are kept.
    pub rows_kept: i64,
    /// When the job came into the index.
    pub created_at: Timestamp,
    /// When this row was last changed.
    pub updated_at: Timestamp,
}

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Rows that were too old.
    pub by_age: u64,
    /// Rows beyond a job's most.
    pub by_count: u64,
    /// Jobs that lost rows.
    pub jobs: u64,
}
