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
    /// What it is called.
    pub name: String,
    /// What it is to reach.
    pub goal: String,
    /// How far it is; `partial`: some of its tasks failed.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// The conversation that it comes from.
    pub chat_session_id: Option<String>,
    /// How many tasks it has.
    pub tasks: u64,
    /// When it was made.
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
    /// The task that it is a part of; `null`: it stands at the top.
    pub parent_id: Option<i64>,
    /// What it is called.
    pub name: String,
    /// How far it is.
    #[schema(schema_with = crate::vocabulary::task_status)]
    pub status: TaskStatus,
    /// What is to be done.
    pub instruction: String,
    /// Its place among its siblings, from 0.
    pub position: u32,
    /// How deep it stands; 0 at the top.
    pub depth: u32,
    /// The ids from the top down to itself.
    #[schema(example = "/3/17")]
    pub path: String,
    /// Tasks that must be done before it, by id.
    pub dependencies: Vec<i64>,
    /// What came of it.
    #[schema(value_type = Option<Object>)]
    pub execution_result: Option<Value>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// One plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanResponse {
    /// The plan.
    pub plan: PlanSummary,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A page of plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlansResponse {
    /// The plans, newest first.
    pub plans: Vec<PlanSummary>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskResponse {
    /// The task.
    pub task: TaskSummary,
    /// Whose data it is.
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
    /// Whose data it is.
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
    /// The name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: String,
    /// The goal.
    #[serde(default)]
    #[schema(max_length = 20_000)]
    pub goal: String,
}

/// Changes of a plan. Absent fields stay unchanged.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "goal": "Find out what data the desk saw" }))]
pub struct PlanPatch {
    /// The name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<String>,
    /// The goal.
    #[schema(max_length = 20_000)]
    pub goal: Option<String>,
}

/// A new task.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Run the cautious desk", "instruction": "IBM and AAPL, autumn of 2012" }))]
pub struct TaskBody {
    /// The name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: String,
    /// The instruction.
    #[serde(default)]
    #[schema(max_length = 20_000)]
    pub instruction: String,
    /// The parent task; absent or `null`: top level.
    pub parent_id: Option<i64>,
    /// The position among its siblings, from 0; absent or beyond the end: last.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub position: Option<u32>,
    /// Tasks of the plan that must be completed before it.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub dependencies: Vec<i64>,
}

/// Changes of a task. Absent fields stay unchanged.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "parent_id": null, "position": 0 }))]
pub struct TaskPatch {
    /// The name; not blank.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<String>,
    /// The instruction.
    #[schema(max_length = 20_000)]
    pub instruction: Option<String>,
    /// The new status. Its execution result is cleared.
    #[serde(default, deserialize_with = "given")]
    #[schema(schema_with = crate::vocabulary::task_status_by_hand)]
    pub status: Option<TaskStatus>,
    /// The new parent; its subtasks move with it. `null`: top level.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>)]
    pub parent_id: Option<Option<i64>>,
    /// The new position among its siblings, from 0.
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
    /// Max levels below it; absent: 2.
    #[schema(minimum = 1, maximum = 4)]
    pub max_depth: Option<u32>,
    /// Max children per task; absent: 5.
    #[schema(minimum = 1, maximum = 10)]
    pub max_children: Option<u32>,
    /// Max new tasks in total; absent: 50.
    #[schema(minimum = 1, maximum = 200)]
    pub total_node_budget: Option<u32>,
}

/// What to execute.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteBody {
    /// The task to run again, together with its unfinished dependencies; absent: the whole plan.
    pub task_id: Option<i64>,
    /// Whether a task may start work that costs money after it has read text from others, such as web pages;
    /// absent: no.
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
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}
