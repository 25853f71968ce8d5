//! Plans: a tree of tasks, what may be done to it, and when that is refused.
//!
//! [`Tree`] is where a change is decided: pure, on all tasks of one plan. Who keeps plans gives it the
//! tasks that are there and writes what it has changed.

mod refusal;
mod tree;
mod write;

pub use refusal::PlanRefusal;
pub use tree::{Changed, Tree};
pub use write::{NewPlan, NewTask, PlanChanges, PlanWrite, TaskChanges, TaskWrite, Written};

use crate::action::Origin;
use crate::chat::ChatId;
use crate::record::{JobStatus, words};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The most tasks of a plan.
pub const MOST_TASKS: usize = 1_000;
/// The deepest that a task may stand; the tasks at the top stand at 0.
pub const MOST_DEPTH: u32 = 15;
/// The most characters of a name.
pub const MOST_NAME_CHARS: usize = 200;
/// The most characters of a goal or an instruction.
pub const MOST_TEXT_CHARS: usize = 20_000;

/// A plan's id: a small number, never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(pub i64);

/// A task's id: a small number, never given twice, not even in another plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub i64);

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// What it is called.
    pub name: String,
    /// What it is to reach.
    pub goal: String,
    /// How far it is: `partial` where some of its tasks failed.
    pub status: JobStatus,
    /// The conversation that it comes from.
    pub chat_session_id: Option<ChatId>,
    /// How many tasks it has.
    pub tasks: u64,
    /// Where it was made; `None`: by a person.
    pub origin: Option<Origin>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it or one of its tasks was last changed.
    pub updated_at: Timestamp,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    Queued,
    /// Under way.
    Running,
    /// Done.
    Completed,
    /// It failed, or something that it needs did.
    Failed,
    /// Not to be done.
    Skipped,
}

words!(TaskStatus {
    Queued = "queued",
    Running = "running",
    Completed = "completed",
    Failed = "failed",
    Skipped = "skipped",
});

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The plan.
    pub plan_id: PlanId,
    /// The task that it is a part of; `None`: it stands at the top.
    pub parent_id: Option<TaskId>,
    /// What it is called.
    pub name: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What is to be done.
    pub instruction: String,
    /// Its place among its siblings, from 0, without gaps.
    pub position: u32,
    /// How deep it stands; 0 at the top.
    pub depth: u32,
    /// The ids from the top down to itself, `/3/17`.
    pub path: String,
    /// Tasks of the plan that must be done before it and its children begin, by id.
    pub dependencies: Vec<TaskId>,
    /// What came of it.
    pub execution_result: Option<Value>,
    /// Where it was made; `None`: by a person.
    pub origin: Option<Origin>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}
