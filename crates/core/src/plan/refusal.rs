//! Why a plan is not changed.

use super::{MOST_DEPTH, MOST_TASKS, PlanId, TaskId};
use crate::id::JobId;

/// A change that a plan's rules refuse. Nothing of it is done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// There is no such plan.
    #[error("there is no plan {0}")]
    NoPlan(PlanId),
    /// The plan has no such task.
    #[error("the plan has no task {0}")]
    NoTask(TaskId),
    /// The parent is no task of the plan.
    #[error("{0} is no task of the plan")]
    NoParent(TaskId),
    /// A dependency is no task of the plan.
    #[error("{0} is no task of the plan")]
    NoDependency(TaskId),
    /// The tasks would wait for each other for ever.
    #[error("tasks would wait for each other: {}", chain(.0))]
    Cycle(Vec<TaskId>),
    /// A task cannot be a part of itself.
    #[error("a task cannot be moved below itself")]
    BelowItself,
    /// The plan is full.
    #[error("a plan has at most {MOST_TASKS} tasks")]
    TooManyTasks,
    /// The tree is too deep.
    #[error("tasks stand at most {MOST_DEPTH} levels below the top")]
    TooDeep,
    /// A job works on it: nothing of it is taken away meanwhile.
    #[error("job {0} is at work on the plan: cancel that first")]
    Busy(JobId),
    /// A text must not be empty.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// A text has a character that no text of a plan has.
    #[error("the {field} holds the control character U+{:04X}", u32::from(*found))]
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
        /// How many characters it may have.
        most: usize,
    },
}

impl PlanRefusal {
    /// The same in Chinese.
    #[must_use]
    pub fn in_chinese(&self) -> String {
        match self {
            Self::NoPlan(plan) => format!("没有计划 {plan}"),
            Self::NoTask(task) => format!("该计划没有任务 {task}"),
            Self::NoParent(task) | Self::NoDependency(task) => format!("{task} 不是该计划的任务"),
            Self::Cycle(tasks) => format!("任务将互相等待：{}", chain(tasks)),
            Self::BelowItself => "任务不能移到自身之下".to_owned(),
            Self::TooManyTasks => format!("一个计划最多 {MOST_TASKS} 个任务"),
            Self::TooDeep => format!("任务最多位于顶层之下 {MOST_DEPTH} 层"),
            Self::Busy(job) => format!("任务 {job} 正在处理该计划：请先取消它"),
            Self::Empty(field) => format!("{} 为空", chinese(field)),
            Self::Control { field, found } => {
                format!("{} 含有控制字符 U+{:04X}", chinese(field), u32::from(*found))
            }
            Self::TooLong { field, most } => format!("{} 超过 {most} 个字符", chinese(field)),
        }
    }

    /// Is it that something was not found, rather than that it may not be done?
    #[must_use]
    pub const fn is_miss(&self) -> bool {
        matches!(self, Self::NoPlan(_) | Self::NoTask(_))
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
