//! What the assistant's kinds of jobs share. Each job has one session, in which every model response and every
//! action is a step.

mod action_attempts;
mod child_budgets;
mod session;

pub(crate) use session::{AssistantSession, SessionResult};

use crate::budget::{Budget, Limit};
use papertape_assistant::prompt::Prompts;
use papertape_assistant::settings::{Decompose, Execute, Settings};
use papertape_assistant::web::WebSearch;
use papertape_core::action::Language;
use papertape_core::chat::ChatId;
use papertape_core::id::JobId;
use papertape_core::ports::{Chats, JobControl, Plans};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use crate::delta_stream::DeltaListener;

/// What the assistant's jobs need in addition to [`Services`](crate::services::Services).
pub struct Assistant {
    /// Plans.
    pub plans: Arc<dyn Plans>,
    /// Conversations.
    pub chats: Arc<dyn Chats>,
    /// Simulations.
    pub jobs: Arc<dyn JobControl>,
    /// Web search.
    pub web: Arc<dyn WebSearch>,
    /// Its prompts.
    pub prompts: Prompts,
    /// Receives the text of replies while they are written.
    pub listener: Arc<dyn DeltaListener>,
}

const fn user_language() -> Language {
    Language::DEFAULT_FOR_USERS
}

/// The config of an assistant job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantConfig {
    /// The assistant's model and limits.
    pub settings: Settings,
    /// Budget of the job's own model calls.
    #[serde(default)]
    pub budget: Budget,
    /// Combined budget of the simulations that it starts, directly or through a plan.
    #[serde(default)]
    pub simulations: Limit,
    /// The language of its log messages.
    #[serde(default = "user_language")]
    pub language: Language,
    /// The conversation of a `chat_action`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<ChatId>,
    /// Parameters of a `plan_decompose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decompose: Option<Decompose>,
    /// Parameters of a `plan_execute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute: Option<Execute>,
    /// The job that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<JobId>,
}
