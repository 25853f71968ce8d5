//! What makes an agent the agent it is.

use crate::desk::config::{DeskConfig, LlmKind};
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::json;
use papertape_core::message::{ModelName, Sampling};
use papertape_core::tape::CallOptions;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
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
    /// What a desk adds; for the kind `desk` alone, whose defaults hold where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desk: Option<DeskConfig>,
}

/// How an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// One conversation with tools.
    #[default]
    Solo,
    /// Analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
    Desk,
}

impl AgentKind {
    /// `solo` or `desk`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Solo => "solo",
            Self::Desk => "desk",
        }
    }
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
    /// The most model calls of one day's conversation; of a desk, of each analyst's.
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
            desk: None,
        }
    }

    /// A desk with defaults.
    #[must_use]
    pub fn desk(name: AgentName, model: ModelName) -> Self {
        Self { kind: AgentKind::Desk, desk: Some(DeskConfig::default()), ..Self::solo(name, model) }
    }

    /// What it is as a desk: its own settings, or the defaults.
    #[must_use]
    pub fn desk_config(&self) -> DeskConfig {
        self.desk.clone().unwrap_or_default()
    }

    /// The models that it may call.
    #[must_use]
    pub fn models(&self) -> BTreeSet<ModelName> {
        let mut models = BTreeSet::from([self.model.clone()]);
        if self.kind == AgentKind::Desk {
            let desk = self.desk_config();
            models.extend([LlmKind::Quick, LlmKind::Deep].map(|kind| desk.model(self, kind).clone()));
        }
        models
    }

    /// Checks what can be checked without asking anybody.
    ///
    /// # Errors
    /// A sentence that names the first key that makes no agent.
    pub fn validate(&self) -> Result<(), String> {
        if self.limits.max_steps == 0 || self.limits.call_timeout_secs == 0 {
            return Err("limits must be above 0".to_owned());
        }
        match (self.kind, &self.desk) {
            (AgentKind::Solo, Some(_)) => Err("`desk` is for agents of the kind `desk`".to_owned()),
            (AgentKind::Desk, _) if !self.tools.is_empty() => {
                Err("`tools` is for solo agents; a desk's analysts read the market view".to_owned())
            }
            (_, Some(desk)) => desk.validate().map_err(|message| format!("desk.{message}")),
            (_, None) => Ok(()),
        }
    }

    /// Hash of all that decides what it does: not its deadlines and retries.
    #[must_use]
    pub fn fingerprint(&self) -> ContentHash {
        let mut whole = json::to_value(self);
        whole["limits"] = json!({ "max_steps": self.limits.max_steps });
        if self.kind == AgentKind::Desk {
            whole["desk"] = self.desk_config().fingerprint(self);
        }
        json::hash(&whole)
    }
}
