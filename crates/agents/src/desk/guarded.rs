//! Runs a node under its guard, and handles its answer or its failure.
//!
//! | node | answered | timed out or failed |
//! |---|---|---|
//! | Bull, Bear | `bull`/`bear` is covered | research is degraded; a text that says so is its argument, and the debate continues |
//! | Research Manager | `manager` is covered; confidence 1.0, or 0.5 after a degradation | research is degraded, confidence 0.0; a plain HOLD that says so is the plan |
//! | all others | | a degradation, and a text that says so; the six fields of research are unchanged |
//!
//! A stop is neither: it is passed up.

use super::Room;
use super::case::Case;
use super::roles::{Duty, Role, Seat};
use super::talk::{Talk, UNPARSEABLE, Worked};
use crate::config::Language;
use papertape_core::provenance::{Degradation, DegradationKind, reason};
use papertape_core::tape::{Class, Ctx, Entry, GuardedBranch, Key, OutcomeKind, Stop, Verdict};
use serde_json::json;
use std::time::Duration;

/// A guarded node, ready to run.
type Ready<'a, A> = (Key, Duration, GuardedBranch<'a, Worked<A>>);

/// Whether the node answered with something unparseable.
pub(super) fn is_unparseable(gone: &Degradation) -> bool {
    gone.kind == DegradationKind::Error && gone.reason == reason(&gone.node, Some(UNPARSEABLE))
}

/// Runs one role under its deadline.
///
/// # Errors
/// A stop.
pub(super) async fn ask<R: Role>(
    ctx: &mut Ctx,
    room: &Room<'_>,
    case: &mut Case,
    role: &R,
    round: u32,
) -> Result<(), Stop> {
    let (key, deadline, body) = ready(room, case, role, round);
    let verdict = ctx.guard(key, deadline, body).await?;
    settle(ctx, room, case, (role, round), verdict).await
}

/// Runs several roles concurrently, each under its own deadline. None sees another's answer.
///
/// # Errors
/// A stop.
pub(super) async fn ask_all<A: Send>(
    ctx: &mut Ctx,
    room: &Room<'_>,
    case: &mut Case,
    roles: &[&dyn Role<Answer = A>],
) -> Result<(), Stop> {
    let bodies = roles.iter().map(|role| ready(room, case, *role, 1)).collect();
    let verdicts = ctx.guard_all(bodies).await?;
    for (role, verdict) in roles.iter().zip(verdicts) {
        settle(ctx, room, case, (*role, 1), verdict).await?;
    }
    Ok(())
}

fn ready<'a, A: Send>(
    room: &'a Room<'a>,
    case: &Case,
    role: &'a (impl Role<Answer = A> + ?Sized),
    round: u32,
) -> Ready<'a, A> {
    let seat = role.seat();
    let task = role.task(room, case);
    let body: GuardedBranch<'a, Worked<A>> = Box::new(move |ctx| role.work(Talk { ctx, room, seat, task }));
    (Key::Node(seat.node.to_owned(), round), room.config.deadline(seat.phase), body)
}

/// Applies the verdict to the case, and records a step with how the node ended.
async fn settle<A: Send>(
    ctx: &mut Ctx,
    room: &Room<'_>,
    case: &mut Case,
    (role, round): (&(impl Role<Answer = A> + ?Sized), u32),
    verdict: Verdict<Worked<A>>,
) -> Result<(), Stop> {
    let seat = role.seat();
    let node = Key::Node(seat.node.to_owned(), round);
    let language = room.agent(&format!("{}/{node}", ctx.scope())).language;
    let error = match &verdict {
        Verdict::Ok(_) => None,
        Verdict::TimedOut => Some(None),
        Verdict::Failed(failure) => Some(Some(failure.kind.as_str())),
    };
    let gone = error.map(|error| Degradation::of(Some(case.symbol.clone()), seat.node, error));
    let mut tool_calls = None;
    let mut notes = Vec::new();
    match (verdict, &gone) {
        (Verdict::Ok(worked), _) => {
            tool_calls = Some(worked.tool_calls);
            case.sources_missing.extend(worked.sources_missing);
            notes = worked.notes;
            role.enter(case, worked.answer, language);
            let research = &mut case.state.investment_debate_state.research;
            match seat.duty {
                Duty::Argue(side) => research.cover(side.dimension()),
                Duty::JudgeResearch => research.judge(),
                Duty::Other => {}
            }
        }
        (_, Some(gone)) => {
            let research = &mut case.state.investment_debate_state.research;
            match seat.duty {
                Duty::Argue(_) => research.degrade(gone),
                Duty::JudgeResearch => research.leave_unjudged(gone),
                Duty::Other => {}
            }
            role.fall_back(case, &absence(seat, gone, language));
        }
        (_, None) => {}
    }
    let state = match gone.as_ref().map(|gone| gone.kind) {
        None => "ok",
        Some(DegradationKind::Timeout) => "timeout",
        Some(DegradationKind::Error) => "error",
    };
    let (history_len, response_len) = role.lengths(case);
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
    let entry = Entry {
        kind: "node",
        class: Class::Local,
        arguments,
        outcome,
        outcome_kind: OutcomeKind::Ok,
        said: None,
        implied: Vec::new(),
    };
    ctx.local(entry).await.map(drop)
}

/// The fallback text of a node, in the desk's language.
fn absence(seat: &Seat, gone: &Degradation, language: Language) -> String {
    let node = seat.node;
    let cause = match (gone.kind, language) {
        (DegradationKind::Timeout, Language::En) => "its deadline passed".to_owned(),
        (DegradationKind::Timeout, Language::Zh) => "超过时限".to_owned(),
        (DegradationKind::Error, Language::En) => format!("it failed ({})", gone.reason),
        (DegradationKind::Error, Language::Zh) => format!("出错（{}）", gone.reason),
    };
    match (seat.duty, language) {
        (Duty::Argue(_), Language::En) => format!(
            "[The {node} gave no argument: {cause}. Research is degraded, and this side of the debate is \
             untested.]"
        ),
        (Duty::Argue(_), Language::Zh) => {
            format!("【{node} 没有给出论点：{cause}。研究已降级，辩论的这一方未经检验。】")
        }
        (Duty::JudgeResearch, Language::En) => format!(
            "Recommendation: HOLD\n\nResearch is degraded: the {node} gave no judgement, for {cause}. There is \
             no plan to act on; leave the position as it is."
        ),
        (Duty::JudgeResearch, Language::Zh) => format!(
            "建议：HOLD（持有）\n\n研究已降级：{node} 没有给出判断，原因是{cause}。没有可供执行的计划；保持现有仓位。"
        ),
        (Duty::Other, Language::En) => {
            format!("[The {node} gave nothing: {cause}. What it would have said is not known.]")
        }
        (Duty::Other, Language::Zh) => format!("【{node} 没有给出内容：{cause}。它本会说什么不得而知。】"),
    }
}
