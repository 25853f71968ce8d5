//! The values of statuses, roles and codes, for the OpenAPI document.

use papertape_core::action::{ActionKind, ActionStatus};
use papertape_core::broker::RejectCode;
use papertape_core::job_list::{JobSort, ListQuality};
use papertape_core::language::Language;
use papertape_core::message::{FinishReason, Role};
use papertape_core::plan::TaskStatus;
use papertape_core::point_in_time::UnverifiedKind;
use papertape_core::provenance::{QualityState, UNREADABLE};
use papertape_core::record::{DayStatus, JobKind, JobStatus};
use papertape_core::tape::OutcomeKind;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// A job's kind.
#[must_use]
pub fn job_kind() -> Object {
    words(&JobKind::ALL.iter().map(JobKind::as_str).collect::<Vec<_>>())
}

/// A job's status.
#[must_use]
pub fn job_status() -> Object {
    use JobStatus::{Cancelled, Completed, Failed, Partial, Queued, Running};
    words(&[Queued, Running, Completed, Partial, Failed, Cancelled].map(JobStatus::as_str))
}

/// The quality of a job in a list.
#[must_use]
pub fn list_quality() -> Object {
    words(&ListQuality::ALL.map(ListQuality::as_str))
}

/// The order of a list of jobs.
#[must_use]
pub fn job_order() -> Object {
    let descending = ["-created", "-name", "-status", "-dataset", "-model", "-start_date", "-quality"];
    words(&[JobSort::ALL.map(JobSort::as_str), descending].concat())
}

/// A model-day's status.
#[must_use]
pub fn day_status() -> Object {
    use DayStatus::{Completed, Failed, Queued, Running, Skipped};
    words(&[Queued, Running, Completed, Failed, Skipped].map(DayStatus::as_str))
}

/// Why a session is unverified.
#[must_use]
pub fn unverified_kind() -> Object {
    use UnverifiedKind::{Branch, Continuation, ExternalTools, Import, Memory};
    words(&[ExternalTools, Import, Memory, Continuation, Branch].map(UnverifiedKind::as_str))
}

/// How an agent works.
#[must_use]
pub fn agent_kind() -> Object {
    words(&["solo", "desk"])
}

/// The status of an action.
#[must_use]
pub fn action_status() -> Object {
    use ActionStatus::{Completed, Failed, Queued, Running};
    words(&[Queued, Running, Completed, Failed].map(ActionStatus::as_str))
}

/// The kind of an action.
#[must_use]
pub fn action_kind() -> Object {
    use ActionKind::{ContextRequest, PlanOperation, SystemOperation, TaskOperation, ToolOperation};
    let kinds = [PlanOperation, TaskOperation, ToolOperation, ContextRequest, SystemOperation];
    words(&kinds.map(ActionKind::as_str))
}

/// The status of a task.
#[must_use]
pub fn task_status() -> Object {
    use TaskStatus::{Completed, Failed, Queued, Running, Skipped};
    words(&[Queued, Running, Completed, Failed, Skipped].map(TaskStatus::as_str))
}

/// A task status that can be set by hand.
#[must_use]
pub fn task_status_by_hand() -> Object {
    use TaskStatus::{Completed, Failed, Queued, Skipped};
    words(&[Queued, Completed, Failed, Skipped].map(TaskStatus::as_str))
}

/// Why a decomposition stopped.
#[must_use]
pub fn stopped_reason() -> Object {
    words(&["completed", "max_depth", "node_budget", "failed"])
}

/// Why a decomposition omitted a child.
#[must_use]
pub fn child_reason() -> Object {
    words(&["no_name", "malformed", "max_children", "node_budget", "failed"])
}

/// Why a decomposition dropped a dependency.
#[must_use]
pub fn dependency_reason() -> Object {
    words(&["cycle", "not_made", "unknown"])
}

/// The role of a message.
#[must_use]
pub fn role() -> Object {
    words(&[Role::User, Role::Assistant, Role::Tool].map(Role::as_str))
}

/// Why an order was rejected, or expired.
#[must_use]
pub fn reject_code() -> Object {
    words(&RejectCode::ALL.map(RejectCode::as_str))
}

/// The quality state of a model-day.
#[must_use]
pub fn quality_state() -> Object {
    use QualityState::{Failed, NoDecision, NodeDegraded, Ok, ResearchDegraded};
    words(&[Ok, ResearchDegraded, NodeDegraded, NoDecision, Failed].map(QualityState::as_str))
}

/// Reasons of degradation that do not belong to a node.
#[must_use]
pub fn other_reason() -> Object {
    words(&[UNREADABLE])
}

/// Why a model's response ended.
#[must_use]
pub fn finish_reason() -> Object {
    words(&FinishReason::ALL.map(FinishReason::as_str))
}

/// The outcome of a step.
#[must_use]
pub fn outcome() -> Object {
    use OutcomeKind::{Failed, Ok, Refused, TimedOut, Unknown};
    words(&[Ok, Failed, TimedOut, Refused, Unknown].map(OutcomeKind::as_str))
}

/// The verdict of a comparison.
#[must_use]
pub fn verdict() -> Object {
    words(&[
        "better",
        "worse",
        "not_distinguishable",
        "too_few_days",
        "interim",
        "identical",
        "insolvent",
        "not_comparable",
    ])
}

/// The state of a step.
#[must_use]
pub fn step_state() -> Object {
    words(&["intent", "done", "abandoned"])
}

/// The schema of a text that is one of `words`.
#[must_use]
pub fn words(words: &[&'static str]) -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::String))
        .enum_values(Some(words.iter().copied()))
        .build()
}

/// A language of texts for users.
#[must_use]
pub fn language() -> Object {
    words(&Language::ALL.map(Language::as_str))
}
