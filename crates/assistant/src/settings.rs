//! What the assistant's jobs are to do: their configs.

use crate::fault::Fault;
use crate::talk::{Bounds, Speaker};
use papertape_core::plan::{PlanId, TaskId};
use papertape_core::tape::CallOptions;
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub use papertape_core::record::{CHAT_ACTION as CHAT, PLAN_DECOMPOSE as DECOMPOSE, PLAN_EXECUTE as EXECUTE};

/// Who the assistant is and how it works, the same for all its jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Who speaks.
    pub speaker: Speaker,
    /// The most rounds of a turn or a task.
    pub max_rounds: u32,
    /// The most attempts at one call to the model.
    pub max_attempts: u32,
    /// After so many seconds one of them is cancelled.
    pub call_timeout_secs: u64,
    /// The same for one attempt at an action.
    pub action_timeout_secs: u64,
    /// So long an action waits for a job that it has started; after that it says that the job is running.
    pub wait_secs: u64,
    /// The most tasks of a plan that run side by side.
    pub parallel_tasks: usize,
    /// Is the paragraph that sums the actions up part of the reply?
    pub include_action_summary: bool,
    /// The configured agents, for the model to name.
    pub agents: Vec<String>,
    /// The datasets, each with its days, for the model to name.
    pub datasets: Vec<String>,
}

impl Settings {
    /// What bounds its conversations.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds {
            rounds: self.max_rounds,
            call: self.call_options(),
            action_timeout: Duration::from_secs(
                self.action_timeout_secs.max(self.wait_secs.saturating_add(60)),
            ),
        }
    }

    /// How its calls to the model are made.
    #[must_use]
    pub fn call_options(&self) -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(self.call_timeout_secs),
            max_attempts: self.max_attempts.max(1),
        }
    }
}

/// How far a plan is broken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Levels below the beginning, from 1.
    pub max_depth: u32,
    /// Children of one task.
    pub max_children: u32,
    /// New tasks in all.
    pub total_node_budget: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 2, max_children: 5, total_node_budget: 50 }
    }
}

impl Limits {
    /// Are they within what is allowed?
    ///
    /// # Errors
    /// The field and a sentence.
    pub fn check(&self) -> Result<(), (&'static str, Fault)> {
        let fields = [
            ("max_depth", self.max_depth, 4),
            ("max_children", self.max_children, 10),
            ("total_node_budget", self.total_node_budget, 200),
        ];
        match fields.into_iter().find(|(_, value, most)| *value == 0 || value > most) {
            Some((field, value, most)) => {
                let english = format!("{value} is not from 1 to {most}");
                Err((field, Fault::new(english, format!("{value} 不在 1 到 {most} 之间"))))
            }
            None => Ok(()),
        }
    }
}

/// What a `plan_decompose` job is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decompose {
    /// The plan.
    pub plan_id: PlanId,
    /// Where it begins; `None`: the whole plan, at its goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// How far it goes.
    pub limits: Limits,
}

/// What a `plan_execute` job is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execute {
    /// The plan.
    pub plan_id: PlanId,
    /// Run again this task, and what it needs that is not completed; `None`: the whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// May a task spend after it has read text of others?
    #[serde(default)]
    pub trusted: bool,
}
