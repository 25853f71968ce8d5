//! The six fields of a research debate, and how each node changes them.

use super::{Degradation, DegradationKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The reason for research whose provenance cannot be read.
pub const UNREADABLE: &str = "unreadable_provenance";

/// The confidence of a manager with a complete debate.
const WHOLE: f64 = 1.0;
/// The confidence of a manager with a degraded debate.
const HALF: f64 = 0.5;
/// The confidence when the manager returned nothing.
const NONE: f64 = 0.0;

/// Whether the research was complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchStatus {
    /// Every node returned what was requested.
    #[default]
    Full,
    /// A node returned nothing. `failed`, which other tools write, is read as this.
    #[serde(alias = "failed")]
    Degraded,
}

crate::words!(ResearchStatus { Full = "full", Degraded = "degraded" });

/// The form of the research.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchMode {
    /// A debate.
    #[default]
    Debate,
    /// A synthesis of an incomplete debate.
    DegradedSynthesis,
}

/// The provenance of one symbol's research.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Research {
    /// Whether it was complete.
    pub research_status: ResearchStatus,
    /// Its form.
    #[serde(default)]
    pub research_mode: ResearchMode,
    /// Nodes whose deadline passed, deduplicated, in path order.
    #[serde(default)]
    pub timed_out_nodes: Vec<String>,
    /// Why it is degraded, the first reason in path order: `bull_researcher_timeout`.
    #[serde(default)]
    pub degraded_reason: Option<String>,
    /// The dimensions that were covered, deduplicated: `bull`, `bear`, `manager`.
    #[serde(default)]
    pub covered_dimensions: Vec<String>,
    /// 1.0 after a complete debate, 0.5 after a degraded one, 0.0 when the manager returned nothing; `None`
    /// until then.
    #[serde(default)]
    pub manager_confidence: Option<f64>,
}

impl Research {
    /// Whether it is less than complete.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.research_status == ResearchStatus::Degraded
    }

    /// Records that a side of the debate has contributed.
    pub fn cover(&mut self, dimension: &str) {
        if !self.covered_dimensions.iter().any(|covered| covered == dimension) {
            self.covered_dimensions.push(dimension.to_owned());
        }
    }

    /// Records that a research node returned nothing.
    pub fn degrade(&mut self, degradation: &Degradation) {
        self.research_status = ResearchStatus::Degraded;
        self.research_mode = ResearchMode::DegradedSynthesis;
        self.degraded_reason.get_or_insert_with(|| degradation.reason.clone());
        let timed_out = degradation.kind == DegradationKind::Timeout;
        if timed_out && !self.timed_out_nodes.contains(&degradation.node) {
            self.timed_out_nodes.push(degradation.node.clone());
        }
    }

    /// Records that the manager has decided.
    pub fn judge(&mut self) {
        self.cover("manager");
        self.manager_confidence = Some(if self.is_degraded() { HALF } else { WHOLE });
    }

    /// Records that the manager returned nothing.
    pub fn leave_unjudged(&mut self, degradation: &Degradation) {
        self.degrade(degradation);
        self.manager_confidence = Some(NONE);
    }

    /// Reads the six fields from any document that has them. Unreadable fields do not prove complete
    /// research: they count as degraded.
    #[must_use]
    pub fn read(document: &Value) -> Self {
        serde_json::from_value(document.clone()).unwrap_or_else(|_| Self {
            research_status: ResearchStatus::Degraded,
            research_mode: ResearchMode::DegradedSynthesis,
            degraded_reason: Some(UNREADABLE.to_owned()),
            ..Self::default()
        })
    }
}
