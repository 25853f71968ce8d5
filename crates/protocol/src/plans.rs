//! Plans and their tasks.

use crate::deployment::Deployment;
use crate::fields::given;
use papertape_core::plan::TaskStatus;
use papertape_core::plan::{Plan, Task};
use papertape_core::record::JobStatus;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanSummary {
    /// Its id.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its goal.
    pub goal: String,
    /// Its status; `partial`: some of its tasks failed.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// The conversation that started it.
    pub chat_session_id: Option<String>,
    /// How many tasks it has.
    pub tasks: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it or one of its tasks was last changed.
    pub updated_at: Timestamp,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskSummary {
    /// Its id.
    pub id: i64,
    /// The plan.
    pub plan_id: i64,
    /// The parent task; `null`: a top-level task.
    pub parent_id: Option<i64>,
    /// Its name.
    pub name: String,
    /// Its status.
    #[schema(schema_with = crate::vocabulary::task_status)]
    pub status: TaskStatus,
    /// The instruction.
    pub instruction: String,
    /// Its position among its siblings, from 0.
    pub position: u32,
    /// Its depth; 0 at the top.
    pub depth: u32,
    /// The IDs from the top-level task to this one.
    #[schema(example = "/3/17")]
    pub path: String,
    /// Tasks that must be done before it, by id.
    pub dependencies: Vec<i64>,
    /// Its result.
    #[schema(value_type = Option<Object>)]
    pub execution_result: Option<Value>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// One plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanResponse {
    /// The plan.
    pub plan: PlanSummary,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A page of plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlansResponse {
    /// The plans, newest first.
    pub plans: Vec<PlanSummary>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskResponse {
    /// The task.
    pub task: TaskSummary,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// All tasks of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TasksResponse {
    /// The plan.
    pub plan_id: i64,
    /// The tasks, each before its children, siblings by position; at most 1000.
    pub tasks: Vec<TaskSummary>,
    /// How many there are.
    pub count: usize,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

impl From<Plan> for PlanSummary {
    fn from(plan: Plan) -> Self {
        Self {
            id: plan.id.0,
            name: plan.name,
            goal: plan.goal,
            status: plan.status,
            chat_session_id: plan.chat_session_id.map(|session| session.to_string()),
            tasks: plan.tasks,
            created_at: plan.created_at,
            updated_at: plan.updated_at,
        }
    }
}

impl From<Task> for TaskSummary {
    fn from(task: Task) -> Self {
        Self {
            id: task.id.0,
            plan_id: task.plan_id.0,
            parent_id: task.parent_id.map(|parent| parent.0),
            name: task.name,
            status: task.status,
            instruction: task.instruction,
            position: task.position,
            depth: task.depth,
            path: task.path,
            dependencies: task.dependencies.into_iter().map(|task| task.0).collect(),
            execution_result: task.execution_result,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

/// A new plan.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Autumn of 2012", "goal": "Find out why the cautious desk lost" }))]
pub struct PlanBody {
    /// Its name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: String,
    /// Its goal.
    #[serde(default)]
    #[schema(max_length = 20_000)]
    pub goal: String,
}

/// Changes to a plan; absent fields stay as they are.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "goal": "Find out what data the desk saw" }))]
pub struct PlanPatch {
    /// Its name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<String>,
    /// Its goal.
    #[schema(max_length = 20_000)]
    pub goal: Option<String>,
}

/// A new task.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Run the cautious desk", "instruction": "IBM and AAPL, autumn of 2012" }))]
pub struct TaskBody {
    /// Its name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: String,
    /// The instruction.
    #[serde(default)]
    #[schema(max_length = 20_000)]
    pub instruction: String,
    /// The parent task; absent or `null`: a top-level task.
    pub parent_id: Option<i64>,
    /// Its position among its siblings, from 0; absent, or beyond the end: last.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub position: Option<u32>,
    /// Tasks of the plan that must be completed before it.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub dependencies: Vec<i64>,
}

/// Changes to a task; absent fields stay as they are.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "parent_id": null, "position": 0 }))]
pub struct TaskPatch {
    /// Its name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<String>,
    /// The instruction.
    #[schema(max_length = 20_000)]
    pub instruction: Option<String>,
    /// Its status, set by hand; clears its result.
    #[serde(default, deserialize_with = "given")]
    #[schema(schema_with = crate::vocabulary::task_status_by_hand)]
    pub status: Option<TaskStatus>,
    /// Moves it, with its subtasks, under this task; `null`: to the top level.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>)]
    pub parent_id: Option<Option<i64>>,
    /// Moves it to this position among its siblings, from 0.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub position: Option<u32>,
    /// Tasks of the plan that must be completed before it; they replace the current dependencies.
    #[schema(max_items = 1000)]
    pub dependencies: Option<Vec<i64>>,
}

/// How to decompose a plan.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecomposeBody {
    /// The task to decompose; absent: the whole plan.
    pub task_id: Option<i64>,
    /// Levels below it; 2 by default.
    #[schema(minimum = 1, maximum = 4)]
    pub max_depth: Option<u32>,
    /// Children per task; 5 by default.
    #[schema(minimum = 1, maximum = 10)]
    pub max_children: Option<u32>,
    /// New tasks in total; 50 by default.
    #[schema(minimum = 1, maximum = 200)]
    pub total_node_budget: Option<u32>,
}

/// How to execute a plan.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteBody {
    /// Run this task again, with its uncompleted dependencies; absent: the whole plan.
    pub task_id: Option<i64>,
    /// Whether a task may start paid work after it reads untrusted text, such as web pages. Default: no.
    pub trusted: Option<bool>,
}

/// A queued job on a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanJobQueued {
    /// The job.
    pub job_id: String,
    /// The plan.
    pub plan_id: i64,
    /// `queued`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}
