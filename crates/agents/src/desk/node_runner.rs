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
use super::case::SymbolAnalysis;
use super::roles::{ProvenanceEffect, Role, RoleSpec};
use super::talk::{NodeConversation, NodeResult, UNPARSEABLE};
use crate::config::Language;
use papertape_core::provenance::{Degradation, DegradationKind, reason};
use papertape_core::tape::{
    Ctx, GuardOutcome, GuardedBranch, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass,
};
use serde_json::json;
use std::time::Duration;

/// A guarded node, ready to run.
type Ready<'a, A> = (ScopeKey, Duration, GuardedBranch<'a, NodeResult<A>>);

/// Whether the node answered with something unparseable.
pub(super) fn is_unparseable(gone: &Degradation) -> bool {
    gone.kind == DegradationKind::Error && gone.reason == reason(&gone.node, Some(UNPARSEABLE))
}

/// Runs one role under its deadline.
///
/// # Errors
/// A stop.
pub(super) async fn run_node<R: Role>(
    ctx: &mut Ctx,
    room: &DeskContext<'_>,
    case: &mut SymbolAnalysis,
    role: &R,
    round: u32,
) -> Result<(), SessionStop> {
    let (key, deadline, body) = ready(room, case, role, round);
    let verdict = ctx.guard(key, deadline, body).await?;
    record_outcome(ctx, room, case, (role, round), verdict).await
}

/// Runs several roles concurrently, each under its own deadline. None sees another's answer.
///
/// # Errors
/// A stop.
pub(super) async fn run_nodes<A: Send>(
    ctx: &mut Ctx,
    room: &DeskContext<'_>,
    case: &mut SymbolAnalysis,
    roles: &[&dyn Role<Answer = A>],
) -> Result<(), SessionStop> {
    let bodies = roles.iter().map(|role| ready(room, case, *role, 1)).collect();
    let verdicts = ctx.guard_all(bodies).await?;
    for (role, verdict) in roles.iter().zip(verdicts) {
        record_outcome(ctx, room, case, (*role, 1), verdict).await?;
    }
    Ok(())
}

fn ready<'a, A: Send>(
    room: &'a DeskContext<'a>,
    case: &SymbolAnalysis,
    role: &'a (impl Role<Answer = A> + ?Sized),
    round: u32,
) -> Ready<'a, A> {
    let seat = role.seat();
    let task = role.task(room, case);
    let body: GuardedBranch<'a, NodeResult<A>> =
        Box::new(move |ctx| role.work(NodeConversation { ctx, room, seat, task }));
    (ScopeKey::Node(seat.node.to_owned(), round), room.config.deadline(seat.phase), body)
}

/// Applies the verdict to the case, and records a step with how the node ended.
async fn record_outcome<A: Send>(
    ctx: &mut Ctx,
    room: &DeskContext<'_>,
    case: &mut SymbolAnalysis,
    (role, round): (&(impl Role<Answer = A> + ?Sized), u32),
    verdict: GuardOutcome<NodeResult<A>>,
) -> Result<(), SessionStop> {
    let seat = role.seat();
    let node = ScopeKey::Node(seat.node.to_owned(), round);
    let language = room.agent(&format!("{}/{node}", ctx.scope())).language;
    let error = match &verdict {
        GuardOutcome::Ok(_) => None,
        GuardOutcome::TimedOut => Some(None),
        GuardOutcome::Failed(failure) => Some(Some(failure.kind.as_str())),
    };
    let gone = error.map(|error| Degradation::of(Some(case.symbol.clone()), seat.node, error));
    let mut tool_calls = None;
    let mut notes = Vec::new();
    match (verdict, &gone) {
        (GuardOutcome::Ok(worked), _) => {
            tool_calls = Some(worked.tool_calls);
            case.sources_missing.extend(worked.sources_missing);
            notes = worked.notes;
            role.apply_answer(case, worked.answer, language);
            let research = &mut case.state.investment_debate_state.research;
            match seat.duty {
                ProvenanceEffect::Argue(side) => research.cover(side.dimension()),
                ProvenanceEffect::JudgeResearch => research.judge(),
                ProvenanceEffect::Other => {}
            }
        }
        (_, Some(gone)) => {
            let research = &mut case.state.investment_debate_state.research;
            match seat.duty {
                ProvenanceEffect::Argue(_) => research.degrade(gone),
                ProvenanceEffect::JudgeResearch => research.leave_unjudged(gone),
                ProvenanceEffect::Other => {}
            }
            role.apply_fallback(case, &fallback_text(seat, gone, language));
        }
        (_, None) => {}
    }
    let state = match gone.as_ref().map(|gone| gone.kind) {
        None => "ok",
        Some(DegradationKind::Timeout) => "timeout",
        Some(DegradationKind::Error) => "error",
    };
    let (history_len, response_len) = role.transcript_lengths(case);
    let research = &case.state.investment_debate_state.research;
    let mut outcome = json!({
        "state": state,
        "reason": gone.as_ref().map(|gone| &gone.reason),
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
    case.notes.extend(notes.into_iter().map(|note| (seat.node, note)));
    case.degradations.extend(gone);
    let arguments = json!({
        "symbol": case.symbol,
        "node": seat.node,
        "round": round,
        "phase": seat.phase,
        "llm_kind": seat.llm,
    });
    let entry = LocalStep {
        kind: "node",
        class: StepClass::Local,
        arguments,
        outcome,
        outcome_kind: OutcomeKind::Ok,
        said: None,
        implied: Vec::new(),
    };
    ctx.record_local(entry).await.map(drop)
}

/// The fallback text of a node, in the desk's language.
fn fallback_text(seat: &RoleSpec, gone: &Degradation, language: Language) -> String {
    let node = seat.node;
    let cause = match (gone.kind, language) {
        (DegradationKind::Timeout, Language::En) => "its deadline passed".to_owned(),
        (DegradationKind::Timeout, Language::Zh) => "超过时限".to_owned(),
        (DegradationKind::Error, Language::En) => format!("it failed ({})", gone.reason),
        (DegradationKind::Error, Language::Zh) => format!("出错（{}）", gone.reason),
    };
    match (seat.duty, language) {
        (ProvenanceEffect::Argue(_), Language::En) => format!(
            "[The {node} gave no argument: {cause}. Research is degraded, and this side of the debate is \
             untested.]"
        ),
        (ProvenanceEffect::Argue(_), Language::Zh) => {
            format!("【{node} 没有给出论点：{cause}。研究已降级，辩论的这一方未经检验。】")
        }
        (ProvenanceEffect::JudgeResearch, Language::En) => format!(
            "Recommendation: HOLD\n\nResearch is degraded: the {node} gave no judgement, for {cause}. There is \
             no plan to act on; leave the position as it is."
        ),
        (ProvenanceEffect::JudgeResearch, Language::Zh) => format!(
            "建议：HOLD（持有）\n\n研究已降级：{node} 没有给出判断，原因是{cause}。没有可供执行的计划；保持现有仓位。"
        ),
        (ProvenanceEffect::Other, Language::En) => {
            format!("[The {node} gave nothing: {cause}. What it would have said is not known.]")
        }
        (ProvenanceEffect::Other, Language::Zh) => {
            format!("【{node} 没有给出内容：{cause}。它本会说什么不得而知。】")
        }
    }
}
