//! The research quality of a day, from a session's stored metadata: only the keys that it needs are parsed, since a
//! long run has tens of thousands of sessions.

use papertape_core::provenance::{DayQuality, SampleQuality, extract};
use papertape_core::record::DayStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The research quality in a session's metadata.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(in crate::view) struct Researched {
    #[serde(default)]
    point_in_time: Value,
    #[serde(default, skip_serializing)]
    point_in_time_reason: Value,
    /// The outcome of an imported day.
    #[serde(default, skip_serializing)]
    recorded: Value,
    #[serde(default)]
    research: Value,
    #[serde(default)]
    investment_debate_state: Value,
    #[serde(default)]
    by_symbol: Value,
    #[serde(default)]
    degradations: Value,
    #[serde(default)]
    data_quality: Value,
    /// Could the metadata be parsed?
    #[serde(skip)]
    is_known: bool,
}

/// Is a session with this metadata a day of full research?
pub(crate) fn is_full_research(metadata: Option<&str>) -> bool {
    Researched::read(metadata).is_full()
}

impl Researched {
    /// Parses metadata; without any, or if it cannot be parsed, nothing is known.
    pub(in crate::view) fn read(metadata: Option<&str>) -> Self {
        let read = metadata.and_then(|metadata| serde_json::from_str::<Self>(metadata).ok());
        read.map(|read| Self { is_known: true, ..read }).unwrap_or_default()
    }

    /// Is it a day of full research?
    pub(in crate::view) fn is_full(&self) -> bool {
        let known = self.known();
        known.is_some_and(|known| extract(&known).sample_quality() == SampleQuality::FullResearch)
    }

    /// The quality of the day.
    pub(in crate::view) fn quality(&self, status: DayStatus, error: Option<&str>) -> Option<DayQuality> {
        DayQuality::of(status, error, self.known().as_ref())
    }

    fn known(&self) -> Option<Value> {
        self.is_known.then(|| serde_json::to_value(self).ok()).flatten()
    }

    /// Is the session verified as point-in-time?
    pub(super) fn is_verified(&self) -> bool {
        self.point_in_time == "verified"
    }

    /// The metadata that says why it is not.
    pub(super) fn point_in_time(&self) -> Value {
        json!({
            "point_in_time": self.point_in_time,
            "point_in_time_reason": self.point_in_time_reason,
            "recorded": self.recorded,
        })
    }
}
