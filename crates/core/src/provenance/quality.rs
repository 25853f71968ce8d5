//! The quality of the data and nodes behind a result.

use super::{Degradation, Research};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The quality of the data and the nodes behind a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataQuality {
    /// The state.
    pub state: QualityState,
    /// The reasons of all degradations in path order, deduplicated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reason_codes: Vec<String>,
    /// Requested sources that were not available, each with the reason. They do not count as degradations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources_missing: BTreeMap<String, String>,
}

/// The state of [`DataQuality`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QualityState {
    /// Every node returned what was requested.
    #[default]
    Ok,
    /// A research node returned nothing; other nodes may be degraded too.
    ResearchDegraded,
    /// A node outside the research returned nothing.
    NodeDegraded,
    /// A solo trader read nothing, ordered nothing and never declared that it was done.
    NoDecision,
    /// There is no result.
    Failed,
}

crate::words!(QualityState {
    Ok = "ok", ResearchDegraded = "research_degraded", NodeDegraded = "node_degraded",
    NoDecision = "no_decision", Failed = "failed",
});

/// Whether a result is a sample of full research.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleQuality {
    /// No node was degraded.
    FullResearch,
    /// A node was degraded.
    DegradedResearch,
}

crate::words!(SampleQuality { FullResearch = "full_research", DegradedResearch = "degraded_research" });

impl DataQuality {
    pub(super) fn of(
        research: Option<&Research>,
        degradations: &[Degradation],
        sources_missing: BTreeMap<String, String>,
    ) -> Self {
        let state = match research {
            Some(research) if research.is_degraded() => QualityState::ResearchDegraded,
            _ if degradations.is_empty() => QualityState::Ok,
            _ => QualityState::NodeDegraded,
        };
        let mut reason_codes: Vec<String> = Vec::new();
        let research = research.and_then(|research| research.degraded_reason.as_ref());
        for reason in degradations.iter().map(|degradation| &degradation.reason).chain(research) {
            if !reason_codes.contains(reason) {
                reason_codes.push(reason.clone());
            }
        }
        Self { state, reason_codes, sources_missing }
    }
}
