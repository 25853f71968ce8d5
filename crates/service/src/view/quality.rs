//! Which model-days are less than they were to be, and what the books say beside a summary: the same facts
//! for every reader.

use papertape_core::provenance::DayQuality;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_store::{DegradedDay, DegradedDays, OrderCounts};
use serde::Serialize;
use utoipa::ToSchema;

/// How a model-day came about, in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DayQualityResponse {
    /// `ok`, `research_degraded`, `node_degraded`, `no_decision` or `failed`.
    #[schema(schema_with = super::vocabulary::quality_state)]
    pub state: &'static str,
    /// The first reason, or why the day failed; `null` of a day that is `ok`.
    pub reason: Option<String>,
}

impl From<DayQuality> for DayQualityResponse {
    fn from(quality: DayQuality) -> Self {
        Self { state: quality.state.as_str(), reason: quality.reason }
    }
}

/// A model-day that failed or is degraded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DegradedDayResponse {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `research_degraded`, `node_degraded`, `no_decision` or `failed`.
    #[schema(schema_with = super::vocabulary::quality_state)]
    pub state: &'static str,
    /// The first reason, or why the day failed.
    pub reason: Option<String>,
}

impl DegradedDayResponse {
    pub(super) fn of(date: Date, model: &str, quality: DayQuality) -> Self {
        Self { date, model: model.to_owned(), state: quality.state.as_str(), reason: quality.reason }
    }

    /// The day, the agent, the state and the reason on one line.
    #[must_use]
    pub fn line(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} on {}: {}{reason}", self.model, self.date, self.state)
    }
}

/// Of a stored day.
pub(super) fn quality(day: &DegradedDay) -> Option<DayQuality> {
    DayQuality::of(day.status, day.error.as_deref(), day.metadata.as_ref())
}

/// How many model-days of a job are less than they were to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct JobQuality {
    /// Model-days that ended and are degraded: some node gave nothing, or nothing was decided.
    pub degraded_days: u64,
    /// Model-days that failed, those included on which an agent stopped until something is fixed.
    pub failed_days: u64,
    /// The first of both, by day and agent; `null` where there is none.
    pub first: Option<DegradedDayResponse>,
}

impl From<&DegradedDays> for JobQuality {
    fn from(days: &DegradedDays) -> Self {
        let first = days.first.as_ref();
        Self {
            degraded_days: days.degraded,
            failed_days: days.failed,
            first: first
                .and_then(|day| Some(DegradedDayResponse::of(day.date, day.agent.as_str(), quality(day)?))),
        }
    }
}

impl JobQuality {
    /// Of all degraded and failed days of a job, in their order.
    pub(super) fn of(days: &[DegradedDay]) -> Self {
        let failed = days.iter().filter(|day| day.status == DayStatus::Failed).count() as u64;
        let first = days.first().cloned();
        (&DegradedDays { failed, degraded: days.len() as u64 - failed, first }).into()
    }

    /// `3 of 65 model-days degraded, 1 failed; the first: …`; `None` where all are as they were to be.
    #[must_use]
    pub fn warning(&self, total: u64) -> Option<String> {
        let first = self.first.as_ref()?.line();
        let (degraded, failed) = (self.degraded_days, self.failed_days);
        Some(format!("of {total} model-days {degraded} degraded and {failed} failed; the first: {first}"))
    }
}

/// What the books say of a session, beside what a summary says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BooksFacts {
    /// Orders that were given, or ended, in the session.
    pub orders: u64,
    /// Fills, those of stops, targets, liquidations and delistings included.
    pub fills: u64,
    /// Orders that were rejected.
    pub rejections: u64,
    /// The same in words; `no orders` where there were none.
    pub text: String,
}

impl BooksFacts {
    pub(super) fn of(counts: Option<&OrderCounts>, fills: usize) -> Self {
        let OrderCounts { orders, rejected } = counts.copied().unwrap_or_default();
        let fills = fills as u64;
        let some = |count: u64, word: &str| {
            let s = if count == 1 { "" } else { "s" };
            format!("{count} {word}{s}")
        };
        let text = match (orders, fills) {
            (0, 0) => "no orders".to_owned(),
            (0, _) => format!("no orders, {}", some(fills, "fill")),
            _ => [some(orders, "order"), some(fills, "fill"), some(rejected, "rejection")].join(", "),
        };
        Self { orders, fills, rejections: rejected, text }
    }
}
