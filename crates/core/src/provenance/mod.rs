//! How an analysis was made: whether its research was complete, which nodes failed, which sources were
//! missing.
//!
//! Provenance is additive: it explains a result and never replaces the text of a debate. A session of several
//! symbols has one per symbol and a roll-up. Everything that reads it (API responses, metrics, traces,
//! imports) uses [`extract`]. Timings are not part of it: a session reads no clock, so a node's duration is
//! joined from its steps on request.

mod day;
mod quality;
mod research;

pub use day::DayQuality;
pub use quality::{DataQuality, QualityState, SampleQuality};
pub use research::{Research, ResearchMode, ResearchStatus, UNREADABLE};

use crate::id::Symbol;
use crate::message::FailureKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A node that returned nothing, or not what was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degradation {
    /// The instrument it was working on; absent when it covers all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Symbol>,
    /// The node, `Bull Researcher`.
    pub node: String,
    /// How it ended.
    pub kind: DegradationKind,
    /// Machine-readable: `bull_researcher_timeout`, `trader_unparseable`.
    pub reason: String,
    /// Its duration, wall time in milliseconds. Filled in by readers, from the node's steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
}

/// How a degraded node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DegradationKind {
    /// Its deadline passed.
    Timeout,
    /// It failed.
    Error,
}

impl Degradation {
    /// A node's degradation. `error` is the kind of its failure; `None` means that its deadline passed.
    #[must_use]
    pub fn of(symbol: Option<Symbol>, node: &str, error: Option<&str>) -> Self {
        let error = error.filter(|kind| !is_timeout(kind));
        Self {
            symbol,
            node: node.to_owned(),
            kind: error.map_or(DegradationKind::Timeout, |_| DegradationKind::Error),
            reason: reason(node, error),
            elapsed_ms: None,
        }
    }
}

/// The suffix of a reason for a passed deadline.
pub const TIMEOUT: &str = "timeout";

/// The reason of a degradation, `bull_researcher_timeout` or `bull_researcher_rate_limited`.
#[must_use]
pub fn reason(node: &str, error: Option<&str>) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let node: String = node.chars().map(word).collect();
    format!("{node}_{}", error.filter(|kind| !is_timeout(kind)).unwrap_or(TIMEOUT))
}

/// Whether the call timed out. For a reader, the node's deadline and the call's are the same.
fn is_timeout(kind: &str) -> bool {
    kind == FailureKind::TimedOut.as_str()
}

/// The provenance in a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The six fields, rolled up over all symbols; `None` when there was no research (an agent without a
    /// debate).
    pub research: Option<Research>,
    /// The six fields of each symbol.
    pub by_symbol: BTreeMap<Symbol, Research>,
    /// Degraded nodes, in path order.
    pub degradations: Vec<Degradation>,
    /// The data and node quality behind the result.
    pub data_quality: DataQuality,
}

impl Provenance {
    /// The provenance of a session: its symbols' research, its degradations in path order, and the missing
    /// sources, each with the reason.
    #[must_use]
    pub fn of(
        by_symbol: BTreeMap<Symbol, Research>,
        degradations: Vec<Degradation>,
        sources_missing: BTreeMap<String, String>,
    ) -> Self {
        let research = roll_up(by_symbol.values());
        let data_quality = DataQuality::of(research.as_ref(), &degradations, sources_missing);
        Self { research, by_symbol, degradations, data_quality }
    }

    /// Whether any node is degraded or no decision was made.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.research.as_ref().is_some_and(Research::is_degraded)
            || !self.degradations.is_empty()
            || self.data_quality.state == QualityState::NoDecision
    }

    /// Whether it counts as a full-research sample. Any degradation, of research or of another node, rules
    /// that out.
    #[must_use]
    pub fn sample_quality(&self) -> SampleQuality {
        let state = self.data_quality.state;
        let whole = matches!(state, QualityState::Ok) && !self.is_degraded();
        if whole { SampleQuality::FullResearch } else { SampleQuality::DegradedResearch }
    }
}

/// The six fields of several symbols as one: degraded if any is. The first reason in path order is used; a
/// dimension is covered if every symbol covers it; the confidence is the lowest. `None` when there are no
/// symbols.
#[must_use]
pub fn roll_up<'a>(by_symbol: impl IntoIterator<Item = &'a Research>) -> Option<Research> {
    let mut symbols = by_symbol.into_iter();
    let mut all = symbols.next()?.clone();
    for one in symbols {
        if one.is_degraded() {
            all.research_status = ResearchStatus::Degraded;
            all.research_mode = ResearchMode::DegradedSynthesis;
        }
        for node in &one.timed_out_nodes {
            if !all.timed_out_nodes.contains(node) {
                all.timed_out_nodes.push(node.clone());
            }
        }
        all.degraded_reason = all.degraded_reason.or_else(|| one.degraded_reason.clone());
        all.covered_dimensions.retain(|dimension| one.covered_dimensions.contains(dimension));
        all.manager_confidence = match (all.manager_confidence, one.manager_confidence) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (None, _) | (_, None) => None,
        };
    }
    Some(all)
}

/// The provenance in a document: a session's metadata, a live response, or a full state with the six fields
/// flat in its `investment_debate_state`. A document without provenance counts as complete; unreadable
/// provenance counts as degraded.
#[must_use]
pub fn extract(document: &Value) -> Provenance {
    let rolled_up = match (&document["research"], &document["investment_debate_state"]) {
        (Value::Null, state) if state.get("research_status").is_some() => Some(Research::read(state)),
        (Value::Null, _) => None,
        (research, _) => Some(Research::read(research)),
    };
    let symbols = document["by_symbol"].as_object().into_iter().flatten();
    let by_symbol: BTreeMap<Symbol, Research> = symbols
        .filter(|(_, one)| one["research"].is_object())
        .map(|(symbol, one)| (Symbol::new(symbol), Research::read(&one["research"])))
        .collect();
    let degradations: Vec<Degradation> =
        serde_json::from_value(document["degradations"].clone()).unwrap_or_default();
    let research = rolled_up.or_else(|| roll_up(by_symbol.values()));
    let data_quality = serde_json::from_value(document["data_quality"].clone())
        .unwrap_or_else(|_| DataQuality::of(research.as_ref(), &degradations, BTreeMap::new()));
    Provenance { research, by_symbol, degradations, data_quality }
}
