//! Reads traces: our own and those of `TradingAgents`.

use super::trace::{ElapsedDefinition, Phase, SCHEMA, Summary, Trace};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The schema of `TradingAgents` traces, if they name one.
pub const UPSTREAM: &str = "tradingagents.profile_trace.v1alpha1";

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is not JSON, or a field is missing or has the wrong type.
    #[error("not a trace: {0}")]
    Form(String),
    /// A trace with an unknown schema.
    #[error(
        "unknown trace_schema_version `{0}`; expected `{SCHEMA}`, or `{UPSTREAM}` or none from TradingAgents"
    )]
    Schema(String),
    /// An invalid value.
    #[error("{at}: {reason}")]
    Value {
        /// Where it is.
        at: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Reads a trace. Ignores unknown fields. `name` is the run's ID if the text has none.
///
/// A trace of `TradingAgents` is completed with what its format implies: `elapsed_ms` counts from the previous
/// event, its harness runs one round of each debate, and a missing summary is computed from the events.
///
/// # Errors
/// See [`Unreadable`].
pub fn read(text: &str, name: &str) -> Result<Trace, Unreadable> {
    let form = |error: serde_json::Error| Unreadable::Form(error.to_string());
    let head: Head = serde_json::from_str(text).map_err(form)?;
    let ours = match head.trace_schema_version.as_deref() {
        Some(SCHEMA) => true,
        Some(UPSTREAM) | None => false,
        Some(other) => return Err(Unreadable::Schema(other.to_owned())),
    };
    let mut trace: Trace = serde_json::from_str(text).map_err(form)?;
    if ours {
        required(text)?;
    } else {
        complete(&mut trace, head.summary);
    }
    if trace.run_id.is_empty() {
        trace.run_id = trace.node_timings.first().map(|node| node.run_id.clone()).unwrap_or_default();
    }
    if trace.run_id.is_empty() {
        name.clone_into(&mut trace.run_id);
    }
    check(&trace, ours)?;
    Ok(trace)
}

/// The fields that distinguish the formats, or differ between them.
#[derive(Deserialize)]
struct Head {
    trace_schema_version: Option<String>,
    summary: Option<UpstreamSummary>,
}

/// Their summary; ours has additional fields.
#[derive(Deserialize)]
struct UpstreamSummary {
    #[serde(default)]
    phase_totals_seconds: BTreeMap<String, f64>,
}

/// Fields that are required in our format and optional in others.
#[derive(Deserialize)]
struct Required {
    run_id: Option<serde::de::IgnoredAny>,
    elapsed_definition: Option<serde::de::IgnoredAny>,
    node_timings: Option<serde::de::IgnoredAny>,
    summary: Option<serde::de::IgnoredAny>,
}

fn required(text: &str) -> Result<(), Unreadable> {
    let found: Required = serde_json::from_str(text).map_err(|error| Unreadable::Form(error.to_string()))?;
    let fields = [
        ("run_id", found.run_id.is_some()),
        ("elapsed_definition", found.elapsed_definition.is_some()),
        ("node_timings", found.node_timings.is_some()),
        ("summary", found.summary.is_some()),
    ];
    match fields.into_iter().find(|(_, is_there)| !is_there) {
        Some((field, _)) => Err(Unreadable::Form(format!("missing field `{field}`"))),
        None => Ok(()),
    }
}

/// Converts their format to ours.
fn complete(trace: &mut Trace, summary: Option<UpstreamSummary>) {
    trace.elapsed_definition = ElapsedDefinition::SincePreviousEvent;
    // Hard-coded in their harness.
    trace.invariants.max_debate_rounds.get_or_insert(1);
    trace.invariants.max_risk_discuss_rounds.get_or_insert(1);
    let had_summary = summary.is_some();
    if trace.phase_totals_seconds.is_empty() {
        trace.phase_totals_seconds = summary.map(|summary| summary.phase_totals_seconds).unwrap_or_default();
    }
    if !trace.node_timings.is_empty() {
        let sum = trace.node_timings.iter().map(|node| node.elapsed_ms).fold(0, u64::saturating_add);
        let total = if had_summary { trace.summary.total_elapsed_ms } else { sum };
        // Theirs uses the last event's status, which is null after the research.
        trace.summary = Summary::of(&trace.node_timings, total);
    }
}

fn check(trace: &Trace, ours: bool) -> Result<(), Unreadable> {
    let wrong = |at: String, reason: String| Err(Unreadable::Value { at, reason });
    for (phase, seconds) in &trace.phase_totals_seconds {
        let at = || format!("phase_totals_seconds.{phase}");
        if *seconds < 0.0 {
            return wrong(at(), format!("{seconds} s is below zero"));
        }
        if ours && let Err(reason) = phase.parse::<Phase>() {
            return wrong(at(), reason);
        }
    }
    for (index, node) in trace.node_timings.iter().enumerate() {
        let at = |field: &str| format!("node_timings[{index}].{field}");
        if node.nodes.is_empty() {
            return wrong(at("nodes"), "no node is named".to_owned());
        }
        if node.start_at < 0.0 || node.end_at < node.start_at {
            return wrong(
                at("end_at"),
                format!("{} s to {} s is not a valid period", node.start_at, node.end_at),
            );
        }
        if !ours {
            // Theirs has `unknown` for nodes that are missing from its table of phases.
            continue;
        }
        if node.phases.is_empty() {
            return wrong(at("phases"), "every node has a phase".to_owned());
        }
        if let Some(Err(reason)) = node.phases.iter().map(|phase| phase.parse::<Phase>()).find(Result::is_err)
        {
            return wrong(at("phases"), reason);
        }
    }
    Ok(())
}
