//! Results of jobs on plans.

use papertape_core::record::JobStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The result of a job on a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum JobResult {
    /// Of a `plan_decompose`.
    Decomposition(DecompositionResult),
    /// Of a `plan_execute`.
    Execution(ExecutionResult),
}

/// The result of a decomposition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecompositionResult {
    /// Why it stopped: `completed` (no node left to decompose), `max_depth`, `node_budget`, or
    /// `failed` (no node could be decomposed).
    #[schema(schema_with = crate::vocabulary::stopped_reason)]
    pub stopped_reason: String,
    /// What it did.
    pub stats: DecompositionStats,
    /// The tasks that it created, in order.
    pub created: Vec<i64>,
    /// Nodes that could not be decomposed.
    pub failed: Vec<FailedPart>,
    /// What was omitted from the model's responses. Empty in results that were recorded before this field existed.
    #[serde(default, alias = "left_out")]
    pub omitted: DecompositionOmissions,
}

/// What a decomposition omitted from the model's responses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecompositionOmissions {
    /// Children that were not created, by parent node and reason.
    #[serde(default)]
    pub children: Vec<OmittedChildren>,
    /// Dependencies that were dropped, at most 100.
    #[serde(default)]
    pub dependencies: Vec<OmittedDependency>,
    /// The number of dropped dependencies that are not listed.
    #[serde(default)]
    pub more_dependencies: u32,
}

/// Children of one node that were not created, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OmittedChildren {
    /// The task they would be children of; `null`: the plan itself.
    pub parent: Option<i64>,
    /// Why: `no_name`, `malformed`, `max_children`, `node_budget` or `failed` (see `failed` of the result).
    #[schema(schema_with = crate::vocabulary::child_reason)]
    pub reason: String,
    /// How many children were not created.
    pub count: u32,
}

/// A dependency between children of one node that was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OmittedDependency {
    /// The node's task; `null`: the plan itself.
    pub parent: Option<i64>,
    /// The child that would wait.
    pub from: OmittedChild,
    /// What it would wait for.
    pub to: OmittedChild,
    /// Why: `cycle` (with the dependencies before it, it would close one), `not_made` (that child was left out) or
    /// `unknown` (there is no such child).
    #[schema(schema_with = crate::vocabulary::dependency_reason)]
    pub reason: String,
}

/// A child in the model's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OmittedChild {
    /// Its 0-based position in the response's list, or what the response has instead of one.
    pub place: Value,
    /// Its name; `null`: it has none, or there is no such child.
    pub name: Option<String>,
    /// The task that was created from it; `null`: none.
    pub task_id: Option<i64>,
}

/// What a decomposition did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecompositionStats {
    /// Nodes that were sent to the model.
    #[serde(alias = "nodes_asked")]
    pub nodes_processed: u32,
    /// Tasks that were created.
    pub nodes_created: u32,
    /// Of the processed nodes, those that were not decomposed.
    pub leaves: u32,
    /// Of the processed nodes, those that failed.
    pub nodes_failed: u32,
    /// The deepest level at which a task was created.
    pub depth_reached: u32,
    /// Children that were omitted; `omitted` of the result says which and why.
    #[serde(alias = "children_left_out")]
    pub children_omitted: u32,
}

/// The result of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExecutionResult {
    /// `completed`, `partial` or `failed`: never completed where a task is not.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// The plan's tasks by status, those of earlier runs included.
    pub tasks: BTreeMap<String, u32>,
    /// The tasks that failed in this run.
    pub failed: Vec<FailedPart>,
    /// Of these, the tasks that were blocked from starting paid work because they read untrusted text.
    #[serde(default, alias = "held_back")]
    pub blocked: Vec<i64>,
}

/// A task that failed, or could not be decomposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailedPart {
    /// The task; `null`: the plan itself.
    pub task_id: Option<i64>,
    /// Why.
    pub error: String,
}
