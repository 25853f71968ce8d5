//! How far a job is.

use papertape_core::record::DayStatus;
use papertape_store::{DayCounts, DayRow};
use serde::Serialize;
use utoipa::ToSchema;

/// How many model-days are where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
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

pub(super) fn progress(days: DayCounts) -> Progress {
    let pending = days.queued + days.running;
    Progress {
        total_model_days: days.completed + days.failed + days.skipped + pending,
        completed: days.completed,
        failed: days.failed,
        skipped: days.skipped,
        pending,
    }
}

pub(super) fn count(days: &[DayRow]) -> Progress {
    let of = |status: DayStatus| days.iter().filter(|day| day.status == status).count() as u64;
    progress(DayCounts {
        queued: of(DayStatus::Queued),
        running: of(DayStatus::Running),
        completed: of(DayStatus::Completed),
        failed: of(DayStatus::Failed),
        skipped: of(DayStatus::Skipped),
    })
}
