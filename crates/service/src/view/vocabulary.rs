//! The words of statuses and roles, for the OpenAPI document.

use papertape_agents::config::AgentKind;
use papertape_agents::desk::NODE_FAILURES;
use papertape_agents::desk::sizing::AdjustmentCode;
use papertape_agents::solo::SOLO_REASONS;
use papertape_core::action::{ActionKind, ActionStatus};
use papertape_core::broker::RejectCode;
use papertape_core::message::{FailureKind, Role};
use papertape_core::plan::TaskStatus;
use papertape_core::point_in_time::UnverifiedKind;
use papertape_core::provenance::{QualityState, TIMEOUT, UNREADABLE};
use papertape_core::record::{CHAT_ACTION, DayStatus, JobStatus, PLAN_DECOMPOSE, PLAN_EXECUTE};
use papertape_core::tape::OutcomeKind;
use papertape_runtime::worker::{PROFILE, SIMULATE};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// A job's kind.
#[must_use]
pub fn job_kind() -> Object {
    words(&JOB_KINDS)
}

/// What jobs there are.
pub const JOB_KINDS: [&str; 5] = [SIMULATE, PROFILE, CHAT_ACTION, PLAN_DECOMPOSE, PLAN_EXECUTE];

/// A job's status.
#[must_use]
pub fn job_status() -> Object {
    use JobStatus::{Cancelled, Completed, Failed, Partial, Queued, Running};
    words(&[Queued, Running, Completed, Partial, Failed, Cancelled].map(JobStatus::as_str))
}

/// A model-day's status.
#[must_use]
pub fn day_status() -> Object {
    use DayStatus::{Completed, Failed, Queued, Running, Skipped};
    words(&[Queued, Running, Completed, Failed, Skipped].map(DayStatus::as_str))
}

/// How a session came to be unverified.
#[must_use]
pub fn unverified_kind() -> Object {
    use UnverifiedKind::{Branch, Continuation, ExternalTools, Import, Memory};
    words(&[ExternalTools, Import, Memory, Continuation, Branch].map(UnverifiedKind::as_str))
}

/// How an agent works.
#[must_use]
pub fn agent_kind() -> Object {
    words(&[AgentKind::Solo, AgentKind::Desk].map(AgentKind::as_str))
}

/// How far an action is.
#[must_use]
pub fn action_status() -> Object {
    use ActionStatus::{Completed, Failed, Queued, Running};
    words(&[Queued, Running, Completed, Failed].map(ActionStatus::as_str))
}

/// What an action is about.
#[must_use]
pub fn action_kind() -> Object {
    use ActionKind::{ContextRequest, PlanOperation, SystemOperation, TaskOperation, ToolOperation};
    let kinds = [PlanOperation, TaskOperation, ToolOperation, ContextRequest, SystemOperation];
    words(&kinds.map(ActionKind::as_str))
}

/// How far a task is.
#[must_use]
pub fn task_status() -> Object {
    use TaskStatus::{Completed, Failed, Queued, Running, Skipped};
    words(&[Queued, Running, Completed, Failed, Skipped].map(TaskStatus::as_str))
}

/// How far a person can say that a task is.
#[must_use]
pub fn task_status_by_hand() -> Object {
    use TaskStatus::{Completed, Failed, Queued, Skipped};
    words(&[Queued, Completed, Failed, Skipped].map(TaskStatus::as_str))
}

/// Why a decomposition went no further.
#[must_use]
pub fn stopped_reason() -> Object {
    words(&["completed", "max_depth", "node_budget", "failed"])
}

/// Why a decomposition did not make a child.
#[must_use]
pub fn child_reason() -> Object {
    words(&["no_name", "malformed", "max_children", "node_budget", "failed"])
}

/// Why a decomposition dropped a dependency.
#[must_use]
pub fn dependency_reason() -> Object {
    words(&["cycle", "not_made", "unknown"])
}

/// Who speaks.
#[must_use]
pub fn role() -> Object {
    words(&[Role::User, Role::Assistant, Role::Tool].map(Role::as_str))
}

/// Why an order was refused, or expired.
#[must_use]
pub fn reject_code() -> Object {
    words(&RejectCode::ALL.map(RejectCode::as_str))
}

/// Why a desk's order is not what was wanted.
#[must_use]
pub fn cut_code() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(AdjustmentCode::ALL.iter().filter_map(|code| serde_json::to_value(code).ok())))
        .build()
}

/// How a node failed, or a solo trader came to no decision.
#[must_use]
pub fn node_failure() -> Object {
    let of_calls = FailureKind::ALL.map(FailureKind::as_str);
    let of_solo = SOLO_REASONS.into_iter().filter(|reason| !NODE_FAILURES.contains(reason));
    let of_solo: Vec<&str> = of_solo.collect();
    words(&[&[TIMEOUT], NODE_FAILURES.as_slice(), &of_solo, of_calls.as_slice()].concat())
}

/// How a model-day came about, in a word.
#[must_use]
pub fn quality_state() -> Object {
    use QualityState::{Failed, NoDecision, NodeDegraded, Ok, ResearchDegraded};
    words(&[Ok, ResearchDegraded, NodeDegraded, NoDecision, Failed].map(QualityState::as_str))
}

/// Reasons of degradation that are no node's.
#[must_use]
pub fn other_reason() -> Object {
    words(&[UNREADABLE])
}

/// What became of a step.
#[must_use]
pub fn outcome() -> Object {
    use OutcomeKind::{Failed, Ok, Refused, TimedOut, Unknown};
    words(&[Ok, Failed, TimedOut, Refused, Unknown].map(OutcomeKind::as_str))
}

/// How far a step is.
#[must_use]
pub fn step_state() -> Object {
    words(&["intent", "done", "abandoned"])
}

fn words(words: &[&'static str]) -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(words.iter().copied()))
        .build()
}
