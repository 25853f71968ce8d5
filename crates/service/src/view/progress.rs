//! Progress of a job.

use papertape_core::record::DayStatus;
use papertape_protocol::progress::Progress;
use papertape_store::{DayCounts, DayRow};

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
