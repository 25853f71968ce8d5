//! What makes an agent the agent it is.

use papertape_core::id::{AgentName, ContentHash};
use papertape_core::json;
use papertape_core::message::{ModelName, Sampling};
use papertape_core::tape::CallOptions;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// One configured trader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Its name, the `model` signature of tables and API. Unique in a job.
    pub name: AgentName,
    /// How it works.
    #[serde(default)]
    pub kind: AgentKind,
    /// The model that it thinks with, `provider::model`.
    pub model: ModelName,
    /// How the model's words are drawn.
    #[serde(default)]
    pub sampling: Sampling,
    /// The language of its prompts.
    #[serde(default)]
    pub language: Language,
    /// A strategy or other instructions of your own, added to the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Names of configured tool servers that it may use. What they answer is not bounded in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Where it stops.
    #[serde(default)]
    pub limits: Limits,
}

/// How an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// One conversation with tools.
    #[default]
    Solo,
}

/// The language of prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// `en` or `zh`, as in prompt files' names.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}

/// Where an agent's day stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The most model calls of one day's conversation.
    pub max_steps: u32,
    /// The most attempts at one call.
    pub max_attempts: u32,
    /// Seconds after which one attempt is cancelled.
    pub call_timeout_secs: u64,
    /// Seconds of wall clock that a day's conversation may take; calls after that fail as timed out.
    pub session_timeout_secs: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 30, max_attempts: 4, call_timeout_secs: 120, session_timeout_secs: 1800 }
    }
}

impl Limits {
    /// For a call under these limits.
    #[must_use]
    pub fn call_options(&self) -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(self.call_timeout_secs),
            max_attempts: self.max_attempts.max(1),
        }
    }
}

impl AgentConfig {
    /// A solo agent with defaults.
    #[must_use]
    pub fn solo(name: AgentName, model: ModelName) -> Self {
        Self {
            name,
            kind: AgentKind::Solo,
            model,
            sampling: Sampling::default(),
            language: Language::default(),
            instructions: None,
            tools: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Hash of all that decides what it does: not its deadlines and retries.
    #[must_use]
    pub fn fingerprint(&self) -> ContentHash {
        let mut whole = json::to_value(self);
        whole["limits"] = json!({ "max_steps": self.limits.max_steps });
        json::hash(&whole)
    }
}
