//! A trace: when each node ran for one ticker on one day, for how long, and how it ended.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub use papertape_agents::config::Phase;

/// Schema of the traces written here.
pub const SCHEMA: &str = "papertape.profile_trace.v1";

/// What a node's `elapsed_ms` means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElapsedDefinition {
    /// The node's own `end_at - start_at`. Nodes may overlap; a phase's total is the union of its nodes'
    /// intervals, and the run's total is wall time.
    #[default]
    NodeSpan,
    /// The time since the previous event, as in `TradingAgents`: nodes run one after the other, and totals are
    /// sums.
    SincePreviousEvent,
}

papertape_core::words!(ElapsedDefinition {
    NodeSpan = "node_span", SincePreviousEvent = "since_previous_event",
});

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every node of the graph finished, degraded or not.
    Ok,
    /// The run was aborted.
    Error,
}

/// The trace of one run: one ticker on one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// [`SCHEMA`]; files of `TradingAgents` have another or none.
    pub trace_schema_version: Option<String>,
    /// What `elapsed_ms` means in this file.
    #[serde(default)]
    pub elapsed_definition: ElapsedDefinition,
    /// ID of the run. Unique among traces.
    #[serde(default)]
    pub run_id: String,
    /// How it ended.
    pub status: Status,
    /// The instrument.
    pub ticker: String,
    /// The trading day, `YYYY-MM-DD`.
    pub date: String,
    /// The analysts that took part.
    #[serde(default)]
    pub selected_analysts: Vec<String>,
    /// `standard`, `compact` or `detailed`; `None` if it was not recorded.
    pub analysis_prompt_style: Option<String>,
    /// `provider::model`; with two models, the quick and the deep one, joined by ` + `.
    pub model: Option<String>,
    /// What must be equal in runs that are compared.
    #[serde(default)]
    pub invariants: Invariants,
    /// The nodes, ordered by end.
    #[serde(default)]
    pub node_timings: Vec<NodeTiming>,
    /// By phase, in seconds.
    #[serde(default)]
    pub phase_totals_seconds: BTreeMap<String, f64>,
    /// Statistics of the run.
    #[serde(default)]
    pub summary: Summary,
    /// Where the file was written.
    pub dump_path: Option<String>,
    /// The nodes that were open when the run was aborted, ordered by start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_nodes: Vec<OpenNode>,
    /// Empty, except for a failed run if its raw steps were requested.
    #[serde(default)]
    pub raw_events: Vec<Value>,
    /// Why it was aborted, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The kind of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception_type: Option<String>,
}

/// What must be equal in runs that are compared, unless it is the subject of the comparison. Ticker and date are
/// fields of the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Invariants {
    /// The models' provider; two are joined by ` + `.
    pub provider: Option<String>,
    /// The models without their provider; two are joined by ` + `.
    pub model: Option<String>,
    /// The timeout of the whole run, in seconds.
    pub overall_timeout_secs: Option<f64>,
    /// Rounds of the research debate.
    pub max_debate_rounds: Option<u32>,
    /// Rounds of the risk debate.
    pub max_risk_discuss_rounds: Option<u32>,
    /// Other settings by name: they may differ, and a comparison reports it.
    #[serde(flatten)]
    pub settings: BTreeMap<String, Value>,
}

/// One run of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeTiming {
    /// The run.
    #[serde(default)]
    pub run_id: String,
    /// The node's name; always exactly one here.
    pub nodes: Vec<String>,
    /// Its phase.
    #[serde(default)]
    pub phases: Vec<String>,
    /// `quick` or `deep`.
    #[serde(default)]
    pub llm_kinds: Vec<String>,
    /// 1-based round.
    pub round: Option<u32>,
    /// Seconds from the start of the run to the start of the node.
    pub start_at: f64,
    /// Seconds from the start of the run to the end of the node.
    pub end_at: f64,
    /// Milliseconds, as defined by `elapsed_definition`.
    #[serde(deserialize_with = "whole")]
    pub elapsed_ms: u64,
    /// The analysts that took part in the run.
    #[serde(default)]
    pub selected_analysts: Vec<String>,
    /// The run's prompt style.
    pub analysis_prompt_style: Option<String>,
    /// `ok`, `timeout` or `error`; `None` if it was not recorded.
    pub state: Option<String>,
    /// Why the node used its fallback.
    pub reason: Option<String>,
    /// The research's status after the node; `None` if the node does not affect it.
    pub research_status: Option<String>,
    /// Why research is degraded.
    pub degraded_reason: Option<String>,
    /// Characters of the debate's history after the node.
    pub history_len: Option<u64>,
    /// Characters of the node's response.
    pub response_len: Option<u64>,
    /// Tools that the node called.
    pub tool_calls: Option<u64>,
    /// Input tokens of the node's calls, including failed attempts.
    pub input_tokens: Option<u64>,
    /// Output tokens of the node's calls.
    pub output_tokens: Option<u64>,
}

impl NodeTiming {
    /// Whether the node failed, or left the research degraded.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.state.as_deref().is_some_and(|state| state != "ok") || not_full(self.research_status.as_deref())
    }
}

/// A node that was open when its run was aborted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenNode {
    /// The node's name.
    pub node: String,
    /// 1-based round.
    pub round: Option<u32>,
    /// Seconds from the start of the run to the start of the node.
    pub start_at: f64,
}

/// Statistics of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Number of node timings.
    pub event_count: u64,
    /// Wall time from the start of the run to the end of its last node, in milliseconds.
    #[serde(deserialize_with = "whole")]
    pub total_elapsed_ms: u64,
    /// Number of degraded node timings.
    pub degraded_event_count: u64,
    /// The last research status that is not null.
    pub final_research_status: Option<String>,
    /// The reason that goes with it.
    pub final_degraded_reason: Option<String>,
    /// Steps that a branch copied from its parent: their timings are those of copying.
    pub reused_steps: u64,
    /// Attempts interrupted by a crash or a stop: totals include the time until the run was resumed.
    pub interrupted_attempts: u64,
}

impl Summary {
    /// Statistics of a run, from its nodes ordered by end.
    #[must_use]
    pub fn of(nodes: &[NodeTiming], total_elapsed_ms: u64) -> Self {
        let last = nodes.iter().rev().find(|node| node.research_status.is_some());
        Self {
            event_count: nodes.len() as u64,
            total_elapsed_ms,
            degraded_event_count: nodes.iter().filter(|node| node.is_degraded()).count() as u64,
            final_research_status: last.and_then(|node| node.research_status.clone()),
            final_degraded_reason: last.and_then(|node| node.degraded_reason.clone()),
            ..Self::default()
        }
    }
}

impl Trace {
    /// Whether anything was degraded in this run. `failed` counts as degraded.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        not_full(self.summary.final_research_status.as_deref())
            || self.summary.degraded_event_count > 0
            || self.node_timings.iter().any(NodeTiming::is_degraded)
    }

    /// A value at the end of the research: at the last node that has a research status, otherwise at the last
    /// node that has the value. (In files of `TradingAgents`, later nodes that do not carry the research's state
    /// have 0.)
    #[must_use]
    pub fn at_the_end(&self, figure: impl Fn(&NodeTiming) -> Option<u64>) -> Option<u64> {
        let known = |node: &&NodeTiming| node.research_status.is_some() && figure(node).is_some();
        let nodes = || self.node_timings.iter().rev();
        let last = nodes().find(known).or_else(|| nodes().find(|node| figure(node).is_some()));
        last.and_then(figure)
    }
}

/// Every status except `full` is degraded.
fn not_full(research_status: Option<&str>) -> bool {
    research_status.is_some_and(|status| status != "full")
}

/// An integer that other programs may write with a fraction.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() && value >= 0.0 {
        Ok(value.round() as u64)
    } else {
        Err(serde::de::Error::custom(format!("{value} is not a duration: it is below zero")))
    }
}
