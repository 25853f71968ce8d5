//! Parameters of the assistant's jobs: their configs.

use crate::calls;
use crate::fault::LocalizedMessage;
use papertape_core::language::Language;
use papertape_core::message::{ModelName, Sampling};
use papertape_core::plan::{PlanId, TaskId};
use papertape_core::tape::{ActionOptions, CallOptions};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Response format requested from a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyFormat {
    /// One JSON object, requested by schema.
    #[default]
    Structured,
    /// Native tool calls.
    Tools,
}

/// The model and how it is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// The model.
    pub model: ModelName,
    /// Its version, if it is a house model.
    pub house_version: Option<u32>,
    /// Its sampling parameters.
    pub sampling: Sampling,
    /// Its response format.
    #[serde(rename = "form")]
    pub reply_format: ReplyFormat,
    /// The language of its prompts.
    pub language: Language,
}

/// Limits of a conversation; they do not enter any digest.
#[derive(Clone, Copy, Debug)]
pub struct ConversationLimits {
    /// Max rounds.
    pub max_rounds: u32,
    /// Options of model calls.
    pub call: CallOptions,
    /// Timeout of one attempt of an action.
    pub action_timeout: Duration,
}

/// The assistant's model and limits, the same for all its jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The model.
    #[serde(rename = "speaker")]
    pub model: ModelSettings,
    /// Max rounds of a turn or a task.
    pub max_rounds: u32,
    /// Max attempts of one model call.
    pub max_attempts: u32,
    /// Timeout of one attempt of a model call.
    pub call_timeout_secs: u64,
    /// Timeout of one attempt of an action.
    pub action_timeout_secs: u64,
    /// How long an action waits for a job that it has started; after that, it reports that the job is still
    /// running.
    pub wait_secs: u64,
    /// Max concurrent tasks of a plan.
    pub parallel_tasks: usize,
    /// Whether the reply includes the paragraph that summarizes the actions.
    pub include_action_summary: bool,
    /// The configured agents, for the prompt.
    pub agents: Vec<String>,
    /// The datasets with their date ranges, for the prompt.
    pub datasets: Vec<String>,
}

impl Settings {
    /// The limits of its conversations.
    #[must_use]
    pub fn conversation_limits(&self) -> ConversationLimits {
        ConversationLimits {
            max_rounds: self.max_rounds,
            call: self.call_options(),
            action_timeout: Duration::from_secs(
                self.action_timeout_secs.max(self.wait_secs.saturating_add(60)),
            ),
        }
    }

    /// Options of a call that is not retried.
    pub(crate) fn once(&self) -> ActionOptions {
        calls::once(self.conversation_limits().action_timeout)
    }

    /// Options of its model calls.
    #[must_use]
    pub fn call_options(&self) -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(self.call_timeout_secs),
            max_attempts: self.max_attempts.max(1),
        }
    }
}

/// Limits of a decomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Levels below the start, from 1.
    pub max_depth: u32,
    /// Children per task.
    pub max_children: u32,
    /// New tasks in total.
    pub total_node_budget: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 2, max_children: 5, total_node_budget: 50 }
    }
}

impl Limits {
    /// Checks that the limits are within the allowed ranges.
    ///
    /// # Errors
    /// Returns the field, and a message.
    pub fn check(&self) -> Result<(), (&'static str, LocalizedMessage)> {
        let fields = [
            ("max_depth", self.max_depth, 4),
            ("max_children", self.max_children, 10),
            ("total_node_budget", self.total_node_budget, 200),
        ];
        match fields.into_iter().find(|(_, value, max)| *value == 0 || value > max) {
            Some((field, value, max)) => {
                let english = format!("{value} is not from 1 to {max}");
                Err((field, LocalizedMessage::new(english, format!("{value} 不在 1 到 {max} 之间"))))
            }
            None => Ok(()),
        }
    }
}

/// Parameters of a `plan_decompose` job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decompose {
    /// The plan.
    pub plan_id: PlanId,
    /// Where it starts; `None`: at the plan's goal, for the whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// How far it decomposes.
    pub limits: Limits,
}

/// Parameters of a `plan_execute` job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execute {
    /// The plan.
    pub plan_id: PlanId,
    /// Rerun this task, and whatever it depends on that is not completed; `None`: the whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Whether a task may incur cost after reading untrusted text.
    #[serde(default)]
    pub trusted: bool,
}
