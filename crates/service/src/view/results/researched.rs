//! What a day's research was like, from a session's metadata as it stands in the record: the few keys that
//! say so are read and the rest is skipped, since of a long run there are tens of thousands.

use papertape_core::provenance::{DayQuality, SampleQuality, extract};
use papertape_core::record::DayStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a session's metadata says of its research.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(in crate::view) struct Researched {
    #[serde(default)]
    point_in_time: Value,
    #[serde(default, skip_serializing)]
    point_in_time_reason: Value,
    /// What came of a day that was traded elsewhere.
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
    /// Was there anything that could be read?
    #[serde(skip)]
    is_known: bool,
}

/// Was a session with this metadata a day of full research?
pub(crate) fn is_full_research(metadata: Option<&str>) -> bool {
    Researched::read(metadata).is_full()
}

impl Researched {
    /// Of metadata; without any, or of what cannot be read, nothing is known.
    pub(in crate::view) fn read(metadata: Option<&str>) -> Self {
        let read = metadata.and_then(|metadata| serde_json::from_str::<Self>(metadata).ok());
        read.map(|read| Self { is_known: true, ..read }).unwrap_or_default()
    }

    /// Was it a day of full research?
    pub(in crate::view) fn is_full(&self) -> bool {
        let known = self.known();
        known.is_some_and(|known| extract(&known).sample_quality() == SampleQuality::FullResearch)
    }

    /// How the day came about.
    pub(in crate::view) fn quality(&self, status: DayStatus, error: Option<&str>) -> Option<DayQuality> {
        DayQuality::of(status, error, self.known().as_ref())
    }

    fn known(&self) -> Option<Value> {
        self.is_known.then(|| serde_json::to_value(self).ok()).flatten()
    }

    /// Is it known that the agent saw nothing but the market view?
    pub(super) fn is_verified(&self) -> bool {
        self.point_in_time == "verified"
    }

    /// What of the metadata says why it is not.
    pub(super) fn point_in_time(&self) -> Value {
        json!({
            "point_in_time": self.point_in_time,
            "point_in_time_reason": self.point_in_time_reason,
            "recorded": self.recorded,
        })
    }
}
