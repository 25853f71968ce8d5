//! Builds a trace from the rows of the record: from the nodes' own `node` steps, timed by their calls.

use super::trace::{
    ElapsedDefinition, Invariants, NodeTiming, OpenNode, Phase, SCHEMA, Status, Summary, Trace,
};
use papertape_core::record::DayStatus;
use papertape_core::tape::{ScopeKey, StepClass, StepPath};
use papertape_core::time::{Timestamp, to_micros};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about a run other than its steps.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// ID of the run.
    pub run_id: String,
    /// The instrument.
    pub ticker: String,
    /// The trading day, `YYYY-MM-DD`.
    pub date: String,
    /// The analysts that took part.
    pub selected_analysts: Vec<String>,
    /// The prompts' style.
    pub analysis_prompt_style: Option<String>,
    /// See [`Trace::model`].
    pub model: Option<String>,
    /// What must be equal in runs that are compared.
    pub invariants: Invariants,
    /// Status of the session in which it ran.
    pub session: DayStatus,
    /// Why the session failed.
    pub session_error: Option<String>,
}

/// A step of the session's own tape, without summaries.
#[derive(Clone, Debug)]
pub struct StepRow {
    /// Its path on the tape.
    pub path: StepPath,
    /// Its class.
    pub class: StepClass,
    /// When it was started, by the worker's clock.
    pub started_at: Timestamp,
    /// When it ended; `None` while it is open, or if its guard closed before it ended.
    pub ended_at: Option<Timestamp>,
    /// Input tokens of all its attempts.
    pub input_tokens: u64,
    /// Output tokens of all its attempts.
    pub output_tokens: u64,
    /// Whether the call succeeded.
    pub is_answered: bool,
    /// Whether it was copied from a parent job.
    pub is_reused: bool,
    /// Attempts interrupted by a crash or a stop.
    pub interrupted: u64,
}

/// A node's own step: a local step of the kind `node`, recorded after the node's end.
#[derive(Clone, Debug)]
pub struct NodeRow {
    /// Its path on the tape.
    pub path: StepPath,
    /// When it was recorded.
    pub at: Timestamp,
    /// `{symbol, node, round, phase, llm_kind}`.
    pub arguments: Value,
    /// `{state, reason, research_status, degraded_reason, history_len, response_len, tool_calls}`.
    pub outcome: Value,
}

/// A node's step that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node step at {path} cannot be read: {reason}")]
pub struct BadNode {
    /// Its path on the tape.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

#[derive(Deserialize)]
struct Arguments {
    symbol: String,
    node: String,
    #[serde(default = "first")]
    round: u32,
    phase: String,
    llm_kind: String,
}

#[derive(Deserialize)]
struct Outcome {
    state: String,
    reason: Option<String>,
    research_status: Option<String>,
    degraded_reason: Option<String>,
    history_len: Option<u64>,
    response_len: Option<u64>,
    tool_calls: Option<u64>,
}

const fn first() -> u32 {
    1
}

/// The trace of one ticker on one day. Nodes of other tickers are left out.
///
/// A node's time runs from the earliest start to the latest end of its external steps and its guard's outcome; a
/// node without calls is timed by its own step. The run begins with the ticker's first step. A node that is still
/// open has no timing yet.
///
/// # Errors
/// Returns an error if a node's step lacks a required field or has an unknown phase.
pub fn trace(facts: RunFacts, steps: &[StepRow], nodes: &[NodeRow]) -> Result<Trace, BadNode> {
    let scope = ScopeKey::Symbol(facts.ticker.clone()).to_string();
    let within = || steps.iter().filter(|step| step.path.is_within(&scope));
    let ended_nodes = ended_nodes(&facts.ticker, nodes)?;
    let start = within().map(|step| step.started_at).chain(ended_nodes.iter().map(|node| node.at)).min();
    let by_node = by_node(&scope, steps);
    let ended: BTreeSet<String> = ended_nodes.iter().map(|node| node.scope.clone()).collect();
    let mut runs: Vec<NodeRun> = ended_nodes
        .into_iter()
        .map(|node| {
            let own = by_node.get(node.scope.as_str()).map_or(&[][..], Vec::as_slice);
            NodeRun::of(node, own, start)
        })
        .collect();
    runs.sort_by(|a, b| (a.end, a.start, &a.node.scope).cmp(&(b.end, b.start, &b.node.scope)));

    let mut phases: BTreeMap<Phase, Vec<(i64, i64)>> =
        Phase::ALL.into_iter().map(|phase| (phase, Vec::new())).collect();
    for run in &runs {
        phases.entry(run.node.phase).or_default().push((run.start, run.end));
    }
    let is_complete = runs.iter().any(|run| run.node.phase == Phase::Portfolio);
    let total = runs.iter().map(|run| run.end).max().unwrap_or(0);
    let node_timings: Vec<NodeTiming> = runs.into_iter().map(|run| run.timing(&facts)).collect();
    let mut summary = Summary::of(&node_timings, millis(total));
    summary.reused_steps = within().filter(|step| step.is_reused).count() as u64;
    summary.interrupted_attempts = within().map(|step| step.interrupted).sum();
    let broken = broken(&facts, is_complete);
    let open_nodes = if broken.is_some() { open_nodes(&by_node, &ended, start) } else { Vec::new() };
    Ok(Trace {
        trace_schema_version: Some(SCHEMA.to_owned()),
        elapsed_definition: ElapsedDefinition::NodeSpan,
        run_id: facts.run_id,
        status: if broken.is_some() { Status::Error } else { Status::Ok },
        ticker: facts.ticker,
        date: facts.date,
        selected_analysts: facts.selected_analysts,
        analysis_prompt_style: facts.analysis_prompt_style,
        model: facts.model,
        invariants: facts.invariants,
        node_timings,
        phase_totals_seconds: phases
            .into_iter()
            .map(|(phase, spans)| (phase.to_string(), seconds(union(spans))))
            .collect(),
        summary,
        dump_path: None,
        open_nodes,
        raw_events: Vec::new(),
        exception_type: broken.as_ref().map(|(kind, _)| (*kind).to_owned()),
        error: broken.map(|(_, error)| error),
    })
}

/// Why the run is incomplete: the kind of the error, and a message.
fn broken(facts: &RunFacts, is_complete: bool) -> Option<(&'static str, String)> {
    match (facts.session, is_complete) {
        (DayStatus::Failed, _) => {
            let error = facts.session_error.clone();
            Some(("session_failed", error.unwrap_or_else(|| "the session failed".to_owned())))
        }
        (_, true) => None,
        (DayStatus::Completed, false) => {
            Some(("incomplete", "the session ended without a portfolio manager for this ticker".to_owned()))
        }
        (_, false) => Some(("unfinished", "the run has not reached its portfolio manager yet".to_owned())),
    }
}

/// Contents of a node's own step.
struct EndedNode {
    scope: String,
    at: Timestamp,
    phase: Phase,
    arguments: Arguments,
    outcome: Outcome,
}

fn ended_nodes(ticker: &str, nodes: &[NodeRow]) -> Result<Vec<EndedNode>, BadNode> {
    let mut ended = Vec::new();
    for row in nodes {
        let bad = |reason: String| BadNode { path: row.path.to_string(), reason };
        let arguments = Arguments::deserialize(&row.arguments).map_err(|error| bad(error.to_string()))?;
        if arguments.symbol != ticker {
            continue;
        }
        let outcome = Outcome::deserialize(&row.outcome).map_err(|error| bad(error.to_string()))?;
        let phase = arguments.phase.parse().map_err(bad)?;
        let (symbol, node) = (
            ScopeKey::Symbol(arguments.symbol.clone()),
            ScopeKey::Node(arguments.node.clone(), arguments.round),
        );
        ended.push(EndedNode { scope: format!("{symbol}/{node}"), at: row.at, phase, arguments, outcome });
    }
    Ok(ended)
}

/// The steps of each node's scope, including nested scopes.
fn by_node<'s>(symbol: &str, steps: &'s [StepRow]) -> BTreeMap<&'s str, Vec<&'s StepRow>> {
    let mut found: BTreeMap<&str, Vec<&StepRow>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.path.is_within(symbol)) {
        let below = &step.path.as_str()[symbol.len() + 1..];
        if let Some(length) = below.find('/') {
            found.entry(&step.path.as_str()[..symbol.len() + 1 + length]).or_default().push(step);
        }
    }
    found
}

/// The nodes with an uncompleted call, or a guard outcome, but without a step that records their end. A node
/// whose calls are all complete is waiting for concurrent nodes.
fn open_nodes(
    by_node: &BTreeMap<&str, Vec<&StepRow>>,
    ended: &BTreeSet<String>,
    start: Option<Timestamp>,
) -> Vec<OpenNode> {
    let origin = start.map_or(0, to_micros);
    let mut open: Vec<(i64, OpenNode)> = Vec::new();
    for (scope, steps) in by_node {
        let external = || steps.iter().filter(|step| step.class == StepClass::External);
        let is_cut = external().any(|step| !step.is_answered)
            || steps.iter().any(|step| step.class == StepClass::Guard);
        let is_open = is_cut && !ended.contains(*scope);
        let Some(begun) = external().map(|step| to_micros(step.started_at)).min().filter(|_| is_open) else {
            continue;
        };
        let name = scope.split_once('/').map_or(*scope, |(_, node)| node);
        let (node, round) = name.rsplit_once('#').unwrap_or((name, ""));
        let begun = (begun - origin).max(0);
        open.push((
            begun,
            OpenNode { node: node.to_owned(), round: round.parse().ok(), start_at: seconds(begun) },
        ));
    }
    open.sort_by(|a, b| (a.0, &a.1.node).cmp(&(b.0, &b.1.node)));
    open.into_iter().map(|(_, node)| node).collect()
}

/// One run of a node; times are microseconds from the run's start.
struct NodeRun {
    node: EndedNode,
    start: i64,
    end: i64,
    input_tokens: u64,
    output_tokens: u64,
}

impl NodeRun {
    fn of(node: EndedNode, steps: &[&StepRow], start: Option<Timestamp>) -> Self {
        let timed =
            || steps.iter().filter(|step| matches!(step.class, StepClass::External | StepClass::Guard));
        let begun = timed().map(|step| step.started_at).min().unwrap_or(node.at);
        let ended = timed().filter_map(|step| step.ended_at).max().unwrap_or(node.at);
        let origin = start.map_or(0, to_micros);
        let start = (to_micros(begun) - origin).max(0);
        Self {
            node,
            start,
            // The system clock may be set back; an end never precedes its start.
            end: (to_micros(ended) - origin).max(start),
            input_tokens: steps.iter().map(|step| step.input_tokens).sum(),
            output_tokens: steps.iter().map(|step| step.output_tokens).sum(),
        }
    }

    fn timing(self, facts: &RunFacts) -> NodeTiming {
        let EndedNode { phase, arguments, mut outcome, .. } = self.node;
        if phase != Phase::Research {
            // Every node's step records the research's status; only research nodes affect it.
            (outcome.research_status, outcome.degraded_reason) = (None, None);
        }
        NodeTiming {
            run_id: facts.run_id.clone(),
            nodes: vec![arguments.node],
            phases: vec![phase.to_string()],
            llm_kinds: vec![arguments.llm_kind],
            round: Some(arguments.round),
            start_at: seconds(self.start),
            end_at: seconds(self.end),
            elapsed_ms: millis(self.end - self.start),
            selected_analysts: facts.selected_analysts.clone(),
            analysis_prompt_style: facts.analysis_prompt_style.clone(),
            state: Some(outcome.state),
            reason: outcome.reason,
            research_status: outcome.research_status,
            degraded_reason: outcome.degraded_reason,
            history_len: outcome.history_len,
            response_len: outcome.response_len,
            tool_calls: outcome.tool_calls,
            input_tokens: Some(self.input_tokens),
            output_tokens: Some(self.output_tokens),
        }
    }
}

/// Total time covered by at least one of the spans.
fn union(mut spans: Vec<(i64, i64)>) -> i64 {
    spans.sort_unstable();
    let mut covered = 0;
    let mut reached = i64::MIN;
    for (start, end) in spans {
        covered += (end - start.max(reached)).max(0);
        reached = reached.max(end);
    }
    covered
}

/// Microseconds as seconds.
fn seconds(micros: i64) -> f64 {
    micros as f64 / 1_000_000.0
}

/// Microseconds as milliseconds, rounded.
fn millis(micros: i64) -> u64 {
    u64::try_from(micros).unwrap_or(0).saturating_add(500) / 1000
}
