//! Plans: a tree of tasks, the changes to it, and the rules that reject a change.
//!
//! [`Tree`] decides every change: pure, over all tasks of one plan. The store passes it the existing tasks
//! and writes what changed.

mod refusal;
mod tree;
mod write;

pub use refusal::PlanError;
pub use tree::{Changed, Tree};
pub use write::{NewPlan, NewTask, PlanChanges, PlanWrite, TaskChanges, TaskWrite, WriteResult};

use crate::action::Origin;
use crate::id::ChatId;
pub use crate::id::{PlanId, TaskId};
use crate::job::JobStatus;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum tasks of a plan.
pub const MAX_TASKS: usize = 1_000;
/// Maximum depth of a task; top-level tasks have depth 0.
pub const MAX_DEPTH: u32 = 15;
/// Maximum characters of a name.
pub const MAX_NAME_CHARS: usize = 200;
/// Maximum characters of a goal or an instruction.
pub const MAX_TEXT_CHARS: usize = 20_000;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Its ID.
    pub id: PlanId,
    /// Its name.
    pub name: String,
    /// Its goal.
    pub goal: String,
    /// Its status: `partial` when some of its tasks failed.
    pub status: JobStatus,
    /// The chat session it comes from.
    pub chat_session_id: Option<ChatId>,
    /// How many tasks it has.
    pub tasks: u64,
    /// Where it was created; `None`: by a user.
    pub origin: Option<Origin>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it or one of its tasks last changed.
    pub updated_at: Timestamp,
}

/// A task's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not started.
    Queued,
    /// Running.
    Running,
    /// Done.
    Completed,
    /// It failed, or something that it depends on did.
    Failed,
    /// Not to be done.
    Skipped,
}

crate::words!(TaskStatus {
    Queued = "queued", Running = "running", Completed = "completed", Failed = "failed",
    Skipped = "skipped",
});

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// Its ID.
    pub id: TaskId,
    /// The plan.
    pub plan_id: PlanId,
    /// Its parent task; `None` at the top level.
    pub parent_id: Option<TaskId>,
    /// Its name.
    pub name: String,
    /// Its status.
    pub status: TaskStatus,
    /// What to do.
    pub instruction: String,
    /// 0-based position among its siblings, without gaps.
    pub position: u32,
    /// Its depth; 0 at the top level.
    pub depth: u32,
    /// The IDs from the top-level task down to this one, `/3/17`.
    pub path: String,
    /// Tasks of the plan that must end before it and its children start, by ID.
    pub dependencies: Vec<TaskId>,
    /// Its result.
    pub execution_result: Option<Value>,
    /// Where it was created; `None`: by a user.
    pub origin: Option<Origin>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
