//! Runs a node under its guard, and handles its answer or its failure.
//!
//! | node | answered | timed out or failed |
//! |---|---|---|
//! | Bull, Bear | `bull`/`bear` is covered | research is degraded; a text that says so is its argument, and the debate continues |
//! | Research Manager | `manager` is covered; confidence 1.0, or 0.5 after a degradation | research is degraded, confidence 0.0; a plain HOLD that says so is the plan |
//! | all others | | a degradation, and a text that says so; the six fields of research are unchanged |
//!
//! A stop is neither: it is passed up.

use super::DeskContext;
use super::analysis::SymbolAnalysis;
use super::conversation::{NodeConversation, NodeResult, UNPARSEABLE};
use super::role_prompt::RolePrompt;
use crate::roles::{RoleKind, RoleSpec};
use futures::FutureExt as _;
use papertape_core::language::Language;
use papertape_core::provenance::{Degradation, DegradationKind, reason};
use papertape_core::tape::{
    Ctx, GuardOutcome, GuardedBranch, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass,
};
use serde_json::json;
use std::time::Duration;

/// A guarded node, ready to run.
type GuardedNode<'a> = (ScopeKey, Duration, GuardedBranch<'a, NodeResult>);

/// Whether the node answered with something unparseable.
pub(super) fn is_unparseable(degradation: &Degradation) -> bool {
    degradation.kind == DegradationKind::Error
        && degradation.reason == reason(&degradation.node, Some(UNPARSEABLE))
}

/// Runs one role under its deadline.
///
/// # Errors
/// A stop.
pub(super) async fn run_node(
    ctx: &mut Ctx,
    desk: &DeskContext<'_>,
    analysis: &mut SymbolAnalysis,
    role: &'static RoleSpec,
    round: u32,
) -> Result<(), SessionStop> {
    let (key, deadline, body) = guarded(desk, analysis, role, round);
    let outcome = ctx.guard(key, deadline, body).await?;
    record_outcome(ctx, desk, analysis, (role, round), outcome).await
}

/// Runs several roles concurrently, each under its own deadline. None sees another's answer.
///
/// # Errors
/// A stop.
pub(super) async fn run_nodes(
    ctx: &mut Ctx,
    desk: &DeskContext<'_>,
    analysis: &mut SymbolAnalysis,
    roles: &[&'static RoleSpec],
) -> Result<(), SessionStop> {
    let nodes = roles.iter().map(|role| guarded(desk, analysis, role, 1)).collect();
    let outcomes = ctx.guard_all(nodes).await?;
    for (role, outcome) in roles.iter().zip(outcomes) {
        record_outcome(ctx, desk, analysis, (*role, 1), outcome).await?;
    }
    Ok(())
}

fn guarded<'a>(
    desk: &'a DeskContext<'a>,
    analysis: &SymbolAnalysis,
    role: &'static RoleSpec,
    round: u32,
) -> GuardedNode<'a> {
    let prompt = RolePrompt::of(desk, analysis, role.kind);
    let body: GuardedBranch<'a, NodeResult> =
        Box::new(move |ctx| NodeConversation { ctx, desk, role, prompt }.run().boxed());
    (ScopeKey::Node(role.node.to_owned(), round), desk.config.deadline(role.phase), body)
}

/// Applies a node's outcome to the analysis, and records a step with how the node ended.
async fn record_outcome(
    ctx: &mut Ctx,
    desk: &DeskContext<'_>,
    analysis: &mut SymbolAnalysis,
    (role, round): (&'static RoleSpec, u32),
    outcome: GuardOutcome<NodeResult>,
) -> Result<(), SessionStop> {
    let node = ScopeKey::Node(role.node.to_owned(), round);
    let language = desk.agent(&format!("{}/{node}", ctx.scope())).language;
    let mut tool_calls = None;
    let mut notes = Vec::new();
    let failure = match outcome {
        GuardOutcome::Ok(result) => {
            tool_calls = Some(result.tool_calls);
            analysis.sources_missing.extend(result.sources_missing);
            notes = result.notes;
            analysis.apply_answer(result.answer, language);
            None
        }
        GuardOutcome::TimedOut => Some(None),
        GuardOutcome::Failed(failure) => Some(Some(failure.kind)),
    };
    let degradation = failure.map(|failure| {
        let degradation = Degradation::of(Some(analysis.symbol.clone()), role.node, failure.as_deref());
        analysis.apply_fallback(role.kind, &fallback_text(role, &degradation, language), &degradation);
        degradation
    });
    let state = match degradation.as_ref().map(|degradation| degradation.kind) {
        None => "ok",
        Some(DegradationKind::Timeout) => "timeout",
        Some(DegradationKind::Error) => "error",
    };
    let (history_len, response_len) = analysis.transcript_lengths(role.kind);
    let research = analysis.research();
    let mut outcome = json!({
        "state": state,
        "reason": degradation.as_ref().map(|degradation| &degradation.reason),
        "research_status": research.research_status,
        "degraded_reason": research.degraded_reason,
        "history_len": history_len,
        "response_len": response_len,
        // The tool calls of a node that was cut off are unknown on a re-run, which does not run it.
        "tool_calls": tool_calls,
    });
    if !notes.is_empty() {
        outcome["notes"] = json!(notes);
    }
    analysis.notes.extend(notes.into_iter().map(|note| (role.node, note)));
    analysis.degradations.extend(degradation);
    let arguments = json!({
        "symbol": analysis.symbol,
        "node": role.node,
        "round": round,
        "phase": role.phase,
        "llm_kind": role.llm,
    });
    let entry = LocalStep {
        kind: "node",
        class: StepClass::Local,
        arguments,
        outcome,
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: Vec::new(),
    };
    ctx.record_local(entry).await.map(drop)
}

/// The fallback text of a node, in the desk's language.
fn fallback_text(role: &RoleSpec, degradation: &Degradation, language: Language) -> String {
    let node = role.node;
    let cause = match (degradation.kind, language) {
        (DegradationKind::Timeout, Language::En) => "it timed out".to_owned(),
        (DegradationKind::Timeout, Language::Zh) => "超过时限".to_owned(),
        (DegradationKind::Error, Language::En) => format!("it failed ({})", degradation.reason),
        (DegradationKind::Error, Language::Zh) => format!("出错（{}）", degradation.reason),
    };
    match (role.kind, language) {
        (RoleKind::Researcher(_), Language::En) => format!(
            "[The {node} gave no argument: {cause}. Research is degraded, and this side of the debate is \
             untested.]"
        ),
        (RoleKind::Researcher(_), Language::Zh) => {
            format!("【{node} 没有给出论点：{cause}。研究已降级，辩论的这一方未经检验。】")
        }
        (RoleKind::ResearchManager, Language::En) => format!(
            "Recommendation: HOLD\n\nResearch is degraded: the {node} gave no judgment: {cause}. There is \
             no plan to act on; leave the position as it is."
        ),
        (RoleKind::ResearchManager, Language::Zh) => format!(
            "建议：HOLD（持有）\n\n研究已降级：{node} 没有给出判断，原因是{cause}。没有可供执行的计划；保持现有仓位。"
        ),
        (_, Language::En) => {
            format!("[The {node} gave no answer: {cause}. Its view is unknown.]")
        }
        (_, Language::Zh) => {
            format!("【{node} 没有给出内容：{cause}。其看法未知。】")
        }
    }
}
