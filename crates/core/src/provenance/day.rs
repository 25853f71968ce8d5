//! The quality of a model-day in a word and a reason, the same for every reader.

use super::{QualityState, extract};
use crate::job::DayStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The quality of a model-day. Every reader (results, jobs, chat sessions, the command line, the pages) gets
/// it from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayQuality {
    /// The state.
    pub state: QualityState,
    /// The first reason in graph order, or why the day failed; `None` for a day that is `ok`.
    pub reason: Option<String>,
}

impl DayQuality {
    /// The quality of a model-day, from its session's status, error and metadata. `None` while the day has
    /// not ended.
    #[must_use]
    pub fn of(status: DayStatus, error: Option<&str>, metadata: Option<&Value>) -> Option<Self> {
        let known = metadata.map(extract);
        if status == DayStatus::Failed {
            let codes = known.map(|known| known.data_quality.reason_codes).unwrap_or_default();
            let reason = error.map(str::to_owned).or_else(|| codes.into_iter().next());
            return Some(Self { state: QualityState::Failed, reason });
        }
        let known = known?;
        let reason = known.data_quality.reason_codes.first().cloned();
        let reason = reason.or_else(|| known.research.as_ref()?.degraded_reason.clone());
        let reason = reason.or_else(|| known.degradations.first().map(|first| first.reason.clone()));
        let state = match known.data_quality.state {
            // The document claims to be complete and is not.
            QualityState::Ok if known.is_degraded() => QualityState::NodeDegraded,
            // The document claims to be failed, but the day did not fail: its orders count, so it has a
            // result.
            QualityState::Failed => QualityState::NodeDegraded,
            state => state,
        };
        Some(Self { reason: reason.filter(|_| state != QualityState::Ok), state })
    }

    /// Whether the day ended, but degraded or without a decision.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        !matches!(self.state, QualityState::Ok | QualityState::Failed)
    }

    /// The state and its reason on one line: `research_degraded: bull_researcher_timeout`.
    #[must_use]
    pub fn line(&self) -> String {
        let state = self.state.as_str();
        self.reason.as_ref().map_or_else(|| state.to_owned(), |reason| format!("{state}: {reason}"))
    }
}
