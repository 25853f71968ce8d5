//! What a result rests on, in a word.

use super::{Degradation, Research};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the data and the nodes behind a result were like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataQuality {
    /// In a word.
    pub state: QualityState,
    /// The reasons of all degradations in path order, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reason_codes: Vec<String>,
    /// Sources that were asked and were not there, each with the reason. They degrade nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources_missing: BTreeMap<String, String>,
}

/// [`DataQuality`] in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QualityState {
    /// Every node gave what it was asked for.
    #[default]
    Ok,
    /// A node of the research gave nothing, and maybe others.
    ResearchDegraded,
    /// A node outside of the research gave nothing.
    NodeDegraded,
    /// A solo trader read nothing, ordered nothing and never said that it was done.
    NoDecision,
    /// There is no result.
    Failed,
}

impl QualityState {
    /// As documents spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ResearchDegraded => "research_degraded",
            Self::NodeDegraded => "node_degraded",
            Self::NoDecision => "no_decision",
            Self::Failed => "failed",
        }
    }
}

/// Is a result a sample of full research?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleQuality {
    /// Yes: no node was degraded.
    FullResearch,
    /// No.
    DegradedResearch,
}

impl SampleQuality {
    /// `full_research` or `degraded_research`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FullResearch => "full_research",
            Self::DegradedResearch => "degraded_research",
        }
    }
}

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
