//! Changes to plans and tasks, as somebody wants them.

use super::{MOST_NAME_CHARS, MOST_TEXT_CHARS, PlanId, PlanRefusal, TaskId, TaskStatus};
use crate::action::Origin;
use crate::chat::ChatId;
use crate::record::JobStatus;
use papertape_redact::{Redact, Wash};
use serde_json::Value;

/// A change to a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanWrite {
    /// A plan is made.
    Create(NewPlan),
    /// A plan's own fields are changed.
    Update {
        /// The plan.
        plan: PlanId,
        /// What of it.
        changes: PlanChanges,
    },
    /// A plan goes, with all its tasks. The log of its jobs stays.
    Delete {
        /// The plan.
        plan: PlanId,
    },
    /// A task of it is changed.
    Task {
        /// The plan.
        plan: PlanId,
        /// What is changed.
        write: TaskWrite,
    },
}

/// A plan to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlan {
    /// Its id, reserved for its origin; `None`: the next.
    pub id: Option<PlanId>,
    /// What it is called.
    pub name: String,
    /// What it is to reach; may be empty.
    pub goal: String,
    /// The conversation that it comes from.
    pub chat_session: Option<ChatId>,
    /// Where it is made. A plan of this origin that is there already is left as it is.
    pub origin: Option<Origin>,
}

/// What of a plan is changed; `None`: stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChanges {
    /// Its name.
    pub name: Option<String>,
    /// Its goal.
    pub goal: Option<String>,
    /// How far it is.
    pub status: Option<JobStatus>,
}

/// A change to a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskWrite {
    /// A task is made.
    Create(NewTask),
    /// A task's own fields are changed.
    Update {
        /// The task.
        task: TaskId,
        /// What of it.
        changes: TaskChanges,
    },
    /// A task is moved, with all that is below it.
    Move {
        /// The task.
        task: TaskId,
        /// Its new parent; `None`: the top.
        parent: Option<TaskId>,
        /// Its place among its new siblings, from 0; `None`, or beyond the end: last.
        position: Option<u32>,
    },
    /// A task goes, with all that is below it. Others no longer depend on it.
    Delete {
        /// The task.
        task: TaskId,
    },
}

/// A task to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// Its id, reserved for its origin; `None`: the next.
    pub id: Option<TaskId>,
    /// The task that it is a part of; `None`: it stands at the top.
    pub parent: Option<TaskId>,
    /// What it is called.
    pub name: String,
    /// What is to be done; may be empty.
    pub instruction: String,
    /// Its place among its siblings, from 0; `None`, or beyond the end: last.
    pub position: Option<u32>,
    /// Tasks that must be done before it.
    pub dependencies: Vec<TaskId>,
    /// Where it is made. A task of this origin that is there already is left as it is.
    pub origin: Option<Origin>,
}

/// What of a task is changed; `None`: stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskChanges {
    /// Its name.
    pub name: Option<String>,
    /// What is to be done.
    pub instruction: Option<String>,
    /// How far it is.
    pub status: Option<TaskStatus>,
    /// Tasks that must be done before it, in place of those it had.
    pub dependencies: Option<Vec<TaskId>>,
    /// What came of it; `Some(None)` takes it away.
    pub execution_result: Option<Option<Value>>,
}

/// What a change was made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The plan.
    pub plan: PlanId,
    /// The task, where it was one's.
    pub task: Option<TaskId>,
}

impl NewPlan {
    /// # Errors
    /// An empty or too long name, a too long goal, a control character in one of them.
    pub fn check(&self) -> Result<(), PlanRefusal> {
        name(&self.name)?;
        text("goal", &self.goal)
    }
}

impl PlanChanges {
    /// # Errors
    /// An empty or too long name, a too long goal, a control character in one of them.
    pub fn check(&self) -> Result<(), PlanRefusal> {
        self.name.as_deref().map_or(Ok(()), name)?;
        self.goal.as_deref().map_or(Ok(()), |goal| text("goal", goal))
    }
}

impl NewTask {
    pub(super) fn check(&self) -> Result<(), PlanRefusal> {
        name(&self.name)?;
        text("instruction", &self.instruction)
    }
}

impl TaskChanges {
    pub(super) fn check(&self) -> Result<(), PlanRefusal> {
        self.name.as_deref().map_or(Ok(()), name)?;
        self.instruction.as_deref().map_or(Ok(()), |instruction| text("instruction", instruction))
    }
}

fn name(name: &str) -> Result<(), PlanRefusal> {
    if name.trim().is_empty() {
        return Err(PlanRefusal::Empty("name"));
    }
    without("name", name, is_control)?;
    at_most("name", name, MOST_NAME_CHARS)
}

fn text(field: &'static str, text: &str) -> Result<(), PlanRefusal> {
    without(field, text, |c| is_control(c) && !matches!(c, '\n' | '\r' | '\t'))?;
    at_most(field, text, MOST_TEXT_CHARS)
}

/// Control characters, and those that turn the direction of the text that follows: in a terminal or a list
/// they would show something else than what is there.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn without(field: &'static str, text: &str, is_bad: impl Fn(char) -> bool) -> Result<(), PlanRefusal> {
    text.chars().find(|c| is_bad(*c)).map_or(Ok(()), |found| Err(PlanRefusal::Control { field, found }))
}

fn at_most(field: &'static str, text: &str, most: usize) -> Result<(), PlanRefusal> {
    if text.chars().nth(most).is_some() { Err(PlanRefusal::TooLong { field, most }) } else { Ok(()) }
}

impl Redact for PlanWrite {
    fn redact(self, wash: &mut Wash<'_>) -> Self {
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
    fn redact(self, wash: &mut Wash<'_>) -> Self {
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
