//! The six fields of a research debate, and how each node changes them.

use super::{Degradation, DegradationKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The reason of research whose provenance cannot be read.
pub const UNREADABLE: &str = "unreadable_provenance";

/// The confidence of a manager who had the whole debate.
const WHOLE: f64 = 1.0;
/// The confidence of a manager whose debate was degraded.
const HALF: f64 = 0.5;
/// The confidence where the manager gave nothing.
const NONE: f64 = 0.0;

/// Was the research whole?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchStatus {
    /// Every node gave what it was asked for.
    #[default]
    Full,
    /// A node gave nothing. `failed`, which others write, reads as this.
    #[serde(alias = "failed")]
    Degraded,
}

/// How the research was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchMode {
    /// In a debate.
    #[default]
    Debate,
    /// From what was left of one.
    DegradedSynthesis,
}

impl ResearchStatus {
    /// `full` or `degraded`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Degraded => "degraded",
        }
    }
}

/// Provenance of one symbol's research.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Research {
    /// Was it whole?
    pub research_status: ResearchStatus,
    /// How it was done.
    #[serde(default)]
    pub research_mode: ResearchMode,
    /// Nodes whose deadline passed, each once, in path order.
    #[serde(default)]
    pub timed_out_nodes: Vec<String>,
    /// Why it is degraded, the first reason in path order: `bull_researcher_timeout`.
    #[serde(default)]
    pub degraded_reason: Option<String>,
    /// The dimensions that were covered, each once: `bull`, `bear`, `manager`.
    #[serde(default)]
    pub covered_dimensions: Vec<String>,
    /// 1.0 after a whole debate, 0.5 after a degraded one, 0.0 where the manager gave nothing;
    /// `None` until then.
    #[serde(default)]
    pub manager_confidence: Option<f64>,
}

impl Research {
    /// Is it anything but whole?
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.research_status == ResearchStatus::Degraded
    }

    /// A side of the debate has spoken.
    pub fn cover(&mut self, dimension: &str) {
        if !self.covered_dimensions.iter().any(|covered| covered == dimension) {
            self.covered_dimensions.push(dimension.to_owned());
        }
    }

    /// A node of the research gave nothing.
    pub fn degrade(&mut self, degradation: &Degradation) {
        self.research_status = ResearchStatus::Degraded;
        self.research_mode = ResearchMode::DegradedSynthesis;
        self.degraded_reason.get_or_insert_with(|| degradation.reason.clone());
        let timed_out = degradation.kind == DegradationKind::Timeout;
        if timed_out && !self.timed_out_nodes.contains(&degradation.node) {
            self.timed_out_nodes.push(degradation.node.clone());
        }
    }

    /// The manager has judged.
    pub fn judge(&mut self) {
        self.cover("manager");
        self.manager_confidence = Some(if self.is_degraded() { HALF } else { WHOLE });
    }

    /// The manager gave nothing.
    pub fn leave_unjudged(&mut self, degradation: &Degradation) {
        self.degrade(degradation);
        self.manager_confidence = Some(NONE);
    }

    /// Reads the fields out of any document that has them. What cannot be read is no proof of whole
    /// research: it counts as degraded.
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
