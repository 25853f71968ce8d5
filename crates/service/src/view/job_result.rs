//! What a job on a plan came to.

use super::{ViewError, vocabulary};
use crate::app::App;
use papertape_core::id::JobId;
use papertape_core::record::{JobKind, JobStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What a job on a plan came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum JobResult {
    /// Of a `plan_decompose`.
    Decomposition(DecompositionResult),
    /// Of a `plan_execute`.
    Execution(ExecutionResult),
}

/// What a decomposition came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecompositionResult {
    /// Why it went no further: `completed` (no node was left to break up), `max_depth`, `node_budget`, or
    /// `failed` (no node could be broken up).
    #[schema(schema_with = vocabulary::stopped_reason)]
    pub stopped_reason: String,
    /// What it did.
    pub stats: DecompositionStats,
    /// The tasks that it made, in the order of their making.
    pub created: Vec<i64>,
    /// Nodes that could not be broken up.
    pub failed: Vec<FailedPart>,
    /// What was left out of the model's answers. Empty lists in results that were recorded before this field.
    #[serde(default)]
    pub left_out: DecompositionLeftOut,
}

/// What a decomposition left out of the model's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecompositionLeftOut {
    /// Children that were not made, by the node they belong to and the reason.
    #[serde(default)]
    pub children: Vec<LeftOutChildren>,
    /// Dependencies that were dropped, at most 100.
    #[serde(default)]
    pub dependencies: Vec<LeftOutDependency>,
    /// How many more dependencies were dropped than are listed.
    #[serde(default)]
    pub more_dependencies: u32,
}

/// Children of one node that were not made, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftOutChildren {
    /// The task they would be children of; `null`: the plan itself.
    pub parent: Option<i64>,
    /// Why: `no_name`, `malformed`, `max_children`, `node_budget` or `failed` (see `failed` of the result).
    #[schema(schema_with = vocabulary::child_reason)]
    pub reason: String,
    /// How many.
    pub count: u32,
}

/// A dependency between children of one node that was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftOutDependency {
    /// The node's task; `null`: the plan itself.
    pub parent: Option<i64>,
    /// The child that would wait.
    pub from: LeftOutChild,
    /// What it would wait for.
    pub to: LeftOutChild,
    /// Why: `cycle` (with the dependencies before it, it would close one), `not_made` (that child was left out) or
    /// `unknown` (there is no such child).
    #[schema(schema_with = vocabulary::dependency_reason)]
    pub reason: String,
}

/// A child as the model's answer has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftOutChild {
    /// Its place in the answer's list, from 0, or what the answer has instead of one.
    pub place: serde_json::Value,
    /// Its name; `null`: it has none, or there is no such child.
    pub name: Option<String>,
    /// The task that was made of it; `null`: none was.
    pub task_id: Option<i64>,
}

/// What a decomposition did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecompositionStats {
    /// Nodes that were put to the model.
    pub nodes_asked: u32,
    /// Tasks that were made.
    pub nodes_created: u32,
    /// Of the nodes asked, those that stay as they are.
    pub leaves: u32,
    /// Of the nodes asked, those that failed.
    pub nodes_failed: u32,
    /// The deepest level below the beginning that a task was made at.
    pub depth_reached: u32,
    /// Children that were left out; `left_out` of the result says which and why.
    pub children_left_out: u32,
}

/// What an execution came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExecutionResult {
    /// `completed`, `partial` or `failed`: never completed where a task is not.
    #[schema(schema_with = vocabulary::job_status)]
    pub status: JobStatus,
    /// The plan's tasks by status, those of earlier runs included.
    pub tasks: BTreeMap<String, u32>,
    /// The tasks that failed in this run.
    pub failed: Vec<FailedPart>,
    /// Of these, the ones that were not let start work that costs, for they have read text of others.
    #[serde(default)]
    pub held_back: Vec<i64>,
}

/// A task that failed, or could not be broken up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailedPart {
    /// The task; `null`: the plan itself.
    pub task_id: Option<i64>,
    /// Why.
    pub error: String,
}

/// What a job of this kind came to; `None` until it has ended, and for kinds that come to nothing of the sort.
///
/// # Errors
/// The record's.
pub async fn job_result(app: &App, job: &JobId, kind: &JobKind) -> Result<Option<JobResult>, ViewError> {
    if !matches!(kind, JobKind::PlanDecompose | JobKind::PlanExecute) {
        return Ok(None);
    }
    let Some(kept) = app.store.outcome(job).await? else { return Ok(None) };
    let read = match kind {
        JobKind::PlanDecompose => serde_json::from_value(kept).map(JobResult::Decomposition),
        _ => serde_json::from_value(kept).map(JobResult::Execution),
    };
    // A job that ended before it began has kept nothing.
    Ok(read.ok())
}
