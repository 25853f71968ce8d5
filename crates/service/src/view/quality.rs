//! Degraded and failed model-days, and order counts of a session: the same facts for every reader.

use papertape_core::provenance::DayQuality;
use papertape_core::record::DayStatus;
use papertape_protocol::quality::{BooksFacts, DegradedDayResponse, JobQuality};
use papertape_store::{DegradedDay, DegradedDays, OrderCounts};

/// Of a stored day.
pub(super) fn quality(day: &DegradedDay) -> Option<DayQuality> {
    DayQuality::of(day.status, day.error.as_deref(), day.metadata.as_ref())
}

/// The degraded and failed days of a job that were counted.
pub(super) fn counted(days: &DegradedDays) -> JobQuality {
    let first = days.first.as_ref();
    JobQuality {
        degraded_days: days.degraded,
        failed_days: days.failed,
        first: first
            .and_then(|day| Some(DegradedDayResponse::of(day.date, day.agent.as_str(), quality(day)?))),
    }
}

/// The same of all degraded and failed days of a job, in their order.
pub(super) fn listed(days: &[DegradedDay]) -> JobQuality {
    let failed = days.iter().filter(|day| day.status == DayStatus::Failed).count() as u64;
    let first = days.first().cloned();
    counted(&DegradedDays { failed, degraded: days.len() as u64 - failed, first })
}

/// The books of a session: its orders and rejections by these counts, and its fills.
pub(super) fn books(counts: Option<&OrderCounts>, fills: usize) -> BooksFacts {
    let OrderCounts { orders, rejected } = counts.copied().unwrap_or_default();
    BooksFacts::of(orders, fills as u64, rejected)
}
