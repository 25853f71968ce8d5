//! Why a change to a plan is rejected.

use super::{MAX_DEPTH, MAX_TASKS, PlanId, TaskId};
use crate::id::JobId;

/// A change that a plan's rules reject. Nothing of it is applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The plan does not exist.
    #[error("there is no plan {0}")]
    NoPlan(PlanId),
    /// The plan has no task with this ID.
    #[error("the plan has no task {0}")]
    NoTask(TaskId),
    /// The parent is not a task of the plan.
    #[error("{0} is not a task of the plan")]
    NoParent(TaskId),
    /// A dependency is not a task of the plan.
    #[error("{0} is not a task of the plan")]
    NoDependency(TaskId),
    /// The tasks would wait for each other forever.
    #[error("tasks would depend on each other in a cycle: {}", chain(.0))]
    Cycle(Vec<TaskId>),
    /// A task cannot be its own descendant.
    #[error("a task cannot be moved below itself")]
    BelowItself,
    /// The plan is full.
    #[error("a plan has at most {MAX_TASKS} tasks")]
    TooManyTasks,
    /// The tree is too deep.
    #[error("tasks can be at most {MAX_DEPTH} levels below the top")]
    TooDeep,
    /// A job is working on the plan; nothing can be removed until it ends.
    #[error("job {0} is running on the plan: cancel it first")]
    Busy(JobId),
    /// A text must not be empty.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// A text contains a forbidden character.
    #[error("the {field} contains the control character U+{:04X}", u32::from(*found))]
    Control {
        /// Which text.
        field: &'static str,
        /// The first such character.
        found: char,
    },
    /// A text is too long.
    #[error("the {field} has more than {most} characters")]
    TooLong {
        /// Which text.
        field: &'static str,
        /// Its maximum number of characters.
        most: usize,
    },
}

impl PlanError {
    /// The message in Chinese.
    #[must_use]
    pub fn in_chinese(&self) -> String {
        match self {
            Self::NoPlan(plan) => format!("没有计划 {plan}"),
            Self::NoTask(task) => format!("该计划没有任务 {task}"),
            Self::NoParent(task) | Self::NoDependency(task) => format!("{task} 不是该计划的任务"),
            Self::Cycle(tasks) => format!("任务之间将形成循环依赖：{}", chain(tasks)),
            Self::BelowItself => "任务不能移到自身之下".to_owned(),
            Self::TooManyTasks => format!("一个计划最多 {MAX_TASKS} 个任务"),
            Self::TooDeep => format!("任务最多位于顶层之下 {MAX_DEPTH} 层"),
            Self::Busy(job) => format!("任务 {job} 正在执行该计划：请先取消该任务"),
            Self::Empty(field) => format!("{} 为空", chinese(field)),
            Self::Control { field, found } => {
                format!("{} 含有控制字符 U+{:04X}", chinese(field), u32::from(*found))
            }
            Self::TooLong { field, most } => format!("{} 超过 {most} 个字符", chinese(field)),
        }
    }
}

fn chain(tasks: &[TaskId]) -> String {
    let ids: Vec<String> = tasks.iter().map(ToString::to_string).collect();
    ids.join(" → ")
}

fn chinese(field: &str) -> &str {
    match field {
        "name" => "名称",
        "goal" => "目标",
        "instruction" => "说明",
        other => other,
    }
}
