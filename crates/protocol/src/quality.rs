//! Degraded and failed model-days, and the book counts that accompany a summary.

use papertape_core::provenance::DayQuality;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The quality of a model-day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DayQualityResponse {
    /// `ok`, `research_degraded`, `node_degraded`, `no_decision` or `failed`.
    #[schema(schema_with = crate::vocabulary::quality_state)]
    pub state: String,
    /// The first reason, or why the day failed; `null` for a day that is `ok`.
    pub reason: Option<String>,
}

/// A model-day that failed or is degraded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DegradedDayResponse {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `research_degraded`, `node_degraded`, `no_decision` or `failed`.
    #[schema(schema_with = crate::vocabulary::quality_state)]
    pub state: String,
    /// The first reason, or why the day failed.
    pub reason: Option<String>,
}

/// Degraded and failed model-days of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobQuality {
    /// Completed model-days that are degraded: a node failed, or there was no decision.
    pub degraded_days: u64,
    /// Failed model-days, including those on which an agent stopped until something is fixed.
    pub failed_days: u64,
    /// The first of both, by day and agent; `null` if there is none.
    pub first: Option<DegradedDayResponse>,
}

/// Order counts of a session, from the books.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BooksFacts {
    /// Orders that were placed or closed in the session.
    pub orders: u64,
    /// Fills, those of stops, targets, liquidations and delistings included.
    pub fills: u64,
    /// Orders that were rejected.
    pub rejections: u64,
    /// The same as text; `no orders` if there were none.
    pub text: String,
}

impl From<DayQuality> for DayQualityResponse {
    fn from(quality: DayQuality) -> Self {
        Self { state: quality.state.as_str().to_owned(), reason: quality.reason }
    }
}

impl DegradedDayResponse {
    /// The day of an agent.
    #[must_use]
    pub fn of(date: Date, model: &str, quality: DayQuality) -> Self {
        Self {
            date,
            model: model.to_owned(),
            state: quality.state.as_str().to_owned(),
            reason: quality.reason,
        }
    }

    /// The day, the agent, the state and the reason on one line.
    #[must_use]
    pub fn line(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} on {}: {}{reason}", self.model, self.date, self.state)
    }
}

impl BooksFacts {
    /// From the counts.
    #[must_use]
    pub fn of(orders: u64, fills: u64, rejected: u64) -> Self {
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

impl JobQuality {
    /// A sentence with both counts and the first day; `None` if there is neither.
    #[must_use]
    pub fn warning(&self, total: u64) -> Option<String> {
        let first = self.first.as_ref()?.line();
        let (degraded, failed) = (self.degraded_days, self.failed_days);
        Some(format!("of {total} model-days {degraded} degraded and {failed} failed; the first: {first}"))
    }
}
