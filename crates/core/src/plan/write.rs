//! Requested changes to plans and tasks.

use super::{MAX_NAME_CHARS, MAX_TEXT_CHARS, PlanError, PlanId, TaskId, TaskStatus};
use crate::action::Origin;
use crate::id::ChatId;
use crate::job::JobStatus;
use papertape_redact::{Redact, RedactionPass};
use serde_json::Value;

/// A change to a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanWrite {
    /// Creates a plan.
    Create(NewPlan),
    /// Changes a plan's own fields.
    Update {
        /// The plan.
        plan: PlanId,
        /// What to change.
        changes: PlanChanges,
    },
    /// Deletes a plan with all its tasks. The log of its jobs stays.
    Delete {
        /// The plan.
        plan: PlanId,
    },
    /// Changes a task of the plan.
    Task {
        /// The plan.
        plan: PlanId,
        /// The change.
        write: TaskWrite,
    },
}

/// A plan to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlan {
    /// Its ID, reserved for its origin; `None`: the next free one.
    pub id: Option<PlanId>,
    /// Its name.
    pub name: String,
    /// Its goal; may be empty.
    pub goal: String,
    /// The chat session it comes from.
    pub chat_session: Option<ChatId>,
    /// Where it is created. If a plan of this origin exists already, it stays unchanged.
    pub origin: Option<Origin>,
}

/// Changes to a plan's fields; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChanges {
    /// Its name.
    pub name: Option<String>,
    /// Its goal.
    pub goal: Option<String>,
    /// Its status.
    pub status: Option<JobStatus>,
}

/// A change to a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskWrite {
    /// Creates a task.
    Create(NewTask),
    /// Changes a task's own fields.
    Update {
        /// The task.
        task: TaskId,
        /// What to change.
        changes: TaskChanges,
    },
    /// Moves a task with its subtree.
    Move {
        /// The task.
        task: TaskId,
        /// Its new parent; `None`: the top level.
        parent: Option<TaskId>,
        /// 0-based position among its new siblings; `None`, or beyond the end: last.
        position: Option<u32>,
    },
    /// Deletes a task with its subtree. It is removed from the dependencies of other tasks.
    Delete {
        /// The task.
        task: TaskId,
    },
}

/// A task to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// Its ID, reserved for its origin; `None`: the next free one.
    pub id: Option<TaskId>,
    /// Its parent task; `None`: the top level.
    pub parent: Option<TaskId>,
    /// Its name.
    pub name: String,
    /// What to do; may be empty.
    pub instruction: String,
    /// 0-based position among its siblings; `None`, or beyond the end: last.
    pub position: Option<u32>,
    /// Tasks that must end before it starts.
    pub dependencies: Vec<TaskId>,
    /// Where it is created. If a task of this origin exists already, it stays unchanged.
    pub origin: Option<Origin>,
}

/// Changes to a task's fields; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskChanges {
    /// Its name.
    pub name: Option<String>,
    /// What to do.
    pub instruction: Option<String>,
    /// Its status.
    pub status: Option<TaskStatus>,
    /// Tasks that must end before it starts; replaces the previous ones.
    pub dependencies: Option<Vec<TaskId>>,
    /// Its result; `Some(None)` removes it.
    pub execution_result: Option<Option<Value>>,
}

/// What a change was applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteResult {
    /// The plan.
    pub plan: PlanId,
    /// The task, for a change to a task.
    pub task: Option<TaskId>,
}

impl NewPlan {
    /// # Errors
    /// An empty or too long name, a too long goal, or a control character in one of them.
    pub fn check(&self) -> Result<(), PlanError> {
        name(&self.name)?;
        text("goal", &self.goal)
    }
}

impl PlanChanges {
    /// # Errors
    /// An empty or too long name, a too long goal, or a control character in one of them.
    pub fn check(&self) -> Result<(), PlanError> {
        self.name.as_deref().map_or(Ok(()), name)?;
        self.goal.as_deref().map_or(Ok(()), |goal| text("goal", goal))
    }
}

impl NewTask {
    pub(super) fn check(&self) -> Result<(), PlanError> {
        name(&self.name)?;
        text("instruction", &self.instruction)
    }
}

impl TaskChanges {
    pub(super) fn check(&self) -> Result<(), PlanError> {
        self.name.as_deref().map_or(Ok(()), name)?;
        self.instruction.as_deref().map_or(Ok(()), |instruction| text("instruction", instruction))
    }
}

fn name(name: &str) -> Result<(), PlanError> {
    if name.trim().is_empty() {
        return Err(PlanError::Empty("name"));
    }
    without("name", name, is_control)?;
    at_most("name", name, MAX_NAME_CHARS)
}

fn text(field: &'static str, text: &str) -> Result<(), PlanError> {
    without(field, text, |c| is_control(c) && !matches!(c, '\n' | '\r' | '\t'))?;
    at_most(field, text, MAX_TEXT_CHARS)
}

/// Whether it is a control character or changes the direction of the text after it: in a terminal or a list,
/// such characters make a text look like another.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn without(field: &'static str, text: &str, is_bad: impl Fn(char) -> bool) -> Result<(), PlanError> {
    text.chars().find(|c| is_bad(*c)).map_or(Ok(()), |found| Err(PlanError::Control { field, found }))
}

fn at_most(field: &'static str, text: &str, most: usize) -> Result<(), PlanError> {
    if text.chars().nth(most).is_some() { Err(PlanError::TooLong { field, most }) } else { Ok(()) }
}

impl Redact for PlanWrite {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        match self {
            Self::Create(new) => {
                Self::Create(NewPlan { name: wash.text(new.name), goal: wash.text(new.goal), ..new })
            }
            Self::Update { plan, changes } => Self::Update {
                plan,
                changes: PlanChanges {
                    name: changes.name.map(|name| wash.text(name)),
                    goal: changes.goal.map(|goal| wash.text(goal)),
                    ..changes
                },
            },
            Self::Delete { .. } => self,
            Self::Task { plan, write } => Self::Task { plan, write: write.redact(wash) },
        }
    }
}

impl Redact for TaskWrite {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        match self {
            Self::Create(new) => Self::Create(NewTask {
                name: wash.text(new.name),
                instruction: wash.text(new.instruction),
                ..new
            }),
            Self::Update { task, changes } => Self::Update {
                task,
                changes: TaskChanges {
                    name: changes.name.map(|name| wash.text(name)),
                    instruction: changes.instruction.map(|instruction| wash.text(instruction)),
                    execution_result: changes
                        .execution_result
                        .map(|result| result.map(|result| wash.value(result))),
                    ..changes
                },
            },
            Self::Move { .. } | Self::Delete { .. } => self,
        }
    }
}
